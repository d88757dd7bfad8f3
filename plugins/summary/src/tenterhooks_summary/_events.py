"""Summaries as the records of an event file. Imported where something is written: it takes as long as NumPy does."""

import struct
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, TypeAlias

from google_crc32c import value as crc32c
from tensorboardX.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
from tensorboardX.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

__all__ = ["Item", "began", "begun_file", "ended", "records"]

# So many of one step are one record.
_MOST_VALUES = 1000


# What is to be written: the global step, the time of day, the tag (None of what is no summary), the value, and what
# makes a summary of the tag and that, None where it is a number. There are many of these, so it is no class.
Item: TypeAlias = tuple[int, float, str | None, Any, Callable[[str, Any], Any] | None]


def records(items: Iterable[Item]) -> bytes:
    """The records of items. Those of one step that follow each other are one, with the time of the first."""
    made = []
    for (step, is_summary), group in groupby(items, lambda item: (item[0], item[2] is not None)):
        alike = list(group)
        if not is_summary:
            made += [_record(wall_time=item[1], step=step, session_log=item[3]) for item in alike]
            continue
        for start in range(0, len(alike), _MOST_VALUES):
            some = alike[start : start + _MOST_VALUES]
            values = [
                Summary.Value(tag=tag, simple_value=value) if encode is None else encode(tag, value)
                for _, _, tag, value, encode in some
                if tag is not None
            ]
            made.append(_record(wall_time=some[0][1], step=step, summary=Summary(value=values)))
    return b"".join(made)


def began() -> Any:
    """The mark by which TensorBoard knows a restart: what it has read of that step or later is no longer shown."""
    return SessionLog(status=SessionLog.START)


def begun_file(first: Item) -> bytes:
    """What a file begins with: the version, and the mark of a restart unless its first item is that."""
    step, wall_time, tag, *_ = first
    version = _record(wall_time=wall_time, file_version="brain.Event:2")
    return version if tag is None else version + _record(wall_time=wall_time, step=step, session_log=began())


def ended(exception: BaseException | None) -> Any:
    """The mark that a session ended, and of what."""
    return SessionLog(
        status=SessionLog.STOP, msg="" if exception is None else f"{type(exception).__name__}: {exception}"
    )


def _record(**fields: Any) -> bytes:
    """An event as a record: its length, its bytes, and a checksum of each."""
    data: bytes = Event(**fields).SerializeToString()
    length = struct.pack("<Q", len(data))
    return b"".join((length, _checksum(length), data, _checksum(data)))


def _checksum(data: bytes) -> bytes:
    """CRC-32C, masked as records have it: what holds checksums itself has none that is so by chance."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
