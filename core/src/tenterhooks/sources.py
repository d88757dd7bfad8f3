"""Input: where a session stands in the items of a source, and how a resumed one gets there again."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tenterhooks.errors import CheckpointError, OutOfRangeError
from tenterhooks.nodes import Source
from tenterhooks.state import Stateful, capture

__all__ = ["SourceReader"]

_NOTHING: Any = object()


class SourceReader:
    """One session's place in one source.

    The source is begun when its first item is needed.

    Args:
        source: The source.
        variables: The session's variables.
    """

    __slots__ = (
        "_begun_with",
        "_iterator",
        "_last",
        "_looked_with",
        "_next",
        "_origin",
        "_position",
        "drawn",
        "source",
        "variables",
    )

    def __init__(self, source: Source, variables: Mapping[str, Any]) -> None:
        self.source = source
        self.variables = variables
        self._reset()

    def _reset(self) -> None:
        self.drawn = 0
        self._iterator: Iterator[Any] | None = None
        self._origin: Stateful | None = None
        self._begun_with: dict[str, Any] = {}
        self._last: Any = _NOTHING
        self._next: Any = _NOTHING
        # The position and the generators before an item that was looked at and not yet drawn.
        self._position: Any = _NOTHING
        self._looked_with: dict[str, Any] = {}

    def draw(self) -> Any:
        """The next item.

        Raises:
            OutOfRangeError: There is none.
        """
        if self._next is not _NOTHING:
            item, self._next, self._position = self._next, _NOTHING, _NOTHING
        else:
            item = self._advance()
        self.drawn += 1
        self._last = item
        return item

    def look(self) -> Any:
        """The last item again; before the first one is drawn, that one. Draws nothing.

        Raises:
            OutOfRangeError: The source has no item at all.
        """
        if self._last is not _NOTHING:
            return self._last
        if self._next is _NOTHING:
            self._begin()
            position = None if self._origin is None else copy.deepcopy(self._origin.state_dict())
            looked_with = self._generators()
            self._next = self._advance()
            self._position, self._looked_with = position, looked_with
        return self._next

    def state_dict(self) -> dict[str, Any]:
        """Where the session stands: for `load_state_dict` of a reader of the same source."""
        state: dict[str, Any] = {"drawn": self.drawn, "begun_with": self._begun_with}
        if self._origin is not None:
            position = self._origin.state_dict() if self._position is _NOTHING else self._position
            state["position"] = capture(position, f"sources/{self.source.name} (state_dict)")
        if self._next is not _NOTHING:
            state["looked_with"] = self._looked_with
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> int | None:
        """Go to where the state was taken.

        The random generators among the variables are changed: restore them afterwards.

        Returns:
            None where the source restored its position itself; else the number of items by which it was wound forward.

        Raises:
            CheckpointError: The source ended before.
        """
        self._reset()
        drawn: int = state["drawn"]
        looked = "looked_with" in state
        if not (drawn or looked or "position" in state):
            return None
        self._set_generators(state["begun_with"])
        self._begin(state.get("position", _NOTHING))
        itself = self._origin is not None and "position" in state
        if itself:
            self.drawn = drawn
        else:
            self._wind_forward(drawn)
        if looked:
            # An item that was looked at has moved the generators, and is the next one.
            self._set_generators(state["looked_with"])
            self.look()
        return None if itself else drawn or None

    def _wind_forward(self, drawn: int) -> None:
        while self.drawn < drawn:
            try:
                self.draw()
            except OutOfRangeError as error:
                raise CheckpointError(
                    f"source {self.source.name!r} has {self.drawn} items, but the checkpoint was saved after {drawn}: "
                    "resume with the same input, or give it state_dict and load_state_dict"
                ) from error

    def _generators(self) -> dict[str, Any]:
        """The states of all random generators among the variables."""
        return {path: dict(generator.bit_generator.state) for path, generator in _generators_in(self.variables, "")}

    def _set_generators(self, states: Mapping[str, Any]) -> None:
        for path, generator in _generators_in(self.variables, ""):
            if path in states:
                generator.bit_generator.state = states[path]

    def _begin(self, position: Any = _NOTHING) -> None:
        if self._iterator is not None:
            return
        self._begun_with = self._generators()
        iterable = self.source.factory(*[self.variables[name] for name in self.source.inputs])
        if isinstance(iterable, Stateful):
            # The iterable's own position comes before its iteration, an iterator's after.
            self._origin = iterable
            if position is not _NOTHING:
                iterable.load_state_dict(position)
        iterator = iter(iterable)
        if self._origin is None and isinstance(iterator, Stateful):
            self._origin = iterator
            if position is not _NOTHING:
                iterator.load_state_dict(position)
        self._iterator = iterator

    def _advance(self) -> Any:
        self._begin()
        assert self._iterator is not None
        try:
            return next(self._iterator)
        except StopIteration:
            raise OutOfRangeError(f"source {self.source.name!r} has no more items after {self.drawn}") from None


def _generators_in(value: Any, path: str) -> Iterator[tuple[str, np.random.Generator]]:
    """All generators in a structure, each with its place."""
    if isinstance(value, np.random.Generator):
        yield path, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _generators_in(entry, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from _generators_in(entry, f"{path}/{index}")
