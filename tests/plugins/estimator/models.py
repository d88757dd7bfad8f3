"""A model that is small, and whose numbers are easily told."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_checkpoint import Saver
from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys, RunConfig, metrics

Array = np.ndarray[Any, Any]
Batch = tuple[dict[str, Array], Array]


def default_graph() -> th.Graph:
    graph = th.get_default_graph()
    assert graph is not None
    return graph


def model_fn(features: th.Node, labels: th.Node | None, mode: ModeKeys, params: dict[str, Any]) -> EstimatorSpec:
    """A linear classifier of `features["x"]`."""
    graph = default_graph()
    graph.variable("w", lambda: np.zeros(params.get("size", 3)))

    @graph.tensor
    def logits(features: dict[str, Array], w: Array) -> Array:
        return features["x"] @ w

    @graph.tensor
    def classes(logits: Array) -> Array:
        return (logits > 0).astype(int)

    predictions: dict[str, th.Node | str] = {"logits": logits, "classes": classes}
    if labels is None:
        return EstimatorSpec(mode, predictions=predictions, prediction_hooks=params.get("hooks", list)())

    @graph.tensor
    def loss(logits: Array, labels: Array) -> float:
        return float(((logits - labels) ** 2).mean())

    @graph.train_op
    def train(w: Array, features: dict[str, Array], logits: Array, labels: Array) -> None:
        w -= 0.1 * features["x"].T @ (logits - labels) / len(labels)

    return EstimatorSpec(
        mode,
        predictions=predictions,
        loss=loss,
        train_op=train,
        eval_metric_ops={"accuracy": metrics.accuracy(labels, classes), "auc": metrics.auc("labels", "logits")},
        training_hooks=params.get("hooks", list)(),
        training_chief_hooks=params.get("chief_hooks", list)(),
        evaluation_hooks=params.get("hooks", list)(),
    )


def batches(count: int, seed: int = 0, size: int = 8) -> Iterator[Batch]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.normal(size=(size, 3))
        yield {"x": x}, (x[:, 0] > 0).astype(int)


def input_fn() -> Iterator[Batch]:
    return batches(100)


def few(count: int) -> Callable[[], Iterator[Batch]]:
    return lambda: batches(count)


def make(
    folder: Path,
    *,
    config: RunConfig | None = None,
    hooks: Sequence[object] = (),
    chief_hooks: Sequence[object] = (),
    **params: Any,
) -> Estimator:
    # Functions, since what is in params is copied.
    params |= {"hooks": lambda: hooks, "chief_hooks": lambda: chief_hooks}
    return Estimator(model_fn, folder, params=params, config=config)


def steps(folder: Path) -> list[int]:
    """The steps that a folder has checkpoints of, in the order in which they were saved."""
    return [checkpoint.step for checkpoint in Saver(folder).list()]


def saved(folder: Path) -> dict[str, Any]:
    """What the newest checkpoint of a folder holds, its arrays as their bits."""
    found = Saver(folder).restore()
    assert found is not None
    return flat(found[1])


def flat(state: Any, path: str = "") -> dict[str, Any]:
    if isinstance(state, dict):
        return {name: value for key in state for name, value in flat(state[key], f"{path}/{key}").items()}
    return {path: (state.dtype.str, state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state}


class Noting(th.SessionRunHook):
    """Notes each stage, and the step after each run."""

    def __init__(self, name: str = "noting", into: list[str] | None = None) -> None:
        self.name = name
        self.calls = [] if into is None else into

    def begin(self, graph: th.Graph) -> None:
        self.calls.append(f"{self.name}.begin")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.calls.append(f"{self.name}.run{run_context.session.global_step}")

    def end(self, session: th.Session) -> None:
        self.calls.append(f"{self.name}.end")

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self.calls.append(f"{self.name}.{type(exception).__name__}")


class Enough(th.SessionRunHook):
    """Ends what has no end, so that a test fails, and does not hang."""

    def __init__(self, runs: int) -> None:
        self._left = runs

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._left -= 1
        if not self._left:
            run_context.request_stop("enough")
