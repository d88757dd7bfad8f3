"""Numbers of bytes, and times, as people read them."""

from datetime import datetime

__all__ = ["byte_count", "local_time"]


def byte_count(count: int) -> str:
    """A number of bytes as people read it, such as `1.5 MiB`."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1000:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def local_time(time: datetime | None) -> str:
    """A time as the clock on the wall shows it; `-` for None."""
    if time is None:
        return "-"
    try:
        return time.astimezone().replace(tzinfo=None).isoformat(" ", "seconds")
    except (OSError, OverflowError, ValueError):  # a year that the system cannot convert
        return time.isoformat(" ", "seconds")
