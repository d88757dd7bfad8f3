"""How long a session takes, and how many steps a second it makes."""

from collections.abc import Callable

__all__ = ["Pace"]


class Pace:
    """Measures the time and the rate of this process alone, without pauses.

    The rate is the mean since what was measured first, since the first step often takes longer than all others.

    Args:
        clock: Gives the time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = clock()
        self._since: list[tuple[int, float]] = []

    def begin(self, step: int, paused_secs: float) -> None:
        """Measure from this step on; the time goes on if there was one before.

        Args:
            step: The global step.
            paused_secs: The seconds so far that are not to be counted.
        """
        self._since = [(step, self._secs(paused_secs))]

    def at(self, step: int, paused_secs: float) -> tuple[float, float | None]:
        """The seconds so far, and the steps per second, None where they cannot be told.

        Args:
            step: The global step.
            paused_secs: The seconds so far that are not to be counted.
        """
        now = self._secs(paused_secs)
        begun, secs = self._since[-1]
        if len(self._since) == 1 and step > begun:
            self._since.append((step, now))
        return now, (step - begun) / (now - secs) if step > begun and now > secs else None

    def _secs(self, paused_secs: float) -> float:
        return self._clock() - self._begun - paused_secs
