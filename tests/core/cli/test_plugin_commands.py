"""Subcommands that plugins add: listed from metadata alone, imported when they are used."""

import sys

import pytest

from tenterhooks.cli.plugin_commands import GROUP
from tenterhooks.testing import FakeDistributions as Install

from .commands import said_in_process

ODD = """
import sys

def count(arguments):
    print(len(arguments), arguments)
    return 7 if arguments else None

def words(arguments):
    return "all is well"

def ends(arguments):
    sys.exit("no more")

value = 5
"""


@pytest.fixture
def odd(install: Install) -> Install:
    """Has a distribution with subcommands."""
    entry_points = {
        "count": "fake_odd:count",
        "words": "fake_odd:words",
        "ends": "fake_odd:ends",
        "value": "fake_odd:value",
    }
    install("tenterhooks-odd", entry_points, group=GROUP, version="2.5", fake_odd=ODD)
    return install


def test_it_gets_what_stands_behind_its_name_and_gives_the_exit_code(
    odd: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_in_process(capsys, "count", "--json", "--", "x")
    assert (said.code, said.out) == (7, "3 ['--json', '--', 'x']\n")


def test_nothing_is_a_good_end(odd: Install, capsys: pytest.CaptureFixture[str]) -> None:
    assert said_in_process(capsys, "count").code == 0


def test_what_is_no_exit_code_is_one_line(odd: Install, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "words")
    message = "the subcommand 'words' (tenterhooks-odd 2.5) gave 'all is well', which is no exit code: tell its author"
    assert (said.code, said.error) == (1, f"tenterhooks: error: {message}\n")


def test_it_may_end_the_program_itself(odd: Install) -> None:
    from tenterhooks.cli import main

    with pytest.raises(SystemExit, match="no more"):
        main(["ends"])


def test_the_help_lists_it_and_imports_nothing(odd: Install, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "--help")
    assert "  count        from tenterhooks-odd 2.5\n" in said.out or "  count  from tenterhooks-odd 2.5\n" in " ".join(
        said.out.split(" ")
    )
    assert "fake_odd" not in sys.modules


def test_one_that_cannot_be_imported_is_one_line(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "import a_library_that_is_not_installed\n"
    install("tenterhooks-bad", {"bad": "fake_bad:main"}, group=GROUP, version="2.5", fake_bad=source)
    said = said_in_process(capsys, "bad")
    assert said.code == 1
    assert said.error == (
        "tenterhooks: error: plugin 'bad' (tenterhooks-bad 2.5) cannot be imported from 'fake_bad:main': "
        "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'; "
        "reinstall or remove it (pip install --force-reinstall tenterhooks-bad)\n"
    )


def test_what_is_no_function_is_one_line(odd: Install, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "value")
    assert said.code == 1
    assert said.error == (
        "tenterhooks: error: the subcommand 'value' (tenterhooks-odd 2.5) is no function but 5: tell its author\n"
    )


def test_one_with_the_name_of_a_built_in_is_refused_and_said(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def main(arguments): print('taken over')\n"
    install("tenterhooks-thief", {"plugins": "fake_thief:main"}, group=GROUP, fake_thief=source)
    assert "cannot be used: tenterhooks has a subcommand of that name" in said_in_process(capsys, "--help").out
    said = said_in_process(capsys, "plugins")
    assert "taken over" not in said.out
    assert "! refused: tenterhooks has a subcommand of that name" in said.out


def test_one_that_two_distributions_have_is_an_error_when_it_is_used(
    odd: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    odd("tenterhooks-odder", {"count": "fake_odd:count"}, group=GROUP)
    assert "cannot be used: another distribution has one of that name" in said_in_process(capsys, "--help").out
    said = said_in_process(capsys, "count")
    assert said.code == 1
    assert said.error.startswith("tenterhooks: error: the name 'count' is claimed by tenterhooks-odd 2.5 and ")


def test_an_error_of_its_own_is_not_hidden(install: Install) -> None:
    from tenterhooks.cli import main

    source = "def main(arguments): raise ZeroDivisionError('a fault of the plugin')\n"
    install("tenterhooks-faulty", {"faulty": "fake_faulty:main"}, group=GROUP, fake_faulty=source)
    with pytest.raises(ZeroDivisionError, match="a fault of the plugin"):
        main(["faulty"])
