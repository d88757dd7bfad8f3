"""Random generators of all kinds, as one: their states, in the types that a checkpoint holds, and back.

The kinds are NumPy's `Generator` and `RandomState`, `random.Random`, and the modules `random` and `numpy.random`, each
of which stands for its global generator; and those that an adapter handles.
"""

import copy
import random
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from tenterhooks import adapted
from tenterhooks.state_adapters import GeneratorHandler

__all__ = [
    "all_generators",
    "all_states",
    "copied",
    "generators_in",
    "get_state",
    "global_generators",
    "is_generator",
    "kind",
    "misfit",
    "same",
    "seeded",
    "set_all",
    "set_state",
]

_GLOBAL: Mapping[str, ModuleType] = {"<random>": random, "<numpy.random>": np.random}

# The last of these positions is that of a generator that makes new numbers next; one beyond reads foreign memory.
_LAST_POSITIONS = {"pos": 624, "buffer_pos": 4}

# Of NumPy and Python for a state of another make.
_STATE_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def global_generators() -> dict[str, Any]:
    """The generators of the process, by the names in angle brackets that their states go by."""
    return {**_GLOBAL, **adapted.global_generators()}


def is_generator(value: object) -> bool:
    """Whether it is a random generator of one of the kinds.

    No kind of `random.Random` with a state of its own is one, such as `random.SystemRandom`.
    """
    if isinstance(value, np.random.Generator | np.random.RandomState) or value is random or value is np.random:
        return True
    if isinstance(value, random.Random):
        return type(value).getstate is random.Random.getstate
    return isinstance(adapted.handler_of(value), GeneratorHandler)


def get_state(generator: Any) -> dict[str, Any]:
    """The state of a generator, which does not move on with it."""
    if isinstance(generator, np.random.Generator):
        return dict(generator.bit_generator.state)
    if isinstance(generator, np.random.RandomState) or generator is np.random:
        return dict(generator.get_state(legacy=False))
    if isinstance(handler := adapted.handler_of(generator), GeneratorHandler):
        return handler.get_state(generator)
    version, numbers, gauss_next = generator.getstate()
    return {"version": version, "state": np.array(numbers, np.uint32), "gauss_next": gauss_next}


def set_state(generator: Any, state: Mapping[str, Any]) -> None:
    """Set a generator to a state that `get_state` gave of one of its kind, and for which `misfit` says nothing."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState) or generator is np.random:
        generator.set_state(dict(state))
    elif isinstance(handler := adapted.handler_of(generator), GeneratorHandler):
        handler.set_state(generator, state)
    else:
        generator.setstate((state["version"], tuple(state["state"].tolist()), state["gauss_next"]))


def seeded(generator: Any) -> dict[str, Any] | None:
    """The state of a generator when it was seeded last; None where it does not know."""
    handler = adapted.handler_of(generator)
    return handler.seeded(generator) if isinstance(handler, GeneratorHandler) else None


def kind(generator: Any) -> str:
    """What kind of generator it is, for messages: "a generator of PCG64"."""
    name = _kind_of(get_state(generator))
    assert name is not None
    return name


def misfit(generator: Any, state: Any) -> str | None:
    """Say what a state is instead of one of this generator; None where it is one."""
    there = _kind_of(state)
    if there != kind(generator):
        return there or f"a {type(state).__name__}"
    trial = copied(generator)
    try:
        set_state(trial, state)
        taken = get_state(trial)
    except _STATE_ERRORS as error:
        return f"{there} with a broken state ({type(error).__name__}: {error})"
    inner = taken["state"] if isinstance(taken["state"], dict) else {}
    positions = {name: part.get(name, 0) for part in (inner, taken) for name in _LAST_POSITIONS if name in part}
    whole = all(0 <= at <= _LAST_POSITIONS[name] for name, at in positions.items())
    if not (whole and same(taken, state) and isinstance(taken.get("gauss_next"), float | None)):
        return f"{there} with a broken state"
    return None


def copied(generator: Any) -> Any:
    """A generator of its own that gives the same numbers; of a module one of the kind that it stands for."""
    if generator is np.random:
        twin: Any = np.random.RandomState(copy.deepcopy(np.random.get_bit_generator()))
    elif generator is random:
        twin = random.Random()
    elif isinstance(handler := adapted.handler_of(generator), GeneratorHandler):
        return handler.copied(generator)
    else:
        return copy.deepcopy(generator)
    set_state(twin, get_state(generator))
    return twin


def generators_in(value: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """All generators in a structure of dicts, lists and tuples, each with the keys that lead to it."""
    return _generators_in(value, (), ())


def _generators_in(value: Any, keys: tuple[Any, ...], within: tuple[int, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if is_generator(value):
        yield keys, value
    # A program without a saver may hold what contains itself.
    elif isinstance(value, Mapping | list | tuple) and id(value) not in within:
        for key, entry in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _generators_in(entry, (*keys, key), (*within, id(value)))


def all_generators(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All generators among variables, by their places such as "rngs/data", and those of the process."""
    for keys, generator in generators_in(variables):
        yield "/".join(map(str, keys)), generator
    yield from global_generators().items()


def all_states(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The states of `all_generators`."""
    return {place: get_state(generator) for place, generator in all_generators(variables)}


def set_all(variables: Mapping[str, Any], states: Mapping[str, Any]) -> None:
    """Set those of `all_generators` for which there is a state."""
    for place, generator in all_generators(variables):
        if place in states:
            set_state(generator, states[place])


def same(one: Any, other: Any) -> bool:
    """Whether two states are equal."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if type(one) is not type(other) or one.dtype != other.dtype or one.shape != other.shape:
            return False
        return bool(one.tobytes() == other.tobytes())
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _kind_of(state: Any) -> str | None:
    """The kind of generator that a state is of; None where it is of none."""
    if not isinstance(state, dict):
        return None
    if isinstance(state.get("bit_generator"), str):
        return f"a {'RandomState' if 'gauss' in state else 'generator'} of {state['bit_generator']}"
    if state.keys() == {"kind", "state"} and isinstance(state["kind"], str):
        return state["kind"]
    return "a random.Random" if state.keys() == {"version", "state", "gauss_next"} else None
