"""What metrics are given, arrays of any framework, as arrays of NumPy that fit each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "as_array", "as_binary", "as_pair", "as_weights"]

Floats = npt.NDArray[np.float64]


def as_array(values: Any) -> npt.NDArray[Any]:
    """An array of any framework as one of NumPy."""
    # A tensor of PyTorch may lie on a device, and know what computed it.
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        # NumPy has no type for some of its floats.
        values = (values.double() if values.dtype.is_floating_point else values).numpy()
    array = np.asarray(values)
    # Nor for those of JAX, whose are known to it by another library.
    return array.astype(np.float64) if array.dtype.kind == "V" and "float" in array.dtype.name else array


def as_pair(labels: Any, predictions: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Labels and predictions as arrays of one shape.

    Raises:
        ValueError: Their shapes differ.
    """
    labels, predictions = as_array(labels), as_array(predictions)
    if labels.shape != predictions.shape:
        raise ValueError(
            f"labels have the shape {labels.shape} and predictions {predictions.shape}: a metric compares arrays of "
            "one shape"
        )
    return labels, predictions


def as_binary(array: npt.NDArray[Any], what: str) -> npt.NDArray[np.bool_]:
    """Truth values, or 0 and 1, as truth values.

    Raises:
        ValueError: There are others among them.
    """
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
    array = np.asarray(as_array(1.0 if weights is None else weights), np.float64)
    if array.shape not in ((), shape):
        raise ValueError(f"weights have the shape {array.shape}: they are one number, or of the values' shape {shape}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("weights are finite and at least 0")
    return np.broadcast_to(array, shape)
