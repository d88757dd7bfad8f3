"""When a periodic hook is due."""

import math
import time
from collections.abc import Callable

__all__ = ["SecondOrStepTimer"]


class SecondOrStepTimer:
    """Due every so many seconds, or every so many steps.

    Behaves as TensorFlow's class of the same name: the first step asked about is due; asking changes nothing, only
    `update_last_triggered_step` does; the step that triggered last is never due again; the grid starts at the first
    trigger. Time is monotonic, so a change of the clock does not matter.

    Args:
        every_secs: The period in seconds, at least 0.
        every_steps: The period in steps, at least 0. Exactly one of the two is given.
        clock: Gives the time in seconds.

    Raises:
        ValueError: Both periods or none were given, or the one that was is negative or no number.
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
        if period is not None and (math.isnan(period) or period < 0):
            raise ValueError(f"a period is 0 or more, not {period}")
        self.every_secs = every_secs
        self.every_steps = every_steps
        self._clock = clock
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
        return self._clock() >= self._last_time + self.every_secs

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that this step triggered.

        Returns:
            The seconds and the steps since the trigger before, both None at the first.
        """
        now = self._clock()
        if self._last_step is None or self._last_time is None:
            elapsed: tuple[float | None, int | None] = (None, None)
        else:
            elapsed = (now - self._last_time, step - self._last_step)
        self._last_step, self._last_time = step, now
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step that triggered last, None if there was none."""
        return self._last_step
