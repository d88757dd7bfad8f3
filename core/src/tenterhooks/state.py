"""What a checkpoint holds, how it is taken from the objects of a session, and what does not fit them.

Arrays, numbers, strings, bytes, None, and nested dicts, lists and tuples of them are saved as they are; random
generators as their state; an object with `state_dict` and `load_state_dict` by what these give and take; values of
other frameworks as their adapter says, with a tag that has them found wherever they lie. Restoring loads into the
objects that exist, so references to an array, a generator or an object stay good.
"""

import enum
import random
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tenterhooks.adapted import TAG, handler_of, is_tagged, missing
from tenterhooks.errors import CheckpointError
from tenterhooks.generators import get_state, is_generator, kind, misfit
from tenterhooks.state_adapters import ObjectHandler, TreeHandler, ValueHandler

__all__ = ["Stateful", "capture", "check_nesting", "mismatches"]

# Far enough from where Python's own recursion ends, and what the default saver takes.
_MAX_DEPTH = 100

_PLAIN = (bool, int, float, str, bytes, type(None), np.generic)


@runtime_checkable
class Stateful(Protocol):
    """An object that gives its state as a dict and takes it back."""

    def state_dict(self) -> Any:
        """The state: what `load_state_dict` needs to continue exactly."""
        ...

    def load_state_dict(self, state: Any, /) -> Any:
        """Take a state that `state_dict` gave."""
        ...


def capture(value: Any, path: str) -> Any:
    """What of a value goes into a checkpoint.

    Arrays are not copied: a saver that writes in the background has to copy them.

    Args:
        value: The value.
        path: Where it stands, for the message.

    Raises:
        CheckpointError: It is of a type that cannot be saved, or it contains itself.
    """
    return _capture(value, path, {}, ())


def check_nesting(value: Any, path: str) -> None:
    """Check that a structure of dicts, lists and tuples has an end.

    Args:
        value: The structure.
        path: Where it stands, for the message.

    Raises:
        CheckpointError: It contains itself, or is nested deeper than a checkpoint can hold.
    """
    _check_nesting(value, path, ())


def _check_nesting(value: Any, path: str, within: tuple[int, ...]) -> None:
    if not isinstance(value, Mapping | list | tuple):
        return
    within = _entered(value, path, within)
    for key, entry in value.items() if isinstance(value, Mapping) else enumerate(value):
        if not isinstance(entry, _PLAIN):
            _check_nesting(entry, _below(path, key), within)


def _entered(value: Any, path: str, within: tuple[int, ...]) -> tuple[int, ...]:
    """The ids of what a value lies in, and its own, for what lies in it."""
    if id(value) in within:
        raise CheckpointError(
            f"{path} is the {type(value).__name__} that it lies in, and what contains itself cannot be saved: "
            "break the cycle"
        )
    if len(within) > _MAX_DEPTH:
        raise CheckpointError(
            f"{path[:60]}... is nested more than {_MAX_DEPTH} levels deep, which cannot be saved: use a flatter "
            "structure"
        )
    return (*within, id(value))


def _capture(value: Any, path: str, shared: dict[str, dict[Any, Any]], within: tuple[int, ...]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise CheckpointError(
                f"{path} is an array of Python objects ({value.dtype}), which cannot be saved without pickle: "
                "use a numeric dtype, or an object with state_dict and load_state_dict"
            )
        return value
    if isinstance(value, enum.Enum):
        raise CheckpointError(
            f"{path} is {value!r}, which would come back as its value: keep its name and find it by that"
        )
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, complex):
        return np.complex128(value)
    if is_generator(value):
        return get_state(value)
    handler = handler_of(value)
    if isinstance(handler, ValueHandler):
        saved = handler.capture(value, path, shared.setdefault(handler.adapter, {}))
        saved[TAG] = handler.adapter
        return saved
    if isinstance(handler, ObjectHandler):
        return _capture(handler.state(value), f"{path} (state_dict)", shared, _entered(value, path, within))
    if isinstance(handler, TreeHandler):
        return _capture(handler.parts(value), path, shared, _entered(value, path, within))
    needed = None if handler is not None else missing(value)
    if needed is not None:
        raise CheckpointError(
            f"{path} is a {type(value).__module__}.{type(value).__qualname__}, and what saves those is not installed: "
            f"pip install {needed}"
        )
    if isinstance(value, Stateful):
        return _capture(value.state_dict(), f"{path} (state_dict)", shared, _entered(value, path, within))
    if isinstance(value, Mapping):
        within = _entered(value, path, within)
        if TAG in value:
            raise CheckpointError(
                f"{path} has the key {TAG!r}, which is kept for values of other frameworks: rename it"
            )
        for key in value:
            if not isinstance(key, _PLAIN):
                raise CheckpointError(
                    f"{path} has the key {key!r} of type {type(key).__qualname__}, which cannot be saved: use strings, "
                    "numbers, bytes or None as keys"
                )
        entries = {key: _capture(entry, _below(path, key), shared, within) for key, entry in value.items()}
        return OrderedDict(entries) if type(value) is OrderedDict else entries
    if isinstance(value, list | tuple):
        within = _entered(value, path, within)
        parts = [_capture(entry, f"{path}/{index}", shared, within) for index, entry in enumerate(value)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, random.SystemRandom):
        raise CheckpointError(
            f"{path} is a random.SystemRandom, whose numbers come from the operating system and cannot be resumed: use "
            "random.Random(seed)"
        )
    raise CheckpointError(
        f"{path} is a {type(value).__module__}.{type(value).__qualname__}, which cannot be saved: use arrays, numbers, "
        "strings, dicts, lists and tuples of them, random generators, or an object with state_dict and load_state_dict"
    )


