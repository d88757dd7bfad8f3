"""The hook that waits for a global step."""

import logging
import math
import operator
import time
from collections.abc import Callable
from typing import SupportsIndex

import tenterhooks as th

__all__ = ["GlobalStepWaiterHook"]

_log = logging.getLogger("tenterhooks_global_step_waiter")

_LOG_SECS = 30.0


class _UntilOver:
    """Due in each run until the wait is over, and then never."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.over = False

    def should_trigger_for_step(self, step: int) -> bool:
        return not self.over

    def next_trigger(self) -> tuple[float, float]:
        return (math.inf, math.inf) if self.over else (-math.inf, -math.inf)


class GlobalStepWaiterHook(th.SessionRunHook):
    """Lets no run begin before the global step has reached a step, to which somebody else has to bring it.

    That may be another thread, which trains on the same variables; or another process, of which `read_step` tells. So
    workers begin one after the other. As TensorFlow's class of the same name, which waits for ever and hears of no
    stop: here a request to stop ends the wait, and lets the run be made that waited; an error that a thread reported to
    the coordinator is raised at once. Once it was over, a session does not wait again, nor after a recovery.

    Args:
        wait_until_step: The global step to wait for; 0 or less waits for nothing.
        timeout_secs: After how many seconds of waiting it is an error; by default never.
        poll_secs: The seconds between two looks at the step.
        read_step: Gives the global step; by default it is the session's own.
        clock: Gives the time in seconds.
        sleep: Sleeps for a number of seconds. By default a stop of the coordinator ends that at once, and with it the
            wait.

    Raises:
        TypeError: An option is of another type.
        ValueError: `timeout_secs` is less than 0, or `poll_secs` not more than 0.
        TypeError: In the first run: `read_step` gave no whole number.
        DeadlineExceededError: In the first run: the step was not reached in time.

    Example:
        >>> GlobalStepWaiterHook(1000, timeout_secs=600)
        <GlobalStepWaiterHook until step 1000>
    """

    def __init__(
        self,
        wait_until_step: int,
        *,
        timeout_secs: float | None = None,
        poll_secs: float = 0.5,
        read_step: Callable[[], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if not isinstance(wait_until_step, SupportsIndex) or isinstance(wait_until_step, bool):
            raise TypeError(f"wait_until_step is a global step, a whole number, not {wait_until_step!r}")
        for name, secs in (("timeout_secs", timeout_secs), ("poll_secs", poll_secs)):
            if secs is not None and not isinstance(secs, int | float):
                raise TypeError(f"{name} is a number of seconds, not {secs!r}")
        if timeout_secs is not None and not timeout_secs >= 0:
            raise ValueError(f"timeout_secs is 0 or more, or None to wait for ever, not {timeout_secs}")
        if not poll_secs > 0:
            raise ValueError(f"poll_secs is more than 0, not {poll_secs}")
        if read_step is not None and not callable(read_step):
            raise TypeError(f"read_step is a function that gives the global step, not {read_step!r}")
        self.timer = _UntilOver(clock)
        self._wait_until_step = operator.index(wait_until_step)
        self._timeout_secs = math.inf if timeout_secs is None else timeout_secs
        self._poll_secs = poll_secs
        self._read_step = read_step
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"<{type(self).__name__} until step {self._wait_until_step}>"

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self.timer.over = self._wait_until_step <= 0

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Take the coordinator, whose stop ends the wait."""
        self._coord = coord

    def before_run(self, run_context: th.SessionRunContext) -> None:
        """Wait."""
        step = self._step(run_context.session)
        if step < self._wait_until_step:
            _log.info("waiting for global step %d, now it is %d", self._wait_until_step, step)
            step = self._wait(run_context)
            _log.info("the wait for global step %d is over at step %d", self._wait_until_step, step)
        self.timer.over = True

    def _wait(self, run_context: th.SessionRunContext) -> int:
        """Wait until the step is reached or a stop was requested, and give the step."""
        begun = logged = self.timer.clock()
        while True:
            step = self._step(run_context.session)
            self._coord.raise_requested_exception()
            if step >= self._wait_until_step or self._coord.should_stop() or run_context.stop_requested:
                return step
            now = self.timer.clock()
            left = self._timeout_secs - (now - begun)
            if left <= 0:
                raise th.DeadlineExceededError(
                    f"waited {now - begun:.1f} s for global step {self._wait_until_step}, and it is {step}: is that "
                    "running which brings it there? a longer timeout_secs waits longer"
                )
            if now - logged >= _LOG_SECS:
                logged = now
                _log.info("still waiting for global step %d, now it is %d", self._wait_until_step, step)
            (self._sleep or self._coord.wait_for_stop)(min(self._poll_secs, left))

    def _step(self, session: th.Session) -> int:
        if self._read_step is None:
            return session.global_step
        step = self._read_step()
        if not isinstance(step, SupportsIndex):
            raise TypeError(
                f"read_step gave {step!r}, and not a global step: it gives a whole number each time, such as 0 while "
                "there is none"
            )
        return operator.index(step)
