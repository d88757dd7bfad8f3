"""Numbers of bytes, and times, as people read them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tenterhooks_checkpoint._text import byte_count, local_time


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
