"""Single values in a tree for JSON: those that JSON has, and with a tag those that it has not; NumPy's scalars."""

import base64
import binascii
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tenterhooks_checkpoint._dtypes import encode_dtype, from_bytes
from tenterhooks_checkpoint._refusals import refusal

__all__ = ["ATOMS", "decode_scalar", "encode_scalar", "encode_str", "from_base64"]

# Beyond this, readers of JSON in other languages round an integer.
_EXACT = 2**53


def encode_str(value: str) -> Any:
    """A string; under a tag if it has lone surrogates."""
    # Not the JSON escapes: two surrogates that happen to stand side by side would come back as one character.
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"$str": value.encode("utf-8", "surrogatepass").hex()}
    return value


def _encode_int(value: int) -> Any:
    # Hexadecimal, since Python limits the decimal digits that it converts.
    return value if -_EXACT <= value <= _EXACT else {"$int": format(value, "x")}


def _encode_float(value: float) -> Any:
    # JSON has no infinity and no NaN, and there are many NaN: the bits say which.
    return value if math.isfinite(value) else {"$float": struct.pack(">d", value).hex()}


def _encode_bytes(value: bytes) -> Any:
    return {"$bytes": _to_base64(value)}


# What encodes a value, by its exact type.
ATOMS: dict[type, Callable[[Any], Any]] = {
    bytes: _encode_bytes,
    float: _encode_float,
    int: _encode_int,
    str: encode_str,
}


def encode_scalar(value: np.generic, path: str) -> Any:
    """A NumPy scalar under a tag.

    Raises:
        CheckpointError: It is of a type that cannot be saved.
    """
    # An element of an array drops the zeros at its end; these two scalars do not.
    if type(value) is np.str_:
        return {"$npstr": encode_str(str(value))}
    if type(value) is np.bytes_:
        return {"$npbytes": _to_base64(bytes(value))}
    try:
        dtype = encode_dtype(value.dtype)
    except ValueError as error:
        raise refusal(value, path, why=f", since {error}") from error
    if type(value) is not value.dtype.type:
        raise refusal(value, path)
    return {"$scalar": {"dtype": dtype, "bytes": _to_base64(value.tobytes())}}


def decode_scalar(content: Any) -> object:
    """The NumPy scalar of what `encode_scalar` gave under the tag `$scalar`."""
    return from_bytes(bytearray(from_base64(content["bytes"])), content["dtype"], [])[()]


def _to_base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def from_base64(text: str) -> bytes:
    """Bytes."""
    return binascii.a2b_base64(text, strict_mode=True)
