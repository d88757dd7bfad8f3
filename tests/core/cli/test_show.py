"""What is said of one hook: its options, its stages, and where it comes from."""

import json

import pytest

from tenterhooks.testing import FakeDistributions as Install

from .commands import GUARD, said_in_process


@pytest.fixture
def guard(install: Install) -> Install:
    """Has a hook `guard`."""
    install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"}, version="2.5", fake_guard=GUARD)
    return install


def test_a_reader_gets_all_of_it(guard: Install, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "show", "guard")
    assert (said.code, said.error) == (0, "")
    assert said.out == (
        "guard (fake_guard:GuardHook, from tenterhooks-guard 2.5)\n"
        "\n"
        "Guards.\n"
        "\n"
        "It never sleeps.\n"
        "\n"
        "options:\n"
        "  limit: float, default 1.0\n"
        "      What is too much.\n"
        "  strict: bool, default False\n"
        "      Whether it is.\n"
        "      outside of code: true or false\n"
        "  names: list[str] | None, default None\n"
        "      What it looks at.\n"
        "      outside of code: a list of str or none\n"
        "  inspect: any type, default builtins.max\n"
        "      What looks.\n"
        "      outside of code: cannot be given\n"
        "\n"
        "stages: begin, before_save\n"
    )


def test_a_program_gets_all_of_it(guard: Install, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(said_in_process(capsys, "show", "guard", "--json").out)
    limit, *_, inspect = shown.pop("options")
    assert shown == {
        "name": "guard",
        "distribution": "tenterhooks-guard",
        "version": "2.5",
        "target": "fake_guard:GuardHook",
        "description": "Guards.\n\nIt never sleeps.",
        "stages": ["begin", "before_save"],
    }
    assert limit == {
        "name": "limit",
        "type": "float",
        "default": "1.0",
        "required": False,
        "outside_of_code": "float",
        "help": "What is too much.",
    }
    assert (inspect["type"], inspect["outside_of_code"]) == (None, None)


def test_an_option_without_a_default_is_required(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "def needy(path: str): ...\n"
    install("tenterhooks-needy", {"needy": "fake_needy:needy"}, fake_needy=source)
    said = said_in_process(capsys, "show", "needy")
    assert "  path: str, required\n" in said.out
    assert "stages: not known before it is made\n" in said.out


def test_one_that_cannot_be_imported_is_one_line_with_the_cause(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("tenterhooks-bad", {"bad": "fake_bad:Bad"}, version="2.5", fake_bad="1 / 0\n")
    said = said_in_process(capsys, "show", "bad", "--json")
    assert (said.code, said.out, said.error.count("\n")) == (1, "", 1)
    assert said.error.startswith(
        "tenterhooks: error: plugin 'bad' (tenterhooks-bad 2.5) cannot be imported from 'fake_bad:Bad': "
        "ZeroDivisionError: division by zero; "
    )


def test_what_is_no_hook_is_said(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("tenterhooks-other", {"my-framework": "other:thing"}, group="tenterhooks.state")
    said = said_in_process(capsys, "show", "my-framework")
    assert said.error == (
        "tenterhooks: error: 'my-framework' is installed and no hook: it is in the group tenterhooks.state\n"
    )


def test_what_its_import_prints_is_not_among_the_json(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "import tenterhooks as th\nprint('imported')\nclass Plain(th.SessionRunHook): ...\n"
    install("tenterhooks-plain", {"plain": "fake_plain:Plain"}, fake_plain=source)
    said = said_in_process(capsys, "show", "plain", "--json")
    assert json.loads(said.out)["name"] == "plain"
    assert said.error == "imported\n"


def test_of_a_hook_without_a_docstring_nothing_is_said(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "import tenterhooks as th\nclass Plain(th.SessionRunHook): ...\n"
    install("tenterhooks-plain", {"plain": "fake_plain:Plain"}, fake_plain=source)
    assert json.loads(said_in_process(capsys, "show", "plain", "--json").out)["description"] == ""
