"""When a periodic hook is due."""

import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Protocol

__all__ = ["SecondOrStepTimer", "Timer", "check_steps"]


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
        ValueError: Both periods or none were given, or the one that was is negative or NaN, or steps are not whole.
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
        period: Any = every_secs if every_secs is not None else every_steps
        if isinstance(period, bool) or not isinstance(period, Real):
            raise TypeError(f"a period is a number, not {period!r:.60} of type {type(period).__name__}")
        if not float(period) >= 0:
            raise ValueError(f"a period is 0 or more, not {period}")
        if every_steps is not None and every_steps % 1:
            raise ValueError(f"a period in steps is a whole number, not {every_steps}")
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


def check_steps(name: str, steps: object, least: int | None = 1) -> None:
    """See that a number of steps, or of what else is counted, is whole and at least so much, where it is given.

    Args:
        name: The option that gives it.
        steps: The number; None is fine.
        least: The least that it may be; None where it may be any.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is less.
    """
    if steps is None:
        return
    if isinstance(steps, bool) or not isinstance(steps, Integral):
        raise TypeError(f"{name} is a whole number, not {steps!r:.60} of type {type(steps).__name__}")
    if least is not None and int(steps) < least:
        raise ValueError(f"{name} is {least} or more, not {steps}")
