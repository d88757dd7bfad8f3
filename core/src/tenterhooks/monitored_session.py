"""`MonitoredSession`, which recovers from lost workers, and `SingularMonitoredSession`, which does not."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tenterhooks.creators import ChiefSessionCreator, SessionCreator, graph_of
from tenterhooks.errors import OutOfRangeError
from tenterhooks.fetches import Feeds, Fetches
from tenterhooks.graph import Graph
from tenterhooks.hooks import RunMetadata
from tenterhooks.own_loops import OwnLoops
from tenterhooks.recovery import RECOVERABLE, Recovery
from tenterhooks.step_fn import StepContext, check_step_fn

__all__ = ["MonitoredSession", "SingularMonitoredSession"]

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class SingularMonitoredSession(OwnLoops):
    """Calls hooks around the runs of a session. It does not recover: every error reaches the caller.

    Use it in a `with` block. The block ends cleanly when it is over, and when the input ran out (`OutOfRangeError` or
    `StopIteration`, which the block swallows).

    Args:
        hooks: The hooks, in the order in which they are called: objects, or short names of installed plugins.
        graph: The graph, in place of a creator; by default the one that is the default graph.
        session_creator: Makes the raw session.
        checkpoint_dir: The folder whose newest checkpoint is restored, in place of a creator.
        stop_grace_period_secs: How many seconds threads of the coordinator have at the end.
        state: What a loop of the program's own saves and restores, by name, in place of a graph.

    Raises:
        HookError: Something in `hooks` is no hook, or belongs to another open session.
        PluginError: A named plugin is missing, broken or claimed twice.
        UnknownNameError: A node takes what does not exist, once all hooks have begun.
    """

    def __init__(
        self,
        hooks: Iterable[object] = (),
        *,
        graph: Graph | None = None,
        session_creator: SessionCreator | None = None,
        checkpoint_dir: str | Path | None = None,
        stop_grace_period_secs: float = 120.0,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        if checkpoint_dir is not None:
            if session_creator is not None:
                raise ValueError("give either a session_creator or a checkpoint_dir, not both")
            graph, state = graph_of(None, graph, state), None
            session_creator = ChiefSessionCreator(graph, checkpoint_dir)
        super().__init__(session_creator, hooks, graph, stop_grace_period_secs, state=state)


class MonitoredSession(OwnLoops):
    """Calls hooks around the runs of a session, and recovers when a run raises `AbortedError` or `UnavailableError`.

    Then the session is created anew from the newest checkpoint (without one, fresh), `after_create_session` is called
    for all hooks, and the run is repeated. At once the first time, with growing pauses after.

    Use it in a `with` block. The block ends cleanly when it is over, and when the input ran out (`OutOfRangeError` or
    `StopIteration`, which the block swallows).

    Args:
        session_creator: Makes the raw session; by default `ChiefSessionCreator(graph)`.
        hooks: The hooks, in the order in which they are called: objects, or short names of installed plugins.
        graph: The graph, in place of a creator; by default the one that is the default graph.
        stop_grace_period_secs: How many seconds threads of the coordinator have at the end.
        max_recoveries: After how many failures without the global step passing its furthest point it gives up, and
            raises the first of them.
        sleep: Sleeps for a number of seconds.
        summary_dir: The folder for summaries; by default the creator's checkpoint_dir.
        state: What a loop of the program's own saves and restores, by name, in place of a graph.

    Raises:
        HookError: Something in `hooks` is no hook, or belongs to another open session.
        PluginError: A named plugin is missing, broken or claimed twice.
        UnknownNameError: A node takes what does not exist, once all hooks have begun.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Iterable[object] = (),
        *,
        graph: Graph | None = None,
        stop_grace_period_secs: float = 120.0,
        max_recoveries: int = 10,
        sleep: Callable[[float], object] = time.sleep,
        summary_dir: str | Path | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._recovery = Recovery(max_recoveries, sleep=sleep)
        super().__init__(session_creator, hooks, graph, stop_grace_period_secs, summary_dir, state)

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: Mapping[str, Any] | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Make one run for the caller and all hooks together, repeated after a recovery.

        Arguments, result and errors are those of `SingularMonitoredSession.run`.
        """
        while True:
            try:
                return self._run_with_hooks(fetches, feed_dict, options, run_metadata)
            except Exception as error:
                if not self._recovered_from(error):
                    raise

    def run_step_fn(self, step_fn: Callable[[StepContext], _T]) -> _T:
        """Call a function with a `StepContext`, as a whole again after a recovery, and give what it returns.

        Raises:
            ValueError: The function has other parameters than one named `step_context`.
        """
        check_step_fn(step_fn)
        while True:
            try:
                return step_fn(StepContext(self._open_session, self._run_with_hooks))
            except Exception as error:
                if not self._recovered_from(error):
                    raise

    def should_stop(self) -> bool:
        """Whether the loop shall end; recovers if a thread reported that a worker was lost."""
        if not (self._closed or self._own) and isinstance(self._coord.exception, RECOVERABLE):
            self._recover(self._coord.exception)
        return super().should_stop()

    def _recovered_from(self, error: Exception) -> bool:
        """Recover from what a run raised, so that it can be repeated; False where that cannot be."""
        # A thread that lost its worker may be why the run failed.
        cause = error if isinstance(error, RECOVERABLE) else self._coord.exception
        # The body of a pass cannot be repeated.
        if self._closed or self._own or not isinstance(cause, RECOVERABLE):
            return False
        self._recover(cause)
        if self._stops.adopted:
            raise OutOfRangeError(
                "the run is not repeated, since the session that was created anew is asked to stop by "
                + "; ".join(map(str, self._stops.adopted))
            )
        return True

    def _recover(self, error: BaseException) -> None:
        """Replace the raw session by a new one."""
        self._recovery.failed(error, 0 if self._raw is None else self._raw.global_step)
        self._drop_lost(error)
        self._create()

    def _drop_lost(self, error: BaseException) -> None:
        """End the threads of the session that was lost, and forget what its hooks asked for."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        except Exception as other:
            if other is not error:
                _log.warning("a thread of the lost session failed too: %r", other)
        if self._raw is not None:
            self._raw.close()
        self._stops.forget_hooks()

    def _create(self) -> None:
        while True:
            try:
                return super()._create()
            except RECOVERABLE as error:
                self._recovery.failed(error, 0 if self._raw is None else self._raw.global_step)
                self._drop_lost(error)