def _below(path: str, key: Any) -> str:
    # Python converts a limited number of digits.
    return f"{path}/{key:#x}" if type(key) is int and key.bit_length() > 1000 else f"{path}/{key}"


def mismatches(current: Any, saved: Any, path: str, there: str = "in the checkpoint") -> Iterator[str]:
    """Say what of a saved value does not fit the object that it shall be loaded into; nothing where it fits.

    Args:
        current: The object.
        saved: What `capture` gave.
        path: Where the object stands.
        there: Where the saved value stands.
    """
    if isinstance(current, np.ndarray):
        # What NumPy computes from an array without dimensions is a scalar.
        if not isinstance(saved, np.ndarray) and not (isinstance(saved, np.generic) and current.shape == ()):
            yield f"{path}: an array here, {_kind(saved)} {there}"
        elif current.shape != saved.shape or current.dtype != saved.dtype:
            yield (
                f"{path}: {current.dtype} of shape {current.shape} here, {saved.dtype} of shape {saved.shape} {there}"
            )
    elif is_generator(current):
        fault = misfit(current, saved)
        if fault is not None:
            yield f"{path}: {kind(current)} here, {fault} {there}"
    elif isinstance(handler := handler_of(current), ValueHandler):
        here = handler.form(current)
        found = handler.saved_form(saved) if is_tagged(saved) and saved[TAG] == handler.adapter else _kind(saved)
        if here != found and here is not None:
            yield f"{path}: {here} here, {found} {there}"
    elif isinstance(handler, ObjectHandler):
        yield from handler.mismatches(current, saved, path, there)
    elif isinstance(handler, TreeHandler):
        yield from _misfits_of_parts(current, handler.parts(current), saved, path, there)
    elif isinstance(current, Stateful):
        return
    elif isinstance(current, Mapping):
        if not isinstance(saved, dict) or is_tagged(saved):
            yield f"{path}: a dict here, {_kind(saved)} {there}"
        else:
            if current.keys() != saved.keys() and _holds_objects(current):
                yield f"{path}: the keys {sorted(map(str, current))} here, {sorted(map(str, saved))} {there}"
            for key, entry in current.items():
                if key in saved:
                    yield from mismatches(entry, saved[key], _below(path, key), there)
    elif isinstance(current, list | tuple):
        # What is saved of a named tuple is a plain one.
        if not isinstance(saved, tuple if isinstance(current, tuple) else list):
            yield f"{path}: a {type(current).__name__} here, {_kind(saved)} {there}"
        elif len(current) == len(saved):
            for index, entry in enumerate(current):
                yield from mismatches(entry, saved[index], f"{path}/{index}", there)
        elif _holds_objects(current) or hasattr(current, "_make"):
            yield f"{path}: {len(current)} entries here, {len(saved)} {there}"
    elif isinstance(current, np.generic) and isinstance(saved, np.ndarray) and saved.shape == ():
        if current.dtype != saved.dtype:
            yield f"{path}: {_kind(current)} here, {_kind(saved)} {there}"
    elif current is not None and saved is not None and _family(current) is not _family(saved):
        yield f"{path}: {_kind(current)} here, {_kind(saved)} {there}"


def _misfits_of_parts(current: Any, parts: Mapping[str, Any], saved: Any, path: str, there: str) -> Iterator[str]:
    if not isinstance(saved, dict) or is_tagged(saved):
        yield f"{path}: a {type(current).__name__} here, {_kind(saved)} {there}"
        return
    for name, part in parts.items():
        if name in saved:
            # None is a part of its own, and not one that takes anything.
            if part is None and saved[name] is not None:
                yield f"{_below(path, name)}: None here, {_kind(saved[name])} {there}"
            yield from mismatches(part, saved[name], _below(path, name), there)
        else:
            yield f"{_below(path, name)}: it is here, and not {there}"
    for name in saved:
        if name not in parts:
            yield f"{_below(path, name)}: it is {there}, and not here"


def _holds_objects(value: Any) -> bool:
    """Whether something in it has to be loaded in place, or cannot change: then its structure cannot either."""
    if isinstance(value, Mapping):
        return any(_holds_objects(entry) for entry in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_objects(entry) for entry in value)
    if isinstance(value, (np.ndarray, complex, *_PLAIN)):
        return False
    handler = handler_of(value)
    return handler.immutable(value) if isinstance(handler, ValueHandler) else True


def _family(value: Any) -> type:
    """What stands for each other: all numbers, and otherwise values of one type."""
    for family in (str, bytes):
        if isinstance(value, family):
            return family
    return float if isinstance(value, bool | int | float | complex | np.generic) else type(value)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    if is_tagged(value):
        return f"a value of {value[TAG]}"
    return "None" if value is None else f"a {type(value).__name__}"
