"""When a session that was lost is tried again, and when it is given up."""

import logging
import time
from collections.abc import Callable

from tenterhooks.errors import AbortedError, UnavailableError, note

__all__ = ["RECOVERABLE", "Recovery"]

_log = logging.getLogger(__name__)

RECOVERABLE = (AbortedError, UnavailableError)

_LONGEST_PAUSE_SECS = 60.0


class Recovery:
    """Counts the failures since the global step last passed its furthest point.

    The first one is tried again at once, the next after 1, 2, 4, ... seconds, at most 60.

    Args:
        max_recoveries: How many failures without progress are tried again.
        sleep: Sleeps for a number of seconds.
    """

    def __init__(self, max_recoveries: int = 10, *, sleep: Callable[[float], object] = time.sleep) -> None:
        if max_recoveries < 0:
            raise ValueError(f"max_recoveries is 0 or more, not {max_recoveries}")
        self._max_recoveries = max_recoveries
        self._sleep = sleep
        self._furthest_step = -1
        self._failures: list[BaseException] = []

    def failed(self, error: BaseException, step: int) -> None:
        """Note a failure, and wait until it is time to try again.

        Args:
            error: What was raised.
            step: The global step at which it was.

        Raises:
            BaseException: The first of the failures, the later ones as notes on it, if there were too many.
        """
        if step > self._furthest_step:
            self._furthest_step = step
            self._failures.clear()
        self._failures.append(error)
        if len(self._failures) > self._max_recoveries:
            first, *later = self._failures
            note(
                first,
                f"given up after {self._max_recoveries} recoveries without getting past "
                f"global step {self._furthest_step}",
            )
            for failure in later:
                note(first, f"then: {type(failure).__name__}: {failure}")
            raise first
        pause = 0.0 if len(self._failures) == 1 else min(2.0 ** (len(self._failures) - 2), _LONGEST_PAUSE_SECS)
        _log.warning(
            "recovering from %s: %s (at global step %d, attempt %d of %d%s)",
            type(error).__name__,
            error,
            step,
            len(self._failures),
            self._max_recoveries,
            f", after {pause:g} s" if pause else "",
        )
        if pause:
            self._sleep(pause)
