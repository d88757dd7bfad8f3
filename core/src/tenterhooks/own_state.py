"""The state of a loop of the program's own, as its body reads and assigns it."""

import logging
from collections.abc import Collection, Iterator, MutableMapping
from typing import Any

import numpy as np

from tenterhooks.adapted import handler_of
from tenterhooks.errors import UnknownNameError, nearest
from tenterhooks.sharing import CONSTANT
from tenterhooks.state_adapters import TreeHandler, ValueHandler
from tenterhooks.updates import fits, refusals
from tenterhooks.variables import SessionState

__all__ = ["OwnState"]

_log = logging.getLogger(__name__)


class OwnState(MutableMapping[str, Any]):
    """The entries of `state=` by name, in which new values are assigned where they cannot be changed in place.

    Args:
        variables: What is saved and restored.
    """

    __slots__ = ("_assigned", "_read", "_restored", "_saves", "_variables")

    def __init__(self, variables: SessionState) -> None:
        self._variables = variables
        self._assigned: set[str] = set()
        self._read: set[str] = set()
        self._restored: Collection[str] = ()
        self._saves = 0

    def __getitem__(self, name: str) -> Any:
        if name not in self._variables:
            raise self._unknown(name)
        self._read.add(name)
        return self._variables[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._variables:
            raise self._unknown(name)
        if name in self._restored and name not in self._read:
            raise RuntimeError(
                f"session.state[{name!r}] was restored from a checkpoint and never read, so assigning it would undo "
                f"the restore: begin with what it holds, as in {name} = session.state[{name!r}]"
            )
        known = self._variables.outlines.get(name)
        if value is not self._variables[name] and not fits(known, value):
            problems = refusals(known, value, name, "the loop")
            if problems:
                raise ValueError(
                    f"session.state[{name!r}] cannot be a value that no checkpoint could be restored with:\n  "
                    + "\n  ".join(problems)
                    + "\ngive state= a value of the type and shape that it will have, or None if these change"
                )
        self._variables[name] = value
        self._assigned.add(name)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"session.state[{name!r}] cannot be deleted: a checkpoint holds all entries of state=")

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"<state of {', '.join(map(repr, self._variables)) or 'no entries'}>"

    def work_on(self, variables: SessionState) -> None:
        """Read and assign these from now on: they hold the same values."""
        self._variables = variables

    def restored(self, names: Collection[str]) -> None:
        """Note what was restored from a checkpoint."""
        self._restored = names

    def saved(self) -> None:
        """Note that a save takes the entries; at the second one, warn of those that cannot have changed since."""
        self._saves += 1
        if self._saves != 2:
            return
        fixed = [n for n, v in self._variables.items() if n not in self._assigned and _immutable(v)]
        if fixed:
            _log.warning(
                "%s cannot change in place and was never assigned, so each checkpoint holds the value of the start: "
                "assign what is new, as in session.state[%r] = ..., or leave out what does not change",
                " and ".join(f"state entry {name!r}" for name in fixed),
                fixed[0],
            )

    def _unknown(self, name: str) -> UnknownNameError:
        return UnknownNameError(
            f"the session has no state entry {name!r}{nearest(name, self._variables)}; entries are given when it is "
            "opened, state={...}"
        )


def _immutable(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    handler = handler_of(value)
    if isinstance(handler, ValueHandler):
        return handler.immutable(value)
    if isinstance(handler, TreeHandler):
        return handler.immutable(value) and all(map(_immutable, handler.parts(value).values()))
    return isinstance(value, CONSTANT) or (isinstance(value, tuple) and all(map(_immutable, value)))
