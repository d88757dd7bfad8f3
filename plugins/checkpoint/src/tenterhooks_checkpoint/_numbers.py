"""The random numbers of the process: those of the modules `random` and `numpy.random`, and of frameworks in use."""

import logging
from collections.abc import Mapping
from typing import Any

from tenterhooks import CheckpointError
from tenterhooks.adapted import bring
from tenterhooks.generators import get_state, global_generators, misfit, same, seeded, set_state

__all__ = ["ProcessNumbers"]

_log = logging.getLogger(__name__)


class ProcessNumbers:
    """The process's generators, as they are now and go on to be."""

    def __init__(self) -> None:
        self._first = {name: get_state(generator) for name, generator in global_generators().items()}

    def state_dict(self) -> dict[str, Any]:
        """The states of those that have moved since: what a program seeds, or never uses, it has anyway."""
        moved = {}
        for name, generator in global_generators().items():
            # Of a framework that was imported since; any library may do that.
            first = self._first[name] if name in self._first else seeded(generator)
            state = get_state(generator)
            if not same(state, first):
                moved[name] = state
        return moved

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Set those of which there is a state, and the others to what they were at first.

        Raises:
            CheckpointError: A state is none of such a generator, or of a framework without an adapter; none is set.
        """
        generators = global_generators()
        for name in state.keys() - generators.keys():
            # The program has not imported the framework yet, and will.
            generators |= bring(str(name).strip("<>").partition(".")[0]).global_generators()
        states = {name: state.get(name, self._first.get(name)) for name in generators}
        for name, generator in generators.items():
            wrong = None if states[name] is None else misfit(generator, states[name])
            if wrong is not None:
                raise CheckpointError(f"the checkpoint holds {wrong} for the generator {name}: restore another one")
        lost = sorted(state.keys() - generators.keys())
        if lost:
            _log.warning(
                "the checkpoint has random numbers of %s, which are not here: those go on anew", ", ".join(lost)
            )
        for name, generator in generators.items():
            if states[name] is not None:
                set_state(generator, states[name])
