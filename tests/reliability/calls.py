"""The shim seen from Python: its control within the program that is watched, and what it recorded."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LIBRARY", "Call", "Shim", "read_record"]


LIBRARY = "TENTERHOOKS_SHIM"
"""The environment variable that names the library."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a program made below the folder that is watched, or a mark that it set between two.

    Attributes:
        name: `open`, `write`, `truncate`, `allocate`, `fsync`, `close`, `rename`, `link`, `symlink`, `unlink`, `rmdir`,
            `mkdir`, `chmod`, or `mark`.
        result: What it returned: of a write the number of bytes, of an error its negative number.
        argument: Flags, offset or size; of a mark its number.
        path: The file, relative to the folder; "" is the folder itself.
        to: Of those that name two files the second.
        data: What was written.
    """

    name: str
    result: int
    argument: int
    path: str
    to: str
    data: bytes

    @property
    def changes(self) -> bool:
        """Whether it may change something: between others the disk stays as it is."""
        if self.name == "open":
            return bool(self.argument & (os.O_CREAT | os.O_TRUNC))
        return self.name not in ("mark", "close")

    def __str__(self) -> str:
        what = f" ({len(self.data)} bytes)" if self.data else f" to {self.to}" if self.to else ""
        return f"{self.name} {self.path or '.'}{what}"


class Shim:
    """Controls the shim in this process.

    Raises:
        KeyError: The environment does not name its library.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[LIBRARY])
        self._library.shim_watch.argtypes = [ctypes.c_char_p, ctypes.c_int]
        self._library.shim_kill.argtypes = [ctypes.c_long, ctypes.c_int]
        self._library.shim_fail.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int]
        self._library.shim_mark.argtypes = [ctypes.c_longlong]
        self._library.shim_count.restype = ctypes.c_long

    def watch(self, folder: str | Path, record: str | Path | None = None) -> None:
        """Begin to count at 0, and to record into a file outside of the folder.

        Raises:
            OSError: The system takes no filter for its calls.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        descriptor = -1 if record is None else os.open(record, flags, 0o666)
        error = self._library.shim_watch(os.fsencode(Path(folder).resolve()), descriptor)
        if error:
            raise OSError(error, f"the system takes no seccomp filter: {os.strerror(error)}")

    def count(self) -> int:
        """The number of calls since the watch began."""
        return int(self._library.shim_count())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let all calls pass, and count none."""
        self._library.shim_pause(1)
        try:
            yield
        finally:
            self._library.shim_pause(0)

    def mark(self, number: int) -> None:
        """Put a mark between the calls that are recorded."""
        self._library.shim_mark(number)

    def kill(self, at: int, *, midst: bool = False) -> None:
        """End the process by SIGKILL before a call, or when half of it is written if it is a write."""
        self._library.shim_kill(at, midst)

    def fail(self, at: int, error: int, *, short: bool = False) -> None:
        """Fail one call. `short`: if it is a write, write half of it, and fail the next call unless the error is 0."""
        self._library.shim_fail(at, error, short)


def read_record(path: Path) -> list[Call]:
    """All that was recorded, in order."""
    return list(_calls_in(path.read_bytes()))


def _calls_in(content: bytes) -> Iterator[Call]:
    position = 0
    while position < len(content):
        end = content.index(b"\n", position)
        name, result, argument, size, path, to = content[position:end].decode().split("\t")
        position = end + 1 + int(size)
        data = content[end + 1 : position]
        yield Call(name, int(result), int(argument), path, to, data)
