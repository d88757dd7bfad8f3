"""What of JAX's, and of libraries on it, is handled by what. JAX is imported when an adapter is made, not before."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks import PluginError

if TYPE_CHECKING:
    from tenterhooks.state_adapters import Handler, ValueHandler

__all__ = ["JaxAdapter"]


class JaxAdapter:
    """Saves and restores arrays, random keys, and values of all classes that are registered as pytrees.

    Sessions make it themselves when they meet a value of JAX's, Optax's, Flax's or Equinox's; nothing has to be set.

    Raises:
        PluginError: JAX is not installed.
    """

    def __init__(self) -> None:
        try:
            import jax
        except ModuleNotFoundError as error:
            if error.name != "jax":
                raise
            raise PluginError(
                "tenterhooks-jax needs JAX, which is not installed: pip install jax (the build for your device)"
            ) from error
        from tenterhooks_jax import _modules, _trees, _values

        self._arrays = (jax.Array, jax.core.Tracer, jax.ShapeDtypeStruct)
        self._is_node = jax.tree_util.is_tree_node
        self._values = _values.VALUES
        self._trees = _trees.TREES
        self._modules = _modules.MODULES

    def handler(self, cls: type) -> "Handler | None":
        """What handles values of a type; None where these are saved as any others.

        Such are dicts, lists and tuples, named ones among them, as Optax's states are.
        """
        if issubclass(cls, self._arrays):
            return self._values
        if issubclass(cls, dict | list | tuple):
            return None
        nnx = sys.modules.get("flax.nnx")
        if nnx is not None and issubclass(cls, nnx.Pytree):
            return self._modules
        return self._trees if self._is_node(cls) else None

    def values(self) -> "ValueHandler":
        """What restores arrays and keys."""
        return self._values

    def global_generators(self) -> Mapping[str, Any]:
        """None: all of JAX's random numbers come from keys, which are values."""
        return {}
