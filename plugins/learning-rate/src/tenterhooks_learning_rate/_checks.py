"""What options have to be, and what an error says of one that is not."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

__all__ = ["check_number", "checked_tuple"]


def check_number(name: str, value: Any, *, low: float = -math.inf, above: float = -math.inf) -> None:
    """Check that an option is a finite number.

    Args:
        name: The option.
        value: What was given.
        low: The least that it may be.
        above: What it has to be more than.

    Raises:
        TypeError: It is no number.
        ValueError: It is not finite, or too small.
    """
    limit = f" of {low:g} or more" if low > -math.inf else f" above {above:g}" if above > -math.inf else ""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is a number{limit}, not {value!r:.60} of type {type(value).__name__}")
    if not (math.isfinite(value) and low <= float(value) and above < float(value)):
        raise ValueError(f"{name} is a finite number{limit}, not {value}")


def checked_tuple(name: str, value: Any) -> tuple[Any, ...]:
    """The values of an option that is a list of numbers.

    Args:
        name: The option.
        value: What was given.

    Raises:
        TypeError: It is no list, nor anything else to go through.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is a list of numbers, not {value!r:.60} of type {type(value).__name__}")
    return tuple(value)
