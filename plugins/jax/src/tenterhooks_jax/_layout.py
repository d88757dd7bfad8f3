"""JAX's arrays as NumPy arrays, and back, those included whose type of elements NumPy lacks."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

__all__ = ["as_array", "dtype_named", "from_array"]

# By the bytes of an element: what others are seen as, which moves their bits.
_BITS: "dict[int, np.dtype[Any]]" = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}

_WEAK = {"i": 0, "f": 0.0, "c": 0j}


def dtype_named(name: Any) -> "np.dtype[Any]":
    """The type of elements of a name, such as "bfloat16".

    Raises:
        TypeError: There is none.
    """
    if not isinstance(name, str):
        raise TypeError(f"a type of elements has a name, not {name!r:.60}")
    dtype: np.dtype[Any] = jnp.dtype(name)
    return dtype


def as_array(value: Any) -> NDArray[Any]:
    """What an array holds; on its memory where it is that of the CPU."""
    array: NDArray[Any] = np.asarray(value)
    return array.view(_plain(array.dtype))


def from_array(array: Any, dtype: "np.dtype[Any]", *, weak: bool) -> Any:
    """An array of JAX with memory of its own, of what `as_array` gave of one of this type of elements.

    Args:
        array: What it gave.
        dtype: The type of elements.
        weak: Whether it gives way to the type of what it is computed with, as a number of Python's does.

    Raises:
        ValueError: It gives others of these, or JAX cannot have such an array now.
    """
    if not isinstance(array, np.ndarray) or array.dtype != _plain(dtype):
        raise ValueError(f"{type(array).__name__} of {getattr(array, 'dtype', None)} where {_plain(dtype)} is held")
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError(
            f"JAX has no {dtype} now: jax.config.update('jax_enable_x64', True), before it makes any array"
        )
    made = jnp.array(array.view(dtype), copy=True)
    if not weak or dtype.kind not in _WEAK:
        return made
    like = jnp.full(made.shape, _WEAK[dtype.kind])
    return like.at[...].set(made) if like.dtype == dtype else made


def _plain(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    if dtype.isbuiltin == 1:
        return dtype
    return _BITS[dtype.itemsize]
