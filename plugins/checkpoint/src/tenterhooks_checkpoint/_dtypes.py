"""NumPy's types of elements as JSON, and back; arrays from their bytes."""

import json
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["decode_dtype", "decode_layout", "encode_dtype", "from_bytes"]

# What `dtype.str` gives. NumPy takes much more for a type: lists of them, parts of which it compiles, and old names, of
# which it warns.
_PLAIN = re.compile(r"[<>|=][a-zA-Z][0-9]{0,19}(\[[0-9]{0,19}[a-zA-Z]{1,2}\])?")


def encode_dtype(dtype: np.dtype[Any]) -> Any:
    """The type as JSON: the string of a plain one, an object that says where each field lies for a structured one.

    NumPy's own `numpy.lib.format.dtype_to_descr` has no words for fields that overlap or stand out of order, and
    takes a type that another package registered, such as bfloat16, for plain bytes.

    Raises:
        ValueError: The type holds Python objects, or cannot be told from its description.
    """
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    description = _describe(dtype)
    try:
        again = decode_dtype(json.loads(json.dumps(description)))
    except (TypeError, ValueError) as error:
        raise ValueError("it has no description") from error
    if again != dtype:
        raise ValueError("NumPy alone does not know it")
    return description


def decode_dtype(description: Any) -> np.dtype[Any]:
    """The type that `encode_dtype` described.

    Raises:
        ValueError: The description is none, is of a type that this platform lacks, or is of one with Python objects.
    """
    try:
        dtype = _build(description)
    except (KeyError, TypeError, AttributeError, OverflowError, SyntaxError) as error:
        raise ValueError(f"{description!r} describes no type of elements here") from error
    if dtype.hasobject:
        raise ValueError(f"{description!r} describes Python objects")
    return dtype


def decode_layout(size: int, description: Any, shape: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The type and the shape of an array that so many bytes are the content of.

    Raises:
        ValueError: The three do not go together, or describe no array.
    """
    dtype = decode_dtype(description)
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"{shape!r} is no shape")
    if math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{size} bytes are no array of {dtype} and shape {shape!r}")
    return dtype, tuple(shape)


def from_bytes(content: bytearray, description: Any, shape: Any) -> NDArray[Any]:
    """The array that has these bytes, in C order; it may lie on them.

    Raises:
        ValueError: The three do not go together, or describe no array.
    """
    dtype, lengths = decode_layout(len(content), description, shape)
    array: NDArray[Any] = np.ndarray(lengths, dtype, content)
    # The buffer begins where it likes, and some types want to lie at multiples of their size.
    return array if array.flags.aligned else array.copy()


def _describe(dtype: np.dtype[Any]) -> Any:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"base": _describe(base), "shape": list(shape)}
    if dtype.names is None:
        return dtype.str
    assert dtype.fields is not None
    fields = [dtype.fields[name] for name in dtype.names]
    description: dict[str, Any] = {
        "names": list(dtype.names),
        "formats": [_describe(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }
    if any(len(field) > 2 for field in fields):
        description["titles"] = [field[2] if len(field) > 2 else None for field in fields]
    if dtype.isalignedstruct:
        description["aligned"] = True
    if dtype.type is np.record:
        description["record"] = True
    return description


def _build(description: Any) -> np.dtype[Any]:
    if isinstance(description, str):
        if _PLAIN.fullmatch(description) is None or description[1] == "a":
            raise TypeError("no plain type of elements")
        return np.dtype(description)
    if "base" in description:
        return np.dtype((_build(description["base"]), tuple(description["shape"])))
    parts: Any = dict(description)
    record = parts.pop("record", False)
    parts["formats"] = [_build(part) for part in parts["formats"]]
    dtype: np.dtype[Any] = np.dtype(parts)
    return np.dtype((np.record, dtype)) if record else dtype
