"""A hook that sees each value of a metric once, and stops the session when a value gives it reason to."""

import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from tenterhooks import (
    Coordinator,
    Node,
    SecondOrStepTimer,
    Session,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    hookimpl,
)
from tenterhooks.errors import nearest
from tenterhooks.graph import Graph

__all__ = ["MetricHook"]

_log = logging.getLogger("tenterhooks_early_stopping")


class MetricHook(SessionRunHook, ABC):
    """Checks a metric wherever it has a new value: one that a run computed, or that was published since the last check.

    A value that is kept until it is replaced, as the result of an evaluation is, is checked in the step at which it was
    published: at the beginning of the next run where it came between two of them. There is one check at each step.

    Args:
        metric: The metric's name or node.
        start_from_step: Values of steps before this one are not looked at.
        every_n_steps: The steps between two looks; None: each run.
        every_n_secs: The seconds between two looks.
        clock: Gives the time in seconds.
    """

    def __init__(
        self,
        metric: str | Node,
        *,
        start_from_step: int,
        every_n_steps: int | None,
        every_n_secs: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(metric, str | Node):
            raise TypeError(
                f"the metric is named by a string, or is a node, not {metric!r:.60} of type {type(metric).__name__}: "
                "such as 'eval/accuracy'. It comes from the session, no estimator is passed"
            )
        if start_from_step < 0:
            raise ValueError(f"the step to start from is 0 or more, not {start_from_step}")
        if every_n_steps is not None and every_n_secs is not None:
            raise ValueError(
                f"at most one period in steps and seconds can be given, not {every_n_steps=} and {every_n_secs=}"
            )
        self.timer: SecondOrStepTimer | None = None
        if every_n_steps is not None or every_n_secs is not None:
            self.timer = SecondOrStepTimer(every_n_secs, every_n_steps, clock=clock)
        self._metric = metric
        self._start_from_step = start_from_step
        self._name = ""
        self._forget()

    def _forget(self) -> None:
        if self.timer is not None:
            self.timer.reset()
        # The step of the last check, and whether no run was made since.
        self._step: int | None = None
        self._at_end = False
        self._looked = self._saw = False

    def begin(self, graph: Graph) -> None:
        """Forget the session before."""
        self._forget()

    # After whoever publishes again what the lost session knew, which is no new value.
    @hookimpl(trylast=True)
    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Check the name; a session that was stopped before it was saved makes no further run."""
        self._name = session.graph[session.graph.name_of(self._metric)].name
        # The same for each run, which tells the session that nothing has changed.
        self._args = SessionRunArgs(self._name, optional=True)
        self._looked = self._saw = False
        again = None if session.restored is None else session.published_at(self._name)
        if again is not None:
            self._step = again if self._step is None else max(again, self._step)
        reason = None if self._at_end else self.reason()
        if reason is not None:
            session.request_stop(reason)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Check what was published since the last run, while the variables are still of then; ask for a value."""
        self._at_end = False
        self._look_at_kept(run_context.session)
        reason = self.reason()
        if reason is not None:
            run_context.request_stop(reason)
        return self._args

    # After whoever evaluates, wherever that stands: else a save in this step would be without what it found.
    @hookimpl(trylast=True)
    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Check what the run had, or what another hook published after it."""
        session = run_context.session
        self._looked = True
        if self.timer is not None:
            self.timer.update_last_triggered_step(session.global_step)
        if session.published_at(self._name) is not None:
            checked = self._look_at_kept(session)
        else:
            checked = run_values.results is not None and self._check(session, run_values.results, session.global_step)
        reason = self.reason() if checked else None
        if reason is not None:
            run_context.request_stop(reason)

    # Before whoever evaluates at the end, which a session that is not interrupted would not do at this step.
    @hookimpl(tryfirst=True)
    def end(self, session: Session) -> None:
        """Check what was published after the last run, and say so if there never was a value."""
        self._at_end |= self._look_at_kept(session)
        if self._looked and not self._saw:
            _log.warning(
                "no value of %r was seen in this session, so nothing could stop it: publish it, or have a hook publish "
                "it%s",
                self._name,
                nearest(self._name, session.published),
            )

    def state_dict(self) -> dict[str, Any]:
        """The step of the last check, and when the period began."""
        since = None if self.timer is None else self.timer.last_triggered_step()
        return {"step": self._step, "at_end": self._at_end, "period_from": since}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._step = state["step"]
        self._at_end = state["at_end"]
        if self.timer is not None:
            self.timer.reset()
            if state["period_from"] is not None:
                self.timer.update_last_triggered_step(state["period_from"])

    @abstractmethod
    def check(self, session: Session, value: float, step: int) -> None:
        """Take a new value."""

    @abstractmethod
    def reason(self) -> str | None:
        """Why the session is to stop; None while it is not."""

    def _look_at_kept(self, session: Session) -> bool:
        """Check a value that is kept until it is replaced, if it is a new one."""
        step = session.published_at(self._name)
        return step is not None and self._check(session, session.kept[self._name], step)

    def _check(self, session: Session, value: Any, step: int) -> bool:
        """Check a value of a step that was not checked yet."""
        self._saw = True
        if step < self._start_from_step or (self._step is not None and step <= self._step):
            return False
        if self.reason() is not None:
            # The session ends in any case, and one that is restored from here is not to go on.
            return False
        number = _as_number(value, self._name)
        self._step = step
        self.check(session, number, step)
        return True


def _as_number(value: Any, name: str) -> float:
    if not isinstance(value, str | bytes):
        item = getattr(value, "item", None)
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            return float(item() if callable(item) else value)
    raise TypeError(f"{name!r} is {value!r:.60} of type {type(value).__name__}: a metric is one number")
