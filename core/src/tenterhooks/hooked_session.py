"""What a program sees of a monitored session: it runs it, asks about it, and leaves it."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

from tenterhooks.errors import OutOfRangeError
from tenterhooks.fetches import Feeds, Fetches
from tenterhooks.graph import Graph
from tenterhooks.hooks import RunMetadata
from tenterhooks.inspection import NotRun
from tenterhooks.lifecycle import Lifecycle
from tenterhooks.session import Session
from tenterhooks.step_fn import StepContext, check_step_fn
from tenterhooks.stop import StopRequest

__all__ = ["HookedSession"]

_T = TypeVar("_T")


class HookedSession(Lifecycle):
    """Calls hooks around the runs of a raw session. What `MonitoredSession` and its kin have in common.

    Used in a `with` block, which ends cleanly when it is over and when the input ran out: it swallows
    `OutOfRangeError` and `StopIteration`.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._closed:
            return isinstance(exc, NotRun)
        clean = exc is None or isinstance(exc, OutOfRangeError | StopIteration)
        if not clean:
            self._close(exc)
            return False
        self._end()
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'closed' if self._closed else 'open'}>"

    @property
    def graph(self) -> Graph | None:
        """The graph; None once the session is closed."""
        return None if self._closed else self._graph

    @property
    def global_step(self) -> int:
        """The number of training runs so far."""
        return self._open_session().global_step

    @property
    def state(self) -> Any:
        """The variables by name."""
        return self._open_session().state

    @property
    def stop(self) -> tuple[StopRequest, ...]:
        """All requests to stop so far: who, why and at which step. Empty if there is none."""
        return self._stops.adopted

    def raw_session(self) -> Session | None:
        """The raw session, whose runs call no hooks; None once the session is closed."""
        return None if self._closed else self._raw

    def request_stop(self, reason: str | None = None) -> None:
        """Ask the session to stop; `should_stop()` is true from now on.

        This is the program's request, also from a signal handler in the midst of a run: it holds at once, and whatever
        becomes of that run.
        """
        self._stops.request_by_program(reason, self._open_session().global_step)

    @property
    def paused_secs(self) -> float:
        """The seconds so far that are no part of the loop; see `pause_clock`."""
        return self._open_session().paused_secs

    def pause_clock(self, *, clock: Callable[[], float] = time.monotonic) -> AbstractContextManager[None]:
        """A `with` block for what is no part of the loop, such as an evaluation; see `Session.pause_clock`."""
        return self._open_session().pause_clock(clock=clock)

    def should_stop(self) -> bool:
        """Whether the loop shall end: a hook or the program asked for it, a thread failed, or the session is closed."""
        return self._closed or self._stops.tell() or self._coord.should_stop()

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: Mapping[str, Any] | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Make one run for the caller and all hooks together.

        Args:
            fetches: A node or its name, or lists, tuples and dicts of them, nested; `[]` for just what hooks ask for.
            feed_dict: Values by node or name that stand in for what the nodes would be.
            options: Options of the run, merged with those of hooks; `{"trace": True}` has `run_metadata` filled.
            run_metadata: Where the run tells of itself.

        Returns:
            The values, in the shape of `fetches`.

        Raises:
            OutOfRangeError: The input ran out. The `with` block swallows it.
            RuntimeError: The session is closed or was asked to stop, or two feed one node.
            BaseException: What a thread reported to the coordinator.
        """
        return self._run_with_hooks(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[[StepContext], _T]) -> _T:
        """Call a function with a `StepContext`, and give what it returns.

        Raises:
            ValueError: The function has other parameters than one named `step_context`.
        """
        check_step_fn(step_fn)
        return step_fn(StepContext(self._open_session, self._run_with_hooks))

    def close(self) -> None:
        """End the session: `end` of all hooks, threads joined, the graph unfrozen. Closing twice is harmless.

        Raises:
            RuntimeError: A run is under way.
            BaseException: What an `end` raised, several as an `ExceptionGroup`; or, with `on_exception` of all hooks
                in place of `end`, the error that a thread had reported.
        """
        if self._closed:
            return
        if self._stops.in_run:
            raise RuntimeError("close() within a run: request_stop() has the session end after it")
        self._end()
