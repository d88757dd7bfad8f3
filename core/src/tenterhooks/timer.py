"""When a periodic hook is due."""

import math
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["SecondOrStepTimer", "Timer"]


class Timer(Protocol):
    """What a hook's attribute `timer` is: the hook is called in the runs in which this says that it is due.

    It is asked in the runs that may be due by what `next_trigger` said. What is asked about is the global step that the
    run leads to, or where the hook has `timer_counts = "runs"` the number of runs that the session has completed.
    """

    @property
    def clock(self) -> Callable[[], float]:
        """Gives the time, in the unit of `next_trigger`."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether this step is due. Asking changes nothing."""

    def next_trigger(self) -> tuple[float, float]:
        """The step and the time before both of which nothing is due; `math.inf` for one that does not decide."""


class SecondOrStepTimer:
    """Due every so many seconds, or every so many steps.

    Behaves as TensorFlow's class of the same name: the first step asked about is due; asking changes nothing, only
    `update_last_triggered_step` does; the step that triggered last is never due again; the grid starts at the first
    trigger. Time is monotonic, so a change of the clock does not matter.

    Args:
        every_secs: The period in seconds, at least 0.
        every_steps: The period in steps, at least 0. Exactly one of the two is given.
        clock: Gives the time in seconds.

    Attributes:
        every_secs: The period in seconds, or None.
        every_steps: The period in steps, or None.
        clock: Gives the time in seconds.

    Raises:
        ValueError: Both periods or none were given, or the one that was is negative or NaN.
        TypeError: The period is no number.
    """

    def __init__(
        self,
        every_secs: float | None = None,
        every_steps: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (every_secs is None) == (every_steps is None):
            raise ValueError(
                f"exactly one of every_secs and every_steps must be given, not {every_secs=} and {every_steps=}"
            )
        period = every_secs if every_secs is not None else every_steps
        try:
            is_period = period is None or period >= 0
        except TypeError:
            raise TypeError(f"a period is a number, not {period!r} of type {type(period).__name__}") from None
        if not is_period:
            raise ValueError(f"a period is 0 or more, not {period}")
        self.every_secs = every_secs
        self.every_steps = every_steps
        self.clock = clock
        self.reset()

    def reset(self) -> None:
        """Forget the last trigger."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether this step is due."""
        last = self._last_step
        if last is None or self._last_time is None:
            return True
        if step == last:
            return False
        period = self.every_steps
        if period is not None:
            return step >= last + period
        assert self.every_secs is not None
        return self.clock() >= self._last_time + self.every_secs

    def next_trigger(self) -> tuple[float, float]:
        """The step and the time before both of which nothing is due, `math.inf` for the one that does not decide."""
        if self._last_step is None or self._last_time is None:
            return -math.inf, -math.inf
        if self.every_steps is not None:
            return self._last_step + self.every_steps, math.inf
        assert self.every_secs is not None
        return math.inf, self._last_time + self.every_secs

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that this step triggered.

        Returns:
            The seconds and the steps since the trigger before, both None at the first.
        """
        now = self.clock()
        if self._last_step is None or self._last_time is None:
            elapsed: tuple[float | None, int | None] = (None, None)
        else:
            elapsed = (now - self._last_time, step - self._last_step)
        self._last_step, self._last_time = step, now
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step that triggered last, None if there was none."""
        return self._last_step
