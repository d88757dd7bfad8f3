"""The passes of a loop of the program's own, as runs of the lifecycle: how they begin, end and are given up."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenterhooks.creators import SessionCreator
from tenterhooks.errors import OutOfRangeError
from tenterhooks.graph import Graph
from tenterhooks.hooks import SessionRunArgs
from tenterhooks.lifecycle import HookedSession
from tenterhooks.passes import Pass, Wanted

if TYPE_CHECKING:
    from tenterhooks.loop_position import LoopPosition
    from tenterhooks.session import Session
    from tenterhooks.sources import SourceReader

__all__ = ["PassSession"]


class PassSession(HookedSession):
    """What `Steps`, `Step` and `epochs` go by: a session that has passes."""

    def __init__(
        self,
        creator: SessionCreator | None,
        hooks: Iterable[object],
        graph: Graph | None,
        stop_grace_period_secs: float,
        summary_dir: str | Path | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._pass: Pass | None = None
        # Whether that pass was left by `break` or `return`.
        self._left = False
        self._wanted: Wanted | None = None
        # What was published between passes.
        self._kept: dict[str, Any] = {}
        # The error by which a hook said that the input ran out.
        self._ran_out: BaseException | None = None
        super().__init__(creator, hooks, graph, stop_grace_period_secs, summary_dir, state)

    @property
    def loop(self) -> "LoopPosition":
        """Where the loop stands."""
        return self._open_session().loop

    def goes_on(self, last: Pass | None = None) -> bool:
        """End the pass before, and say whether there can be another one."""
        if last is not None and last is self._pass and not self._left:
            self.complete_pass(last)
        elif self._pass is not None:
            self._go_past("the next pass")
        return not self.should_stop()

    def open_items(self, iterable: Iterable[Any] | None, loop: int) -> "SourceReader | None":
        """Begin the items of one call of `steps`, or go on where they were; `restored` says how that was done."""
        raw = self._open_session()
        reader = raw.loop.open(iterable, loop)
        wound, raw.loop.wound = raw.loop.wound, None
        if wound is not None and raw.restored is not None:
            raw.restored = dataclasses.replace(
                raw.restored,
                wound_forward={**raw.restored.wound_forward, "steps": wound.items},
                not_exact=raw.restored.not_exact if wound.exact else (*raw.restored.not_exact, "steps"),
            )
        return reader

    def begin_pass(self) -> Pass:
        """Ask all hooks what they want of a pass."""
        self._go_past("a pass")
        context, run = self._new_run(SessionRunArgs())
        raw = context.session
        raw.loop.arrive()
        if self._wanted is None:
            self._wanted = Wanted(raw.graph)
        begun = self._pass = Pass(context, run, self._wanted, raw.state.updating)
        try:
            self._begin_run(context, run)
        except BaseException as error:
            self.drop_pass(begun)
            self._note_end_of_input(error)
            raise
        raw.state.updating = "the body of a pass"
        return begun

    def complete_pass(self, begun: Pass) -> None:
        """A pass is over: compute what hooks asked for, count it, and tell them."""
        self._pass, self._left = None, False
        raw = begun.context.session
        try:
            if begun.run.feeds:
                begun.check_feeds()
            values = begun.values(self._kept)
            step = raw.state.global_step
            begun.run.make_of(values)
            # A training op that a hook asked for may have counted it.
            raw.state.global_step = step + 1
            raw.state.updating = None
            raw.published = values
            self._complete_run(begun.context, begun.run, None)
        except BaseException as error:
            self._stops.forget_run()
            self._note_end_of_input(error)
            raise

    def drop_pass(self, begun: Pass) -> None:
        """A pass is none: it is as if it had not begun."""
        self._pass, self._left = None, False
        self._stops.forget_run()
        begun.context.session.state.updating = begun.torn

    def fail_pass(self) -> None:
        """An error left the body: the pass is forgotten, and what it has updated is torn."""
        self._pass, self._left = None, False
        self._stops.forget_run()

    def leave_pass(self, begun: Pass, *, failed: bool) -> None:
        """The loop was left. What is to be done next is done when the session is used again."""
        if begun is self._pass:
            if failed:
                self.fail_pass()
            else:
                self._left = True

    def _go_past(self, what: str) -> None:
        """Go on after the pass before, if it was left; the session's loop is one of the program's own."""
        loop = self.loop
        if not self._own:
            if self._completed_runs:
                raise RuntimeError(
                    f"{what} in a session that was run: session.run and loops of the program's own do not mix, open "
                    "another session"
                )
            self._own = loop.used = True
        if self._left:
            self._end_left_pass(over=True)
        elif self._pass is not None:
            raise RuntimeError(
                f"{what} within a pass: let its loop go on, or leave it (break, or close() of what steps() gave), first"
            )

    def _end_left_pass(self, *, over: bool = False) -> None:
        """Count the pass that was left if it is a run.

        Args:
            over: Whether the program has gone on to something else, so that it would not return to these items.
        """
        left = self._pass
        if left is None:
            return
        if left.is_run:
            if over:
                self.loop.over()
            self.complete_pass(left)
        else:
            self.loop.give_back(left.drawn)
            self.drop_pass(left)

    def _close(self, exception: BaseException | None) -> None:
        if self._raw is not None:
            # A restored session that came to no pass ends with the random generators of the checkpoint.
            self._raw.loop.arrive()
        super()._close(exception)

    def _raw_of_now(self) -> "Session":
        if self._left:
            self._end_left_pass()
        return self._open_session()

    def _note_end_of_input(self, error: BaseException) -> None:
        """Note that a hook said that the input ran out, which ends the session cleanly.

        Raises:
            OutOfRangeError: It said so by a `StopIteration`, which would end just the loop.
        """
        if not isinstance(error, OutOfRangeError | StopIteration):
            return
        if isinstance(error, OutOfRangeError):
            self._ran_out = error
            return
        self._ran_out = OutOfRangeError(f"a hook raised StopIteration: {error}")
        raise self._ran_out from error
