"""Where there is a NaN."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["has_nan", "places"]


def has_nan(value: Any) -> bool:
    """Whether a number is NaN, or an array holds one. Anything else does not."""
    if isinstance(value, float | complex):
        return value != value  # noqa: PLR0124 - NaN is the one number that differs from itself.
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return False
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "fc" or not value.size:
            return False
        if value.dtype.kind == "f":
            # The least number is NaN where one is: this takes no memory, and a fraction of the time.
            with np.errstate(invalid="ignore"):
                return bool(np.isnan(np.min(value)))
    elif "float" not in str(dtype) and "complex" not in str(dtype):
        return False
    # An array of any library is compared on its device, and one truth value is moved from there.
    differs = value != value  # noqa: PLR0124
    return bool(differs.any())


def places(value: Any, path: str) -> Iterator[str]:
    """The places of all numbers and arrays in a state that are or hold NaN, such as `w` or `optimizer/m/[0]`.

    It looks into dicts, lists and tuples, and into what `state_dict` gives of an object that has one.
    """
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from places(entry, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from places(entry, f"{path}/[{index}]")
    elif callable(getattr(value, "state_dict", None)):
        yield from places(value.state_dict(), path)
    elif has_nan(value):
        yield path
