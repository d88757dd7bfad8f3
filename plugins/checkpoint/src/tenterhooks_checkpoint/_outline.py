"""What is in a checkpoint, without reading its arrays."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _arrays, _codec
from tenterhooks_checkpoint._dtypes import decode_layout
from tenterhooks_checkpoint._manifest import ARRAYS, STATE, NotWholeError

__all__ = ["SMALL", "ArrayOutline", "read"]

SMALL = 8
"""Arrays of up to so many elements are read."""

_SMALL_BYTES = 1024


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

    @property
    def T(self) -> "ArrayOutline":  # noqa: N802 - NumPy's name
        """What stands for the transposed array."""
        return ArrayOutline(self.dtype, self.shape[::-1], None if self.content is None else self.content.T)


def read(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the state of a checkpoint with an `ArrayOutline` for each array. Compares no checksums.

    Raises:
        NotWholeError: It cannot be put together: a restore could not do so either.
    """
    try:
        tree = json.loads((checkpoint.path / STATE).read_text("ascii"))
        with (checkpoint.path / ARRAYS).open("rb", buffering=0) as file:
            return _codec.decode_with(tree, _Arrays(file).outline)
    except (CheckpointError, OSError, RecursionError, ValueError) as error:
        raise NotWholeError(str(error)) from error


class _Arrays:
    """The arrays of an open file, all of which NumPy can have."""

    def __init__(self, file: Any) -> None:
        header, places = _arrays.read_header(file)
        self._file = file
        self._start = len(header)
        self._places = {place.name: place for place in places}
        for place in places:
            _check_possible(place.dtype, place.shape)

    def outline(self, name: str, description: Any, shape: Any) -> ArrayOutline:
        """What stands for an array that the tree describes so."""
        place = self._places[name]
        size = place.end - place.begin
        dtype, lengths = place.dtype, place.shape
        if description is not None:
            dtype, lengths = decode_layout(size, description, shape)
            _check_possible(dtype, lengths)
        if math.prod(lengths) > SMALL or size > _SMALL_BYTES:
            return ArrayOutline(dtype, lengths)
        content = bytearray(size)
        self._file.seek(self._start + place.begin)
        _arrays.read_into(self._file, memoryview(content))
        return ArrayOutline(dtype, lengths, np.ndarray(lengths, dtype, content))


def _check_possible(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Let NumPy raise its ValueError for too many dimensions, or for lengths beyond what it can count."""
    if math.prod(shape) * dtype.itemsize:
        np.broadcast_to(np.uint8(0), shape)
    else:
        np.ndarray(shape, dtype, b"")
