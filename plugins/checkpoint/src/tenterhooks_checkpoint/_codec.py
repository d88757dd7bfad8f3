"""A state as a tree that JSON can hold and named arrays that safetensors can hold, and back.

What JSON has no word for stands in the tree as an object with a tag, a key that begins with `$`:

| tag | of |
|---|---|
| `$array` | the name of an array; with `dtype` and `shape` if it is stored as bytes, with `order` F if transposed |
| `$scalar`, `$npstr`, `$npbytes` | a NumPy scalar |
| `$int`, `$float` | an integer beyond 2**53 (hexadecimal), a float that is not finite (its 64 bits) |
| `$str` | a string with lone surrogates (UTF-8 that lets them pass, hexadecimal) |
| `$bytes`, `$tuple` | bytes (base64), a tuple |
| `$dict` | a dict as pairs: it has keys that are no strings, or that would pass for a tag |
| `$ordered` | a `collections.OrderedDict`: what else stands for a dict |
"""

import json
import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tenterhooks import CheckpointError
from tenterhooks_checkpoint._atoms import ATOMS, decode_scalar, encode_scalar, encode_str, from_base64
from tenterhooks_checkpoint._dtypes import encode_dtype, from_bytes
from tenterhooks_checkpoint._refusals import below, name_of, place, refusal

__all__ = ["MAX_DEPTH", "decode", "decode_with", "encode"]

MAX_DEPTH = 100
"""How deep a state may be nested: far enough from where Python's own recursion, and that of its JSON parser, ends."""

# What safetensors has a type for since its version 0.4; complex64 came with 0.7, so it goes as bytes.
_NATIVE = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<i8", "<u8", "<f8"})

_CONTAINERS = (dict, list, tuple, OrderedDict)

_SCALAR_KEYS = (bool, int, float, str, bytes, type(None))

# Of Python and NumPy for a tree of another make; SystemError is NumPy's for bits that are no character.
_DECODE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SystemError,
    TypeError,
    ValueError,
    struct.error,
)

_RESERVED = "__metadata__"  # safetensors keeps it for itself


