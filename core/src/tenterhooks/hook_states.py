"""The states of a session's hooks, as checkpoints hold them."""

import copy
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tenterhooks.adapted import decoded
from tenterhooks.errors import note
from tenterhooks.state import Stateful, capture

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter
    from tenterhooks.session import Session

__all__ = ["HookStates"]

_log = logging.getLogger(__name__)


class HookStates:
    """The states of all hooks that have one, by name.

    Args:
        adapters: The hooks.
    """

    def __init__(self, adapters: "Sequence[Adapter]") -> None:
        self._adapters = adapters
        self._first: dict[str, Any] = {}

    def state_dict(self) -> dict[str, Any]:
        """The states of all hooks that have one, by name."""
        states = {}
        for adapter in self._adapters:
            if isinstance(adapter.hook, Stateful):
                try:
                    states[adapter.name] = capture(adapter.hook.state_dict(), f"hooks/{adapter.name}")
                except BaseException as error:
                    note(error, f"in state_dict of hook {adapter.title}")
                    raise
        return states

    def keep_first(self) -> None:
        """Remember the hooks' states as they are, for a session that is created anew without a checkpoint."""
        self._first = copy.deepcopy(self.state_dict())

    def restore(self, session: "Session", *, again: bool) -> None:
        """Give the hooks what the session was restored with, and say what was not restored.

        Args:
            session: The raw session.
            again: Whether it takes the place of another one.
        """
        restored = session.restored
        missing, unused = self._load(session.hook_states, again=again)
        if restored is None:
            return
        restored = session.restored = dataclasses.replace(
            restored,
            not_restored=(*restored.not_restored, *(f"hooks/{name}" for name in missing)),
            not_used=(*restored.not_used, *(f"hooks/{name}" for name in unused)),
        )
        wound = restored.wound_forward
        lost = [
            *(f"{entry} is not in the checkpoint and begins anew" for entry in restored.not_restored),
            *(
                f"{entry}{_meaning(entry, session.hook_states)} is in the checkpoint and nothing here takes it"
                for entry in restored.not_used
            ),
            *(
                f"{entry} may give other items than it would have, since others draw from a random generator that it "
                "draws from too, or it takes a variable that has changed, or it had failed: give it a generator of its "
                "own, or state_dict and load_state_dict"
                for entry in restored.not_exact
            ),
        ]
        told = [f"sources/{name} has no state_dict and was wound forward by {n} items" for name, n in wound.items()]
        _log.log(
            logging.WARNING if lost else logging.INFO,
            "restored from %s, at global step %d%s",
            restored.checkpoint,
            restored.global_step,
            "".join(f"; {note}" for note in (*lost, *told)),
        )

    def _load(self, states: Mapping[str, Any], *, again: bool) -> tuple[list[str], list[str]]:
        """Give each hook its state.

        Args:
            states: What was saved, by hook name.
            again: Whether the session is created anew, so that hooks without a saved state get their first one back.

        Returns:
            The names of hooks that have state and for which none was saved, and of states for which there is no hook;
            without those that hold nothing.
        """
        stateful = {a.name: (a.title, a.hook) for a in self._adapters if isinstance(a.hook, Stateful)}
        for name, (title, hook) in stateful.items():
            if name in states or again:
                try:
                    hook.load_state_dict(decoded(copy.deepcopy(states.get(name, self._first[name]))))
                except BaseException as error:
                    note(error, f"in load_state_dict of hook {title}")
                    raise
        return [name for name in stateful if name not in states], [
            name for name, state in states.items() if name not in stateful and state != {}
        ]


def _meaning(entry: str, hook_states: Mapping[str, Any]) -> str:
    """What a message adds to the name of a lost state, if it is that of generators of the process."""
    kind, _, name = entry.partition("/")
    state = hook_states.get(name) if kind == "hooks" else None
    if not (isinstance(state, Mapping) and state and all(str(key)[:1] == "<" for key in state)):
        return ""
    return f", the state of the global random numbers {' and '.join(map(str, state))},"
