"""A session whose values are given: a real one, on a graph or with a loop of the program's own, made step by step."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from tenterhooks.creators import ChiefSessionCreator
from tenterhooks.graph import Graph
from tenterhooks.monitored_session import MonitoredSession
from tenterhooks.open_graph import OpenGraph
from tenterhooks.session import Session
from tenterhooks.stop import StopRequest
from tenterhooks.testing.savers import MemorySaver
from tenterhooks.testing.surroundings import Listener, ManualClock

__all__ = ["CREATION", "FakeSession", "Loop", "Run", "Values"]

Loop = Literal["graph", "own"]
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]

# Where a failure is to happen that is in no step.
CREATION = "creation"

_TRAIN = "train"
_STEPS = 3


@dataclass(frozen=True, slots=True)
class Run:
    """What happened in one step.

    Attributes:
        step: The global step after it.
        computed: The names of the values that some hook asked for, so that they were computed, in the order of
            `values`.
        fed: What hooks fed, by name.
        stop: The requests to stop that were made in it.
        log: What was logged meanwhile, at INFO or above and not by the core.
    """

    step: int
    computed: tuple[str, ...]
    fed: Mapping[str, Any]
    stop: tuple[StopRequest, ...]
    log: tuple[logging.LogRecord, ...]


class FakeSession:
    """A monitored session of these hooks, in which each step has the values that are given for it.

    It is open within its `with` block, and ends as that does.

    Args:
        hooks: The hooks.
        loop: "graph": the values are tensors of a graph, and a step is a run of its training op, which adds one to the
            variable `w`; "own": they are published by a loop of the program's own, and a step adds one to the state
            entry `w`.
        values: The values of each step by name, a list of dicts, whose last one goes on to hold; or one dict for all
            steps. One that can be called is what computes it, where somebody asks for it.
        feeds: What hooks may feed, by name, with its default. Needed for graphs alone: a loop of the program's own
            reads whatever is fed.
        fail_at: What to raise in the step that would lead to this global step, or with the key "creation" when the
            session is created; each once.
        clock: Is advanced by one second at each step, and by what the session sleeps.
        checkpoint_dir: The session's folder; nothing of the core writes into it.
        saver: What the session is restored from.

    Raises:
        ValueError: There is no such loop, or no such place to fail at.

    Attributes:
        session: The monitored session.
        runs: What happened in each step that was completed.
        computed: The names of the values that were computed in the step under way; once it is closed, at the end.
        raised: What of `fail_at` was raised.
        log: All that was logged, at INFO or above and not by the core.
        log_of_end: What of that was logged when it was closed.
        raw: Its raw session; None where it was never opened.
    """

    session: MonitoredSession

    def __init__(
        self,
        hooks: Iterable[object],
        *,
        loop: Loop = "graph",
        values: Values = (),
        feeds: Mapping[str, Any] | None = None,
        fail_at: Mapping[Any, BaseException] | None = None,
        clock: ManualClock | None = None,
        checkpoint_dir: Path | None = None,
        saver: MemorySaver | None = None,
    ) -> None:
        if loop not in ("graph", "own"):
            raise ValueError(f'loop is "graph" or "own", not {loop!r}')
        wrong = [where for where in fail_at or () if where != CREATION and (type(where) is not int or where < 1)]
        if wrong:
            raise ValueError(f'fail_at has steps, which count from 1, and "creation"; not {wrong[0]!r}')
        self._loop = loop
        self._values = [values] if isinstance(values, Mapping) else list(values) or [{}]
        self._steps_given = None if isinstance(values, Mapping) or not values else len(values)
        self._names = list(dict.fromkeys(name for given in self._values for name in given))
        self._feeds = dict(feeds or {})
        self._fail_at = dict(fail_at or {})
        self._clock = clock or ManualClock()
        self._hooks = list(hooks)
        self._where = checkpoint_dir, saver
        self.computed: list[str] = []
        self._fed: dict[str, Any] = {}
        self.runs: list[Run] = []
        self.raised: list[BaseException] = []
        self.raw: Session | None = None
        self._listener = Listener()
        self.log = self._listener.records
        self.log_of_end: list[logging.LogRecord] = []

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            opening.enter_context(self._listener)
            checkpoint_dir, saver = self._where
            graph = self._make_graph() if self._loop == "graph" else OpenGraph({"w": np.zeros(())})
            creator = _Creator(self._fail, graph, checkpoint_dir, saver=saver or MemorySaver())
            self.session = MonitoredSession(creator, self._hooks, sleep=self._clock.advance)
            opening.pop_all()
        self.raw = self.session.raw_session()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.computed.clear()
        before = len(self.log)
        try:
            return self.session.__exit__(exc_type, exc, traceback)
        finally:
            self.log_of_end = self.log[before:]
            self._listener.__exit__()

    @property
    def global_step(self) -> int:
        """The global step, also once the session is closed; 0 where it was never opened."""
        return 0 if self.raw is None else self.raw.global_step

    @property
    def stop(self) -> tuple[StopRequest, ...]:
        """All requests to stop; none where the session was never opened."""
        return () if self.raw is None else self.raw.stop

    def go_to(self, step: int | None = None) -> None:
        """Make steps until the global step is this one, or a stop was requested.

        Args:
            step: By default the number of steps that have values, 3 where one dict is for all.
        """
        last = step if step is not None else self._steps_given or _STEPS
        while self.global_step < last and not self.session.should_stop():
            self.step()

    def step(self) -> None:
        """Make one step."""
        first_stop, first_record = len(self.session.stop), len(self.log)
        self._fed = {}
        if self._loop == "graph":
            self.session.run(_TRAIN)
        else:
            with self.session.step():
                self._pass()
        self._clock.advance(1.0)
        self.runs.append(
            Run(
                self.session.global_step,
                tuple(name for name in self._names if name in self.computed),
                self._fed,
                self.session.stop[first_stop:],
                tuple(self.log[first_record:]),
            )
        )
        self.computed.clear()

    def _make_graph(self) -> Graph:
        graph = Graph()
        graph.variable("w", lambda: np.zeros(()))
        for name, default in self._feeds.items():
            graph.placeholder(name, default)
        for name in self._names:
            tensor = graph.tensor(functools.partial(self._value, name), name=name, inputs=["global_step"])
            if isinstance(self._at(0).get(name), int | float | np.ndarray):
                graph.add_to_collection("summaries", tensor)
        graph.train_op(self._train, name=_TRAIN, inputs=["w", "global_step", *self._feeds])
        return graph

    def _train(self, w: Any, global_step: int, *feeds: Any) -> None:
        given = zip(self._feeds, feeds, strict=True)
        self._fed = {name: value for name, value in given if value is not self._feeds[name]}
        self._fail(global_step + 1)
        w += 1.0

    def _pass(self) -> None:
        session = self.session
        self._fed = dict(session.feeds)
        step = session.global_step
        for name in self._names:
            if name not in self._fed and name in self._at(step):
                self._publish(name, step)
        self._fail(step + 1)
        session.state["w"] += 1.0

    def _publish(self, name: str, step: int) -> None:
        if callable(self._at(step)[name]):
            self.session.publish({name: functools.partial(self._value, name, step)})
            return
        if self.session.wants(name):
            self.computed.append(name)
        self.session.publish({name: self._at(step)[name]})

    def _value(self, name: str, step: int) -> Any:
        self.computed.append(name)
        value = self._at(step).get(name)
        return value() if callable(value) else value

    def _at(self, step: int) -> Mapping[str, Any]:
        return self._values[min(step, len(self._values) - 1)]

    def _fail(self, where: object) -> None:
        error = self._fail_at.pop(where, None)
        if error is not None:
            self.raised.append(error)
            raise error


class _Creator(ChiefSessionCreator):
    """Fails where it is told to."""

    def __init__(self, fail: Callable[[str], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._fail_now = fail

    def create_session(self) -> Session:
        self._fail_now(CREATION)
        return super().create_session()
