"""Whatever stands in a line, a terminal can show it."""

import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tenterhooks_checkpoint._text import byte_count, columns, local_time, say, say_json


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


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (64 << 20, "64.0 MiB"),
        (5 << 30, "5.0 GiB"),
        (3 << 40, "3.0 TiB"),
        (5000 << 40, "5000.0 TiB"),
    ],
)
def test_byte_counts(count: int, shown: str) -> None:
    assert byte_count(count) == shown


def test_time_is_that_of_the_place() -> None:
    time = datetime(2025, 3, 1, 12, 0, 3, tzinfo=UTC)
    assert local_time(time) == time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert local_time(None) == "-"


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("hours", [-23, 23])
def test_time_of_any_year_can_be_shown(year: int, hours: int) -> None:
    time = datetime(year, 1 if year == 1 else 12, 1 if year == 1 else 31, 12, tzinfo=timezone(timedelta(hours=hours)))
    assert len(local_time(time)) >= 19
