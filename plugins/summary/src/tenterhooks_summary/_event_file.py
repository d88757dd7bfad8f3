"""An event file: a sink that makes it in a folder with the first thing that is written."""

import os
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["EventFile"]

_NAME = re.compile(r"events\.out\.tfevents\.(\d+)(?:\.(\d{9}))?\.")


class EventFile:
    """Writes what is encoded into a file of its own.

    Args:
        directory: The folder, which exists.
        begin: Gives the bytes with which a file begins of which this is the first item.
        encode: Makes bytes of items.
    """

    def __init__(self, directory: Path, begin: Callable[[Any], bytes], encode: Callable[[list[Any]], bytes]) -> None:
        self._directory = directory
        self._begin = begin
        self._encode = encode
        self._path: Path | None = None
        self._file: Any = None
        self._first: Any = None
        self._unwritten = bytearray()

    def take(self, items: list[Any]) -> None:
        """Make ready to be written. Those for which that fails are left out, and the error says so."""
        if self._first is None:
            self._first = items[0]
        try:
            self._unwritten += self._encode(items)
        except Exception:
            for error in [error for item in items if (error := self._take_one(item)) is not None]:
                raise error from None

    def _take_one(self, item: Any) -> Exception | None:
        try:
            self._unwritten += self._encode([item])
        except Exception as error:
            error.add_note(f"the summary {item[2]!r} of step {item[0]} is left out")
            return error
        return None

    def push(self) -> None:
        """Hand what was made ready to the system. What an error leaves over is for the next time.

        Raises:
            FileNotFoundError: The file was removed meanwhile, so what is written would go nowhere.
        """
        if not self._unwritten:
            return
        if self._file is None:
            self._open()
        elif os.fstat(self._file.fileno()).st_nlink == 0:
            raise FileNotFoundError(f"the event file {self._path} was removed while it was written")
        # Nothing is buffered besides, so a process that is forked has nothing that it could write once more.
        while self._unwritten:
            del self._unwritten[: self._file.write(self._unwritten)]

    def close(self) -> None:
        """Wait for the disk, and write no more. What could not be written is given up."""
        file, self._file = self._file, None
        self._unwritten.clear()
        if file is not None:
            with file:
                os.fsync(file.fileno())

    def forget(self) -> None:
        """Leave the file to the process from which this one was forked. What is written next goes into another one."""
        file, self._file = self._file, None
        self._first = None
        self._unwritten = bytearray()
        if file is not None:
            file.close()

    def _open(self) -> None:
        self._path = self._directory / _next_name(self._directory)
        self._file = self._path.open("xb", buffering=0)
        self._unwritten[:0] = self._begin(self._first)


def _next_name(directory: Path) -> str:
    """A name that comes after all that are there, whatever the clock says.

    TensorBoard reads the files of a folder in the order of their names, and a resumed run comes after the one before.
    """
    names = filter(None, (_NAME.match(path.name) for path in directory.iterdir()))
    # One of whole seconds may have been made at any time of them.
    taken = [int(name[1]) * 10**9 + int(name[2] or 10**9 - 1) for name in names]
    seconds, nanoseconds = divmod(max([time.time_ns(), *(other + 1 for other in taken)]), 10**9)
    return f"events.out.tfevents.{seconds:010d}.{nanoseconds:09d}.{socket.gethostname()}.{os.getpid()}"
