"""A training with all the built-in hooks that keep something, which may be interrupted in any step.

python all_hooks.py FOLDER graph|own KIND [STEP]
"""

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_early_stopping import EarlyStoppingHook
from tenterhooks_evaluator import Evaluation, EvaluatorHook
from tenterhooks_learning_rate import LearningRateHook, ReduceOnPlateauHook
from tenterhooks_logging import CsvHook, JsonLinesHook, LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_profiler import ProfilerHook
from tenterhooks_step_counter import StepCounterHook
from tenterhooks_stop_at_step import StopAtStepHook

__all__ = ["Kind", "Loop", "train"]

Loop = Literal["graph", "own"]
# How the learning rate goes down; and how the session ends: `stopped` by the number of steps, the others early.
Kind = Literal["schedule", "plateau", "stopped"]
# Called with each step that is made, in the middle of its update.
Watch = Callable[[int], None]

_LAST_STEP = {"schedule": 40, "plateau": 40, "stopped": 9}
_DATA = np.random.default_rng(0).normal(size=(12, 4))
_BATCHES = 4


def _shuffled(order: np.random.Generator) -> Iterator[Any]:
    yield from order.permutation(len(_DATA)).reshape(_BATCHES, -1)


def _epochs(order: np.random.Generator) -> Iterator[Any]:
    while True:
        yield from _shuffled(order)


def _loss(w: Any, batch: Any) -> float:
    return float(np.square(_DATA[batch] - w).mean())


def _error(w: Any, noise: np.random.Generator) -> float:
    """What the evaluation finds: it gets better for a time, and uses random numbers of the training's."""
    return float(np.abs(w + 1.0).mean() + 0.01 * noise.normal())


def _of_function(session: th.Session) -> dict[str, float]:
    return {"error": _error(session.state["w"], session.state["noise"])}


def _of_graph(graph: th.Graph) -> Evaluation:
    evaluation = th.Graph()
    for name in ("w", "noise"):
        evaluation.variable(name, 0.0)
    evaluation.tensor(_error, name="error")
    return Evaluation(evaluation, "error")


def _make_graph(update: Callable[..., None]) -> th.Graph:
    graph = th.Graph()
    for name, value in _fresh().items():
        graph.variable(name, value)
    graph.placeholder("learning_rate", default=0.0)
    graph.source("batch", _epochs)
    graph.tensor(_loss, name="loss")
    graph.train_op(update, name="train", inputs=["w", "noise", "batch", "learning_rate", "global_step"])
    return graph


def _fresh() -> dict[str, Any]:
    return {"w": np.zeros(4), "order": np.random.default_rng(1), "noise": np.random.default_rng(2)}


def _updates(folder: Path, watch: Watch) -> Callable[..., None]:
    def update(w: Any, noise: np.random.Generator, batch: Any, learning_rate: float, global_step: int) -> None:
        with (folder / "fed.txt").open("a", encoding="utf-8") as file:
            file.write(f"{global_step}: {learning_rate.hex()} for {' '.join(map(str, batch))}\n")
        w -= learning_rate * (1.5 + _DATA[batch].mean(axis=0) + 0.3 * noise.normal(size=4))
        # The update is half made.
        watch(global_step + 1)
        noise.normal()

    return update


def train(
    folder: Path,
    loop: Loop,
    kind: Kind,
    watch: Watch = lambda step: None,
    order: int | None = None,
    between: list[object] | None = None,
    patience: int = 3,
) -> dict[str, Any]:
    """Train until a hook stops it, from where the checkpoints end that lie in a folder.

    Args:
        folder: For the checkpoints and files.
        loop: The kind of loop.
        kind: The kind of training.
        watch: Called in each step.
        order: Which order the hooks have; None: that in which one would write them.
        between: More hooks.
        patience: That of early stopping.

    Returns:
        All that an interrupted training has to have in common with one that was not.
    """
    folder.mkdir(exist_ok=True)
    update = _updates(folder, watch)
    graph = _make_graph(update) if loop == "graph" else None
    evaluator = EvaluatorHook(_of_function if graph is None else _of_graph(graph), every_n_steps=2)
    early = EarlyStoppingHook("eval/error", patience=patience, restore_best=True)
    rate = LearningRateHook("cosine", learning_rate=0.2, decay_steps=30, warmup_steps=3)
    if kind == "plateau":
        rate = ReduceOnPlateauHook("eval/error", learning_rate=0.2, factor=0.7, patience=0)
    tensors = ["loss", "learning_rate"]
    hooks: list[object] = [
        evaluator,
        early,
        rate,
        JsonLinesHook(None if graph is None else tensors, optional=["eval/error"], every_n_steps=1),
        CsvHook(tensors, optional=["eval/error"], every_n_steps=1),
        LoggingTensorHook("loss", every_n_iter=2, at_end=True),
        NanTensorHook(["loss", "w"], every_n_steps=2, deferred=True),
        StepCounterHook(every_n_steps=2),
        StopAtStepHook(last_step=_LAST_STEP[kind]),
        *([ProfilerHook(save_steps=3)] if kind == "schedule" else []),
        *(between or []),
        CheckpointSaverHook(save_steps=3, max_to_keep=2, best="eval/error", keep_best=2, keep_every_n_steps=6),
    ]
    if order is not None:
        random.Random(order).shuffle(hooks)
    state = None if graph is not None else _fresh()
    with th.MonitoredTrainingSession(graph=graph, state=state, checkpoint_dir=folder, hooks=hooks) as session:
        raw = session.raw_session()
        assert raw is not None
        if state is None:
            while not session.should_stop():
                session.run("train")
        else:
            for _ in session.epochs(100):
                for batch in session.steps(_shuffled(state["order"])):
                    session.publish(loss=_loss(state["w"], batch))
                    update(state["w"], state["noise"], batch, session.feeds["learning_rate"], session.global_step)
        stop = [(request.hook, request.reason, request.global_step) for request in session.stop]
        variables = raw.state
    return {
        "stop": stop,
        "step": variables.global_step,
        "w": variables["w"].tobytes().hex(),
        "next": [int(variables[name].integers(1 << 62)) for name in ("order", "noise")],
        "results": evaluator.results,
        "best": [early.best, early.best_step],
        "rate": rate.learning_rate,
        "kept": [[checkpoint.step, dict(checkpoint.metrics)] for checkpoint in Saver(folder).list()],
        "fed": sorted(set(_lines(folder / "fed.txt"))),
        "jsonl": [{**json.loads(line), "time": 0} for line in _lines(folder / "metrics.jsonl")],
        "csv": [_without_time(row.split(",")) for row in _lines(folder / "metrics.csv")],
    }


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _without_time(row: list[str]) -> list[str]:
    return [*row[:1], *row[2:]]


def _kill_in(step: int) -> Watch:
    def watch(made: int) -> None:
        if made == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


if __name__ == "__main__":
    where, which, what, *at = sys.argv[1:]
    print(json.dumps(train(Path(where), which, what, *map(_kill_in, map(int, at)))))  # type: ignore[arg-type]
