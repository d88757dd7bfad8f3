"""What tests of the lifecycle share, beside the author kit: a graph that counts, and hooks of a few kinds."""

from collections.abc import Callable, Generator
from typing import Any

import tenterhooks as th
from tenterhooks.testing import MemorySaver, Recorder, raising

__all__ = [
    "CLEAN",
    "UNCLEAN",
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


class Transparent:
    """Wraps every stage and changes nothing, so that a session calls all of them through pluggy."""

    @th.hookimpl(wrapper=True)
    def begin(self) -> Generator[None, Any, Any]:
        return (yield)

    after_create_session = before_run = after_run = end = on_exception = begin


def first(times: int, action: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does this the first so many times, and nothing after them."""
    left = [times]

    def act(*arguments: Any) -> Any:
        left[0] -= 1
        return action(*arguments) if left[0] >= 0 else None

    return act


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


class Enough(StopIteration):
    pass


class RanDry(th.OutOfRangeError):
    pass


CLEAN = [th.OutOfRangeError, StopIteration, RanDry, Enough]
UNCLEAN = [ValueError, RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit, th.AbortedError, MemoryError]
