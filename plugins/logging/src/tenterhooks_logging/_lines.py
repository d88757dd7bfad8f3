"""A file of lines that is whole whatever happens, and that holds no line twice when a session goes on with it."""

import contextlib
import io
import itertools
import logging
import math
import os
import shutil
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["LineFile"]

_log = logging.getLogger("tenterhooks_logging")

# Weakly: a session that was dropped unclosed does not keep its file from being written.
_open: "weakref.WeakValueDictionary[Path, LineFile]" = weakref.WeakValueDictionary()


class LineFile(ABC):
    """Lines by global step, each of which is handed to the system at once.

    Args:
        path: The file; the folder is made if it is not there.

    Raises:
        ValueError: Something else in this process writes there.
        OSError: There is a folder or a device.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and not path.is_file():
            what = (
                "a folder: give a file in it" if path.is_dir() else "no file that can be read again: give another path"
            )
            raise OSError(f"{path} is {what}")
        # A file that is replaced takes the place of what a link leads to.
        self.path = path.resolve()
        if self.path in _open:
            raise ValueError(f"another hook writes to {path}: give one of them another path")
        _open[self.path] = self
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: io.FileIO | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can be written."""
        return self._file is not None

    @abstractmethod
    def as_written(self, value: Any, tag: str) -> Any:
        """A value as the format has it.

        Raises:
            TypeError: It is of a type that cannot be written.
            ValueError: It cannot be written in this format.
        """

    @abstractmethod
    def write(self, step: int, time: float, values: dict[str, Any]) -> None:
        """Add the values of a step, by tag, as they are written."""

    @abstractmethod
    def write_end(self, step: int, time: float, how: str) -> None:
        """Say how the session ended, where the format has a place for that."""

    @abstractmethod
    def step_of(self, line: bytes) -> float | None:
        """The step of a line; infinity for one that is to go when a session goes on, None for what tells no step."""

    def begin(self) -> None:
        """Open an empty file; what is there already is given another name."""
        if self._has_content():
            older = next(path for path in self._names() if not path.exists())
            self.path.rename(older)
            _log.info("%s is of an earlier run and is called %s now", self.path, older.name)
        self._open("wb")

    def go_on(self, step: int) -> None:
        """Open the file, without what was written after a step, and without a last line that is not whole."""
        self._close_file()
        if self.path.exists():
            end = self._end_of(step)
            if end < self.path.stat().st_size:
                # In one call of the system, which is made or not.
                os.truncate(self.path, end)
        self._open("ab")

    def append(self, line: bytes) -> None:
        """Add a line with its end, as a whole or not at all.

        Raises:
            FileNotFoundError: The file was removed or replaced meanwhile, so the line would go nowhere.
        """
        assert self._file is not None
        self._check_there()
        end = self._file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            # A disk that is full took a part of it.
            self._file.truncate(end)
            raise

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write no more. Closing twice is harmless."""
        self._close_file()
        if _open.get(self.path) is self:
            del _open[self.path]

    def replace(self, lines: Iterable[bytes]) -> None:
        """Put a file with other lines in the place of this one."""
        self._check_there()
        new = self.path.with_name(self.path.name + ".tmp")
        with new.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(self.path, new)
        # Windows replaces nothing that is open.
        self._close_file()
        try:
            new.replace(self.path)
        finally:
            self._open("ab")

    def lines(self) -> Iterator[bytes]:
        """What is in the file; nothing where there is none."""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            yield from file

    def _check_there(self) -> None:
        assert self._file is not None
        try:
            there = os.path.samestat(self.path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            there = False
        if not there:
            raise FileNotFoundError(f"{self.path} was removed or replaced while it was written")

    def _open(self, mode: str) -> None:
        self._close_file()
        # Without a buffer: what a full disk refuses is then not written later, after what it took.
        file = self.path.open(mode, buffering=0)
        assert isinstance(file, io.FileIO)
        self._file = file

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _has_content(self) -> bool:
        """Whether there is more than how a session ended."""
        return any(self.step_of(line) != math.inf for line in self.lines())

    def _end_of(self, step: int) -> int:
        """Where in the file what belongs to later steps begins."""
        end = 0
        for line in self.lines():
            of_line = self.step_of(line)
            if not line.endswith(b"\n") or (of_line is not None and of_line > step):
                break
            end += len(line)
        return end

    def _names(self) -> Iterator[Path]:
        """Names for what is there already."""
        for number in itertools.count(1):
            yield self.path.with_name(f"{self.path.stem}-{number}{self.path.suffix}")
