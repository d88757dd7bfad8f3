"""The time that a session stood still, since its program or a hook did something that is no part of its loop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Pauses"]


class Pauses:
    """Sums up the seconds of a session's pauses, for one thread."""

    def __init__(self) -> None:
        self._over = 0.0
        self._begun = 0.0
        # That of the pause under way, if there is one.
        self._clock: Callable[[], float] | None = None

    @property
    def secs(self) -> float:
        """The seconds so far, those of a pause under way among them."""
        return self._over if self._clock is None else self._over + self._clock() - self._begun

    @contextmanager
    def pause(self, clock: Callable[[], float]) -> Iterator[None]:
        """What runs within is a pause, however it ends. Within another one it is a part of that.

        Args:
            clock: Gives the time in seconds.
        """
        if self._clock is not None:
            yield
            return
        try:
            self._begun = clock()
            self._clock = clock
            yield
        finally:
            self._over, self._clock = self.secs, None
