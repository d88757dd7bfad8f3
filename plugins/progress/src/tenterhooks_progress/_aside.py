"""Log records and warnings above the bar: while it is shown, they are written so that the bar makes room."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TextIO

__all__ = ["LogsAside", "is_terminal"]


def is_terminal(stream: Any) -> bool:
    """Whether what is written there is shown on a screen that knows control characters."""
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        # It is no file, or is closed.
        return False


class _Aside:
    """The stream of a handler, from which it writes while the bar makes room."""

    def __init__(self, stream: Any, room: Callable[[], AbstractContextManager[None]]) -> None:
        self.stream = stream
        self._room = room

    def write(self, text: str) -> None:
        with self._room():
            self.stream.write(text)
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _WarningsAside:
    """Shows a warning as it was shown before, while the bar makes room."""

    def __init__(self, show: Callable[..., None], room: Callable[[], AbstractContextManager[None]]) -> None:
        self.show = show
        self._room = room

    def __call__(self, *warning: Any, **where: Any) -> None:
        with self._room():
            self.show(*warning, **where)


class LogsAside:
    """Has handlers write while the bar makes room: those of all loggers that write to a terminal, or beside the bar.

    Their lists of handlers are left alone, and each handler gets its stream back unless it was given another one
    meanwhile. Warnings make room too.

    Args:
        file: Where the bar is.
        room: Gives a block in which no bar is shown in a file.
    """

    def __init__(self, file: TextIO, room: Callable[[TextIO], AbstractContextManager[None]]) -> None:
        self._file = file
        self._room = room
        self._taken: list[tuple[logging.StreamHandler[Any], _Aside]] = []
        self._last_resort: tuple[logging.Handler, logging.Handler] | None = None
        self._warnings: _WarningsAside | None = None

    def take(self) -> None:
        """Take those that there are, of which some may be new."""
        # Its stream cannot be set, and is looked up anew for each record.
        last = logging.lastResort
        if self._last_resort is None and last is not None and self._is_beside(sys.stderr):
            instead = logging.StreamHandler(self._aside(sys.stderr))
            instead.setLevel(last.level)
            logging.lastResort = instead
            self._last_resort = last, instead
        if self._is_beside(sys.stderr) and not isinstance(warnings.showwarning, _WarningsAside):
            self._warnings = _WarningsAside(warnings.showwarning, self._make_room)
            warnings.showwarning = self._warnings
        for handler in _handlers():
            # Set at once, and not by `setStream`, which waits for whoever logs: that may wait for the bar.
            if self._is_beside(handler.stream):
                handler.stream = stream = self._aside(handler.stream)
                self._taken.append((handler, stream))

    def give_back(self) -> None:
        """Give all of them back what they had."""
        while self._taken:
            handler, stream = self._taken.pop()
            if handler.stream is stream:
                handler.stream = stream.stream
        if self._last_resort is not None:
            last, instead = self._last_resort
            if logging.lastResort is instead:
                logging.lastResort = last
            self._last_resort = None
        if self._warnings is not None:
            if warnings.showwarning is self._warnings:
                warnings.showwarning = self._warnings.show
            self._warnings = None

    def _aside(self, stream: Any) -> _Aside:
        return _Aside(stream, self._make_room)

    def _make_room(self) -> AbstractContextManager[None]:
        return self._room(self._file)

    def _is_beside(self, stream: Any) -> bool:
        return not isinstance(stream, _Aside) and (stream is self._file or is_terminal(stream))


def _handlers() -> Iterator["logging.StreamHandler[Any]"]:
    """The handlers with a stream, of all loggers."""
    root = logging.getLogger()
    for logger in (root, *list(root.manager.loggerDict.values())):
        if isinstance(logger, logging.Logger):
            yield from (handler for handler in logger.handlers if isinstance(handler, logging.StreamHandler))
