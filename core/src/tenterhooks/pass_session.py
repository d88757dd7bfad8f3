"""The passes of a loop of the program's own, as runs of the lifecycle: how they begin, end and are given up."""

import contextlib
import dataclasses
import logging
from collections.abc import Generator, Iterable, Mapping
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tenterhooks.errors import OutOfRangeError
from tenterhooks.hooked_session import HookedSession
from tenterhooks.leaving import Left, left_by_exception
from tenterhooks.passes import Pass
from tenterhooks.sources import SourceReader

if TYPE_CHECKING:
    from tenterhooks.loop_position import LoopPosition
    from tenterhooks.session import Session

__all__ = ["PassSession"]

_log = logging.getLogger(__name__)

_NO_FEEDS: Mapping[str, Any] = {}
_BODY = "the body of a pass"


class PassSession(HookedSession):
    """What `Steps`, `Step` and `epochs` go by: a session that has passes."""

    _pass: Pass | None = None
    # Whether that pass was left by `break` or `return`.
    _left = False
    # The error by which a hook said that the input ran out.
    _ran_out: BaseException | None = None

    @property
    def loop(self) -> "LoopPosition":
        """Where the loop stands."""
        return self._open_session().loop

    def goes_on(self) -> bool:
        """End the pass that was left, and say whether there can be another one."""
        if self._pass is not None:
            self._go_past("the next pass")
        return not self.should_stop()

    def _open_items(self, iterable: Iterable[Any] | None, loop: int) -> "SourceReader | None":
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

    def passes(
        self, begun: Pass, iterable: Iterable[Any] | None, group: int | None, loop: int | None
    ) -> Generator[Any, None, None]:
        """The passes of one call of `steps`: each is completed when the next item is wanted.

        Args:
            begun: Is each of the passes in turn.
            iterable: Gives the items; None: the global step is what a pass has.
            group: How many items a pass has, as a list; None: one, as it is.
            loop: Which of the epoch's calls it is, from 0; None: none of them, and there is just one pass.
        """
        if not self._ready(loop):
            return
        raw, context, stops, registry = self._open_session(), self._context, self._stops, self._registry
        assert context is not None
        turns, state = registry.turns, raw.state
        reader: SourceReader | None = None
        if loop is None:
            raw.loop.arrive()
        elif raw.loop.is_over(loop):
            _log.info("steps that were over when the checkpoint was saved give no items again")
            return
        else:
            reader = self._open_items(iterable, loop)
        while True:
            # A pass that is open is a run under way.
            if (stops.in_run or stops.held or self._coord.stopping or self._closed) and not self._ready(loop):
                return
            begun.run, begun.torn, begun.published = None, state.updating, {}
            if begun.called or begun.passed_over:
                begun.called, begun.passed_over = (), False
            # An interrupt at any line of this must not leave a pass that is under way for ever.
            try:
                self._pass = begun
                stops.in_run, stops.thread = True, get_ident()
                step = state.global_step
                begun.turn = turn = turns.quiet if step < turns.until else turns.next(step, context.completed_runs)
                if turn.concerns:
                    try:
                        begun.run = registry.before_run(turn, context, None)
                    except BaseException as error:
                        self._note_end_of_input(error)
                        raise
                state.updating = _BODY
                if reader is None:
                    yield state.global_step
                else:
                    begun.drawn = reader.drawn
                    yield reader.draw() if group is None else _draw_group(reader, group)
            except GeneratorExit:
                self.leave_pass(begun, failed=left_by_exception())
                raise
            except Left as left:
                self.leave_pass(begun, failed=left.failed)
                raise
            except OutOfRangeError as error:
                self.drop_pass(begun)
                if error is self._ran_out:
                    raise
                return
            except BaseException:
                self.drop_pass(begun)
                raise
            # Somebody who holds the iterator may go on with it after other passes.
            if begun is self._pass and not self._left:
                self.complete_pass(begun)
            if loop is None:
                return

    def _ready(self, loop: int | None) -> bool:
        """Say whether there can be another pass; one that is no call of `steps` has to be asked for in time."""
        if not self.goes_on() and loop is not None:
            return False
        if self._closed or self._stops.in_run or self._stops.refuses or self._coord.exception is not None:
            raise self._why_not()
        return True

    def complete_pass(self, begun: Pass) -> None:
        """A pass is over: compute what hooks asked for, count it, and tell them."""
        context, stops, run = self._context, self._stops, begun.run
        if context is None:
            raise self._why_not()
        raw = context.session
        state = raw.state
        values: Mapping[str, Any] = begun.published
        plain = begun.plain if begun.called else values
        try:
            self._pass = None
            if raw.kept:
                raw.kept = {name: value for name, value in raw.kept.items() if name not in values}
                values = {**raw.kept, **values}
            step = state.global_step
            if run is not None:
                begun.check_feeds()
                run.make_of(values, plain)
            # A training op that a hook asked for may have counted it.
            state.global_step = step + 1
            state.updating = None
            raw.published, raw.plain, raw.fed = values, plain, _NO_FEEDS if run is None else run.feeds
            if begun.turn.concerns:
                self._registry.after_run(begun.turn, context, run, None)
            if stops.pending or stops.held:
                stops.adopt()
            stops.in_run = False
        except BaseException as error:
            stops.forget_run()
            self._note_end_of_input(error)
            raise
        context.completed_runs += 1
        raw.checkpoint_requested = False

    def drop_pass(self, begun: Pass) -> None:
        """A pass is none: it is as if it had not begun."""
        self._pass, self._left = None, False
        self._stops.forget_run()
        assert self._raw is not None
        self._raw.state.updating = begun.torn

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
            if self._context is not None and self._context.completed_runs:
                raise RuntimeError(
                    f"{what} in a session that was run: session.run and loops of the program's own do not mix, open "
                    "another session"
                )
            self._own = loop.used = True
        if self._left:
            self._end_left_pass(over=True)
        elif self._pass is not None:
            self._pass_on_interrupt(self._pass)
            raise RuntimeError(
                f"{what} within a pass: let its loop go on, or leave it (break, or close() of what steps() gave), first"
            )

    def _pass_on_interrupt(self, begun: Pass) -> None:
        """Raise the interrupt that came while a loop was being left: Python drops what is raised there."""
        if begun.is_abandoned:
            self.fail_pass()
            raise KeyboardInterrupt("an interrupt came while a loop was being left, when Python lets none out")

    def _end_left_pass(self, *, over: bool = False) -> None:
        """Count the pass that was left if it is a run.

        Args:
            over: Whether the program has gone on to something else, so that it would not return to these items.
        """
        left = self._pass
        if left is None:
            return
        if not self._left:
            self._pass_on_interrupt(left)
        if left.is_run:
            if over:
                self.loop.over()
            try:
                self.complete_pass(left)
            finally:
                # It is still to be completed where an interrupt came before that.
                self._left = self._pass is left
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


def _draw_group(reader: SourceReader, size: int) -> list[Any]:
    """The next items, so many or what is left."""
    items = [reader.draw()]
    with contextlib.suppress(OutOfRangeError):
        while len(items) < size:
            items.append(reader.draw())
    return items
