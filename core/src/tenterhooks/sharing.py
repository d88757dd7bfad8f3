"""Which values lie in others, or share their memory: what an update of those others in place would change."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tenterhooks.generators import is_generator

__all__ = ["CONSTANT", "Parts"]

CONSTANT = (int, float, complex, str, bytes, np.generic, type(None))
"""What cannot be changed."""

# What shows all that lies in it, or holds no arrays.
_TRANSPARENT = (Mapping, list, tuple, set, frozenset, bytearray)

# So many arrays are compared with each one; for more an index of the memory pays.
_COMPARED = 4


class Parts:
    """Values, and all that lies in them as far as they are made of dicts, lists and tuples; without what is constant.

    Args:
        values: The values.
    """

    __slots__ = ("_arrays", "_asked", "_opaque", "_others", "_spans")

    def __init__(self, values: Iterable[Any]) -> None:
        self._arrays: list[np.ndarray[Any, Any]] = []
        self._others: dict[int, Any] = {}
        # Whether something may hold arrays that cannot be seen from outside.
        self._opaque = False
        self._asked = 0
        self._spans: tuple[list[int], list[int]] | None = None
        for value in values:
            self._add(value)

    def _add(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._arrays.append(value)
        elif not isinstance(value, CONSTANT) and id(value) not in self._others:
            self._others[id(value)] = value
            if isinstance(value, Mapping):
                for entry in value.values():
                    self._add(entry)
            elif isinstance(value, list | tuple):
                for entry in value:
                    self._add(entry)
            elif not (isinstance(value, _TRANSPARENT) or is_generator(value)):
                self._opaque = True

    def __contains__(self, value: object) -> bool:
        """Whether this very object, no array, is one of the parts."""
        return id(value) in self._others

    def share(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether one of the parts may share memory with an array."""
        if self._opaque:
            return True
        if self._asked < _COMPARED:
            self._asked += 1
            return any(np.may_share_memory(array, part) for part in self._arrays)
        if self._spans is None:
            self._spans = _merged([_span(part) for part in self._arrays if part.size])
        lows, highs = self._spans
        low, high = _span(array)
        place = bisect_left(lows, high) - 1
        return place >= 0 and highs[place] > low and array.size > 0


def _span(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Where the memory of an array that is not empty begins, and where it ends."""
    low: int = array.__array_interface__["data"][0]
    if array.flags.forc:
        return low, low + array.nbytes
    high = low + array.itemsize
    for length, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high


def _merged(spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The beginnings and the ends of spans that do not overlap, in order, and that cover the same."""
    lows: list[int] = []
    highs: list[int] = []
    for low, high in sorted(spans):
        if highs and low < highs[-1]:
            highs[-1] = max(highs[-1], high)
        else:
            lows.append(low)
            highs.append(high)
    return lows, highs
