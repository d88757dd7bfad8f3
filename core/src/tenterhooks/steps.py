"""What a loop of the program's own goes through: passes, each of which is a run."""

import contextlib
import sys
import weakref
from collections.abc import Generator, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from tenterhooks.leaving import Left
from tenterhooks.passes import Pass

if TYPE_CHECKING:
    from tenterhooks.pass_session import PassSession

__all__ = ["Step", "Steps", "epochs"]

_T = TypeVar("_T")


class Steps(Iterator[_T]):
    """Passes, one for each item of an iterable.

    Args:
        session: The session.
        iterable: Gives the items; None: as many passes as there are until a stop.
        group: How many items a pass has, as a list; None: one, as it is.
        loop: Which of the epoch's it is, from 0.
    """

    __slots__ = ("_group", "_iterable", "_passes", "_session")

    def __init__(self, session: "PassSession", iterable: Iterable[Any] | None, group: int | None, loop: int) -> None:
        self._session = session
        self._iterable = iterable
        self._group = group
        begun = Pass()
        self._passes: Generator[_T, None, None] = session.passes(begun, iterable, group, loop)
        begun.iterator = weakref.ref(self._passes)

    def __len__(self) -> int:
        """The number of passes through the whole iterable.

        Raises:
            TypeError: It has no length.
        """
        if self._iterable is None:
            raise TypeError("steps() without an iterable go on until a stop and have no len()")
        items: int = len(self._iterable)  # type: ignore[arg-type]
        return items if self._group is None else -(-items // self._group)

    def __iter__(self) -> Iterator[_T]:  # noqa: PYI034 - a generator goes on by itself.
        """What a `for` goes through: it costs less than to be asked for each pass."""
        return self._passes

    def __next__(self) -> _T:
        """End the pass before, and begin the next one.

        Raises:
            StopIteration: The iterable is over, or the session was asked to stop.
        """
        return next(self._passes)

    def close(self) -> None:
        """Leave the loop, as `break` does; while an exception is handled, as that does."""
        with contextlib.suppress(Left):
            self._passes.throw(Left(sys.exc_info()[1] is not None))


class Step:
    """One pass, as a `with` block."""

    __slots__ = ("_passes", "_session")

    def __init__(self, session: "PassSession") -> None:
        self._session = session
        self._passes = session.passes(Pass(), None, None, None)

    def __enter__(self) -> None:
        next(self._passes)

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if exc is not None:
            self._session.fail_pass()
        next(self._passes, None)


def epochs(session: "PassSession", n: int) -> Iterator[int]:
    """The epochs that are left of n; one counts when the program asks for the next and no stop was requested."""
    while session.goes_on() and session.loop.epoch < n:
        session.loop.begin_epoch()
        yield session.loop.epoch
        if session.goes_on():
            session.loop.end_epoch()
    session.loop.go_past(n)
