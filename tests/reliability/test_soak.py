"""A session of any length takes the memory of a short one.

The environment's TENTERHOOKS_SOAK is the number of steps. All of them:

    TENTERHOOKS_SOAK=1000000 python -m pytest tests/reliability/test_soak.py
"""

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_step_counter import StepCounterHook

STEPS = int(os.environ.get("TENTERHOOKS_SOAK", "30000"))
SHORT = 10_000
# Bytes: of caches that another run fills a little more. A list that grew by a pointer a step would take 160,000.
NOISE = 4_000


class Feeding(th.SessionRunHook):
    """Feeds, and asks for several values in each run."""

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs({"loss": "loss", "more": ["x", "loss"]}, {"x": 1.0})

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None: ...


def hooks() -> list[object]:
    return [
        NanTensorHook("loss"),
        LoggingTensorHook("loss", every_n_iter=100),
        LoggingTensorHook(["loss"], every_n_secs=0.01),
        StepCounterHook(every_n_steps=70),
    ]


@contextmanager
def of_a_graph() -> Iterator[Callable[[int], None]]:
    graph = th.Graph()
    graph.variable("w", 1.0)
    graph.placeholder("x", default=0.0)
    graph.source("batch", lambda: iter(int, 1))
    graph.tensor(lambda w, x, batch: w + x + batch, name="loss")
    graph.train_op(lambda w, batch: {"w": 0.5 * w + batch}, name="train")
    with th.MonitoredSession(graph=graph, hooks=[*hooks(), Feeding()]) as session:

        def run(steps: int) -> None:
            for _ in range(steps):
                session.run(["train", "loss"])

        yield run


@contextmanager
def of_the_programs_own() -> Iterator[Callable[[int], None]]:
    with th.MonitoredSession(state={"w": 1.0}, hooks=hooks()) as session:

        def run(steps: int) -> None:
            for step in session.steps(range(steps)):
                session.publish(loss=float(step), other=lambda: 1.0)

        yield run


@pytest.mark.parametrize("loop", [of_a_graph, of_the_programs_own])
def test_a_long_session_takes_no_more_memory_than_a_short_one(loop: Any) -> None:
    with loop() as run:
        tracemalloc.start()
        try:
            run(SHORT)
            gc.collect()
            short, _ = tracemalloc.get_traced_memory()
            run(STEPS - SHORT)
            gc.collect()
            long, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert long - short < NOISE
