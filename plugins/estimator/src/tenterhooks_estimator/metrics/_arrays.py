"""What metrics are given, as arrays that fit each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "as_binary", "as_pair", "as_weights"]

Floats = npt.NDArray[np.float64]


def as_pair(labels: Any, predictions: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Labels and predictions as arrays of one shape.

    Raises:
        ValueError: Their shapes differ.
    """
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    if labels.shape != predictions.shape:
        raise ValueError(
            f"labels have the shape {labels.shape} and predictions {predictions.shape}: a metric compares arrays of "
            "one shape"
        )
    return labels, predictions


def as_binary(values: Any, what: str) -> npt.NDArray[np.bool_]:
    """Truth values, or 0 and 1, as truth values.

    Raises:
        ValueError: There are others among them.
    """
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array
    others = array.ravel() if array.dtype.kind not in "iuf" else array[(array != 0) & (array != 1)]
    if others.size:
        raise ValueError(
            f"{what} are truth values, or 0 and 1, and {others[0]!r} is among them: compare them with a class or a "
            "threshold first"
        )
    return array.astype(bool)


def as_weights(weights: Any, shape: tuple[int, ...]) -> Floats:
    """The weight of each entry of an array, 1 where none are given.

    Raises:
        ValueError: They are of another shape, negative or not finite.
    """
    array = np.asarray(1.0 if weights is None else weights, np.float64)
    if array.shape not in ((), shape):
        raise ValueError(f"weights have the shape {array.shape}: they are one number, or of the values' shape {shape}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("weights are finite and at least 0")
    return np.broadcast_to(array, shape)
