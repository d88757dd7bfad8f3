"""One evaluation: metrics over the batches of an input."""

import logging
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks import SingularMonitoredSession
from tenterhooks.errors import note
from tenterhooks.summaries import open_summary_writer, summary_writer_installed
from tenterhooks_estimator._checkpoints import RestoredSessionCreator
from tenterhooks_estimator._model import Model
from tenterhooks_estimator.metrics import Mean, Metric

__all__ = ["evaluate", "write_summaries"]

_log = logging.getLogger("tenterhooks_estimator")


def evaluate(
    model: Model, creator: RestoredSessionCreator, hooks: Iterable[object], steps: int | None
) -> dict[str, Any]:
    """Evaluate a model.

    It does not recover from a lost worker: the batches before would be counted twice.

    Returns:
        The metrics by name, with `loss`, the mean over batches, and `global_step`.

    Raises:
        ValueError: There was no batch, or the loss of one is not one number.
    """
    spec = model.spec
    metrics = {name: op.make() for name, op in spec.eval_metric_ops.items()}
    loss, batches, global_step = Mean(), 0, 0
    # The input ends it, whether or not the model looks at it.
    fetches = {
        "input": "input",
        "loss": spec.loss,
        "metrics": {name: dict(op.inputs) for name, op in spec.eval_metric_ops.items()},
    }
    with SingularMonitoredSession(hooks, session_creator=creator) as session:
        global_step = session.global_step
        while not session.should_stop() and (steps is None or batches < steps):
            values = session.run(fetches)
            batches += 1
            _update("loss", loss, {"values": _one_number(values["loss"])})
            for name, metric in metrics.items():
                _update(name, metric, values["metrics"][name])
    if not batches:
        raise ValueError("the evaluation saw no batch: input_fn gave none, or a hook asked for a stop before the first")
    results = {name: metric.result() for name, metric in metrics.items()}
    results |= {"loss": loss.result(), "global_step": global_step}
    told = ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))
    _log.info("evaluated %d %s: %s", batches, "batch" if batches == 1 else "batches", told)
    return results


def write_summaries(results: Mapping[str, Any], folder: Path) -> None:
    """Write those results that are numbers into a folder, if a summary writer is installed."""
    if not summary_writer_installed():
        return
    writer = open_summary_writer(folder)
    try:
        for name, value in results.items():
            if name != "global_step" and isinstance(value, Real):
                writer.add_scalar(name, float(value), results["global_step"])
    finally:
        writer.close()


def _one_number(loss: Any) -> Any:
    size = math.prod(np.shape(loss))
    if size != 1:
        raise ValueError(f"the loss of a batch is one number, not {size}: take their mean, say")
    return loss


def _update(name: str, metric: Metric, values: Mapping[str, Any]) -> None:
    try:
        metric.update(**values)
    except Exception as error:
        note(error, f"in the metric {name!r} of the evaluation")
        raise
