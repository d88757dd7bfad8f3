"""Metrics of nodes: what a model function puts into `eval_metric_ops`."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tenterhooks import Node
from tenterhooks_estimator.metrics._auc import AUC, BinnedAUC
from tenterhooks_estimator.metrics._ratios import Accuracy, Mean, Precision, Recall

__all__ = ["Metric", "MetricOp", "accuracy", "auc", "mean", "precision", "recall"]


class Metric(Protocol):
    """What is updated with one batch after the other. Those of this module can also be merged, and saved."""

    @property
    def update(self) -> Callable[..., None]:
        """Takes the values of a batch."""

    def result(self) -> Any:
        """The metric of all that it was updated with."""


@dataclass(frozen=True, slots=True)
class MetricOp:
    """A metric of nodes: it is updated with their values in each run of an evaluation.

    Attributes:
        make: Makes the metric, anew for each evaluation: its class, say.
        inputs: The nodes, or their names, by the argument of `update` that takes them.

    Raises:
        TypeError: The metric is not made by a call, or the inputs have no names.

    Example:
        >>> MetricOp(Accuracy, {"labels": "labels", "predictions": "classes"}).make()
        <Accuracy nan>
    """

    make: Callable[[], Metric]
    inputs: Mapping[str, Node | str]

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise TypeError(f"make is a function that makes a metric, such as its class, not {self.make!r:.60}")
        if not isinstance(self.inputs, Mapping):
            raise TypeError(f"inputs is a dict of nodes by the metric's arguments, not {self.inputs!r:.60}")


def accuracy(labels: Node | str, predictions: Node | str, weights: Node | str | None = None) -> MetricOp:
    """The share of predictions that equal their labels; see `Accuracy`."""
    return MetricOp(Accuracy, _inputs(labels=labels, predictions=predictions, weights=weights))


def auc(
    labels: Node | str,
    predictions: Node | str,
    weights: Node | str | None = None,
    *,
    num_thresholds: int | None = None,
) -> MetricOp:
    """The area under the ROC curve: exact, see `AUC`, or with so many thresholds, see `BinnedAUC`."""
    make: Callable[[], Metric] = AUC
    if num_thresholds is not None:
        make = functools.partial(BinnedAUC, num_thresholds=num_thresholds)
    return MetricOp(make, _inputs(labels=labels, predictions=predictions, weights=weights))


def mean(values: Node | str, weights: Node | str | None = None) -> MetricOp:
    """The mean of numbers; see `Mean`."""
    return MetricOp(Mean, _inputs(values=values, weights=weights))


def precision(labels: Node | str, predictions: Node | str, weights: Node | str | None = None) -> MetricOp:
    """The share of true ones among the positive predictions; see `Precision`."""
    return MetricOp(Precision, _inputs(labels=labels, predictions=predictions, weights=weights))


def recall(labels: Node | str, predictions: Node | str, weights: Node | str | None = None) -> MetricOp:
    """The share of positive labels that were predicted so; see `Recall`."""
    return MetricOp(Recall, _inputs(labels=labels, predictions=predictions, weights=weights))


def _inputs(**nodes: Node | str | None) -> dict[str, Node | str]:
    return {name: node for name, node in nodes.items() if node is not None}
