"""The variables of a session: how they begin, and how a value fetched before their update stays what it was."""

import copy
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from tenterhooks.adapted import decoded, handler_of
from tenterhooks.errors import CheckpointError, note
from tenterhooks.generators import copied, generators_in
from tenterhooks.graph import Graph
from tenterhooks.loading import Begun, Loader
from tenterhooks.nodes import Variable
from tenterhooks.order import in_order
from tenterhooks.sharing import CONSTANT, Parts
from tenterhooks.state import capture, check_nesting, mismatches
from tenterhooks.state_adapters import TreeHandler, ValueHandler
from tenterhooks.updates import misfits, outline

__all__ = ["SessionState", "begin_missing", "initial_state", "unchanging"]


class SessionState(dict[str, Any]):
    """The variables of a session, by name.

    Attributes:
        global_step: The number of training runs so far.
        begun: The arrays that they began with.
        outlines: Of each variable, what its fresh value tells of what a checkpoint of it has to fit.
        updates: The number of runs so far that updated variables, those that are no step too.
        updating: The training ops of a run that has begun to update variables and has not completed; None otherwise.
    """

    __slots__ = ("begun", "global_step", "outlines", "updates", "updating")

    def __init__(self) -> None:
        super().__init__()
        self.global_step = 0
        self.begun = Begun()
        self.outlines: dict[str, Any] = {}
        self.updates = 0
        self.updating: str | None = None

    @property
    def torn(self) -> str | None:
        """What left the variables half updated: an error or an interrupt within a training op; None if nothing did.

        A run that trains to its end, or a restore, makes them whole again.
        """
        if self.updating is None:
            return None
        return f"the update by {self.updating} was not completed, at global step {self.global_step}"

    def captured(self) -> dict[str, Any]:
        """What a checkpoint holds of the variables. Arrays in it are the session's own, not copies.

        Raises:
            CheckpointError: Something cannot be saved, or not be restored from that; the message names it.
        """
        # All together, for what they share.
        saved: dict[str, Any] = capture(self, "variables")
        problems = [
            problem
            for name, known in self.outlines.items()
            for problem in misfits(known, self[name], saved[name], f"variables/{name}")
        ]
        if problems:
            raise CheckpointError(
                "what is in the session could be saved, and not be restored as what it is:\n  "
                + "\n  ".join(problems)
                + "\nbegin the variable with what it will hold, or with None or an empty list where plain values "
                "of any kind and shape are to come"
            )
        return saved

    def copied(self) -> dict[str, Any]:
        """A copy of the variables in the memory of the host, for `put_back`: what a checkpoint would hold of them.

        A hook may keep it, and have it in its own state.

        Raises:
            CheckpointError: Something cannot be saved, so that it cannot be put back.
        """
        copy_of_now: dict[str, Any] = decoded(copy.deepcopy(self.captured()))
        return copy_of_now

    def put_back(self, values: Mapping[str, Any]) -> None:
        """Make the variables again what they were when `copied` gave these values. It is an update, and no step.

        Arrays that are updated in place are filled, others are replaced. A variable that is not among the values stays
        as it is.

        Args:
            values: What `copied` gave. They may become the variables, so that training goes on in them.

        Raises:
            CheckpointError: They do not fit; nothing was put back.
        """
        saved: dict[str, Any] = capture({name: value for name, value in values.items() if name in self}, "variables")
        problems = [p for name in saved for p in mismatches(self[name], saved[name], name, "in what is put back")]
        if problems:
            raise CheckpointError("the variables cannot be put back, and none was:\n  " + "\n  ".join(problems))
        loader = Loader(self.begun.still_there(self))
        values = decoded(saved)
        for name, value in values.items():
            self[name] = loader.load(self[name], value, (name,))
        self.updates += 1
        self.updating = None

    def take(self, other: "SessionState") -> None:
        """Become what another state is: the same variables, and the same step."""
        for name in [name for name in self if name not in other]:
            del self[name]
        self.update(other)
        self.global_step = other.global_step
        self.begun = other.begun
        self.outlines = other.outlines
        self.updating = other.updating


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
            note(error, f"in the initial value of {variable!r}")
            raise
        check_nesting(state[name], f"variables/{name}")
        state.outlines[name] = outline(state[name])
        state.begun.add(name, state[name])


def unchanging(values: Mapping[str, Any], names: Iterable[str], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they are now: those that no update in place can change themselves, of others copies.

    Args:
        values: The values that are fetched beside a training op.
        names: The variables that the run reads.
        variables: All variables.
    """
    kept = dict(values)
    changing = {name: value for name, value in values.items() if not isinstance(value, CONSTANT)}
    if changing:
        parts = Parts(variables[name] for name in names)
        kept.update({name: _unchanging(value, parts) for name, value in changing.items()})
    return kept


def _unchanging(value: Any, parts: Parts) -> Any:
    if isinstance(value, CONSTANT):
        return value
    if isinstance(value, np.ndarray):
        return value.copy() if parts.share(value) else value
    if type(value) is tuple:
        return tuple(_unchanging(entry, parts) for entry in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_unchanging(entry, parts) for entry in value)
    if isinstance(handler := handler_of(value), ValueHandler):
        return handler.fetched(value, copy=True)
    if isinstance(handler, TreeHandler):
        return handler.with_parts(value, {name: _unchanging(e, parts) for name, e in handler.parts(value).items()})
    if value in parts:
        return _copied(value)
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


def _copied(value: Any) -> Any:
    """A deep copy; of a module that stands for its global generator, which none can be made of, another generator."""
    found = {id(generator): generator for _, generator in generators_in(value) if isinstance(generator, ModuleType)}
    return copy.deepcopy(value, {key: copied(generator) for key, generator in found.items()})
