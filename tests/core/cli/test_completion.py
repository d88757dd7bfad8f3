"""The scripts for shells, in these shells."""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tenterhooks.cli.completion import SHELLS

from .commands import said_in_process

# Types a line as a person does, and prints what it may become.
DRIVERS = {
    "bash": """
source <(tenterhooks completion bash)
COMP_LINE={line} COMP_POINT=${{#COMP_LINE}}
COMPREPLY=()
{function}
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "fish": """
tenterhooks completion fish | source
complete -C {line}
""",
}


# With these, what was typed is written to a file when Ctrl-X is pressed.
STARTS = {
    "bash": (
        ".bashrc",
        """
source <(tenterhooks completion bash)
dump() { printf '%s' "$READLINE_LINE" >"$HOME/new"; mv "$HOME/new" "$HOME/typed"; }
bind -x '"\\C-x": dump'
touch "$HOME/ready"
""",
    ),
    "zsh": (
        ".zshrc",
        """
autoload -Uz compinit
compinit -u -D
source <(tenterhooks completion zsh)
dump() { print -rn -- "$BUFFER" >"$HOME/new"; mv "$HOME/new" "$HOME/typed" }
zle -N dump
bindkey '^X' dump
touch "$HOME/ready"
""",
    ),
}


@pytest.fixture
def variables(path: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that has the command, and a hook `guard`."""
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "tenterhooks").write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tenterhooks "$@"\n', "utf-8"
    )
    (commands / "tenterhooks").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "train one.py").write_text("", "utf-8")
    (work / "trial.py").write_text("", "utf-8")
    return {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(path),
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }


def completed(shell: str, line: str, variables: dict[str, str]) -> list[str]:
    """What a shell makes of a line when Tab is pressed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    driver = DRIVERS[shell].format(line=shlex.quote(line), function="_tenterhooks")
    done = subprocess.run(
        [program, "-c", driver],
        cwd=Path(variables["HOME"]) / "work",
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return [text.partition("\t")[0] for text in done.stdout.splitlines() if text]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_with_the_line_that_switches_it_on(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_in_process(capsys, "completion", shell)
    assert (said.code, said.error) == (0, "")
    assert SHELLS[shell] in said.out.splitlines()[0] + said.out.splitlines()[1]
    assert f"  {shell}: {SHELLS[shell]}" in said_in_process(capsys, "completion", "--help").out


@pytest.mark.parametrize("shell", ["bash", "fish"])
class TestInAShell:
    def test_subcommands(self, shell: str, variables: dict[str, str]) -> None:
        assert completed(shell, "tenterhooks li", variables) == ["lifecycle"]
        assert {"run", "show", "new"} <= set(completed(shell, "tenterhooks ", variables))

    def test_flags(self, shell: str, variables: dict[str, str]) -> None:
        assert sorted(completed(shell, "tenterhooks run --h", variables)) == ["--help", "--hook"]

    def test_hooks(self, shell: str, variables: dict[str, str]) -> None:
        assert completed(shell, "tenterhooks show gua", variables) == ["guard"]

    def test_options_behind_a_colon(self, shell: str, variables: dict[str, str]) -> None:
        found = completed(shell, "tenterhooks run --hook guard:st", variables)
        # bash replaces what stands behind the colon, fish the whole word.
        assert found == ["strict=" if shell == "bash" else "guard:strict="]
        found = completed(shell, "tenterhooks run --hook guard:limit=1,strict=t", variables)
        assert found == ["true" if shell == "bash" else "guard:limit=1,strict=true"]

    def test_files(self, shell: str, variables: dict[str, str]) -> None:
        found = completed(shell, "tenterhooks run tri", variables)
        assert found == ["trial.py"]
        assert len(completed(shell, "tenterhooks run tr", variables)) == 2


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path.name}"
        time.sleep(0.01)


def typed(shell: str, lines: Iterable[str], variables: dict[str, str]) -> list[str]:
    """What stands on the line of a shell at a terminal when each of these was typed and Tab pressed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    home = Path(variables["HOME"])
    name, start = STARTS[shell]
    (home / name).write_text(start, "utf-8")
    found = []
    ours, its = os.openpty()
    # Who reads nothing has the shell wait for ever.
    reader = threading.Thread(target=drain, args=[ours])
    try:
        with subprocess.Popen(
            [program, "-i"], cwd=home / "work", env=variables, stdin=its, stdout=its, stderr=its, start_new_session=True
        ) as process:
            os.close(its)
            reader.start()
            try:
                wait_for(home / "ready")
                for line in lines:
                    os.write(ours, f"\x15{line}\t\x18".encode())
                    wait_for(home / "typed")
                    found.append((home / "typed").read_text("utf-8"))
                    (home / "typed").unlink()
            finally:
                process.kill()
    finally:
        reader.join(timeout=60)
        os.close(ours)
    return found


def drain(terminal: int) -> None:
    """Read until nobody has the other end any more."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 1024):
            pass


@pytest.mark.parametrize("shell", STARTS)
def test_at_a_terminal_tab_completes(shell: str, variables: dict[str, str]) -> None:
    wanted = {
        "tenterhooks li": "tenterhooks lifecycle ",
        "tenterhooks run --hoo": "tenterhooks run --hook ",
        "tenterhooks run --hook guard:st": "tenterhooks run --hook guard:strict=",
        "tenterhooks run --hook guard:limit=1,strict=t": "tenterhooks run --hook guard:limit=1,strict=true ",
        "tenterhooks run --hook=guard:st": "tenterhooks run --hook=guard:strict=",
        "tenterhooks run --set guard.st": "tenterhooks run --set guard.strict=",
        "tenterhooks run tri": "tenterhooks run trial.py ",
        "tenterhooks run tra": "tenterhooks run train\\ one.py ",
    }
    assert typed(shell, wanted, variables) == list(wanted.values())
