"""How saved values get into the objects of a session, so that what they share is shared as it was."""

import copy
import weakref
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from tenterhooks.adapted import handler_of
from tenterhooks.generators import is_generator, set_state
from tenterhooks.state import Stateful
from tenterhooks.state_adapters import ObjectHandler, TreeHandler, ValueHandler

__all__ = ["Begun", "Loader"]

Keys = tuple[Any, ...]


class Begun:
    """The arrays that variables began with, those of other frameworks among them.

    An update in place keeps them, a returned one puts others in their place.

    Of the first kind, what else refers to the array sees the update, and shall see what is restored; of the other kind
    it does not, and shall not.
    """

    def __init__(self) -> None:
        self._arrays: dict[Keys, weakref.ref[Any]] = {}

    def add(self, name: str, value: Any) -> None:
        """Note the arrays of a fresh variable."""
        self._arrays |= {keys: weakref.ref(array) for keys, array in _arrays_in(value, (name,))}

    def still_there(self, variables: Mapping[str, Any]) -> list[list[Any]]:
        """The places, each by the keys that lead to it, of arrays that are those of the beginning."""
        found = _arrays_in(variables, ())
        return [list(keys) for keys, array in found if keys in self._arrays and self._arrays[keys]() is array]


class Loader:
    """Loads the values of one checkpoint into the objects that exist, so that references to them stay good.

    An array is filled if the one of the beginning was still there when the checkpoint was written; else the saved one
    takes its place, as another had done then. What the checkpoint holds at several places is one object at all of them.

    Args:
        in_place: The places of the arrays that are filled, as `Begun.still_there` gives them; None: all.
    """

    def __init__(self, in_place: Collection[Collection[Any]] | None) -> None:
        self._in_place = None if in_place is None else {tuple(keys) for keys in in_place}
        # What stands for each saved array, by its id.
        self._loaded: dict[int, Any] = {}

    def load(self, current: Any, saved: Any, keys: Keys) -> Any:
        """Load a saved value that fits, and give what stands for it from now on.

        Args:
            current: The object that is there.
            saved: What `decoded` made of what `capture` gave, and for which `mismatches` says nothing. The caller keeps
                it alive.
            keys: The place, by the keys that lead to it.
        """
        if id(saved) in self._loaded:
            return self._loaded[id(saved)]
        in_place = self._in_place is None or keys in self._in_place
        if isinstance(current, np.ndarray):
            if not (in_place and current.flags.writeable and isinstance(saved, np.ndarray)):
                return self._copy(saved)
            current[...] = saved
            self._loaded[id(saved)] = current
            return current
        handler = handler_of(current)
        if isinstance(handler, ValueHandler):
            loaded = self._loaded[id(saved)] = handler.load(current, saved, in_place=in_place)
            return loaded
        if isinstance(handler, ObjectHandler):
            handler.load(current, saved)
            return current
        if isinstance(handler, TreeHandler):
            here = handler.parts(current)
            return handler.load(current, {n: self.load(here[n], part, (*keys, n)) for n, part in saved.items()})
        if is_generator(current):
            set_state(current, saved)
            return current
        if isinstance(current, Stateful):
            current.load_state_dict(saved)
            return current
        if isinstance(current, MutableMapping):
            entries = {key: self.load(current.get(key), entry, (*keys, key)) for key, entry in saved.items()}
            if {type(current), type(saved)} == {dict, OrderedDict}:
                return type(saved)(entries)
            # In the order of the checkpoint, which a program may go by.
            current.clear()
            for key, entry in entries.items():
                current[key] = entry
            return current
        if isinstance(current, list | tuple) and len(current) == len(saved):
            pairs = zip(current, saved, strict=True)
            parts = [self.load(entry, part, (*keys, index)) for index, (entry, part) in enumerate(pairs)]
        elif (
            isinstance(saved, complex)
            and isinstance(current, int | float | complex)
            and not isinstance(current, np.generic)
        ):
            return complex(saved)
        else:
            parts = self._copy(saved)
        if isinstance(current, list):
            current[:] = parts
            return current
        if isinstance(current, tuple):
            return current._make(parts) if hasattr(current, "_make") else tuple(parts)
        return parts

    def _copy(self, saved: Any) -> Any:
        """The same in dicts, lists and arrays of its own; what is of another framework is so already."""
        if isinstance(saved, np.ndarray):
            if id(saved) not in self._loaded:
                self._loaded[id(saved)] = copy.deepcopy(saved)
            return self._loaded[id(saved)]
        if isinstance(saved, dict):
            entries = {key: self._copy(entry) for key, entry in saved.items()}
            return OrderedDict(entries) if isinstance(saved, OrderedDict) else entries
        if type(saved) in (list, tuple):
            return type(saved)(map(self._copy, saved))
        return self._loaded.get(id(saved), saved)


def _arrays_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    """All arrays in a structure of dicts, lists and tuples, each with the keys that lead to it."""
    if isinstance(value, np.ndarray):
        yield keys, value
    elif isinstance(handler := handler_of(value), ValueHandler):
        if not handler.immutable(value) and handler.form(value) is not None:
            yield keys, value
    elif isinstance(handler, TreeHandler):
        yield from _arrays_in(handler.parts(value), keys)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _arrays_in(entry, (*keys, key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from _arrays_in(entry, (*keys, index))
