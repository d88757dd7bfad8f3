"""What training ops may make of variables: what a checkpoint could be restored with at the next start."""

import functools
from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from tenterhooks.adapted import handler_of
from tenterhooks.errors import CheckpointError
from tenterhooks.generators import is_generator
from tenterhooks.state import Stateful, capture, mismatches
from tenterhooks.state_adapters import ObjectHandler, TreeHandler, ValueHandler

__all__ = ["fits", "misfits", "outline", "refusals"]

_NUMBERS = (int, float, complex, np.number, np.bool_)
_TEXTS = (str, bytes)
_PLAIN: tuple[type, ...] = (bool, int, float, complex, *_TEXTS)


class _Object:
    """Stands for an object that takes what it is given itself."""

    def state_dict(self) -> Any:
        """Nothing is taken from it."""
        return None

    def load_state_dict(self, state: Any, /) -> None:
        """Nothing is loaded into it."""


_OBJECT = _Object()


def outline(value: Any) -> Any:
    """What stands for a value where something is compared with it: of the same kinds and shapes, and without memory."""
    if isinstance(value, np.ndarray):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    if value is None or isinstance(value, np.generic) or is_generator(value):
        return value
    for kind in _PLAIN:
        if isinstance(value, kind):
            return kind()
    if isinstance(handler := handler_of(value), ValueHandler):
        return handler.outline(value)
    if isinstance(handler, TreeHandler):
        return handler.with_parts(value, {name: outline(part) for name, part in handler.parts(value).items()})
    if isinstance(value, Stateful) or isinstance(handler, ObjectHandler):
        return _OBJECT
    if isinstance(value, Mapping):
        known = {key: outline(entry) for key, entry in value.items()}
        return _stand_in(dict, type(value))(known) if isinstance(value, MutableMapping) else known
    if isinstance(value, list):
        return _stand_in(list, type(value))([outline(entry) for entry in value])
    if isinstance(value, tuple):
        entries = [outline(entry) for entry in value]
        return value._make(entries) if hasattr(value, "_make") else tuple(entries)
    return _OBJECT


@functools.lru_cache(maxsize=1024)
def _stand_in(base: type[Any], kind: type[Any]) -> type[Any]:
    """What stands for a kind of dict or list, without a behaviour of its own; it says which kind that is."""
    return base if kind is base else type(kind.__name__, (base,), {"kind": kind})


def refusals(known: Any, value: Any, name: str, updater: str) -> list[str]:
    """Say what of a new value a checkpoint could not be restored with; nothing where it can.

    Args:
        known: The outline of the variable's fresh value, which is what it would be restored into.
        value: The new value.
        name: The variable's name.
        updater: What gave the new value.
    """
    try:
        saved = capture(value, name)
    except CheckpointError:
        # It gets into no checkpoint at all: a saver says so, and a session without one may hold it.
        return []
    return list(mismatches(known, saved, name, f"from {updater}"))


def fits(known: Any, value: Any) -> bool:
    """Whether there are sure to be no refusals: quick, and true for what is usual."""
    kind = type(known)
    if kind is np.ndarray:
        return isinstance(value, np.ndarray) and value.shape == known.shape and value.dtype == known.dtype
    if known is None or known is _OBJECT:
        return True
    if kind is not type(value):
        return (isinstance(known, _NUMBERS) and isinstance(value, _NUMBERS)) or _alike(known, value)
    if kind is dict:
        return known.keys() == value.keys() and all(map(fits, known.values(), map(value.get, known)))
    if kind is list or kind is tuple or hasattr(kind, "_make"):
        return len(known) == len(value) and all(map(fits, known, value))
    return isinstance(known, _NUMBERS) or kind in _TEXTS or _alike(known, value)


def _alike(known: Any, value: Any) -> bool:
    """Whether two values of another framework are of one form."""
    handler = handler_of(known)
    if isinstance(handler, ValueHandler):
        return handler_of(value) is handler and handler.alike(known, value)
    return isinstance(handler, TreeHandler) and type(known) is type(value) and handler.alike(known, value)


def misfits(known: Any, value: Any, saved: Any, name: str) -> Iterator[str]:
    """Say what of a variable could be saved and not be restored as what it is; nothing where all of it can.

    Args:
        known: The outline of the variable's fresh value, which is what it would be restored into.
        value: The variable.
        saved: What `capture` gave of it.
        name: Its name.
    """
    yield from mismatches(known, saved, name, "now")
    yield from _without_counterpart(known, value, name)


def _without_counterpart(known: Any, value: Any, path: str) -> Iterator[str]:
    """What would come back as a value of another type, since nothing is there to load it into."""
    if known is _OBJECT or isinstance(value, np.ndarray | np.generic):
        return
    kind = type(value).__qualname__
    handler = handler_of(value)
    if isinstance(handler, ValueHandler):
        return
    if isinstance(handler, TreeHandler):
        if type(known) is not type(value):
            yield f"{path}: a {kind} that was not there at first, and would come back as {_instead(known)}"
        else:
            there_first = handler.parts(known)
            for name, part in handler.parts(value).items():
                yield from _without_counterpart(there_first.get(name), part, f"{path}/{name}")
    elif isinstance(handler_of(known), TreeHandler):
        yield f"{path}: a {kind} that was not there at first, and would come back as {_instead(known)}"
    elif is_generator(value):
        if not is_generator(known):
            yield f"{path}: a random generator that was not there at first, and would come back as a dict"
    elif isinstance(value, Stateful) or isinstance(handler, ObjectHandler):
        yield f"{path}: a {kind} that was not there at first, and would come back as what its state_dict gives"
    elif isinstance(value, Mapping):
        yield from _of_another_kind(known, value, dict, path)
        for key, entry in value.items():
            yield from _without_counterpart(known.get(key) if isinstance(known, dict) else None, entry, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        yield from _of_another_kind(known, value, list if isinstance(value, list) else tuple, path)
        there = known if isinstance(known, list | tuple) and len(known) == len(value) else [None] * len(value)
        for index, (part, entry) in enumerate(zip(there, value, strict=True)):
            yield from _without_counterpart(part, entry, f"{path}/{index}")


def _of_another_kind(known: Any, value: Any, base: type[Any], path: str) -> Iterator[str]:
    """What would come back as a dict, list or tuple, or as another kind of them, than it is."""
    kind = type(value)
    # A checkpoint has no other kinds; what is filled, or made after the one that is there, is of the kind of that.
    back = base
    if isinstance(known, base) and (base is not tuple or hasattr(known, "_make")):
        back = type(known) if base is tuple else getattr(type(known), "kind", base)
    if back is kind or {back, kind} == {dict, OrderedDict}:
        return
    if hasattr(value, "_make") if base is tuple else isinstance(value, list | MutableMapping):
        yield f"{path}: a {kind.__qualname__} that was not there at first, and would come back as a {back.__name__}"
    else:
        done = "made" if base is tuple else "filled"
        yield f"{path}: a {kind.__qualname__}, which cannot be {done} at a restore: make it a {base.__name__}"


def _instead(known: Any) -> str:
    """What comes back where the outline of what was there first is this."""
    return f"a {type(known).__qualname__}" if isinstance(handler_of(known), TreeHandler) else "a dict of its parts"
