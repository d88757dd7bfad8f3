"""One hook in one session: what it implements, how it is called, and what is known of it when something fails."""

import functools
import inspect
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from tenterhooks.errors import note
from tenterhooks.hookspecs import STAGES
from tenterhooks.implementations import UNMARKED, Implementation
from tenterhooks.turns import timer_of

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.graph import Graph
    from tenterhooks.hooks import SessionRunArgs, SessionRunContext, SessionRunValues
    from tenterhooks.merged_run import MergedRun
    from tenterhooks.session import Session
    from tenterhooks.stop import StopRequests
    from tenterhooks.timer import Timer

__all__ = ["Adapter"]


class Adapter:
    """A hook as it is registered with pluggy, for one session.

    It stands between the two so that each hook gets just what it asked for, and so that the session knows who is being
    called.

    Attributes:
        hook: The hook.
        name: Its name, unique in the session.
        title: Its name and where it comes from, for messages.
        calls: The hook's stages that are no wrappers, called with all arguments.
        marks: pluggy's options of the stages that are called through this adapter.
        wrappers: The hook's stages that are wrappers, as pluggy is to call them.
        wrapper_marks: pluggy's options of these.
        timed: Whether the hook is called only in the runs in which its timer says that it is due.
        counts_runs: Whether that timer counts runs, in place of global steps.
        asleep: Whether it is not called in this run.
        begun: Whether its `begin` succeeded.
        closed: Whether its `end` or `on_exception` was called.
        errors: What these raised.
    """

    def __init__(
        self, hook: object, name: str, title: str, stages: dict[str, Implementation], stops: "StopRequests"
    ) -> None:
        self.hook = hook
        self.name = name
        self.title = title
        self.timed = timer_of(hook) is not None
        self.counts_runs = getattr(hook, "timer_counts", "steps") == "runs"
        self.asleep = False
        self.begun = False
        self.closed = False
        self.errors: list[BaseException] = []
        # Set by the session before each run that goes through pluggy.
        self.run: MergedRun | None = None
        self._stops = stops
        own = {stage: i for stage, i in stages.items() if stage in STAGES}
        self.calls = {stage: i.call(stage) for stage, i in own.items() if not i.is_wrapper}
        self.wrappers = {stage: self._announced(i.method) for stage, i in own.items() if i.is_wrapper}
        self.marks = {stage: dict(i.marks, specname=None) for stage, i in own.items() if not i.is_wrapper}
        self.wrapper_marks = {stage: dict(i.marks, specname=None) for stage, i in own.items() if i.is_wrapper}
        # Every hook takes part in this one, so that it is known which have begun.
        self.marks.setdefault("begin", dict(UNMARKED))
        if getattr(hook, "saves_state", False):
            self.marks = {s: dict(m, tryfirst=False, trylast=True) for s, m in self.marks.items()}
            # What stands before all others is left after all others.
            self.wrapper_marks = {s: dict(m, tryfirst=True, trylast=False) for s, m in self.wrapper_marks.items()}

    @property
    def timer(self) -> "Timer":
        """The hook's timer."""
        timer: Timer = self.hook.timer  # type: ignore[attr-defined]
        return timer

    def begin(self, graph: "Graph") -> None:
        """Call the hook's stage, and note that it has begun."""
        self._stops.current = self
        if "begin" in self.calls:
            self.calls["begin"](graph)
        self.begun = True

    def after_create_session(self, session: "Session", coord: "Coordinator") -> None:
        """Call the hook's stage."""
        self._stops.current = self
        self.calls["after_create_session"](session, coord)

    def before_run(self, run_context: "SessionRunContext") -> "SessionRunArgs | None":
        """Call the hook's stage, and note what it asks for."""
        if self.asleep:
            return None
        self._stops.current = self
        asked: SessionRunArgs | None = self.calls["before_run"](run_context)
        if asked is not None:
            assert self.run is not None
            self.run.add(self, asked)
        return asked

    def after_run(self, run_context: "SessionRunContext", run_values: "SessionRunValues") -> None:
        """Call the hook's stage with what it asked for; `run_values` is what wrappers see."""
        if self.asleep:
            return
        self._stops.current = self
        assert self.run is not None
        self.calls["after_run"](run_context, self.run.values_for(self))

    def end(self, session: "Session") -> None:
        """Call the hook's stage once; what it raises is kept, so that the other hooks are called too."""
        self._close("end", session)

    def on_exception(self, session: "Session | None", exception: BaseException) -> None:
        """Call the hook's stage once; what it raises is kept, so that the other hooks are called too."""
        self._close("on_exception", session, exception)

    def _close(self, stage: str, session: "Session | None", *arguments: object) -> None:
        if not self.begun or self.closed:
            return
        self._stops.current = self
        try:
            self.closed = True
            self.calls[stage](session, *arguments)
        except BaseException as error:
            if any(error is argument for argument in arguments):
                return  # It raised what it was to observe, which is under way anyway.
            self.errors.append(error)
            step = "" if session is None else f", at global step {session.global_step}"
            note(error, f"in {stage} of hook {self.title}{step}")

    def _announced(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A wrapper that says when it is being called, so that what it asks for and raises is known to be its own."""
        if not inspect.isgeneratorfunction(method):
            return method  # pluggy says what is wrong with it.
        stops = self._stops

        @functools.wraps(method)
        def announced(*arguments: object, **options: object) -> Generator[None, Any, Any]:
            stops.current = self
            inner = method(*arguments, **options)
            try:
                next(inner)
            except StopIteration:
                return None
            try:
                result = yield
            except BaseException as error:
                raiser, stops.current = stops.current, self
                try:
                    inner.throw(error)
                except StopIteration as stop:
                    return stop.value
                except BaseException as raised:
                    # A StopIteration that passes through a generator becomes a RuntimeError.
                    if error is raised or (isinstance(error, StopIteration) and error is raised.__cause__):
                        stops.current = raiser
                    raise
            else:
                stops.current = self
                try:
                    inner.send(result)
                except StopIteration as stop:
                    return stop.value
            inner.close()
            yield None  # pluggy says that this is one too many.
            return None

        return announced
