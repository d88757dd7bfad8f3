"""Arrays and random keys, on whatever devices they lie."""

import contextlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tenterhooks import CheckpointError
from tenterhooks.state_adapters import ValueHandler
from tenterhooks_jax._layout import as_array, dtype_named, from_array

__all__ = ["VALUES", "Values"]

# Of Python and JAX for a saved value of another make.
_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Values(ValueHandler):
    """Saves each array as one of NumPy, and each key as the numbers that it consists of."""

    adapter = "jax"

    def capture(self, value: Any, path: str, shared: dict[Any, Any]) -> dict[str, Any]:
        """The value as a dict. This waits for what computes it."""
        _check(value, path)
        saved: dict[str, Any] = {"type": "Array", "dtype": str(value.dtype), "shape": list(value.shape)}
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            impl = jax.random.key_impl(value)
            if not isinstance(impl, str):
                raise CheckpointError(
                    f"{path} is a random key of an implementation without a name ({impl}): save its jax.random.key_data"
                )
            return {**saved, "type": "key", "impl": impl, "data": np.asarray(jax.random.key_data(value))}
        saved["data"] = as_array(value)
        if value.weak_type:
            saved["weak"] = True
        return saved

    def restored(self, saved: Mapping[str, Any], shared: dict[Any, Any]) -> Any:
        """The value, in the memory of the host, and free to go to whatever device it is computed with."""
        try:
            with _on_the_host():
                return _restored(saved)
        except _ERRORS as error:
            raise CheckpointError(
                f"the checkpoint holds a value of jax that is not as it was written: {type(error).__name__}: {error}"
            ) from error

    def form(self, value: Any) -> str | None:
        """Type of elements and shape."""
        return _form(value.dtype, list(value.shape))

    def saved_form(self, saved: Mapping[str, Any]) -> str:
        """The same of what `capture` gave."""
        return _form(saved.get("dtype"), saved.get("shape"))

    def outline(self, value: Any) -> Any:
        """JAX's own word for a form."""
        return jax.ShapeDtypeStruct(value.shape, value.dtype)

    def load(self, current: Any, value: Any, *, in_place: bool) -> Any:
        """The restored one, on the devices of the other, and divided among them in the same way."""
        if not isinstance(current, jax.Array) or not isinstance(value, jax.Array):
            return value
        if current.committed:
            return jax.device_put(value, current.sharding)
        if current.devices() == value.devices():
            return value
        # It stays free to go to another device, as the other one is.
        with jax.default_device(next(iter(current.devices()))):
            return _restored(self.capture(value, "a restored value", {}))

    def fetched(self, value: Any, *, copy: bool) -> Any:
        """The value, which may not be computed yet; a copy of one that a training op may donate."""
        return value.copy() if copy and isinstance(value, jax.Array) else value

    def immutable(self, value: Any) -> bool:
        """It is."""
        return True

    def alike(self, known: Any, value: Any) -> bool:
        """Whether type of elements and shape are the same."""
        return bool(known.shape == value.shape and known.dtype == value.dtype)


VALUES = Values()


def _check(value: Any, path: str) -> None:
    """Raise an error for what is no array with numbers in it."""
    if isinstance(value, jax.core.Tracer):
        advice = "stands for a value while JAX traces a function: have the function return it, and assign that"
    elif isinstance(value, jax.ShapeDtypeStruct):
        advice = "has a shape and no numbers: make an array of it before the session is opened"
    elif value.is_deleted():
        advice = (
            "was donated to a function (donate_argnums), so its numbers are gone: assign what the function returned, "
            "as in session.state[...] = ..."
        )
    elif not value.is_fully_addressable:
        advice = "lies in part on the devices of other processes: gather it, or save its parts in each process"
    else:
        return
    raise CheckpointError(f"{path} is a {type(value).__module__}.{type(value).__qualname__} that {advice}")


def _form(dtype: Any, shape: Any) -> str:
    return f"an array of JAX of {dtype} and shape {shape}"


def _restored(saved: Mapping[str, Any]) -> Any:
    match saved["type"]:
        case "Array":
            return from_array(saved["data"], dtype_named(saved["dtype"]), weak=saved.get("weak") is True)
        case "key":
            key = jax.random.wrap_key_data(jnp.array(saved["data"]), impl=saved["impl"])
            if _form(key.dtype, list(key.shape)) != _form(saved["dtype"], saved["shape"]):
                raise ValueError(f"a key of {key.dtype} and shape {key.shape}")
            return key
    raise ValueError(f"no value is a {saved['type']!r:.60}")


def _on_the_host() -> contextlib.AbstractContextManager[Any]:
    """Have arrays made in the memory of the host, which has room for one that lies on several devices."""
    try:
        (device, *_) = jax.local_devices(backend="cpu")
    except RuntimeError:
        return contextlib.nullcontext()  # The program has switched the CPU off (JAX_PLATFORMS).
    place: contextlib.AbstractContextManager[Any] = jax.default_device(device)
    return place
