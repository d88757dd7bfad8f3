"""Loops of the program's own: they publish values, and each of their passes is a run with all hooks."""

from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar, overload

from tenterhooks.errors import OutOfRangeError, note
from tenterhooks.pass_session import PassSession
from tenterhooks.passes import PassFeeds
from tenterhooks.steps import Step, Steps, epochs

__all__ = ["OwnLoops"]

_T = TypeVar("_T")


class OwnLoops(PassSession):
    """A monitored session in which the program computes itself: `steps`, `epochs`, `step`, `publish`."""

    # Those that were published and are right.
    _names: frozenset[str] = frozenset()

    @overload
    def steps(self, iterable: None = None, group: None = None) -> Steps[int]: ...

    @overload
    def steps(self, iterable: Iterable[_T], group: None = None) -> Steps[_T]: ...

    @overload
    def steps(self, iterable: Iterable[_T], group: int) -> Steps[list[_T]]: ...

    def steps(self, iterable: Iterable[Any] | None = None, group: int | None = None) -> Steps[Any]:
        """Make passes: for each item of an iterable one, until it is over or a stop was requested.

        A pass that `break` or `return` leaves counts if it published something; else it does not, nor does its item.

        Args:
            iterable: Gives the items, from the restored position on. Without it there are passes until a stop, and
                each gives the global step before it.
            group: A pass has a list of up to so many items, and is one step: micro-batches.

        Raises:
            RuntimeError: The session is closed, another pass is under way, or the session's loop is one of `run`.
        """
        if group is not None and (iterable is None or group < 1):
            raise ValueError(f"group is the number of items of a pass, 1 or more, and needs an iterable; not {group}")
        self._go_past("steps()")
        return Steps(self, iterable, group, self.loop.next_loop())

    def epochs(self, n: int) -> Iterator[int]:
        """Go through the epochs that are left of n, counted from 0, until a stop was requested.

        An epoch counts when it is over: one that a stop or `break` cuts short goes on when the session is restored.

        Raises:
            RuntimeError: The session is closed, a pass is under way, or the session's loop is one of `run`.
        """
        self._go_past("epochs()")
        return epochs(self, n)

    def step(self) -> Step:
        """One pass as a `with` block, for loops of another shape: ask `should_stop()` before each."""
        self._go_past("step()")
        return Step(self)

    def publish(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Give values to the hooks that ask for them: of this pass, or between passes until they are replaced.

        Args:
            values: Values by name. One that can be called is called at once if somebody asked for it in this pass, and
                else never.
            named: More of them.

        Raises:
            RuntimeError: A hook feeds it; or it is to be called, and no pass is under way.
            UnknownNameError: The session was opened with a graph, which has no such node.
            ValueError: The session has something else of that name.
        """
        now = None if self._left else self._pass
        if now is None:
            self._go_past("publish()")
        for name, value in (named if values is None else {**values, **named}).items():
            if now is None:
                self._open_session().publish({name: value})
                continue
            if name not in self._names:
                self._open_session().check_published(name)
                self._names = self._names | {name}
            now.publish(name, value)

    def wants(self, name: str) -> bool:
        """Whether a hook asked for a value in this pass.

        Raises:
            RuntimeError: No pass is under way.
        """
        if self._pass is None or self._left:
            raise RuntimeError(f"wants({name!r}) is asked within a pass: hooks ask for values in each pass anew")
        return self._pass.wants(name)

    @property
    def feeds(self) -> Mapping[str, Any]:
        """What hooks feed this pass, by name; nothing between passes."""
        return PassFeeds({}) if self._pass is None or self._left else self._pass.feeds

    @property
    def state(self) -> Any:
        """The variables by name; in a session without a graph new values can be assigned."""
        raw = self._raw_of_now()
        return raw.state if raw.own_state is None else raw.own_state

    @property
    def global_step(self) -> int:
        """The number of training runs, or of passes, so far."""
        return self._raw_of_now().global_step

    def should_stop(self) -> bool:
        """Whether the loop shall end: a hook or the program asked for it, a thread failed, or the session is closed."""
        if self._left:
            self._end_left_pass()
        return super().should_stop()

    def close(self) -> None:
        """End the session; see `HookedSession.close`."""
        if not self._closed and self._left:
            try:
                self._end_left_pass()
            except BaseException as error:
                if error is not self._ran_out:
                    self._close(error)
                    raise
        super().close()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._closed or not self._own:
            return super().__exit__(exc_type, exc, traceback)
        if exc is None or self._left:
            # An iterator that is still held was left by `break` or `return`, as one that was dropped.
            try:
                self._end_left_pass()
            except BaseException as error:
                if exc is None and error is not self._ran_out:
                    self._close(error)
                    raise
                if exc is not None:
                    note(exc, f"in the pass before: {type(error).__name__}: {error}")
        elif self._pass is not None:
            self.fail_pass()
        if isinstance(exc, OutOfRangeError | StopIteration) and exc is not self._ran_out:
            fault = RuntimeError(
                f"{type(exc).__name__} was raised in the loop ({exc}), where it would pass for the end of the input: "
                "only the end of what steps() goes through ends a session; catch it where it comes from"
            )
            fault.__cause__ = exc
            self._close(fault)
            raise fault
        return super().__exit__(exc_type, exc, traceback)
