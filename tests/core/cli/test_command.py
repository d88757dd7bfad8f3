"""The command as a whole: help, exit codes, and what it takes to start."""

import re
import subprocess
import sys

import pytest

from tenterhooks.cli import command, plugin_commands
from tenterhooks.cli.output import INTERRUPTED, UNREAD
from tenterhooks.testing import FakeDistributions as Install

from .commands import said_in_process, tenterhooks


def test_the_help_lists_all_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "--help")
    assert said.code == 0
    listed = re.findall(r"^    (\w+)(?:  |$)", said.out, re.MULTILINE)
    assert listed == list(plugin_commands.BUILT_IN)
    assert "exit codes: 0 " in said.out


@pytest.mark.parametrize("name", plugin_commands.BUILT_IN)
def test_each_subcommand_has_a_help_that_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, name, "--help")
    assert (said.code, said.error) == (0, "")
    assert "exit codes: " in said.out
    assert f"usage: tenterhooks {name}" in said.out


def test_the_parser_has_the_subcommands_in_that_order() -> None:
    (subparsers,) = (action for action in command.build_parser()._actions if action.dest == "subcommand")
    assert subparsers.choices is not None
    assert tuple(subparsers.choices) == plugin_commands.BUILT_IN


def test_it_says_its_version() -> None:
    import importlib.metadata

    said = tenterhooks("--version")
    assert (said.code, said.out) == (0, f"tenterhooks {importlib.metadata.version('tenterhooks')}\n")


def test_without_arguments_it_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys)
    assert said.code == 2
    assert said.error.startswith("tenterhooks: error: a subcommand is missing: run, plugins, ")


def test_the_script_that_pip_installs_is_the_same_command() -> None:
    import importlib_metadata

    (script,) = importlib_metadata.entry_points(group="console_scripts", name="tenterhooks")
    assert script.load() is command.main


def test_it_imports_no_more_than_the_library_and_its_own_modules() -> None:
    program = """
import sys, tenterhooks, importlib_metadata
importlib_metadata.entry_points()
before = set(sys.modules)
from tenterhooks.cli import main
main(["plugins"])
new = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names
print(*sorted(new), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.split()) <= {"importlib_metadata", "numpy", "pluggy", "tenterhooks"}


def test_the_library_imports_nothing_of_the_command() -> None:
    program = (
        "import sys, tenterhooks; print([name for name in sys.modules if name in ('argparse', 'tenterhooks.cli')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "[]\n"


def test_whoever_stops_reading_is_no_error() -> None:
    line = [sys.executable, "-W", "error", "-m", "tenterhooks", "completion", "bash"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        error = process.stderr.read()
        assert process.wait(timeout=60) == UNREAD
    assert error == ""


def test_ctrl_c_is_an_exit_code(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "def interrupted(arguments): raise KeyboardInterrupt\n"
    install("tenterhooks-odd", {"odd": "fake_odd:interrupted"}, group=plugin_commands.GROUP, fake_odd=source)
    assert said_in_process(capsys, "odd").code == INTERRUPTED
