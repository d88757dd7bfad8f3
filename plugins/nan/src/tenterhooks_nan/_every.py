"""When a guard that does not look at each step is due."""

import math
import time
from collections.abc import Callable

__all__ = ["EveryNSteps"]


class EveryNSteps:
    """Due at the global steps that are multiples of a number, so that a resumed run looks at the same ones.

    Args:
        n: The number.

    Attributes:
        clock: Gives the time; it decides nothing.
        waits: Whether something is to be said in the next run, whatever its step.
    """

    def __init__(self, n: int) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self.waits = False
        self._n = n
        self._next = -math.inf

    def is_multiple(self, step: int) -> bool:
        """Whether the numbers of this step are to be looked at."""
        return step % self._n == 0

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether this step is due."""
        return self.waits or self.is_multiple(step)

    def next_trigger(self) -> tuple[float, float]:
        """The step before which nothing is due; the time does not decide."""
        return (-math.inf if self.waits else self._next), math.inf

    def arrived(self, step: int) -> None:
        """Note where the session stands."""
        self._next = (step // self._n + 1) * self._n
