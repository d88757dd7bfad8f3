"""Whether a number, or an array of any library, is or holds what is NaN or not finite."""

import cmath
import contextlib
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np

__all__ = ["CHECKS", "Check", "bad_at_once", "bad_on_device", "first_index", "has_nan", "has_non_finite"]

Check = Literal["nan", "non-finite"]

# Tuples, since a union is made anew in each call.
_NUMBERS = (float, complex)
_NUMPYS = (np.ndarray, np.generic)
_OF_THE_HOST = (int, *_NUMBERS, *_NUMPYS)
# Of an array that is not compared as others are, such as a sparse one; one that is and fails does so again.
_NOT_COMPARED = (AttributeError, RuntimeError, TypeError)


def has_nan(value: Any) -> bool | None:
    """Whether a number is NaN, or an array holds one; None for what is neither, or to be taken apart."""
    if isinstance(value, _NUMBERS):
        # NaN is the one number that differs from itself. NumPy's comparison gives no bool, `not` makes one.
        return not value == value  # noqa: PLR0124, SIM201
    if isinstance(value, _NUMPYS):
        if value.dtype.kind not in "fc":
            return _of_another_kind(value, "nan")
        if not value.size:
            return False
        if not value.ndim:
            number = value.item()
            return not number == number  # noqa: PLR0124, SIM201
        if value.dtype.kind == "f":
            # The least number is NaN where one is: this takes no memory, and a fraction of the time.
            with np.errstate(invalid="ignore"):
                return bool(np.isnan(np.min(value)))
    elif (dtype := getattr(value, "dtype", None)) is None:
        return False if isinstance(value, int) else None
    elif not _of_floats(dtype):
        return False
    elif getattr(value, "ndim", None) == 0 and (item := getattr(value, "item", None)) is not None:
        # The number is moved from its device as a truth value would be, and no kernel is needed before.
        number = item()
        return bool(number != number)  # noqa: PLR0124
    # An array of any library is compared on its device, and one truth value is moved from there.
    try:
        differs = value != value  # noqa: PLR0124
        return bool(differs.any())
    except _NOT_COMPARED:
        return None


def has_non_finite(value: Any) -> bool | None:
    """Whether a number is NaN or infinite, or an array holds one; None for what is neither, or to be taken apart."""
    if isinstance(value, _NUMBERS):
        return not cmath.isfinite(value)
    if isinstance(value, _NUMPYS):
        if value.dtype.kind not in "fc":
            return _of_another_kind(value, "non-finite")
        if not value.size:
            return False
        if value.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                return not (np.isfinite(np.min(value)) and np.isfinite(np.max(value)))
        return not bool(np.isfinite(value).all())
    if (dtype := getattr(value, "dtype", None)) is None:
        return False if isinstance(value, int) else None
    if not _of_floats(dtype):
        return False
    if getattr(value, "ndim", None) == 0 and (item := getattr(value, "item", None)) is not None:
        return not cmath.isfinite(item())
    try:
        return bool(_bad_elements(value, "non-finite").any())
    except _NOT_COMPARED:
        return None


CHECKS: dict[Check, Callable[[Any], bool | None]] = {"nan": has_nan, "non-finite": has_non_finite}


def bad_at_once(value: Any, check: Check) -> bool | None:
    """Whether a number or an array of the host's is bad; None for an array of another library."""
    if isinstance(value, _OF_THE_HOST):
        return CHECKS[check](value)
    return None if _of_floats(value.dtype) else False


def bad_on_device(value: Any, check: Check) -> Any:
    """Whether an array of another library is bad, as one truth value on its device."""
    return _bad_elements(value, check).any()


def first_index(value: Any, check: Check) -> tuple[int, ...] | None:
    """Where in an array the first bad number is; None in what has one number, or shows it no more."""
    shape = getattr(value, "shape", ())
    if len(shape) == 0:
        return None
    # An array of a library that cannot be looked at in part, or one whose memory was given away since.
    with contextlib.suppress(AttributeError, RuntimeError, ValueError), np.errstate(invalid="ignore"):
        bad = _bad_elements(value, check).reshape(-1)
        first, last = 0, math.prod(shape)
        if not bad.any():
            return None
        # By halves: that works in all libraries, and moves nothing but truth values.
        while last - first > 1:
            middle = (first + last) // 2
            if bad[first:middle].any():
                last = middle
            else:
                first = middle
        return tuple(int(index) for index in np.unravel_index(first, tuple(shape)))
    return None


def _of_another_kind(value: Any, check: Check) -> bool | None:
    """The same of an array of NumPy of none of its own kinds of floats."""
    if value.dtype.kind == "O" or value.dtype.names:
        return None
    # Such as bfloat16, which other libraries bring.
    return value.dtype.kind == "V" and _of_floats(value.dtype) and bool(_bad_elements(value, check).any())


def _bad_elements(value: Any, check: Check) -> Any:
    """Which elements of an array are bad."""
    if check == "nan":
        return value != value  # noqa: PLR0124
    if "float8" in str(value.dtype):
        # No library subtracts these.
        return (value != value) | (value == math.inf) | (value == -math.inf)  # noqa: PLR0124
    return (value - value) != 0


@lru_cache
def _of_floats(dtype: Any) -> bool:
    """Whether arrays of this type, of any library, can hold NaN. Making a text of it in each run would cost most."""
    name = str(dtype)
    return "float" in name or "complex" in name