def encode(state: Mapping[str, object]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Take a state apart.

    Args:
        state: Entries by name: NumPy arrays and scalars of every type without Python objects, bool, int, float, str,
            bytes, None, and lists, tuples, dicts and `OrderedDict`s of them.

    Returns:
        The tree for JSON, and the arrays for safetensors: contiguous, and named after the place of each. An array that
        was contiguous is not copied.

    Raises:
        CheckpointError: Something else is in it, or it is nested too deep, or in itself. The message says where.
    """
    encoder = _Encoder()
    return encoder.encode(dict(state), ""), encoder.arrays


def decode(tree: object, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Put a state together again.

    Returns:
        What was given to `encode`, with the same types and bits. An array that stood at several places is one object.
        Arrays are in C order, or in Fortran order if they were in that.

    Raises:
        CheckpointError: The tree is not one that `encode` made, or an array is missing.
    """

    def array(name: str, dtype: Any, shape: Any) -> NDArray[Any]:
        content = arrays[name]
        # Not of the array itself: one of an integer without dimensions would be taken for a length.
        return content if dtype is None else from_bytes(bytearray(content.data), dtype, shape)

    return decode_with(tree, array)


def decode_with(tree: object, array: Callable[[str, Any, Any], object]) -> dict[str, Any]:
    """Put a state together again, with something else for its arrays.

    Args:
        tree: What `encode` made.
        array: Gives what stands for an array, of its name, and the type and the shape that the tree gives it: None
            and None if it is stored as itself.

    Returns:
        The state.

    Raises:
        CheckpointError: The tree is not one that `encode` made, or the function raised an error such as ValueError.
    """
    try:
        state = _Decoder(array).decode(tree)
    except CheckpointError:
        raise
    except _DECODE_ERRORS as error:
        raise CheckpointError(f"the state is not as it was written: {type(error).__name__}: {error}") from error
    if type(state) is not dict:
        raise CheckpointError(f"the state is not as it was written: it is a {type(state).__name__}, not a dict")
    return state


class _Encoder:
    """Collects the arrays of one state."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._encoded: dict[int, Any] = {}  # what stands for an array, by its id
        self._open: list[int] = []  # the containers that the value at hand lies in

    def encode(self, value: object, path: str) -> Any:
        kind = type(value)
        if value is None or kind is bool:
            return value
        if isinstance(value, np.generic):
            return encode_scalar(value, path)
        if kind is np.ndarray or kind is np.memmap:
            return self._encode_array(cast("NDArray[Any]", value), path)
        encode_atom = ATOMS.get(kind)
        if encode_atom is not None:
            return encode_atom(value)
        if kind in _CONTAINERS:
            return self._encode_container(value, path)
        raise refusal(value, path)

    def _encode_container(self, value: Any, path: str) -> Any:
        if id(value) in self._open:
            raise CheckpointError(f"{place(path)} contains itself, which a checkpoint cannot hold: break the cycle")
        if len(self._open) >= MAX_DEPTH:
            raise CheckpointError(
                f"{place(path)} is nested more than {MAX_DEPTH} levels deep: save a flatter structure"
            )
        self._open.append(id(value))
        try:
            if isinstance(value, OrderedDict):
                return {"$ordered": self._encode_dict(value, path)}
            if isinstance(value, dict):
                return self._encode_dict(value, path)
            entries = [self.encode(entry, below(path, f"[{index}]")) for index, entry in enumerate(value)]
            return entries if isinstance(value, list) else {"$tuple": entries}
        finally:
            self._open.pop()

    def _encode_dict(self, value: dict[Any, Any], path: str) -> Any:
        if all(type(key) is str and not key.startswith("$") and encode_str(key) is key for key in value):
            return {key: self.encode(entry, below(path, key)) for key, entry in value.items()}
        pairs = []
        for key, entry in value.items():
            if type(key) not in _SCALAR_KEYS and not isinstance(key, np.generic):
                raise refusal(key, path, key=True)
            there = below(path, name_of(key))
            pairs.append([self.encode(key, there), self.encode(entry, there)])
        return {"$dict": pairs}

    def _encode_array(self, value: NDArray[Any], path: str) -> Any:
        encoded = self._encoded.get(id(value))
        if encoded is None:
            if value.flags.f_contiguous and not value.flags.c_contiguous:
                encoded = {**self._encode_content(value.T, path), "order": "F"}
            else:
                encoded = self._encode_content(value, path)
            self._encoded[id(value)] = encoded
        return encoded

    def _encode_content(self, value: NDArray[Any], path: str) -> Any:
        if value.dtype.str in _NATIVE and value.dtype.isnative:
            return {"$array": self._keep(np.asarray(value, order="C"), path)}
        try:
            dtype = encode_dtype(value.dtype)
        except ValueError as error:
            raise CheckpointError(
                f"{place(path)} is an array of {value.dtype}, which a checkpoint cannot hold, since {error}: give it "
                "a plain type (as by `astype`), or save its bits (as by `view`)"
            ) from error
        if value.flags.c_contiguous and value.dtype.itemsize:
            content = value.reshape(-1).view(np.uint8)
        else:
            content = np.frombuffer(value.tobytes(), np.uint8)
        return {"$array": self._keep(content, path), "dtype": dtype, "shape": list(value.shape)}

    def _keep(self, array: NDArray[Any], path: str) -> str:
        """Name it after its place, so that whoever opens the file finds his way; safetensors wants valid Unicode."""
        name = plain = path.encode("utf-8", "backslashreplace").decode()
        count = 1
        while name in self.arrays or name == _RESERVED:
            count += 1
            name = f"{plain}~{count}"
        # Of a subclass only the memory mapping gets here, and it is its content that is wanted.
        self.arrays[name] = array.view(np.ndarray)
        return name


class _Decoder:
    """Puts values together, with what a function gives for the arrays."""

    def __init__(self, array: Callable[[str, Any, Any], object]) -> None:
        self._array = array
        self._arrays: dict[str, Any] = {}
        self._tags: dict[str, Callable[[Any], object]] = {
            "$bytes": from_base64,
            "$dict": self._decode_pairs,
            "$float": lambda content: struct.unpack(">d", bytes.fromhex(content))[0],
            "$int": lambda content: int(content, 16),
            "$npbytes": lambda content: np.bytes_(from_base64(content)),
            "$npstr": lambda content: np.str_(self.decode(content)),
            "$ordered": self._decode_ordered,
            "$scalar": decode_scalar,
            "$str": lambda content: bytes.fromhex(content).decode("utf-8", "surrogatepass"),
            "$tuple": lambda content: tuple(self.decode(entry) for entry in content),
        }

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.decode(entry) for entry in tree]
        if not isinstance(tree, dict):
            return tree
        if "$array" in tree:
            return self._decode_array(**{key.removeprefix("$"): part for key, part in tree.items()})
        if any(key.startswith("$") for key in tree):
            ((tag, content),) = tree.items()
            return self._tags[tag](content)
        return {key: self.decode(entry) for key, entry in tree.items()}

    def _decode_pairs(self, pairs: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(entry) for key, entry in pairs}

    def _decode_ordered(self, content: Any) -> OrderedDict[Any, Any]:
        entries = self.decode(content)
        if type(entries) is not dict:
            raise ValueError(f"a dict is there as a {type(entries).__name__}")
        return OrderedDict(entries)

    def _decode_array(self, *, array: str, dtype: Any = None, shape: Any = None, order: Any = "C") -> object:
        known = json.dumps([array, dtype, shape, order])
        if known not in self._arrays:
            found: Any = self._array(array, dtype, shape)
            if order not in ("C", "F"):
                raise ValueError(f"{order!r} is no order of an array")
            self._arrays[known] = found.T if order == "F" else found
        return self._arrays[known]
