"""What surrounds a session: the time, and the log."""

import logging
from typing import Self

__all__ = ["Listener", "ManualClock"]

_CORE = "tenterhooks"


class ManualClock:
    """A clock that stands still until somebody moves it: for the option `clock` of a hook, and for `sleep`.

    Args:
        now: What it shows, in seconds.

    Example:
        >>> clock = ManualClock()
        >>> clock.advance(2.5)
        >>> clock()
        2.5
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """What it shows."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class Listener(logging.Handler):
    """Keeps what is logged in its block, at INFO or above, by others than the core.

    A logger that has a higher level of its own, or does not propagate, is not heard.

    Attributes:
        records: What it has kept.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.records: list[logging.LogRecord] = []
        self._level = logging.NOTSET

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        if record.name != _CORE and not record.name.startswith(f"{_CORE}."):
            self.records.append(record)

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(min(root.level, logging.INFO))
        root.addHandler(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._level)
