"""How the learning rate gets into an optimizer. Neither PyTorch nor Optax is imported: what they keep is known."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import tenterhooks as th
from tenterhooks.errors import UnknownNameError, nearest

__all__ = ["EntrySetter", "Setter", "checked_setter", "set_hyperparams", "set_param_groups"]

Setter = Callable[[th.Session, float], object]
"""Takes the raw session and the learning rate of the run that begins, and sets it."""

_NAME = "learning_rate"
# What leads from a state to what lies in it: the names of fields, and the keys of the rest.
_Path = tuple["_Field | Any", ...]


class _Field(str):
    """The name of a field, which is an attribute."""


def set_param_groups(optimizer: Any, learning_rate: float) -> None:
    """Set the learning rate of a PyTorch optimizer.

    The first parameter group gets it, the others in the proportion that their learning rates had at first, which is
    kept in each group as `initial_lr`, as by PyTorch's schedulers, and so in the checkpoint. A learning rate that is a
    tensor is changed in place, as a compiled optimizer needs it.

    Args:
        optimizer: The optimizer, or anything with `param_groups`.
        learning_rate: The learning rate.

    Raises:
        ValueError: The first group began with 0, and another one did not.
    """
    groups = optimizer.param_groups
    for group in groups:
        if "initial_lr" not in group:
            group["initial_lr"] = float(group["lr"])
    first = float(groups[0]["initial_lr"])
    for number, group in enumerate(groups):
        own = float(group["initial_lr"])
        if own != first and not first:
            raise ValueError(
                f"parameter group 0 began with the learning rate 0 and group {number} with {own:g}: there is no "
                "proportion between them; give group 0 another one, or set them by a function"
            )
        value = learning_rate if own == first else learning_rate * (own / first)
        if hasattr(group["lr"], "fill_"):
            group["lr"].fill_(value)
        else:
            group["lr"] = value


def set_hyperparams(state: Any, learning_rate: float) -> None:
    """Set the learning rate in an Optax state of `optax.inject_hyperparams`, which may lie in others, as in a chain.

    The dict `hyperparams` gets a new array, of the type and on the device of the one before.

    Args:
        state: The state of the optimizer, or any structure of dicts, lists, tuples and dataclasses that it lies in.
        learning_rate: The learning rate.

    Raises:
        TypeError: There is none in it, or it computes its learning rate itself.
        ValueError: There are several.
    """
    _set_injected(_followed(_path(state), state), learning_rate)


class EntrySetter:
    """Sets the learning rate of the optimizer, or in the state of one, that is an entry of the session's state.

    Args:
        entry: The entry's name; where several learning rates are injected in it, with what tells one of them from the
            others on the way to it, such as the label "fast" of `optax.multi_transform`: "moments/fast".
    """

    def __init__(self, entry: str) -> None:
        self._entry, self._within = entry, ""
        self._found: _Path | None = None

    def check(self, session: th.Session) -> None:
        """Look for what is to be set, before the first run.

        Raises:
            UnknownNameError: The session has no such entry, or the entry no such part.
            TypeError: There is nothing to set in it.
            ValueError: There are several things to set.
        """
        state = session.state
        if self._entry not in state:
            entry, _, within = self._entry.partition("/")
            if entry not in state:
                raise UnknownNameError(
                    f"the setter {self._entry!r} is no entry of the session's state{nearest(entry, state)}"
                )
            self._entry, self._within = entry, within
        value = state[self._entry]
        if not hasattr(value, "param_groups"):
            self._found = _path(value, self._entry, self._within)
        elif self._within:
            raise TypeError(
                f"the setter '{self._entry}/{self._within}' names a part of a PyTorch optimizer, whose parameter "
                f"groups are set in proportion: name {self._entry!r}, or set them by a function"
            )
        else:
            self._found = None

    def __call__(self, session: th.Session, learning_rate: float) -> None:
        """Set it."""
        # An immutable state is another one in each run, of the same structure.
        value = session.state[self._entry]
        if self._found is None:
            set_param_groups(value, learning_rate)
        else:
            _set_injected(_followed(self._found, value), learning_rate)


def checked_setter(given: object) -> Setter | None:
    """What an option says of how the learning rate is set; None: not at all.

    Raises:
        TypeError: It is neither a function nor a name.
    """
    if given is None or callable(given):
        return given
    if isinstance(given, str):
        return EntrySetter(given)
    raise TypeError(
        f"setter is a function of the session and the value, or the name of a state entry, not {given!r:.60} of type "
        f"{type(given).__name__}"
    )


def _set_injected(injected: Any, learning_rate: float) -> None:
    # Optax's own way: the dict is no part of what JAX takes for unchangeable.
    current = injected.hyperparams[_NAME]
    injected.hyperparams[_NAME] = current.at[...].set(learning_rate) if hasattr(current, "at") else learning_rate


def _followed(path: _Path, value: Any) -> Any:
    for key in path:
        value = getattr(value, key) if isinstance(key, _Field) else value[key]
    return value


def _path(state: Any, entry: str = "state", within: str = "") -> _Path:
    """Where in a state the injected hyperparameters are whose path has all these names."""
    found = list(_injected(state, ()))
    rates = [path for path, injected in found if _NAME in injected.hyperparams]
    names = {part for part in within.split("/") if part}
    paths = [path for path in rates if names <= set(map(str, path))]
    if rates and not paths:
        raise UnknownNameError(f"{entry!r} has no injected learning rate at {within!r}; there are: {_places(rates)}")
    if len(paths) > 1:
        own = next((f"give setter='{entry}/{name}' for one of them, or " for name in _told_apart(paths)), "")
        raise ValueError(
            f"{entry!r} has {len(paths)} injected learning rates, at {_places(paths)}: {own}set each by a function of "
            "the session and the value, with set_hyperparams"
        )
    if not paths:
        others = sorted({str(name) for _, injected in found for name in injected.hyperparams})
        what = f"the hyperparameters {', '.join(others)}, and no learning_rate" if found else "no learning rate to set"
        raise TypeError(
            f"{type(state).__name__} has {what}: it is a PyTorch optimizer or the state of "
            "optax.inject_hyperparams(...)(learning_rate=...), or setter= is a function of the session and the value"
        )
    if _NAME in (getattr(_followed(paths[0], state), "hyperparams_states", None) or ()):
        raise TypeError(
            "Optax computes the learning rate itself, from the schedule that inject_hyperparams was given: give it a "
            "number there, and the schedule to the hook"
        )
    return paths[0]


def _places(paths: list[_Path]) -> str:
    return ", ".join(repr("/".join(map(str, path))) for path in paths)


def _told_apart(paths: list[_Path]) -> Iterator[str]:
    """The names that only one of several paths has."""
    names = [str(key) for path in paths for key in dict.fromkeys(path)]
    return (name for name in names if names.count(name) == 1)


def _injected(value: Any, path: _Path) -> Iterator[tuple[_Path, Any]]:
    """All states of injected hyperparameters, each with where it is."""
    if isinstance(getattr(value, "hyperparams", None), dict):
        yield path, value
    keys: Iterable[Any] = ()
    if isinstance(value, Mapping):
        keys = value
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        keys = map(_Field, value._fields)
    elif isinstance(value, list | tuple):
        keys = range(len(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        keys = [_Field(field.name) for field in dataclasses.fields(value) if hasattr(value, field.name)]
    for key in keys:
        yield from _injected(_followed((key,), value), (*path, key))
