"""What a loop of the program's own goes through: passes, each of which is a run."""

import contextlib
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from tenterhooks.errors import OutOfRangeError
from tenterhooks.leaving import left_by_exception

if TYPE_CHECKING:
    from tenterhooks.pass_session import PassSession
    from tenterhooks.passes import Pass
    from tenterhooks.sources import SourceReader

__all__ = ["Step", "Steps", "epochs"]

_T = TypeVar("_T")


class Steps(Iterator[_T]):
    """Passes, one for each item of an iterable.

    Args:
        session: The session.
        iterable: Gives the items; None: as many passes as there are until a stop.
        group: How many items a pass has, as a list; None: one, as it is.
    """

    __slots__ = ("_group", "_iterable", "_loop", "_over", "_pass", "_reader", "_session")

    def __init__(self, session: "PassSession", iterable: Iterable[Any] | None, group: int | None, loop: int) -> None:
        # First, for `__del__`.
        self._pass: Pass | None = None
        self._session = session
        self._iterable = iterable
        self._group = group
        self._loop: int | None = loop
        self._reader: SourceReader | None = None
        self._over = False

    def __len__(self) -> int:
        """The number of passes through the whole iterable.

        Raises:
            TypeError: It has no length.
        """
        if self._iterable is None:
            raise TypeError("steps() without an iterable go on until a stop and have no len()")
        items: int = len(self._iterable)  # type: ignore[arg-type]
        return items if self._group is None else -(-items // self._group)

    def __next__(self) -> _T:
        """End the pass before, and begin the next one.

        Raises:
            StopIteration: The iterable is over, or the session was asked to stop.
        """
        last, self._pass = self._pass, None
        session = self._session
        if self._over or not session.goes_on(last):
            self._over = True
            raise StopIteration
        if self._loop is not None:
            loop, self._loop = self._loop, None
            if session.loop.is_over(loop):
                self._over = True
                raise StopIteration
            self._reader = session.open_items(self._iterable, loop)
        begun = session.begin_pass()
        # An interrupt at any line of this must not leave a pass that is under way for ever.
        try:
            item: _T = self._item(begun)
            self._pass = begun
            return item
        except OutOfRangeError:
            session.drop_pass(begun)
            self._over = True
        except BaseException:
            session.drop_pass(begun)
            raise
        raise StopIteration

    def _item(self, begun: "Pass") -> Any:
        """What the pass is about."""
        reader = self._reader
        if reader is None:
            return begun.context.session.global_step
        begun.drawn = reader.drawn
        if self._group is None:
            return reader.draw()
        items = [reader.draw()]
        with contextlib.suppress(OutOfRangeError):
            # The last group has what is left.
            while len(items) < self._group:
                items.append(reader.draw())
        return items

    def close(self) -> None:
        """Leave the loop, as `break` does."""
        self._over = True
        last, self._pass = self._pass, None
        if last is not None:
            self._session.leave_pass(last, failed=False)

    def __del__(self) -> None:
        if self._pass is not None:
            self._session.leave_pass(self._pass, failed=left_by_exception())


class Step:
    """One pass, as a `with` block."""

    __slots__ = ("_pass", "_session")

    def __init__(self, session: "PassSession") -> None:
        self._session = session
        self._pass: Pass | None = None

    def __enter__(self) -> None:
        self._pass = self._session.begin_pass()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        begun, self._pass = self._pass, None
        assert begun is not None
        if exc is not None:
            self._session.fail_pass()
        else:
            self._session.complete_pass(begun)


def epochs(session: "PassSession", n: int) -> Iterator[int]:
    """The epochs that are left of n; one counts when the program asks for the next and no stop was requested."""
    while session.goes_on() and session.loop.epoch < n:
        session.loop.begin_epoch()
        yield session.loop.epoch
        if session.goes_on():
            session.loop.end_epoch()
