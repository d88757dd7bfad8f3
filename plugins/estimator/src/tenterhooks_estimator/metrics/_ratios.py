"""Metrics that are a ratio of two sums: accuracy, mean, precision and recall."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from tenterhooks_estimator.metrics._arrays import as_array, as_binary, as_pair, as_weights

__all__ = ["Accuracy", "Mean", "Precision", "Recall"]


class _Ratio:
    """A sum of weights, or of weighted values, divided by a sum of weights."""

    def __init__(self, undefined: float = math.nan) -> None:
        self._undefined = undefined
        self._part = 0.0
        self._whole = 0.0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.result():.6g}>"

    def result(self) -> float:
        """The metric of all that it was updated with."""
        return self._part / self._whole if self._whole else self._undefined

    def merge(self, other: Self) -> None:
        """Count what another one has seen.

        Raises:
            TypeError: It is a metric of another kind.
        """
        if type(other) is not type(self):
            raise TypeError(f"only another {type(self).__name__} can be merged into this one, not {other!r}")
        self._part += other._part
        self._whole += other._whole

    def state_dict(self) -> dict[str, float]:
        """What it has seen: two sums."""
        return {"part": self._part, "whole": self._whole}

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Go on with what `state_dict` gave."""
        self._part, self._whole = float(state["part"]), float(state["whole"])

    def _add(self, part: Any, whole: Any) -> None:
        self._part += float(np.sum(part))
        self._whole += float(np.sum(whole))


class Accuracy(_Ratio):
    """The share of predictions that equal their labels. NaN where there are none.

    Example:
        >>> metric = Accuracy()
        >>> metric.update([0, 1, 2], [0, 1, 1])
        >>> metric.update([5], [5])
        >>> metric.result()
        0.75
    """

    def __init__(self) -> None:
        super().__init__()

    def update(self, labels: Any, predictions: Any, weights: Any = None) -> None:
        """Count a batch.

        Args:
            labels: An array of classes.
            predictions: An array of the same shape.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, or a weight is negative.
        """
        labels, predictions = as_pair(labels, predictions)
        weights = as_weights(weights, labels.shape)
        self._add(weights * (labels == predictions), weights)


class Mean(_Ratio):
    """The weighted mean of numbers. NaN where there are none, and where one of them is.

    Example:
        >>> metric = Mean()
        >>> metric.update([1.0, 2.0, 6.0])
        >>> metric.result()
        3.0
    """

    def __init__(self) -> None:
        super().__init__()

    def update(self, values: Any, weights: Any = None) -> None:
        """Count a batch.

        Args:
            values: A number, or an array of any shape.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, or a weight is negative.
        """
        values = np.asarray(as_array(values), np.float64)
        weights = as_weights(weights, values.shape)
        self._add(weights * values, weights)


class Precision(_Ratio):
    """The share of true ones among the positive predictions, of two classes.

    Args:
        zero_division: The result where nothing was predicted positive: by default 0, as in scikit-learn.
    """

    def __init__(self, *, zero_division: float = 0.0) -> None:
        super().__init__(zero_division)

    def update(self, labels: Any, predictions: Any, weights: Any = None) -> None:
        """Count a batch.

        Args:
            labels: An array of truth values, or of 0 and 1.
            predictions: An array of the same shape, of such values too.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, there are other values, or a weight is negative.
        """
        labels, predictions = as_pair(labels, predictions)
        labels, predictions = as_binary(labels, "labels"), as_binary(predictions, "predictions")
        weights = as_weights(weights, labels.shape)
        self._add(weights[labels & predictions], weights[predictions])


class Recall(_Ratio):
    """The share of positive labels that were predicted so, of two classes.

    Args:
        zero_division: The result where no label is positive: by default 0, as in scikit-learn.
    """

    def __init__(self, *, zero_division: float = 0.0) -> None:
        super().__init__(zero_division)

    def update(self, labels: Any, predictions: Any, weights: Any = None) -> None:
        """Count a batch.

        Args:
            labels: An array of truth values, or of 0 and 1.
            predictions: An array of the same shape, of such values too.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, there are other values, or a weight is negative.
        """
        labels, predictions = as_pair(labels, predictions)
        labels, predictions = as_binary(labels, "labels"), as_binary(predictions, "predictions")
        weights = as_weights(weights, labels.shape)
        self._add(weights[labels & predictions], weights[labels])
