"""The area under the ROC curve: exact, from all scores, or bounded in memory and in error."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tenterhooks_estimator.metrics._arrays import Floats, as_binary, as_pair, as_weights

__all__ = ["AUC", "BinnedAUC"]


class AUC:
    """The area under the ROC curve, exact: the chance that a positive example scores higher than a negative one.

    Equal scores count half. It keeps all scores, 17 bytes each; `BinnedAUC` does not. NaN where there are examples of
    one class only, or none.

    Example:
        >>> metric = AUC()
        >>> metric.update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> metric.result()
        0.75
    """

    def __init__(self) -> None:
        self._batches: list[tuple[npt.NDArray[np.bool_], Floats, Floats]] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {sum(len(scores) for _, scores, _ in self._batches)} scores>"

    def update(self, labels: Any, predictions: Any, weights: Any = None) -> None:
        """Keep a batch.

        Args:
            labels: An array of truth values, or of 0 and 1.
            predictions: The scores, an array of the same shape: any numbers that are greater for positive examples.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, there are other labels, a score is not finite, or a weight is negative.
        """
        labels, scores, weights = _checked(labels, predictions, weights)
        # Copies: a loop may fill the same arrays again.
        self._batches.append((labels.copy(), scores.copy(), weights.copy()))

    def result(self) -> float:
        """The metric of all that it was updated with."""
        labels, scores, weights = self._gathered()
        if not len(scores):
            return math.nan
        order = np.argsort(scores, kind="stable")
        labels, scores, weights = labels[order], scores[order], weights[order]
        # Where a new score begins: equal ones are one group.
        starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
        return _area(np.add.reduceat(weights * labels, starts), np.add.reduceat(weights * ~labels, starts))

    def merge(self, other: Self) -> None:
        """Count what another one has seen.

        Raises:
            TypeError: It is a metric of another kind.
        """
        if type(other) is not type(self):
            raise TypeError(f"only another {type(self).__name__} can be merged into this one, not {other!r}")
        self._batches = [*self._batches, *other._batches]

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """What it has seen: all of it."""
        return dict(zip(("labels", "scores", "weights"), self._gathered(), strict=True))

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with what `state_dict` gave."""
        self._batches = [(np.array(state["labels"]), np.array(state["scores"]), np.array(state["weights"]))]

    def _gathered(self) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
        if not self._batches:
            return np.zeros(0, bool), np.zeros(0), np.zeros(0)
        labels, scores, weights = zip(*self._batches, strict=True)
        return np.concatenate(labels), np.concatenate(scores), np.concatenate(weights)


class BinnedAUC:
    """The area under the ROC curve of scores from 0 to 1, in bounded memory: scores in one bin count as equal.

    The result is off by no more than `error_bound()`, which depends on the scores: half the share of pairs of a
    positive and a negative example that fall into one bin. NaN where there are examples of one class only, or none.

    Args:
        num_thresholds: The number of evenly spaced thresholds from 0 to 1, both included; the bins are between them.

    Raises:
        ValueError: They are less than 2.

    Example:
        >>> metric = BinnedAUC(num_thresholds=101)
        >>> metric.update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> metric.result(), metric.error_bound()
        (0.75, 0.0)
    """

    def __init__(self, *, num_thresholds: int = 200) -> None:
        if num_thresholds < 2:
            raise ValueError(f"num_thresholds is 2 or more, since bins are between two, not {num_thresholds}")
        self._positive = np.zeros(num_thresholds - 1)
        self._negative = np.zeros(num_thresholds - 1)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._positive)} bins>"

    def update(self, labels: Any, predictions: Any, weights: Any = None) -> None:
        """Count a batch.

        Args:
            labels: An array of truth values, or of 0 and 1.
            predictions: The scores, an array of the same shape, from 0 to 1.
            weights: How much each entry counts: one number, or an array of that shape. By default 1.

        Raises:
            ValueError: Shapes do not fit, there are other labels, a score is not from 0 to 1, or a weight is negative.
        """
        labels, scores, weights = _checked(labels, predictions, weights)
        outside = scores[(scores < 0) | (scores > 1)]
        if outside.size:
            raise ValueError(
                f"a score is {outside[0]}, and those of a BinnedAUC are from 0 to 1: give it probabilities, or take AUC"
            )
        count = len(self._positive)
        bins = np.minimum((scores * count).astype(np.intp), count - 1)
        self._positive += np.bincount(bins, weights * labels, count)
        self._negative += np.bincount(bins, weights * ~labels, count)

    def result(self) -> float:
        """The metric of all that it was updated with."""
        return _area(self._positive, self._negative)

    def error_bound(self) -> float:
        """How far the result is off at most; NaN where that is."""
        pairs = float(self._positive.sum() * self._negative.sum())
        return float(self._positive @ self._negative) / 2 / pairs if pairs else math.nan

    def merge(self, other: Self) -> None:
        """Count what another one has seen.

        Raises:
            TypeError: It is a metric of another kind.
            ValueError: It has another number of thresholds.
        """
        if type(other) is not type(self):
            raise TypeError(f"only another {type(self).__name__} can be merged into this one, not {other!r}")
        self._check_bins(len(other._positive))
        self._positive = self._positive + other._positive
        self._negative = self._negative + other._negative

    def state_dict(self) -> dict[str, Floats]:
        """What it has seen: a weight for each class and bin."""
        return {"positive": self._positive.copy(), "negative": self._negative.copy()}

    def load_state_dict(self, state: Mapping[str, Floats]) -> None:
        """Go on with what `state_dict` gave.

        Raises:
            ValueError: It is of another number of thresholds.
        """
        self._check_bins(len(state["positive"]))
        self._positive, self._negative = np.array(state["positive"]), np.array(state["negative"])

    def _check_bins(self, count: int) -> None:
        if count != len(self._positive):
            raise ValueError(
                f"num_thresholds is {len(self._positive) + 1} here, and {count + 1} in what is to be added"
            )


def _checked(labels: Any, predictions: Any, weights: Any) -> tuple[npt.NDArray[np.bool_], Floats, Floats]:
    """The labels, scores and weights of a batch, each in one row."""
    labels, predictions = as_pair(labels, predictions)
    scores = np.asarray(predictions, np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(f"a score is {scores[~np.isfinite(scores)][0]}: those of an AUC are finite")
    weights = as_weights(weights, scores.shape)
    return as_binary(labels, "labels").ravel(), scores.ravel(), weights.ravel()


def _area(positive: Floats, negative: Floats) -> float:
    """The area from the weights of both classes, by groups of equal scores in rising order."""
    pairs = float(positive.sum() * negative.sum())
    below = np.cumsum(negative) - negative
    return float(positive @ (below + negative / 2)) / pairs if pairs else math.nan
