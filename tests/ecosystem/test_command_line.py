"""The page about the command says what the command says, and the command does what it says with real plugins."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tenterhooks.cli.command import build_parser
from tenterhooks.cli.completion import SHELLS
from tenterhooks.cli.output import FAILED, FINE, INTERRUPTED, UNREAD, USAGE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")


def run(*line: object, folder: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments."""
    environment = {**os.environ, **({} if path is None else {"PYTHONPATH": str(path)})}
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, line)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


# The page


def subparsers() -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def table(parser: argparse.ArgumentParser) -> str:
    lines = ["| argument | meaning |", "|---|---|"]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        value = f" {action.metavar or action.dest.upper()}" if action.nargs != 0 and action.option_strings else ""
        name = ", ".join(f"{flag}{value}" for flag in action.option_strings) or str(action.metavar)
        if not action.option_strings and action.nargs == "?":
            name = f"[{name}]"
        cells = [cell.replace("|", "\\|") for cell in (f"`{name}`", action.help or "")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def sections() -> dict[str, str]:
    """The page's sections by what they are about."""
    return dict(re.findall(r"^### `(tenterhooks[\w ]*)`$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_the_page_has_each_subcommand_with_its_arguments() -> None:
    parsers = {"tenterhooks": build_parser(), **{f"tenterhooks {name}": p for name, p in subparsers().items()}}
    assert list(sections()) == list(parsers)
    for name, parser in parsers.items():
        assert table(parser) in sections()[name], f"the arguments of {name} are now:\n{table(parser)}"


def test_the_page_has_the_exit_codes() -> None:
    numbers = [FINE, FAILED, USAGE, INTERRUPTED, UNREAD]
    rows = re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE)
    assert [int(number) for row in rows for number in row.split(",")] == numbers


def test_the_page_has_the_line_for_each_shell() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| `([^`]+)`", sections()["tenterhooks completion"], re.MULTILINE))
    assert {shell: line.replace("\\|", "|") for shell, line in rows.items()} == SHELLS


# What is installed


def test_the_commands_of_plugins_are_in_the_help(tmp_path: Path) -> None:
    done = run("-m", "tenterhooks", "--help", folder=tmp_path)
    assert re.search(r"^  checkpoints +from tenterhooks-checkpoint ", done.stdout, re.MULTILINE)


def test_checkpoints_are_looked_at_by_a_subcommand(tmp_path: Path) -> None:
    program = """
import tenterhooks as th
with th.MonitoredTrainingSession(checkpoint_dir="runs", save_checkpoint_steps=1, state={"w": 1.0}) as session:
    for _ in session.steps(range(2)):
        pass
"""
    assert run("-c", program, folder=tmp_path).returncode == 0
    shown = json.loads(run("-m", "tenterhooks", "checkpoints", "ls", "runs", "--json", folder=tmp_path).stdout)
    assert [checkpoint["step"] for checkpoint in shown["checkpoints"]] == [0, 1, 2]
    done = run("-m", "tenterhooks", "checkpoints", "verify", "runs", folder=tmp_path)
    assert (done.returncode, done.stdout.count(": whole\n")) == (0, 3)
    done = run("-m", "tenterhooks", "checkpoints", "show", "runs", "7", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("tenterhooks checkpoints show: no checkpoint '7' in runs: ")


def test_listing_the_plugins_imports_none_of_them(tmp_path: Path) -> None:
    program = """
import sys
from tenterhooks.cli import main
main(["plugins"])
main(["--complete", "run", "--hook", "n"])
print([name for name in sys.modules if name.startswith("tenterhooks_")], file=sys.stderr)
"""
    done = run("-c", program, folder=tmp_path)
    assert done.stderr == "[]\n"
    assert re.search(r"^  nan +tenterhooks-nan ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("plugins/*/")))
def test_each_hook_of_this_repository_is_shown(name: str, tmp_path: Path) -> None:
    done = run("-m", "tenterhooks", "show", name, "--json", folder=tmp_path)
    if "is installed and no hook" in done.stderr or "no plugin named" in done.stderr:
        assert name in ("estimator", "jax", "sklearn", "torch")
        return
    shown = json.loads(done.stdout)
    assert (shown["name"], shown["distribution"]) == (name, f"tenterhooks-{name}")
    assert shown["stages"]
    assert all(option["help"] for option in shown["options"])


# Examples


@pytest.mark.parametrize(
    ("example", "hooks"),
    [
        ("digits", ["step-counter", "summary", "stop-at-step", "nan", "logging", "final-ops", "checkpoint"]),
        ("bandit", ["stop-at-step", "logging", "checkpoint"]),
        ("simulation", ["stop-at-step", "logging", "summary", "Average", "checkpoint"]),
    ],
)
def test_the_lifecycle_of_an_example_is_shown_and_nothing_is_trained(
    example: str, hooks: list[str], tmp_path: Path
) -> None:
    done = run(
        "-W",
        "default",
        "-m",
        "tenterhooks",
        "lifecycle",
        ROOT / f"docs/examples/{example}.py",
        "--json",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (session,) = json.loads(done.stdout)["sessions"]
    assert [hook["name"] for hook in session["hooks"]] == hooks
    assert [call["hook"] for call in session["stages"]["after_create_session"]][-1] == "checkpoint"
    assert list(tmp_path.iterdir()) == []


def test_an_example_has_the_hooks_of_the_command_line(tmp_path: Path) -> None:
    flags = ["--hook", "nan:loss_tensor=regret", "--no-hook", "logging", "--", "--dir", "here", "--steps", "200"]
    done = run("-m", "tenterhooks", "run", ROOT / "docs/examples/bandit.py", *flags, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of 200 plays were won" in done.stdout
    assert "nan (tenterhooks-nan 0.1.0, command line --hook nan)" in done.stderr
    assert "logging (tenterhooks-logging 0.1.0, switched off by command line --no-hook logging)" in done.stderr
    assert (tmp_path / "here").is_dir()


# A plugin that is made


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that `tenterhooks new` has made."""
    folder = tmp_path_factory.mktemp("new")
    done = run("-m", "tenterhooks", "new", "best-loss", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "tenterhooks-best-loss"


@pytest.mark.parametrize(
    "tool",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy", "src", "tests"),
        ("pytest", "-q", "-p", "no:cacheprovider"),
    ],
)
def test_a_new_project_passes_its_own_checks(tool: tuple[str, ...], project: Path) -> None:
    done = run("-m", *tool, folder=project, path=project / "src")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_projects_hook_keeps_the_contract(project: Path) -> None:
    done = run("-m", "tenterhooks", "check", "tenterhooks_best_loss:BestLossHook", folder=project, path=project / "src")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout


# A plugin that is made in this repository


def by_hand(said: str, heading: str) -> str:
    """What is to be added below a heading."""
    match = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^to |^then: )", said, re.MULTILINE | re.DOTALL)
    assert match, said
    return match[1]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with a new plugin, and with what was to be added by hand."""
    copy = tmp_path_factory.mktemp("repository")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is no checkout of the repository")
    for file in listed.stdout.splitlines():
        if (ROOT / file).is_file():
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, copy / file)
    done = run("-m", "tenterhooks", "new", "best-loss", "--in-repo", folder=copy)
    assert done.returncode == 0, done.stderr
    requirements = copy / "requirements-dev.txt"
    line = by_hand(done.stdout, "to requirements-dev.txt:")
    requirements.write_text(requirements.read_text("utf-8").replace("-e ./core\n", f"-e ./core\n{line}"), "utf-8")
    readme = copy / "README.md"
    row = by_hand(done.stdout, "to the table of plugins in README.md:")
    readme.write_text(readme.read_text("utf-8").replace("| [`checkpoint`]", f"{row}| [`checkpoint`]"), "utf-8")
    options = copy / "docs/reference/plugins.md"
    section = by_hand(done.stdout, "to docs/reference/plugins.md:")
    options.write_text(options.read_text("utf-8") + "\n" + section, "utf-8")
    return copy


@pytest.mark.parametrize(
    "tool",
    [
        ("ruff", "check", "plugins/best-loss", "tests/plugins/best-loss"),
        ("ruff", "format", "--check", "plugins/best-loss", "tests/plugins/best-loss"),
        ("mypy", "--strict", "plugins/best-loss/src"),
        ("mypy", "--strict", "--no-strict-equality", "--no-warn-unreachable", "tests/plugins/best-loss/test_hook.py"),
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/ecosystem/test_workspace.py", "tests/plugins/best-loss"),
        (
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/ecosystem/test_docs.py",
            "-k",
            "options or table or offer or links",
        ),
    ],
)
def test_a_new_plugin_is_one_of_this_repository(tool: tuple[str, ...], repository: Path) -> None:
    done = run("-m", *tool, folder=repository, path=repository / "plugins/best-loss/src")
    assert done.returncode == 0, done.stdout + done.stderr
