"""What is in a checkpoint, without reading its arrays."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _codec
from tenterhooks_checkpoint._dtypes import decode_layout, from_bytes
from tenterhooks_checkpoint._manifest import ARRAYS, STATE, NotWholeError

__all__ = ["SMALL", "ArrayOutline", "read"]

SMALL = 8
"""Arrays of up to so many elements are read."""

_SMALL_BYTES = 1024

_TYPES = {
    "BOOL": "?",
    "I8": "i1",
    "U8": "u1",
    "I16": "<i2",
    "U16": "<u2",
    "F16": "<f2",
    "I32": "<i4",
    "U32": "<u4",
    "F32": "<f4",
    "I64": "<i8",
    "U64": "<u8",
    "F64": "<f8",
    "C64": "<c8",
}


# It can be changed so that it has no hash, as an array has none: it cannot be the key of a dict.
@dataclass(slots=True)
class ArrayOutline:
    """What stands for an array.

    Attributes:
        dtype: Its type of elements.
        shape: Its shape.
        content: The array itself if it is small.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    content: NDArray[Any] | None = None


def read(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the state of a checkpoint with an `ArrayOutline` for each array. Compares no checksums.

    Raises:
        NotWholeError: It cannot be put together: a restore could not do so either.
    """
    from safetensors import SafetensorError, safe_open

    try:
        tree = json.loads((checkpoint.path / STATE).read_bytes())
        with safe_open(checkpoint.path / ARRAYS, "numpy") as file:
            there = _Arrays(file)
            there.check()
            return _codec.decode_with(tree, there.outline)
    except (CheckpointError, OSError, RecursionError, SafetensorError, ValueError) as error:
        raise NotWholeError(str(error)) from error


class _Arrays:
    """The arrays of an open file."""

    def __init__(self, file: Any) -> None:
        self._file = file
        names: list[str] = file.keys()
        self._stored = {name: self._layout(name) for name in names}

    def _layout(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
        part = self._file.get_slice(name)
        kind = part.get_dtype()
        if kind not in _TYPES:
            raise ValueError(f"{ARRAYS} has an array of {kind}, which no state holds")
        return np.dtype(_TYPES[kind]), tuple(part.get_shape())

    def check(self) -> None:
        """Check that NumPy can have these arrays."""
        for dtype, shape in self._stored.values():
            _check_possible(dtype, shape)

    def outline(self, name: str, description: Any, shape: Any) -> ArrayOutline:
        """What stands for an array that the tree describes so."""
        stored, lengths = self._stored[name]
        size = stored.itemsize * math.prod(lengths)
        if description is None:
            dtype = stored
        else:
            dtype, lengths = decode_layout(size, description, shape)
            _check_possible(dtype, lengths)
        if math.prod(lengths) > SMALL or size > _SMALL_BYTES:
            return ArrayOutline(dtype, lengths)
        content = self._file.get_tensor(name)
        if description is not None:
            content = from_bytes(bytearray(content.data), description, shape)
        return ArrayOutline(dtype, lengths, content)


def _check_possible(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Let NumPy raise its ValueError for too many dimensions, or for lengths beyond what it can count."""
    if math.prod(shape) * dtype.itemsize:
        np.broadcast_to(np.uint8(0), shape)
    else:
        np.ndarray(shape, dtype, b"")
