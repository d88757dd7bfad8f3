"""Arrays in a file of the safetensors format: written by its library, read and summed in one go."""

import json
import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenterhooks_checkpoint import _checksums

__all__ = ["Place", "read", "read_header", "read_into", "write"]

# NumPy's types of elements, by the names that the format has for them.
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

# The format's own limit.
_MAX_HEADER = 100_000_000

# So many bytes are worth a thread's while.
_AT_ONCE = 1 << 20

_METADATA = "__metadata__"


@dataclass(frozen=True, slots=True)
class Place:
    """An array's place in a file.

    Attributes:
        name: The array's name.
        dtype: Its type of elements.
        shape: Its shape.
        begin: Where its bytes begin, counted from the end of the header.
        end: Where they end.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int

    def empty(self) -> NDArray[Any]:
        """Memory for the array.

        Raises:
            ValueError: NumPy can have no such array.
        """
        return np.empty(self.shape, self.dtype)


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> tuple[int, str]:
    """Write arrays, contiguous ones in C order.

    Returns:
        The size of the file and its checksum. That is of the arrays, not of what the disk gives back, so that a fault
        of the disk does not go unseen.

    Raises:
        OSError: The file cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file(dict(arrays), path)
    except SafetensorError as error:
        raise OSError(str(error)) from error
    with path.open("rb", buffering=0) as file:
        header, places = read_header(file)
    summed = _checksums.KNOWN[_checksums.CHECKSUM]()
    summed.update(header)
    for place in places:
        summed.update(_bytes(arrays[place.name]))
    return len(header) + (places[-1].end if places else 0), str(summed.hexdigest())


def read(path: Path, checksum: str) -> tuple[str, dict[str, NDArray[Any]]]:
    """Read arrays, each into memory of its own.

    Args:
        path: The file.
        checksum: The name of the checksum.

    Returns:
        The checksum of the whole file, and the arrays.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file. What it claims to hold is never more than its size.
    """
    summed = _checksums.KNOWN[checksum]()
    arrays = {}
    # What was read is summed while the next is read; both leave Python's lock to other threads.
    with path.open("rb", buffering=0) as file, ThreadPoolExecutor(1) as beside:
        header, places = read_header(file)
        waiting, size = [memoryview(header)], 0
        for place in places:
            arrays[place.name] = array = place.empty()
            content = _bytes(array)
            read_into(file, content)
            waiting.append(content)
            size += len(content)
            if size >= _AT_ONCE:
                beside.submit(_update, summed, waiting)
                waiting, size = [], 0
    _update(summed, waiting)
    return str(summed.hexdigest()), arrays


def read_header(file: Any) -> tuple[bytes, list[Place]]:
    """Read what stands before the arrays.

    Args:
        file: Open for reading bytes, at its beginning, without a buffer.

    Returns:
        These bytes, and the places of the arrays in the order of the file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file, or the arrays do not lie one after the other and fill it.
    """
    size = os.fstat(file.fileno()).st_size
    first = bytearray(min(8, size))
    read_into(file, memoryview(first))
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > min(size - 8, _MAX_HEADER):
        raise ValueError(f"{_name(file)} claims a header of {length} bytes, and has {size} in all")
    header = bytearray(length)
    read_into(file, memoryview(header))
    content = json.loads(header.decode("utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"the header of {_name(file)} is no JSON object")
    content.pop(_METADATA, None)
    places = [_place(name, entry) for name, entry in content.items()]
    places.sort(key=lambda place: (place.begin, place.end))
    end = 0
    for place in places:
        if place.begin != end or place.end - place.begin != math.prod(place.shape) * place.dtype.itemsize:
            raise ValueError(f"the array {place.name!r} does not lie in {_name(file)} where it should")
        end = place.end
    if end != size - 8 - length:
        raise ValueError(f"the arrays of {_name(file)} have {end} bytes, and {size - 8 - length} are there")
    return bytes(first + header), places


def read_into(file: Any, content: memoryview) -> None:
    """Fill memory from a file that has no buffer.

    Raises:
        OSError: It cannot be read.
        ValueError: It ends before.
    """
    while len(content):
        count = file.readinto(content)
        if not count:
            raise ValueError(f"{_name(file)} ends too early")
        content = content[count:]


def _place(name: str, entry: Any) -> Place:
    match entry:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(begin), int(end)]} if kind in _TYPES:
            if all(type(length) is int and length >= 0 for length in shape):
                return Place(name, np.dtype(_TYPES[kind]), tuple(shape), begin, end)
    raise ValueError(f"the array {name!r} is of no kind that a state holds")


def _update(summed: Any, contents: list[memoryview]) -> None:
    for content in contents:
        summed.update(content)


def _bytes(array: NDArray[Any]) -> memoryview:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


def _name(file: Any) -> str:
    return Path(file.name).name
