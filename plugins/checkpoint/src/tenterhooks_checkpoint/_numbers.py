"""The random numbers of the process: those of the modules `random` and `numpy.random`."""

from collections.abc import Mapping
from typing import Any

from tenterhooks import CheckpointError
from tenterhooks.generators import GLOBAL, get_state, misfit, same, set_state

__all__ = ["ProcessNumbers"]


class ProcessNumbers:
    """The process's generators, as they are now and go on to be."""

    def __init__(self) -> None:
        self._first = {name: get_state(generator) for name, generator in GLOBAL.items()}

    def state_dict(self) -> dict[str, Any]:
        """The states of those that have moved since: what a program seeds, or never uses, it has anyway."""
        now = {name: get_state(generator) for name, generator in GLOBAL.items()}
        return {name: state for name, state in now.items() if not same(state, self._first[name])}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Set those of which there is a state, and the others to what they were at first.

        Raises:
            CheckpointError: A state is none of such a generator; none is set.
        """
        states = {name: state.get(name, self._first[name]) for name in GLOBAL}
        for name, generator in GLOBAL.items():
            wrong = misfit(generator, states[name])
            if wrong is not None:
                raise CheckpointError(f"the checkpoint holds {wrong} for the generator {name}: restore another one")
        for name, generator in GLOBAL.items():
            set_state(generator, states[name])
