"""Faults of the arguments are one line, with what is near."""

import pytest

from tenterhooks.cli.parsing import Parser, add_json


def parser() -> Parser:
    made = Parser("tenterhooks show")
    made.add_argument("--hook")
    add_json(made)
    return made


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(arguments)
    assert ended.value.code == 2
    out, error = capsys.readouterr()
    assert out == ""
    return str(error)


def test_an_unknown_flag_has_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "--hok=nan") == (
        "tenterhooks: error: show: nothing takes '--hok=nan'; the nearest: '--hook', '--json', '--help'; "
        "see tenterhooks show --help\n"
    )


def test_what_is_too_much_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "a", "b") == (
        "tenterhooks: error: show: nothing takes 'a b'; see tenterhooks show --help\n"
    )


def test_a_flag_is_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing takes '--jso'" in error_of(capsys, "--jso")


def test_what_is_right_is_parsed() -> None:
    parsed = parser().parse_args(["--json", "--hook", "nan"])
    assert (parsed.json, parsed.hook) == (True, "nan")
