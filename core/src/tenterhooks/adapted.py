"""Which adapter handles a value of another framework, and what it makes of values within others.

Nothing of a framework is imported here, and no metadata is read before a value of another make is met.
"""

import functools
import sys
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from tenterhooks.errors import CheckpointError
from tenterhooks.plugins import find, installed
from tenterhooks.state_adapters import Handler, StateAdapter, ValueHandler

__all__ = [
    "STATE_GROUP",
    "TAG",
    "bring",
    "decoded",
    "fetched",
    "forget",
    "global_generators",
    "handler_of",
    "in_use",
    "is_tagged",
    "missing",
]

STATE_GROUP = "tenterhooks.state"

TAG = "<adapter>"
"""The key of a saved dict that stands for a value of another framework: it says whose handler restores it."""

# Where the adapter for the types of a module comes from, and the modules of which the process may have generators.
_BROUGHT_BY = {
    "equinox": "tenterhooks-jax",
    "flax": "tenterhooks-jax",
    "jax": "tenterhooks-jax",
    "jaxlib": "tenterhooks-jax",
    "optax": "tenterhooks-jax",
    "sklearn": "tenterhooks-sklearn",
    "torch": "tenterhooks-torch",
    "torchdata": "tenterhooks-torch",
}

# Those of which dicts, and objects with a state of their own, are saved as any others.
_LEFT_ALONE = frozenset({"sklearn"})

_WITHOUT = frozenset({"__main__", "numpy", "tenterhooks", *sys.stdlib_module_names})

# Of the values that hooks and loops get, by far the most.
_PLAIN = frozenset({bool, int, float, str, type(None), np.ndarray, np.float32, np.float64, np.int64, np.bool_})

_made: dict[str, StateAdapter] = {}


def handler_of(value: Any) -> Handler | None:
    """What handles a value; None where none is installed, or none is needed."""
    cls: Any = type(value)
    return _handler_of_type(cls)


def missing(value: object) -> str | None:
    """The distribution that would bring a handler for a value; None where none is known, or it is installed."""
    plain = isinstance(value, dict) or (hasattr(value, "state_dict") and hasattr(value, "load_state_dict"))
    for module in _modules(type(value)):
        if module in _BROUGHT_BY and _adapter(module) is None and not (plain and module in _LEFT_ALONE):
            return _BROUGHT_BY[module]
    return None


def in_use() -> bool:
    """Whether the process may have values of other frameworks: one of them is imported, or an adapter was needed."""
    return bool(_made) or any(module in sys.modules for module in _BROUGHT_BY)


def forget() -> None:
    """Look anew at what is installed."""
    _handler_of_type.cache_clear()
    _adapter.cache_clear()
    _made.clear()


def bring(name: str) -> StateAdapter:
    """The adapter for the types of a module.

    Raises:
        CheckpointError: It is not installed.
        PluginError: It is broken, or claimed twice.
    """
    adapter = _adapter(name)
    if adapter is None:
        raise CheckpointError(
            f"the checkpoint holds values of {name}, and no adapter for them is installed (group {STATE_GROUP}): "
            f"pip install {_BROUGHT_BY.get(name, f'tenterhooks-{name}')}"
        )
    return adapter


def global_generators() -> dict[str, Any]:
    """The generators of the process that belong to frameworks which are imported, by name."""
    found: dict[str, Any] = {}
    for module in _BROUGHT_BY:
        adapter = _adapter(module) if module in sys.modules else None
        if adapter is not None:
            found.update(adapter.global_generators())
    return found


def is_tagged(saved: object) -> bool:
    """Whether something saved stands for a value of a framework."""
    return isinstance(saved, dict) and TAG in saved


def decoded(saved: Any) -> Any:
    """A saved structure with the values of frameworks restored in it. What else it holds is not copied."""
    return _decode(saved, {})


def fetched(value: Any) -> Any:
    """A value as who fetches it gets it: tensors in it stay where they are, and know not what computed them."""
    cls: Any = type(value)
    if cls in _PLAIN:
        return value
    if cls is dict:
        return {key: fetched(entry) for key, entry in value.items()}
    if cls is list or cls is tuple:
        return cls(map(fetched, value))
    handler = _handler_of_type(cls)
    return handler.fetched(value, copy=False) if isinstance(handler, ValueHandler) else value


def _decode(saved: Any, shared: dict[str, dict[Any, Any]]) -> Any:
    if isinstance(saved, Mapping):
        if is_tagged(saved):
            name = saved[TAG]
            values = bring(name).values() if isinstance(name, str) else None
            if values is None:
                raise CheckpointError(f"the checkpoint holds a value of {name!r:.60}, which nothing restores")
            return values.restored(saved, shared.setdefault(name, {}))
        entries = {key: _decode(entry, shared) for key, entry in saved.items()}
        return OrderedDict(entries) if type(saved) is OrderedDict else entries
    if isinstance(saved, list | tuple):
        return type(saved)(_decode(entry, shared) for entry in saved)
    return saved


def _modules(cls: type) -> list[str]:
    """The top-level modules of a class and its bases that may have an adapter."""
    modules = (base.__module__.partition(".")[0] for base in cls.__mro__ if isinstance(base.__module__, str))
    return [module for module in dict.fromkeys(modules) if module not in _WITHOUT]


def _registries(cls: type) -> list[str]:
    """The frameworks in use, with which a class of the program's own may be registered."""
    if cls.__module__ != "__main__" and str(cls.__module__).partition(".")[0] in _WITHOUT:
        return []
    return [*_made, *(module for module in _BROUGHT_BY if sys.modules.get(module) is not None)]


@functools.lru_cache(maxsize=1024)
def _handler_of_type(cls: type) -> Handler | None:
    for module in dict.fromkeys((*_modules(cls), *_registries(cls))):
        adapter = _adapter(module)
        handler = None if adapter is None else adapter.handler(cls)
        if handler is not None:
            return handler
    return None


@functools.cache
def _adapter(module: str) -> StateAdapter | None:
    if not any(plugin.name == module for plugin in installed(STATE_GROUP)):
        return None
    adapter: StateAdapter = find(module, STATE_GROUP).load()()
    _made[module] = adapter
    _handler_of_type.cache_clear()  # It may know classes that were met before.
    return adapter
