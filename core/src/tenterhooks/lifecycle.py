"""The lifecycle: what every monitored session does, from `begin` to the end of all its hooks."""

import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tenterhooks.closing import close_hooks, leave
from tenterhooks.coordinator import Coordinator
from tenterhooks.creators import ChiefSessionCreator, SessionCreator, graph_of
from tenterhooks.fetches import Feeds, Fetches
from tenterhooks.graph import Graph
from tenterhooks.hooks import RunMetadata, SessionRunContext
from tenterhooks.inspection import NotRun, show
from tenterhooks.merged_run import MergedRun
from tenterhooks.ownership import claim, release
from tenterhooks.registry import HookRegistry
from tenterhooks.savers import folder_of
from tenterhooks.session import Session
from tenterhooks.stop import StopRequests

if TYPE_CHECKING:
    from tenterhooks.hooks_report import HooksReport

__all__ = ["Lifecycle"]

_NO_FEEDS: Mapping[str, Any] = {}
_NOTHING = (None, None, None)


class Lifecycle:
    """Opens a raw session for hooks, makes runs with them, and ends it.

    Args:
        creator: Makes the raw session.
        hooks: The hooks, in the order in which they are called: objects, or short names of installed plugins.
        graph: The graph, in place of a creator.
        stop_grace_period_secs: How many seconds threads of the coordinator have at the end.
        summary_dir: The folder for summaries; by default the creator's checkpoint_dir.
        state: What a loop of the program's own saves and restores, in place of a graph.
    """

    def __init__(
        self,
        creator: SessionCreator | None,
        hooks: Iterable[object],
        graph: Graph | None,
        stop_grace_period_secs: float,
        summary_dir: str | Path | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        # Imported late: what is said of hooks outside of code is of use where a session is opened, and nowhere else.
        from tenterhooks.hooks_report import attach_report, log_report, reported
        from tenterhooks.lineup import Lineup

        self._lineup = Lineup.of(hooks)
        self._graph = graph_of(creator, graph, state)
        self._creator = creator or ChiefSessionCreator(self._graph)
        self._stop_grace_period_secs = stop_grace_period_secs
        self._summary_dir = None if summary_dir is None else folder_of(summary_dir, "summary_dir")
        self._stops = StopRequests()
        self._coord = Coordinator()
        self._raw: Session | None = None
        # What hooks get of each run of the raw session, replaced with that; None where no run can be made, before and
        # after the session is open.
        self._context: SessionRunContext | None = None
        self._closed = False
        # Whether the program computes itself, instead of `run`.
        self._own = False
        self._thaw: Callable[[], object] | None = None
        with reported(self._lineup.entries):
            self._hooks, names = self._lineup.joined()
            self._registry = HookRegistry(self._hooks, self._stops, names)
        # Somebody may just want to know what it would do.
        self._shown = self._closed = show(self, self._registry)
        if self._shown:
            return
        claim(self._hooks, self)
        log_report(self._lineup.entries, self._registry.adapters)
        try:
            with self._graph.as_default():
                self._registry.call("begin", graph=self._graph)
            self._registry.states.keep_first()
            self._graph.freeze()
            # Also where the session is dropped unclosed.
            self._thaw = weakref.finalize(self, self._graph.thaw)
            self._create()
        except BaseException as error:
            attach_report(error, self._lineup.entries, self._registry.adapters, self._registry.blamed_in(error))
            self._close(error)
            raise

    def _create(self) -> None:
        """Create the raw session, restore the hooks' state, and tell the hooks."""
        again = self._raw is not None
        # A creator that was given no graph takes this one.
        with self._graph.as_default():
            raw = self._creator.create_session()
        if raw.graph is not self._graph:
            raise ValueError(f"{self._creator!r} made a session on another graph than the hooks were begun with")
        self._coord = Coordinator()
        raw.summary_dir = self._summary_dir or raw.summary_dir or raw.checkpoint_dir
        self._registry.adopt(raw, again=again)
        self._context = SessionRunContext(raw, self._stops, self._context.completed_runs if self._context else 0)
        self._raw = raw
        self._registry.call("after_create_session", session=raw, coord=self._coord)

    @property
    def hooks_report(self) -> "HooksReport":
        """Which hooks the session has and from where, which are switched off, and which are installed and not used."""
        from tenterhooks.hooks_report import report_of

        return report_of(self._lineup.entries, self._registry.adapters)

    def _end(self) -> None:
        """End the session cleanly, unless a thread reported an error."""
        reported = self._coord.exception
        self._close(reported)
        if reported is not None:
            raise reported

    def _open_session(self) -> Session:
        if self._shown:
            raise NotRun
        if self._closed or self._raw is None:
            raise RuntimeError("the session is closed: open another one to run anything")
        return self._raw

    def _run_with_hooks(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None,
        options: Mapping[str, Any] | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        context, stops, registry = self._context, self._stops, self._registry
        if context is None or self._own or stops.in_run or stops.refuses or self._coord.exception is not None:
            raise self._why_not()
        raw, turns = context.session, registry.turns
        run: MergedRun | None = None
        # An interrupt at any line of this must not leave a run that is under way for ever.
        try:
            stops.in_run, stops.thread = True, get_ident()
            step = raw.state.global_step
            turn = turns.quiet if step < turns.until else turns.next(step, context.completed_runs)
            if feed_dict or options or run_metadata is not None or raw.kept:
                run = MergedRun(raw, run_metadata)
                run.add_options(options or {})
            if turn.concerns:
                context.given = (fetches, feed_dict, options)
                run = registry.before_run(turn, context, run)
            if run is None:
                # A function in an attribute is found faster where it is not called at once.
                work_out, compute = raw.compile, raw.compute
                fetch = work_out(fetches)
                pick = fetch.pick
                results = pick(compute(fetch.plan or raw.plan_alone(fetch), _NO_FEEDS))
                raw.fed = _NO_FEEDS
            else:
                results = run.make(fetches, feed_dict)
                raw.fed = run.feeds
            if turn.concerns:
                registry.after_run(turn, context, run, results)
                # It may be long until the next run that concerns a hook.
                context.given = _NOTHING
            if stops.pending or stops.held:
                stops.adopt()
            stops.in_run = False
        except BaseException:
            context.given = _NOTHING
            stops.forget_run()
            raise
        context.completed_runs += 1
        raw.checkpoint_requested = False
        return results

    def _why_not(self) -> BaseException:
        """Say why no run can be made now."""
        self._open_session()
        if self._stops.in_run:
            return RuntimeError(
                "a run of this session is under way: within a stage take the raw session (run_context.session.run), "
                "and let one thread at a time run it"
            )
        if self._stops.refuses:
            return RuntimeError(
                "the session was asked to stop, so nothing can be run: ask should_stop() before each run; asked by "
                + "; ".join(map(str, self._stops.adopted))
            )
        return self._coord.exception or RuntimeError(
            "session.run in a session whose loop is the program's own: it does not mix with steps(), step() and "
            "publish(), open another session"
        )

    def _close(self, exception: BaseException | None) -> None:
        """Close everything, whatever fails; see `leave` for what becomes of errors."""
        self._closed, self._context = True, None
        try:
            errors = self._close_hooks_and_threads(exception)
        finally:
            # Also where an interrupt came between.
            self._release()
        leave(exception, errors, self._coord.exception)

    def _close_hooks_and_threads(self, exception: BaseException | None) -> list[BaseException]:
        """Give each hook its closing stage and each thread its time, and give what they raised."""
        errors = close_hooks(self._registry, exception)
        try:
            self._coord.request_stop()
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        except BaseException as error:
            if error is not exception:
                errors.append(error)
        return errors

    def _release(self) -> None:
        """Give back what the session holds: threads are told to stop, graph and hooks are free for another one."""
        self._coord.request_stop()
        if self._raw is not None:
            self._raw.close()
        if self._thaw is not None:
            self._thaw()
        release(self._hooks)
