"""The variables of a session: how they begin, and how a value fetched before their update stays what it was."""

import copy
import graphlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tenterhooks.graph import Graph
from tenterhooks.nodes import Variable

__all__ = ["SessionState", "initial_state", "unchanging"]


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
    variables = {name: node for name, node in graph.nodes.items() if isinstance(node, Variable)}
    for name in graphlib.TopologicalSorter({n: node.inputs for n, node in variables.items()}).static_order():
        variable = variables[name]
        try:
            state[name] = variable.initial(*[state[entry] for entry in variable.inputs])
        except Exception as error:
            error.add_note(f"in the initial value of {variable!r}")
            raise
    return state


def unchanging(value: Any, names: Iterable[str], variables: Mapping[str, Any]) -> Any:
    """A value as it is now: itself where no update in place can change it, else a copy.

    Args:
        value: A value that is fetched beside a training op.
        names: The variables that the run reads.
        variables: All variables.
    """
    if isinstance(value, int | float | complex | str | bytes | np.generic | None):
        return value
    return _unchanging(value, [variables[name] for name in names])


def _unchanging(value: Any, variables: list[Any]) -> Any:
    if any(value is variable for variable in variables):
        return copy.deepcopy(value)
    if isinstance(value, np.ndarray):
        shared = any(np.may_share_memory(value, array) for array in _arrays(variables))
        return value.copy() if shared else value
    if type(value) is dict:
        return {key: _unchanging(entry, variables) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_unchanging(entry, variables) for entry in value)
    return value


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All NumPy arrays in a structure of dicts, lists and tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _arrays(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _arrays(entry)
