"""Pytrees of registered classes: dataclasses, Equinox's modules, Flax's structures."""

import sys
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from tenterhooks.state_adapters import TreeHandler
from tenterhooks.updates import fits

__all__ = ["TREES", "Trees"]

# What refuses assignments otherwise than a frozen dataclass of Python's.
_FROZEN = (("equinox", "Module"), ("flax.core", "FrozenDict"))


class _Plain:
    """A class of Python's that keeps all it has in its `__dict__`."""


class Trees(TreeHandler):
    """Saves each by what JAX finds in it, under the names that JAX has for that. What is static is not saved."""

    def parts(self, value: Any) -> dict[str, Any]:
        """What it consists of, one level down, without functions and types."""
        names, children, _ = _taken_apart(value)
        return {name: child for name, child in zip(names, children, strict=True) if not _is_fixed(child)}

    def with_parts(self, value: Any, parts: Mapping[str, Any]) -> Any:
        """Another one of the same class and the same static parts."""
        names, children, structure = _taken_apart(value)
        return structure.unflatten([parts.get(name, child) for name, child in zip(names, children, strict=True)])

    def load(self, current: Any, parts: Mapping[str, Any]) -> Any:
        """Another one; the same one where it is of a class that can be changed."""
        loaded = self.with_parts(current, parts)
        # What keeps anything elsewhere, in slots or in C, is not seen from outside.
        plain = hasattr(current, "__dict__") and type(current).__basicsize__ == _Plain.__basicsize__
        if self.immutable(current) or not plain:
            return loaded
        own = vars(current)
        own.clear()
        own.update(vars(loaded))
        return current

    def immutable(self, value: Any) -> bool:
        """Whether it is of a frozen dataclass, as those of Equinox and Flax are, or a `FrozenDict`."""
        classes = [getattr(sys.modules.get(module), name, None) for module, name in _FROZEN]
        if any(cls is not None and isinstance(value, cls) for cls in classes):
            return True
        return bool(getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False))

    def alike(self, known: Any, value: Any) -> bool:
        """Whether all leaves lie in the same places and are of the same forms."""
        here, structure = jax.tree_util.tree_flatten(known)
        found, other = jax.tree_util.tree_flatten(value)
        return bool(structure == other) and all(map(_fits, here, found))


TREES = Trees()


def _taken_apart(value: Any) -> tuple[list[str], list[Any], Any]:
    """What a value consists of, one level down: the names, the parts, and what puts them together."""
    found, structure = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda part: part is not value)
    names = [jax.tree_util.keystr(keys, simple=True, separator="/") for keys, _ in found]
    if len(set(names)) < len(names):
        names = [f"{index}:{name}" for index, name in enumerate(names)]
    return names, [part for _, part in found], structure


def _is_fixed(part: Any) -> bool:
    """Whether it is part of a program rather than of its state."""
    if jax.tree_util.is_tree_node(type(part)):
        return False
    return callable(part) or isinstance(part, np.dtype)


def _fits(known: Any, value: Any) -> bool:
    return known is value or fits(known, value)
