"""A copy of a state, in memory that is kept from one copy to the next."""

from collections import OrderedDict
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Snapshot"]

_T = TypeVar("_T")


class Snapshot:
    """Copies states. Memory for an array is taken once, and again only when its shape or its type changes."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], NDArray[Any]] = {}
        self._used: dict[tuple[Any, ...], NDArray[Any]] = {}
        self._copied: dict[int, NDArray[Any]] = {}  # by the id of the array: one that is there twice is so in the copy

    def take(self, state: _T) -> _T:
        """Copy a state. The copy before must not be needed any more: this one has its memory.

        Dicts, lists, tuples, arrays and what else can change are copied; anything else is what a state may hold
        without a copy, or what a saver will refuse.
        """
        self._used = {}
        self._copied = {}
        copied: _T = self._copy(state, ())
        self._kept = self._used
        self._copied = {}
        return copied

    def _copy(self, value: Any, place: tuple[Any, ...]) -> Any:
        kind = type(value)
        if kind is np.ndarray or kind is np.memmap:
            return self._copy_array(value, place)
        if kind is dict or kind is OrderedDict:
            return kind((key, self._copy(entry, (*place, key))) for key, entry in value.items())
        if kind is list or kind is tuple:
            return kind(self._copy(entry, (*place, index)) for index, entry in enumerate(value))
        if isinstance(value, np.ndarray | np.void):
            return value.copy()
        return value

    def _copy_array(self, value: NDArray[Any], place: tuple[Any, ...]) -> NDArray[Any]:
        if id(value) in self._copied:
            return self._copied[id(value)]
        memory = self._kept.get(place)
        if memory is None or memory.dtype is not value.dtype or memory.shape != value.shape:
            # In the order of the array, so that the copy goes through both as they lie.
            memory = np.empty_like(value, order="K", subok=False)
        np.copyto(memory, value)
        self._used[place] = self._copied[id(value)] = memory
        return memory
