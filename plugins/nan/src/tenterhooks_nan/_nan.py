"""Where there is a NaN."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from tenterhooks.adapted import handler_of
from tenterhooks.state_adapters import ObjectHandler, TreeHandler

__all__ = ["has_nan", "places"]

# Tuples, since a union is made anew in each call.
_NUMBERS = (float, complex)
_NUMPYS = (np.ndarray, np.generic)


def has_nan(value: Any) -> bool:
    """Whether a number is NaN, or an array holds one. Anything else does not."""
    if isinstance(value, _NUMBERS):
        return value != value  # noqa: PLR0124 - NaN is the one number that differs from itself.
    if isinstance(value, _NUMPYS):
        if value.dtype.kind not in "fc" or not value.size:
            return False
        if value.dtype.kind == "f":
            # The least number is NaN where one is: this takes no memory, and a fraction of the time.
            with np.errstate(invalid="ignore"):
                return bool(np.isnan(np.min(value)))
    elif (dtype := getattr(value, "dtype", None)) is None or not _of_floats(dtype):
        return False
    elif getattr(value, "ndim", None) == 0 and (item := getattr(value, "item", None)) is not None:
        # The number is moved from its device as a truth value would be, and no kernel is needed before.
        number = item()
        return bool(number != number)  # noqa: PLR0124
    # An array of any library is compared on its device, and one truth value is moved from there.
    differs = value != value  # noqa: PLR0124
    return bool(differs.any())


@lru_cache
def _of_floats(dtype: Any) -> bool:
    """Whether arrays of this type, of any library, can hold NaN. Making a text of it in each run would cost most."""
    name = str(dtype)
    return "float" in name or "complex" in name


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
    elif isinstance(handler := handler_of(value), TreeHandler):
        yield from places(handler.parts(value), path)
    elif isinstance(handler, ObjectHandler):
        yield from places(handler.state(value), path)
    elif callable(getattr(value, "state_dict", None)):
        yield from places(value.state_dict(), path)
    elif has_nan(value):
        yield path
