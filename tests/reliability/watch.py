"""Watches what Python does on behalf of code that shall only read."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Watch"]

# What a reader has no reason to do. Two more events are looked at with their arguments.
_FORBIDDEN = (
    *(
        "code.__new__",
        "compile",
        "ctypes.",
        "exec",
        "import",
        "marshal.",
        "pickle.",
        "shutil.",
        "socket.",
        "subprocess.",
    ),
    *("os.chmod", "os.chown", "os.exec", "os.fork", "os.link", "os.mkdir", "os.posix_spawn", "os.remove", "os.rename"),
    *("os.rmdir", "os.setxattr", "os.spawn", "os.symlink", "os.system", "os.truncate", "os.utime", "tempfile."),
)


class Watch:
    """Notes what the code under test does that it has no reason to do.

    Args:
        folder: The only one in which it may open files, and only to read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder) + os.sep
        self._armed = False
        self.noted: list[str] = []
        sys.addaudithook(self._look)

    @contextmanager
    def armed(self) -> Iterator[None]:
        self._armed = True
        try:
            yield
        finally:
            self._armed = False

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._armed:
            return
        self._armed = False  # what this does itself is not looked at
        try:
            if self._is_foul(event, arguments):
                self.noted.append(f"{event} {arguments!r:.300}")
        finally:
            self._armed = True

    def _is_foul(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int):
                return False
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            return bool(writes) or not os.path.realpath(path).startswith(self._folder)
        if event == "os.kill":
            return bool(arguments[1])
        return event.startswith(_FORBIDDEN)
