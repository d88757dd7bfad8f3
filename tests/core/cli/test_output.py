"""What is printed can be shown by a terminal, and read by a program."""

import io
import json
import sys

import pytest

from tenterhooks import PluginError
from tenterhooks.cli.output import FAILED, USAGE, FailureError, UsageError, columns, say, say_json


def test_cells_stand_below_each_other() -> None:
    assert list(columns([("a", "bcd", ""), ("ef", "g", "h")])) == ["a   bcd", "ef  g    h"]


def test_what_a_terminal_would_obey_is_printed_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[2J\nb\ud800")
    assert capsys.readouterr().out == "a\\x1b[2J\\nb\\ud800\n"


def test_what_an_encoding_lacks_is_printed_as_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    say("naïve", stream)
    stream.flush()
    assert raw.getvalue().decode("ascii").strip() == "na\\xefve"


def test_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"a": [1, None]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, None]}


def test_each_error_has_its_exit_code() -> None:
    assert (FailureError("x").code, UsageError("x").code) == (FAILED, USAGE)
    # Who uses the command as a library catches them as those of plugins.
    assert issubclass(UsageError, PluginError)


def test_the_standard_output_is_that_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    other = io.StringIO()
    monkeypatch.setattr(sys, "stdout", other)
    say("here")
    assert other.getvalue() == "here\n"
