"""A program that trains, with a state of every kind: arrays, generators, a hook's, and a place in shuffled input."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_stop_at_step import StopAtStepHook

from .setting import CHECKPOINTS, Warnings, append, leftovers, watch

__all__ = ["attempt", "train", "warm_up"]

_DATA = np.random.default_rng(0).normal(size=(24, 16))


def _batches(order: np.random.Generator) -> Iterator[Any]:
    while True:
        yield from order.permutation(len(_DATA)).reshape(-1, 4)


def _graph() -> th.Graph:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(16))
    graph.variable("momentum", lambda: np.zeros(16))
    graph.variable("order", lambda: np.random.default_rng(1))
    graph.variable("noise", lambda: np.random.default_rng(2))
    graph.source("ids", _batches)
    graph.tensor(lambda w, ids: float(np.square(_DATA[ids] - w).mean()), name="loss")

    @graph.train_op
    def train(w: Any, momentum: Any, noise: np.random.Generator, ids: Any) -> None:
        momentum *= 0.9
        momentum += w - _DATA[ids].mean(axis=0) + 0.1 * noise.normal(size=16)
        w -= 0.05 * momentum

    return graph


class Notes(th.SessionRunHook):
    """Has a state of its own, and notes each batch and each commit that it is told of in files beside the folder.

    With a commit goes what an earlier process left and what is still there.
    """

    name = "notes"

    def __init__(self, base: Path, life: int) -> None:
        self.average = 0.0
        self.runs = 0
        self._directory = base / CHECKPOINTS
        self._leftovers = leftovers(self._directory)
        self._batches = Path(f"{base}.batches-{life}")
        self._saved = Path(f"{base}.saved-{life}")

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs({"loss": "loss", "ids": "ids"})

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        found = run_values.results
        self.average = 0.9 * self.average + 0.1 * found["loss"]
        self.runs += 1
        ids = " ".join(map(str, found["ids"]))
        append(self._batches, f"{run_context.session.global_step}: {ids}, {self.average.hex()}\n")

    def state_dict(self) -> dict[str, Any]:
        return {"average": self.average, "runs": self.runs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.average, self.runs = state["average"], state["runs"]

    @th.hookimpl(optionalhook=True)
    def after_save(self, step: int) -> None:
        # Nothing is looked at where there was nothing: the shim would count it.
        left = [name for name in self._leftovers if (self._directory / name).exists()]
        append(self._saved, f"{step} {' '.join(left)}\n")


def train(
    base: str, *, life: int, last_step: int, every: int, keep: int, faults: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Train to a step, from where the checkpoints that lie there end.

    Args:
        base: The folder that holds that of the checkpoints. The files beside it, `batches` and `saved` with the number
            of the life, have a line for each step and for each commit.
        life: The number.
        last_step: The step.
        every: The steps between two saves.
        keep: The number of checkpoints to keep.
        faults: See `watch`.

    Returns:
        The step that it began with, and all that a resumed run has to have in common with an uninterrupted one.
    """
    notes = Notes(Path(base), life)
    shim = watch(Path(base), faults)
    with th.MonitoredTrainingSession(
        graph=_graph(),
        checkpoint_dir=Path(base) / CHECKPOINTS,
        save_checkpoint_steps=every,
        max_to_keep=keep,
        hooks=[notes, StopAtStepHook(last_step=last_step)],
    ) as session:
        raw = session.raw_session()
        assert raw is not None
        begun, state = raw.global_step, raw.state
        while not session.should_stop():
            session.run("train")
    return {
        "begun": begun,
        "calls": shim.count() if shim is not None else 0,
        "same": {
            "step": state.global_step,
            "w": state["w"].tobytes().hex(),
            "momentum": state["momentum"].tobytes().hex(),
            "average": notes.average.hex(),
            "runs": notes.runs,
            "next": [int(state[name].integers(1 << 62)) for name in ("order", "noise")],
        },
    }


def attempt(base: str, **arguments: Any) -> dict[str, Any]:
    """Train, and say how it ended.

    Args:
        base: See `train`.
        arguments: Those of `train`.

    Returns:
        The error's type and text ("" if there was none), what was logged, and what `train` returned.
    """
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    result: dict[str, Any] = {}
    kind = text = ""
    try:
        result = train(base, **arguments)
    except Exception as error:
        kind, text = type(error).__name__, str(error)
    return {"error": kind, "text": text, "warnings": warnings.messages, "result": result}


def warm_up() -> None:
    """Import all that is imported late, so that a child does not spend its life on it. It starts no thread."""
    import safetensors.numpy  # noqa: F401

    with th.MonitoredTrainingSession(graph=_graph(), hooks=["nan"]) as session:
        session.run("train")
    th.make_hook("checkpoint", save_steps=1)
