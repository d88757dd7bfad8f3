"""Values of any framework as the arrays that are written, copied from the program's memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["numbers", "pixels"]


def numbers(values: Any, tag: str) -> NDArray[Any]:
    """The numbers of a histogram.

    Raises:
        ValueError: There are none.
        TypeError: They are no real numbers.
    """
    array = _array(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"the histogram {tag!r} is given {_what(values, array)}: give it an array of real numbers, of any shape"
        )
    if not array.size:
        raise ValueError(f"the histogram {tag!r} is given an empty array: leave it out where there are no numbers")
    return array


def pixels(image: Any, tag: str) -> NDArray[np.uint8]:
    """The pixels of an image, of the shape (height, width, channels).

    Raises:
        ValueError: It has another shape, or floats that are not from 0 to 1.
        TypeError: It holds anything but bytes and floats.
    """
    array = _array(image)
    shape = array.shape
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4) or not array.size:
        raise ValueError(
            f"the image {tag!r} has the shape {shape}: give it as (height, width), or (height, width, channels) with "
            "1 channel (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA)"
        )
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise TypeError(
            f"the image {tag!r} is given {_what(image, array)}: give it as uint8 from 0 to 255, or floats from 0 to 1"
        )
    low, high = array.min(), array.max()
    if not (low >= 0.0 and high <= 1.0):
        raise ValueError(
            f"the image {tag!r} has floats from {low:g} to {high:g}: scale them to 0 to 1, or give uint8 from 0 to 255"
        )
    return np.rint(array * 255.0).astype(np.uint8)


def _array(value: Any) -> NDArray[Any]:
    """A copy as an array: the program goes on with its own, which may change."""
    # A tensor of PyTorch may lie on a device, and know what computed it.
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu()
        # NumPy has no type for some of its floats.
        value = (value.double() if value.dtype.is_floating_point else value).numpy()
    array = np.array(value)
    # Nor for those of JAX, whose are known to it by another library.
    return array.astype(np.float64) if array.dtype.kind == "V" and "float" in array.dtype.name else array


def _what(value: Any, array: NDArray[Any]) -> str:
    if hasattr(value, "dtype"):
        return f"an array of {array.dtype}"
    return f"{value!r:.60} of type {type(value).__name__}"
