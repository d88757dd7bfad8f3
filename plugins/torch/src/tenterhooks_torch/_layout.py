"""Tensors as NumPy arrays, and back, those included whose type of elements NumPy lacks."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["as_array", "as_plain", "dtype_name", "dtype_named", "from_array", "storage_of", "tensor_on"]

# What NumPy has too.
_NATIVE = {
    getattr(torch, name): np.dtype(name)
    for name in (
        *("bool", "complex64", "complex128", "float16", "float32", "float64"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
}

# By the bytes of an element: what others are seen as, which moves their bits.
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def dtype_name(dtype: Any) -> str:
    """The name of a type of elements, such as "bfloat16"."""
    return str(dtype).removeprefix("torch.")


def dtype_named(name: Any) -> Any:
    """The type of elements of a name.

    Raises:
        ValueError: There is none.
    """
    dtype = getattr(torch, name, None) if isinstance(name, str) else None
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch has no type of elements named {name!r:.60}")
    return dtype


def as_plain(tensor: Any) -> Any:
    """A tensor on the same memory, of a type of elements that NumPy has."""
    return tensor if tensor.dtype in _NATIVE else tensor.view(_BITS[tensor.element_size()])


def as_array(tensor: Any) -> NDArray[Any]:
    """What a tensor holds; on its memory where it is that of the CPU."""
    plain = as_plain(tensor.detach().resolve_conj().resolve_neg())
    if plain.device.type != "cpu":
        # A GPU writes straight into memory that is pinned; it keeps what is freed of it for the next time.
        pinned = plain.device.type == "cuda"
        plain = torch.empty(plain.shape, dtype=plain.dtype, pin_memory=pinned).copy_(plain)
    array: NDArray[Any] = plain.numpy()
    return array


def from_array(array: NDArray[Any], dtype: Any) -> Any:
    """A tensor with memory of its own, of an array that `as_array` gave of one of this type of elements.

    Raises:
        ValueError: It gives others of these.
    """
    wanted = as_plain(torch.empty(0, dtype=dtype)).dtype
    if not isinstance(array, np.ndarray) or array.dtype != _NATIVE[wanted]:
        raise ValueError(f"{type(array).__name__} of {getattr(array, 'dtype', None)} where {wanted} is held")
    plain = torch.from_numpy(np.array(array, order="C"))
    return plain if wanted is dtype else plain.view(dtype)


def storage_of(tensor: Any) -> Any:
    """All bytes of the memory that a tensor lies on, those included that it does not show."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def tensor_on(storage: Any, dtype: Any, offset: int, shape: list[int], stride: list[int]) -> Any:
    """The tensor that lies so on bytes that `storage_of` gave; torch refuses one that reaches beyond them."""
    return torch.empty(0, dtype=dtype).set_(storage.untyped_storage(), offset, shape, stride)
