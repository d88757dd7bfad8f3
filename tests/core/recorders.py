"""What tests of the lifecycle share: a graph that counts, a hook that notes its calls, a saver that writes nothing."""

import copy
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import tenterhooks as th

__all__ = [
    "Calls",
    "MemorySaver",
    "Recorder",
    "SaveEveryStep",
    "Stateful",
    "Transparent",
    "counting_graph",
    "first",
    "raising",
    "training",
]

Calls = list[tuple[str, str]]


def counting_graph(items: int | None = None) -> th.Graph:
    """A graph whose `train` adds one to `w`.

    Args:
        items: How many items its source `batch` has; `train` draws one. None: it has no source.
    """
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.placeholder("x", default=1.0)
    graph.placeholder("y", default=2.0)
    graph.tensor(lambda x: 2.0 * x, name="double_x")
    graph.tensor(lambda x, y: x * y, name="x_times_y")
    if items is None:
        graph.train_op(lambda w: {"w": w + 1.0}, name="train")
    else:
        graph.source("batch", lambda: iter(range(items)))
        graph.train_op(lambda w, batch: {"w": w + 1.0}, name="train")
    return graph


def training(*hooks: object) -> th.MonitoredSession:
    """A monitored session of these hooks on a graph that counts."""
    return th.MonitoredSession(graph=counting_graph(), hooks=hooks)


class Recorder(th.SessionRunHook):
    """Notes each of its calls.

    Args:
        name: Its name.
        calls: Where it notes (its name, the stage).
        on: What it does in a stage, with all arguments of that stage.
    """

    def __init__(self, name: str, calls: Calls | None = None, **on: Callable[..., Any]) -> None:
        self.name = name
        self.calls: Calls = [] if calls is None else calls
        self._on = on

    @property
    def stages(self) -> list[str]:
        """The stages in which this hook was called."""
        return [stage for name, stage in self.calls if name == self.name]

    def calm(self) -> None:
        """Do nothing from now on but note the calls."""
        self._on = {}

    def begin(self, graph: th.Graph) -> None:
        self._note("begin", graph)

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self._note("after_create_session", session, coord)

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        asked: th.SessionRunArgs | None = self._note("before_run", run_context)
        return asked

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._note("after_run", run_context, run_values)

    def end(self, session: th.Session) -> None:
        self._note("end", session)

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self._note("on_exception", session, exception)

    def _note(self, stage: str, *arguments: Any) -> Any:
        self.calls.append((self.name, stage))
        return self._on[stage](*arguments) if stage in self._on else None


class Transparent:
    """Wraps every stage and changes nothing, so that a session calls all of them through pluggy."""

    @th.hookimpl(wrapper=True)
    def begin(self) -> Generator[None, Any, Any]:
        return (yield)

    after_create_session = before_run = after_run = end = on_exception = begin


def raising(*errors: BaseException | None) -> Callable[..., None]:
    """A function that raises these one after the other, one a call and none for None, and nothing after them."""
    waiting = list(errors)

    def act(*arguments: object) -> None:
        error = waiting.pop(0) if waiting else None
        if error is not None:
            raise error

    return act


def first(times: int, action: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does this the first so many times, and nothing after them."""
    left = [times]

    def act(*arguments: Any) -> Any:
        left[0] -= 1
        return action(*arguments) if left[0] >= 0 else None

    return act


class MemorySaver:
    """Keeps all checkpoints in memory."""

    def __init__(self) -> None:
        self.saved: list[tuple[th.Checkpoint, dict[str, Any]]] = []
        self.closed = False

    def save(
        self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float] = MappingProxyType({})
    ) -> th.Checkpoint:
        checkpoint = th.Checkpoint(Path(f"memory-{len(self.saved)}"), step, len(self.saved), metrics)
        self.saved.append((checkpoint, copy.deepcopy(dict(state))))
        return checkpoint

    def restore(self, checkpoint: th.Checkpoint | None = None) -> tuple[th.Checkpoint, dict[str, Any]] | None:
        for found, state in reversed(self.saved):
            if checkpoint in (None, found):
                return found, copy.deepcopy(state)
        return None

    def verify(self, checkpoint: th.Checkpoint) -> str | None:
        return None if checkpoint in self.list() else "it is not here"

    def list(self) -> "list[th.Checkpoint]":
        return [checkpoint for checkpoint, _ in self.saved]

    def latest(self) -> th.Checkpoint | None:
        return self.saved[-1][0] if self.saved else None

    def best(self, metric: str | None = None, mode: Literal["min", "max"] | None = None) -> th.Checkpoint | None:
        name = metric or ""
        values = [(found.metrics[name], found) for found in self.list() if name in found.metrics]
        values.sort(key=lambda value: value[0], reverse=mode == "max")
        return values[0][1] if values else None

    def open(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


class SaveEveryStep(th.SessionRunHook):
    """Saves after each run, and nowhere else."""

    saves_state = True

    def __init__(self, saver: MemorySaver) -> None:
        self.saver = saver

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        session = run_context.session
        self.saver.save(session.state_dict(), step=session.global_step)


class Stateful(Recorder):
    @staticmethod
    def states(*hooks: object) -> dict[str, Any]:
        with training(*hooks) as session:
            raw = session.raw_session()
            assert raw is not None
            states: dict[str, Any] = raw.state_dict()["hooks"]
        return states

    def state_dict(self) -> dict[str, Any]:
        return {"calls": len(self.calls)}

    def load_state_dict(self, state: dict[str, Any]) -> None: ...
