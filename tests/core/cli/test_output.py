"""What is printed can be shown by a terminal, and read by a program."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenterhooks import PluginError
from tenterhooks.cli.output import FAILED, USAGE, FailureError, UsageError, columns, reserved, say, say_json


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


def test_what_others_print_meanwhile_goes_to_the_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with reserved():
        print("by Python")
        os.write(1, b"by the system\n")
        subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
    say("mine")
    out, error = capfd.readouterr()
    assert out == "mine\n"
    assert sorted(error.splitlines()) == ["by Python", "by a child", "by the system"]


def test_the_output_is_that_of_before_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="broken"), reserved():
        raise ValueError("broken")
    os.write(1, b"mine\n")
    assert capfd.readouterr().out == "mine\n"


def test_a_process_without_an_output_has_nothing_to_keep_apart(tmp_path: Path) -> None:
    source = "import os, tenterhooks.cli.output as o\nos.close(1)\nwith o.reserved():\n    print('text', flush=True)\n"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "text\n")
