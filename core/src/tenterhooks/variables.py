"""The variables of a session: how they begin, and how a value fetched before their update stays what it was."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tenterhooks.graph import Graph
from tenterhooks.nodes import Variable
from tenterhooks.order import in_order

__all__ = ["SessionState", "begin_missing", "initial_state", "unchanging"]

_CONSTANT = (int, float, complex, str, bytes, np.generic, type(None))
# What shows all that lies in it, or holds no arrays.
_TRANSPARENT = (np.ndarray, np.random.Generator, Mapping, list, tuple, set, frozenset, bytearray)


class SessionState(dict[str, Any]):
    """The variables of a session, by name.

    Attributes:
        global_step: The number of training runs so far.
    """

    __slots__ = ("global_step",)

    def __init__(self) -> None:
        super().__init__()
        self.global_step = 0


def initial_state(graph: Graph) -> SessionState:
    """Make fresh variables, each after those that it is begun with."""
    state = SessionState()
    begin_missing(graph, state)
    return state


def begin_missing(graph: Graph, state: SessionState) -> None:
    """Make those variables that a state lacks, each after those that it is begun with."""
    variables = {name: node for name, node in graph.nodes.items() if isinstance(node, Variable)}
    for name in in_order({n: node.inputs for n, node in variables.items()}):
        if name in state:
            continue
        variable = variables[name]
        try:
            state[name] = variable.initial(*[state[entry] for entry in variable.inputs])
        except Exception as error:
            error.add_note(f"in the initial value of {variable!r}")
            raise


def unchanging(values: Mapping[str, Any], names: Iterable[str], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they are now: those that no update in place can change themselves, of others copies.

    Args:
        values: The values that are fetched beside a training op.
        names: The variables that the run reads.
        variables: All variables.
    """
    kept = dict(values)
    changing = {name: value for name, value in values.items() if not isinstance(value, _CONSTANT)}
    if changing:
        parts = [part for name in names for part in _parts(variables[name])]
        kept.update({name: _unchanging(value, parts) for name, value in changing.items()})
    return kept


def _unchanging(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, _CONSTANT):
        return value
    if isinstance(value, np.ndarray):
        # An object's own arrays cannot be seen from outside.
        shared = any(
            np.may_share_memory(value, part) if isinstance(part, np.ndarray) else not isinstance(part, _TRANSPARENT)
            for part in parts
        )
        return value.copy() if shared else value
    if type(value) is tuple:
        return tuple(_unchanging(entry, parts) for entry in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_unchanging(entry, parts) for entry in value)
    if any(value is part for part in parts):
        return copy.deepcopy(value)
    if isinstance(value, list):
        entries = copy.copy(value)
        entries[:] = [_unchanging(entry, parts) for entry in value]
        return entries
    if isinstance(value, dict):
        items = copy.copy(value)
        for key, entry in value.items():
            items[key] = _unchanging(entry, parts)
        return items
    return value


def _parts(value: Any) -> Iterator[Any]:
    """A value, and all that lies in it as far as it is made of dicts, lists and tuples; without what is constant."""
    if isinstance(value, _CONSTANT):
        return
    yield value
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from _parts(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _parts(entry)
