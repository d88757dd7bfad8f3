"""The entries of a state as lines of text and as JSON."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenterhooks_checkpoint._outline import SMALL, ArrayOutline
from tenterhooks_checkpoint._refusals import below, name_of

__all__ = ["Item", "items"]

_WIDTH = 60  # of a value as text
_LENGTH = 1000  # of the longest text, and of the longest place, that is shown
_BITS = 1000  # of the largest integer that is shown: Python converts a limited number of digits
_EXACT = 2**53  # beyond this, readers of JSON in other languages round an integer

_CONTAINERS = (dict, list, tuple, ArrayOutline)


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a state that is no container of others.

    Attributes:
        name: Its place, such as `variables/w`.
        type: Of an array its type of elements, otherwise the type's name.
        shape: Of an array its shape; of a list, tuple or dict its length; otherwise None.
        shown: Whether it is small enough for its value to be shown.
        value: The value as JSON can hold it, as text where it cannot.
        text: The value for people, cut at some length.
    """

    name: str
    type: str
    shape: tuple[int, ...] | None
    shown: bool = False
    value: Any = None
    text: str = ""

    def as_row(self) -> tuple[str, ...]:
        """The cells of a line."""
        kind = self.type if self.shape is None else f"{self.type} {self.shape}"
        return self.name, kind, self.text

    def as_json(self) -> dict[str, Any]:
        """What stands in the output as JSON."""
        found: dict[str, Any] = {"name": self.name, "type": self.type}
        if self.shape is not None:
            found["shape"] = list(self.shape)
        if self.shown:
            found["value"] = self.value
        return found


def items(state: dict[str, Any]) -> Iterator[Item]:
    """The entries of a state in their order, those in dicts, lists and tuples by their places.

    A list or tuple that holds no container and no array is one entry.
    """
    # No recursion: what another program wrote may be nested deeper than Python likes.
    waiting: list[tuple[str, Any]] = [("", state)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and (value or not name):
            parts = [(_below(name, name_of(key)), part) for key, part in value.items()]
        elif isinstance(value, list | tuple) and any(isinstance(part, _CONTAINERS) for part in value):
            parts = [(_below(name, f"[{index}]"), part) for index, part in enumerate(value)]
        else:
            yield _item(name, value)
            continue
        waiting.extend(reversed(parts))


def _below(path: str, name: str) -> str:
    """The place of an entry, cut at some length: a long key stands in the places of all that lies below it."""
    place = below(path, name)
    return place if len(place) <= _LENGTH else f"{place[:_LENGTH]}..."


def _item(name: str, value: Any) -> Item:
    shape: tuple[int, ...] | None = None
    if isinstance(value, ArrayOutline):
        kind, shape, value = str(value.dtype), value.shape, value.content
        if value is None:
            return Item(name, kind, shape)
    else:
        kind = "None" if value is None else type(value).__name__
        if isinstance(value, np.generic):
            kind = f"numpy.{kind}"
        if isinstance(value, dict | list | tuple):
            shape = (len(value),)
        if not _is_small(value):
            return Item(name, kind, shape)
    try:
        plain = _plain(value)
    except (OverflowError, SystemError, ValueError) as error:  # bits that are no character, or no date
        return Item(name, kind, shape, text=f"({error})")
    text = plain if isinstance(plain, str) and not isinstance(value, str) else repr(plain)
    return Item(name, kind, shape, True, plain, text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}...")


def _is_small(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= SMALL and all(map(_is_small, value))
    if isinstance(value, str | bytes):
        return len(value) <= _LENGTH
    return not isinstance(value, int) or value.bit_length() <= _BITS


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return _plain_array(value)
    if isinstance(value, np.generic):
        return _plain_scalar(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not -_EXACT <= value <= _EXACT:
        return str(value)
    return repr(value) if isinstance(value, bytes) else value


def _plain_array(array: NDArray[Any]) -> Any:
    if array.size == 0:
        return []
    return _plain(array[()]) if array.ndim == 0 else [_plain_array(array[index, ...]) for index in range(len(array))]


def _plain_scalar(scalar: np.generic) -> Any:
    if isinstance(scalar, np.bool_ | np.integer | np.str_ | np.bytes_):
        return _plain(scalar.item())
    text = str(scalar)
    # The shortest digits that give this number back: of a float32 fewer than of the float64 that equals it.
    return float(text) if isinstance(scalar, np.floating) and np.isfinite(scalar) and scalar.itemsize <= 8 else text
