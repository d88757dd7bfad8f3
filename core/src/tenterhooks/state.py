"""What a checkpoint holds, how it is taken from the objects of a session, and how it is loaded back into them.

Arrays, numbers, strings, bytes, None, and nested dicts, lists and tuples of them are saved as they are; NumPy
generators as the state of their bit generator; an object with `state_dict` and `load_state_dict` by what these give
and take. Restoring loads into the objects that exist, so references to an array, a generator or an object stay good.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tenterhooks.errors import CheckpointError

__all__ = ["Stateful", "capture", "load", "mismatches"]

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
        CheckpointError: It is of a type that cannot be saved.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise CheckpointError(
                f"{path} is an array of Python objects ({value.dtype}), which cannot be saved without pickle: "
                "use a numeric dtype, or an object with state_dict and load_state_dict"
            )
        return value
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.random.Generator):
        return dict(value.bit_generator.state)
    if isinstance(value, Stateful):
        return capture(value.state_dict(), f"{path} (state_dict)")
    if isinstance(value, Mapping):
        return {key: capture(entry, f"{path}/{key}") for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(capture(entry, f"{path}/{index}") for index, entry in enumerate(value))
    if isinstance(value, list):
        return [capture(entry, f"{path}/{index}") for index, entry in enumerate(value)]
    raise CheckpointError(
        f"{path} is a {type(value).__module__}.{type(value).__qualname__}, which cannot be saved: use arrays, numbers, "
        "strings, dicts, lists and tuples of them, NumPy generators, or an object with state_dict and load_state_dict"
    )


def mismatches(current: Any, saved: Any, path: str) -> Iterator[str]:
    """Say what of a saved value does not fit the object that it shall be loaded into; nothing where it fits."""
    if isinstance(current, np.ndarray):
        if not isinstance(saved, np.ndarray):
            yield f"{path}: an array here, {_kind(saved)} in the checkpoint"
        elif current.shape != saved.shape or current.dtype != saved.dtype:
            yield (
                f"{path}: {current.dtype} of shape {current.shape} here, "
                f"{saved.dtype} of shape {saved.shape} in the checkpoint"
            )
    elif isinstance(current, np.random.Generator):
        name = type(current.bit_generator).__name__
        if not isinstance(saved, dict) or saved.get("bit_generator") != name:
            there = saved.get("bit_generator") if isinstance(saved, dict) else _kind(saved)
            yield f"{path}: a generator of {name} here, {there} in the checkpoint"
    elif isinstance(current, Stateful):
        return
    elif isinstance(current, Mapping):
        if not isinstance(saved, dict):
            yield f"{path}: a dict here, {_kind(saved)} in the checkpoint"
        elif current.keys() != saved.keys() and _holds_objects(current):
            yield f"{path}: the keys {sorted(map(str, current))} here, {sorted(map(str, saved))} in the checkpoint"
        else:
            for key, entry in current.items():
                if key in saved:
                    yield from mismatches(entry, saved[key], f"{path}/{key}")
    elif isinstance(current, list | tuple):
        # What is saved of a named tuple is a plain one.
        if not isinstance(saved, tuple if isinstance(current, tuple) else list):
            yield f"{path}: a {type(current).__name__} here, {_kind(saved)} in the checkpoint"
        elif len(current) == len(saved):
            for index, entry in enumerate(current):
                yield from mismatches(entry, saved[index], f"{path}/{index}")
        elif _holds_objects(current) or hasattr(current, "_make"):
            yield f"{path}: {len(current)} entries here, {len(saved)} in the checkpoint"
    elif current is not None and saved is not None and _family(current) is not _family(saved):
        yield f"{path}: {_kind(current)} here, {_kind(saved)} in the checkpoint"


def load(current: Any, saved: Any) -> Any:
    """Load a saved value that fits, and give what stands for it from now on: the same object where it can take it."""
    if isinstance(current, np.ndarray):
        if not current.flags.writeable:
            return copy.deepcopy(saved)
        current[...] = saved
        return current
    if isinstance(current, np.random.Generator):
        current.bit_generator.state = saved
        return current
    if isinstance(current, Stateful):
        current.load_state_dict(saved)
        return current
    if isinstance(current, dict):
        entries = {key: load(current.get(key), entry) for key, entry in saved.items()}
        # In the order of the checkpoint, which a program may go by.
        current.clear()
        for key, entry in entries.items():
            current[key] = entry
        return current
    if isinstance(current, list | tuple) and len(current) == len(saved):
        parts = [load(entry, part) for entry, part in zip(current, saved, strict=True)]
    else:
        parts = copy.deepcopy(saved)
    if isinstance(current, list):
        current[:] = parts
        return current
    if isinstance(current, tuple):
        return current._make(parts) if hasattr(current, "_make") else tuple(parts)
    return parts


def _holds_objects(value: Any) -> bool:
    """Whether something in it has to be loaded in place, so that it cannot be replaced as a whole."""
    if isinstance(value, Mapping):
        return any(_holds_objects(entry) for entry in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_objects(entry) for entry in value)
    return not isinstance(value, (np.ndarray, *_PLAIN))


def _family(value: Any) -> type:
    """What stands for each other: all numbers, and otherwise values of one type."""
    for family in (str, bytes):
        if isinstance(value, family):
            return family
    return float if isinstance(value, bool | int | float | np.generic) else type(value)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"
