"""Where a loop of the program's own stands: in which epoch, in which of its loops, and at which item."""

import copy
import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks import positions
from tenterhooks.errors import CheckpointError
from tenterhooks.generators import all_states, global_generators, same, set_all
from tenterhooks.nodes import Source
from tenterhooks.sources import SourceReader
from tenterhooks.variables import SessionState

if TYPE_CHECKING:
    from tenterhooks.graph import Graph

__all__ = ["LoopPosition"]

_log = logging.getLogger(__name__)

_NAME = "steps"


class LoopPosition:
    """Counts epochs, the `steps` of an epoch, and the items of the one under way.

    A restored session goes on in the epoch that was under way: its `steps` that were over give nothing, and the one
    that was under way goes on after its last item that was counted. What the program draws from random generators
    between the beginning of the epoch and that item, it draws again as it did; then they are set to the checkpoint's.

    Attributes:
        epoch: How many epochs are over.
        has_epochs: Whether the program has begun an epoch.
        used: Whether the session has a loop of the program's own.
        wound: How the items were wound forward after a restore, if they were.
    """

    def __init__(self, graph: "Graph", variables: SessionState) -> None:
        self._graph = graph
        self.variables = variables
        self.epoch = 0
        self.has_epochs = False
        self.used = False
        self.wound: positions.Wound | None = None
        # The epoch that the program has come to: in a restored session it goes past those that are over.
        self._at = 0
        # That of the `steps` under way, and how many the program has begun in this epoch.
        self._loop = 0
        self._begun = 0
        self._reader: SourceReader | None = None
        # Where an iterable with `state_dict` was begun; and how many items from there, where one more was drawn.
        self._first: dict[str, Any] | None = None
        self._then: int | None = None
        self._epoch_begun_with: dict[str, Any] = {}
        # What is restored and was not come to again.
        self._saved: Mapping[str, Any] | None = None
        self._left_with: dict[str, Any] = {}

    @property
    def place(self) -> tuple[int, ...]:
        """What tells where it stands from where it stood before."""
        return self.epoch, self._loop, 0 if self._reader is None else self._reader.drawn

    def begin_epoch(self) -> None:
        """An epoch begins."""
        self.used = self.has_epochs = True
        self.go_past(self.epoch)
        if self._saved is None:
            self._epoch_begun_with = all_states(self.variables)
            return
        self._epoch_begun_with = dict(self._saved["begun_with"])
        if not self._left_with:
            self._left_with = all_states(self.variables)
            set_all(self.variables, self._epoch_begun_with)

    def end_epoch(self) -> None:
        """The epoch is over."""
        self.arrive()
        self.epoch += 1
        self._saved = None
        self.go_past(self.epoch)
        self._begin_loop(0)

    def go_past(self, n: int) -> None:
        """The program has come past the first n epochs, as far as they are over."""
        at = min(n, self.epoch)
        if at > self._at:
            self._at, self._begun = at, 0

    def next_loop(self) -> int:
        """The program calls `steps`: the number of that call in the epoch, from 0."""
        self.used = True
        self._begun += 1
        return self._begun - 1

    def over(self) -> None:
        """The items under way are done with: the program goes on after them."""
        self._begin_loop(self._loop + 1)

    def _begin_loop(self, loop: int) -> None:
        self._loop, self._reader, self._first, self._then = loop, None, None, None

    def arrive(self) -> None:
        """A pass begins: the random generators are to be those of the checkpoint."""
        if self._left_with:
            set_all(self.variables, self._left_with)
            self._left_with = {}

    def open(self, iterable: Iterable[Any] | None, loop: int) -> SourceReader | None:
        """Begin the items of the program's next `steps` of this epoch, or go to where they were.

        Raises:
            CheckpointError: What the checkpoint says of them is none of this iterable's.
        """
        saved = self._saved
        self._begin_loop(loop)
        self._reader = reader = (
            None if iterable is None else SourceReader(Source(self._graph, _NAME, lambda: iterable, ()), self.variables)
        )
        if saved is None or (self._at, loop) > (saved["epoch"], saved["loop"]):
            self._saved = None
        elif reader is not None and saved["items"] is not None:
            self._go_on(reader, saved)
        self._saved = None
        self.arrive()
        if reader is not None:
            self._first = reader.begin()
        return reader

    def is_over(self, loop: int) -> bool:
        """Whether these `steps` of the epoch were over when the checkpoint was saved."""
        saved = self._saved
        return saved is not None and (self._at, loop) < (saved["epoch"], saved["loop"])

    def give_back(self, drawn: int) -> None:
        """Items were drawn that do not count; so many were before them."""
        if self._reader is not None:
            if self._first is not None:
                self._then = drawn - self._first["drawn"]
            self._reader.drawn = drawn

    def state_dict(self) -> dict[str, Any]:
        """Where the loop stands."""
        if self._saved is not None:
            return dict(self._saved)
        items: dict[str, Any] | None = None
        if self._reader is not None:
            items = dict(self._reader.state_dict() if self._then is None or self._first is None else self._first)
        now = all_states({})
        begun_with = {
            name: state
            for name, state in self._epoch_begun_with.items()
            if name not in now or not same(state, now[name])
        }
        return {"epoch": self.epoch, "loop": self._loop, "items": items, "then": self._then, "begun_with": begun_with}

    def load_state_dict(self, state: Any) -> None:
        """Go on from there.

        Raises:
            CheckpointError: It is no such state.
        """
        known: Mapping[str, Any] = state if isinstance(state, Mapping) else {}
        numbers = [known.get(name) for name in ("epoch", "loop")]
        whole = {"items", "then", "begun_with"} <= known.keys()
        if not whole or not all(type(number) is int and number >= 0 for number in numbers):
            raise CheckpointError("the checkpoint holds no position of a loop; use another checkpoint_dir")
        self.used = True
        self.epoch = state["epoch"]
        self._loop = state["loop"]
        self._saved = state

    def _go_on(self, reader: SourceReader, saved: Mapping[str, Any]) -> None:
        """Go to the item after the last one that was counted."""
        problems = list(positions.mismatches(_NAME, self.variables, saved["items"]))
        if problems:
            raise CheckpointError(
                "the checkpoint does not fit the items of these steps:\n  "
                + "\n  ".join(problems)
                + "\nuse the program that wrote it, or another checkpoint_dir"
            )
        now = self._left_with or all_states(self.variables)
        left_with = {name: state for name, state in now.items() if name not in global_generators()}
        self.wound = reader.load_state_dict(copy.deepcopy(saved["items"]), left_with)
        for _ in range(saved["then"] or 0):
            reader.draw()
        set_all(self.variables, now)
        if self.wound is not None:
            _log.log(
                logging.INFO if self.wound.exact else logging.WARNING,
                "the items of steps have no state_dict and were wound forward by %d%s",
                self.wound.items,
                ""
                if self.wound.exact
                else "; they may be others than they would have been, since others draw from a random generator that "
                "they draw from too: give them a generator of their own, or state_dict and load_state_dict",
            )
