"""Values as a file of text has them."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["is_single", "plain"]


def plain(value: Any, tag: str) -> Any:
    """A value as JSON has it; NaN and infinity, for which it has no numbers, by their names.

    Args:
        value: A number, a truth value, a text or None; an array of such, wherever it lies; lists and dicts of them.
        tag: What it is called, for the message.

    Raises:
        TypeError: It is something else.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): plain(entry, tag) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, tag) for entry in value]
    if callable(getattr(value, "tolist", None)):
        moved = value.tolist()
        # Python has no number that a long double would become.
        if type(moved) is not type(value):
            return plain(moved, tag)
    if hasattr(value, "__float__"):
        return plain(float(value), tag)
    raise TypeError(
        f"{tag!r} is {value!r:.60} of type {type(value).__name__}, which cannot be written: write numbers, texts, and "
        "arrays, lists and dicts of them"
    )


def is_single(value: Any) -> bool:
    """Whether a value is one number, truth value or text, which can be seen without moving it from its device."""
    if isinstance(value, str | int | float):
        return True
    shape = getattr(value, "shape", None)
    return shape is not None and len(shape) == 0 and callable(getattr(value, "tolist", None))
