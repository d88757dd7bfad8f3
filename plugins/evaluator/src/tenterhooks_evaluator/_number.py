"""What an evaluation gives, as the number that it is."""

from typing import Any

__all__ = ["as_number"]


def as_number(value: Any, what: str) -> float:
    """A number of any library as a float. NaN stays NaN.

    Args:
        value: The number, or an array without dimensions.
        what: What it is, for messages.

    Raises:
        TypeError: It is none.
    """
    shape = tuple(getattr(value, "shape", ()))
    cause = None
    if not shape and not isinstance(value, str | bytes):
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            cause = error
    found = f"has the shape {shape}" if shape else f"is {value!r:.60} of type {type(value).__name__}"
    raise TypeError(f"{what} is one number, and this {found}: give its mean, say") from cause
