"""How the learning rate gets into an optimizer. Neither PyTorch nor Optax is imported: what they keep is known."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter, itemgetter
from typing import Any

import tenterhooks as th
from tenterhooks.errors import UnknownNameError, nearest

__all__ = ["EntrySetter", "Setter", "checked_setter", "set_hyperparams", "set_param_groups"]

Setter = Callable[[th.Session, float], object]
"""Takes the raw session and the learning rate of the run that begins, and sets it."""

_NAME = "learning_rate"
# What leads from a state to what lies in it, one call after the other.
_Path = tuple[Callable[[Any], Any], ...]


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
        entry: The entry's name.
    """

    def __init__(self, entry: str) -> None:
        self._entry = entry
        self._found: _Path | None = None

    def check(self, session: th.Session) -> None:
        """Look for what is to be set, before the first run.

        Raises:
            UnknownNameError: The session has no such entry.
            TypeError: There is nothing to set in it.
            ValueError: There are several things to set.
        """
        if self._entry not in session.state:
            raise UnknownNameError(
                f"the setter {self._entry!r} is no entry of the session's state{nearest(self._entry, session.state)}"
            )
        value = session.state[self._entry]
        self._found = None if hasattr(value, "param_groups") else _path(value)

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
    for step in path:
        value = step(value)
    return value


def _path(state: Any) -> _Path:
    """Where in a state the injected hyperparameters are."""
    found = list(_injected(state, ()))
    paths = [path for path, injected in found if _NAME in injected.hyperparams]
    if len(paths) > 1:
        raise ValueError(
            f"the state has {len(paths)} injected learning rates: give setter= a function of the session and the value "
            "that sets each of them, as it shall be"
        )
    if not paths:
        names = sorted({str(name) for _, injected in found for name in injected.hyperparams})
        what = f"the hyperparameters {', '.join(names)}, and no learning_rate" if found else "no learning rate to set"
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


def _injected(value: Any, path: _Path) -> Iterator[tuple[_Path, Any]]:
    """All states of injected hyperparameters, each with where it is."""
    if isinstance(getattr(value, "hyperparams", None), dict):
        yield path, value
    steps: list[Callable[[Any], Any]] = []
    if isinstance(value, Mapping):
        steps = [itemgetter(key) for key in value]
    elif isinstance(value, list | tuple):
        steps = [itemgetter(index) for index in range(len(value))]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        steps = [attrgetter(field.name) for field in dataclasses.fields(value) if hasattr(value, field.name)]
    for step in steps:
        yield from _injected(step(value), (*path, step))
