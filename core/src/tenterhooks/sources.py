"""Input: where a session stands in the items of a source, and how a resumed one gets there again."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from tenterhooks.adapted import decoded
from tenterhooks.errors import CheckpointError, OutOfRangeError, note
from tenterhooks.generators import all_states, global_generators, same, set_all
from tenterhooks.nodes import Source
from tenterhooks.positions import Wound, is_exact
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
        "_failure",
        "_failures",
        "_iterator",
        "_last",
        "_late",
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
        # What the source raised at last, as a text: the error itself would keep the frames of its traceback.
        self._failure: str | None = None
        self._failures = 0
        self._begun_with: dict[str, Any] = {}
        self._last: Any = _NOTHING
        self._next: Any = _NOTHING
        # The position and the generators before an item that was looked at and not yet drawn.
        self._position: Any = _NOTHING
        self._looked_with: dict[str, Any] = {}
        # Whether some global generators are to be looked at with the next item.
        self._late = False

    def begin(self) -> dict[str, Any] | None:
        """Begin the source now, and give where it stands if it can restore that itself; it does not move on with it."""
        self._begin()
        return None if self._origin is None else copy.deepcopy(self.state_dict())

    def draw(self) -> Any:
        """The next item.

        Raises:
            OutOfRangeError: There is none.
            RuntimeError: There is none since the source failed before.
        """
        if self._late:
            self._look_at_late_ones()
        if self._next is not _NOTHING:
            item, self._next, self._position = self._next, _NOTHING, _NOTHING
        elif self._iterator is None:
            item = self._advance()
        else:
            try:
                item = next(self._iterator)
            except BaseException as error:
                self._failed(error)
                raise
            self._failure = None
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
            if self._late:
                self._look_at_late_ones()
            position = None if self._origin is None else copy.deepcopy(self._origin.state_dict())
            looked_with = all_states(self.variables)
            self._next = self._advance()
            self._position, self._looked_with = position, looked_with
        return self._next

    def state_dict(self) -> dict[str, Any]:
        """Where the session stands: for `load_state_dict` of a reader of the same source."""
        now = all_states({})
        moved = {
            name: left
            for name, left in now.items()
            if name in self._begun_with and not same(left, self._begun_with[name])
        }

        def told(states: Mapping[str, Any]) -> dict[str, Any]:
            # What nobody has drawn from since, the source has not drawn from either.
            return {name: state for name, state in states.items() if name not in now or name in moved}

        state: dict[str, Any] = {"drawn": self.drawn, "begun_with": told(self._begun_with)}
        if moved:
            # A checkpoint says it nowhere else; of the generators among the variables it does.
            state["left_with"] = moved
        if self._failures:
            state["failures"] = self._failures
        if self._origin is not None:
            position = self._origin.state_dict() if self._position is _NOTHING else self._position
            state["position"] = capture(position, f"sources/{self.source.name} (state_dict)")
        if self._next is not _NOTHING:
            state["looked_with"] = told(self._looked_with)
        return state

    def load_state_dict(self, state: Mapping[str, Any], left_with: Mapping[str, Any] | None = None) -> Wound | None:
        """Go to where the state was taken.

        The random generators among the variables, and the global ones, are changed: restore them afterwards.

        Args:
            state: What `state_dict` gave, and for which `positions.mismatches` says nothing.
            left_with: The states of the generators among the variables at the time of the checkpoint, by their places.

        Returns:
            None where the source restored its position itself, or had given no item; else how it was wound forward.

        Raises:
            CheckpointError: The source ended before.
        """
        self._reset()
        drawn: int = state["drawn"]
        looked = "looked_with" in state
        if not (drawn or looked or "position" in state):
            return None
        begun_with = state["begun_with"]
        set_all(self.variables, begun_with)
        self._begin(decoded(state["position"]) if "position" in state else _NOTHING)
        itself = self._origin is not None and "position" in state
        exact = True
        if itself:
            self.drawn = drawn
        else:
            left = begun_with | dict(left_with or {}) | state.get("left_with", {})
            exact = self._wind_forward(drawn, begun_with, left | state.get("looked_with", {}))
        # An error that the program passed over may come again or not, and so may the items after it.
        self._failures += state.get("failures", 0)
        exact = exact and not self._failures
        if looked:
            # An item that was looked at has moved the generators, and is the next one.
            set_all(self.variables, state["looked_with"])
            self._last = _NOTHING
            self.look()
        # The source has not drawn from them so far: as it finds them from now on is as if it were begun with them.
        for name in global_generators().keys() - begun_with.keys():
            self._begun_with.pop(name, None)
            self._late = True
        return Wound(drawn, exact) if drawn and not itself else None

    def _wind_forward(self, drawn: int, begun_with: Mapping[str, Any], left_with: Mapping[str, Any]) -> bool:
        """Draw so many items, and say whether the generators came to where they were left."""
        first: dict[str, Any] = {}
        while self.drawn < drawn:
            try:
                self.draw()
            except OutOfRangeError as error:
                raise CheckpointError(
                    f"source {self.source.name!r} has {self.drawn} items, but the checkpoint was saved after {drawn}: "
                    "resume with the same input, or give it state_dict and load_state_dict"
                ) from error
            except Exception as error:
                note(
                    error,
                    f"when source {self.source.name!r} was wound forward by {drawn} items, for a restore, after "
                    f"{self.drawn}: give it state_dict and load_state_dict to go straight there",
                )
                raise
            if self.drawn == 1:
                first = all_states(self.variables)
        return is_exact(self._begun_with, first, all_states(self.variables), begun_with, left_with)

    def _look_at_late_ones(self) -> None:
        self._begun_with = all_states({}) | self._begun_with
        self._late = False

    def _begin(self, position: Any = _NOTHING) -> None:
        if self._iterator is not None:
            return
        begun_with = all_states(self.variables)
        try:
            iterable = self.source.factory(*[self.variables[name] for name in self.source.inputs])
            origin: Stateful | None = None
            if isinstance(iterable, Stateful):
                # The iterable's own position comes before its iteration, an iterator's after.
                origin = iterable
                if position is not _NOTHING:
                    iterable.load_state_dict(position)
            iterator = iter(iterable)
            if origin is None and isinstance(iterator, Stateful):
                origin = iterator
                if position is not _NOTHING:
                    iterator.load_state_dict(position)
        except StopIteration as error:
            # It would pass for the end of the input.
            raise RuntimeError(f"{self.source!r} raised StopIteration when it was begun") from error
        except BaseException as error:
            note(error, f"when {self.source!r} was begun")
            raise
        self._begun_with, self._origin, self._iterator = begun_with, origin, iterator

    def _advance(self) -> Any:
        self._begin()
        assert self._iterator is not None
        try:
            item = next(self._iterator)
        except BaseException as error:
            self._failed(error)
            raise
        self._failure = None
        return item

    def _failed(self, error: BaseException) -> None:
        """Note that there was no item, and say why.

        Raises:
            OutOfRangeError: It was the end.
            RuntimeError: It was an end that an earlier failure had made.
        """
        if not isinstance(error, StopIteration):
            if not isinstance(error, OutOfRangeError):
                self._failure = f"{type(error).__name__}: {error}"
                self._failures += 1
            note(error, f"in {self.source!r}, after {self.drawn} items")
        elif self._failure is not None:
            raise RuntimeError(
                f"source {self.source.name!r} failed earlier: {self._failure}; it has given nothing since, as a "
                "generator function ends with its first error. This is not the end of the input: open a new "
                "session, or make it an iterator that can go on after an error"
            ) from None
        else:
            raise OutOfRangeError(f"source {self.source.name!r} has no more items after {self.drawn}") from None
