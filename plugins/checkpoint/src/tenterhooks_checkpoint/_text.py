"""Lines of text that a terminal can show, whatever stands in them."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TextIO

__all__ = ["byte_count", "columns", "local_time", "say", "say_json"]


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line, by default to the standard output, with what cannot be printed as escapes.

    Names in a checkpoint, and names of files, may hold anything: line ends, or what a terminal takes for a command.
    """
    stream = sys.stdout if stream is None else stream
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
    encoding = stream.encoding or "utf-8"
    stream.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def say_json(content: Any) -> None:
    """Print JSON."""
    # Piece by piece: of a large checkpoint the whole text would take much memory.
    json.dump(content, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> Iterator[str]:
    """The rows with their cells below each other, at the left, or at the right in the columns of these numbers."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


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
