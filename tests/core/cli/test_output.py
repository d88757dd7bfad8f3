"""What is printed can be shown by a terminal, and read by a program."""

import io
import json
import sys

import pytest

from tenterhooks import PluginError
from tenterhooks.cli.output import FAILED, USAGE, FailureError, UsageError, columns, say, say_json


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain", "plain"),
        ("\u00e4 \u4e2d", "\u00e4 \u4e2d"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\ud800", "\\ud800"),
        ("\u202eback", "\\u202eback"),
    ],
    ids=ascii,
)
def test_what_cannot_be_printed_is_escaped(line: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(line)
    assert capsys.readouterr().out == f"{shown}\n"


def test_what_the_stream_cannot_encode_is_escaped() -> None:
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, encoding="ascii")
    say("\u00e4", stream)
    stream.flush()
    assert content.getvalue().splitlines() == [b"\\xe4"]


def test_json_is_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"name": "\u00e4\ud800\n"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"name": "\u00e4\ud800\n"}


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert list(columns([("a", "10", "x"), ("abc", "9", "")], right=[1])) == ["a    10  x", "abc   9"]


def test_no_rows_are_no_lines() -> None:
    assert list(columns([])) == []


def test_each_error_has_its_exit_code() -> None:
    assert (FailureError("x").code, UsageError("x").code) == (FAILED, USAGE)
    # Who uses the command as a library catches them as those of plugins.
    assert issubclass(UsageError, PluginError)


def test_the_standard_output_is_that_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    other = io.StringIO()
    monkeypatch.setattr(sys, "stdout", other)
    say("here")
    assert other.getvalue() == "here\n"
