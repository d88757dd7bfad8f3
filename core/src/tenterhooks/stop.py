"""Requests to stop: who asked, why, and at which step."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tenterhooks.calls import made_by

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter

__all__ = ["StopRequest", "StopRequests"]


@dataclass(frozen=True, slots=True)
class StopRequest:
    """One request to stop a session.

    Attributes:
        hook: The name of the hook that asked; None if it was the program, or another thread.
        reason: Why, in the words of who asked; None if they gave none.
        global_step: The global step at which they asked.
    """

    hook: str | None
    reason: str | None
    global_step: int

    def __str__(self) -> str:
        who = f"hook {self.hook!r}" if self.hook else "the program"
        return f"{who} at global step {self.global_step}" + (f": {self.reason}" if self.reason else "")


class StopRequests:
    """All requests of one session. True when there is one.

    Those that hooks make in a run, by its own thread, belong to the run: they are adopted when it has completed and
    forgotten if it failed. All others hold at once, those of the program wherever it makes them: a signal may have come
    while any hook was being called.

    Attributes:
        calling: What goes through the calls of a stage that the session itself makes; None where pluggy makes them.
        held: Those that hold. It is only changed in place: a signal, or another thread, may add to it at any time.
        in_run: Whether a run is under way. Set by who makes it, with its thread.
        pending: Those of the run under way.
        refuses: Whether the loop can know that it is to stop, so that a further run is a mistake. It cannot where
            another thread has asked since the loop did.
        thread: The thread of the run under way, or of the last one.
    """

    __slots__ = ("_current", "calling", "held", "in_run", "pending", "refuses", "thread")

    def __init__(self) -> None:
        self.held: list[StopRequest] = []
        self.pending: list[StopRequest] = []
        self._current: Adapter | None = None
        self.calling: Iterator[Any] | None = None
        self.in_run = False
        self.refuses = False
        self.thread = get_ident()

    def __bool__(self) -> bool:
        return bool(self.held or self.pending)

    @property
    def current(self) -> "Adapter | None":
        """The hook that is being called, known here so that a request and an error know whose they are."""
        return self._current if self.calling is None else made_by(self.calling)

    @current.setter
    def current(self, adapter: "Adapter | None") -> None:
        self.calling = None
        self._current = adapter

    @property
    def adopted(self) -> tuple[StopRequest, ...]:
        """Those that hold."""
        return tuple(self.held)

    def request_by_program(self, reason: str | None, global_step: int) -> None:
        """Note a request of the program, which holds at once and whatever becomes of the run under way."""
        self.held.append(StopRequest(None, reason, global_step))
        self.refuses |= get_ident() == self.thread

    def request(self, reason: str | None, global_step: int) -> None:
        """Note a request that came through what hooks get."""
        own_thread = get_ident() == self.thread
        current = self.current if own_thread else None
        request = StopRequest(None if current is None else current.name, reason, global_step)
        if own_thread and self.in_run:
            self.pending.append(request)
        else:
            self.held.append(request)
            self.refuses |= own_thread

    def tell(self) -> bool:
        """Tell the loop whether it is to stop."""
        self.refuses |= bool(self.held) and get_ident() == self.thread
        return bool(self)

    def adopt(self) -> None:
        """The run has completed, and there are requests: its own hold from now on."""
        self.held.extend(self.pending)
        self.pending.clear()
        self.refuses = True

    def forget_run(self) -> None:
        """The run failed: its requests are forgotten with it."""
        self.pending.clear()
        self.in_run = False
        self.calling = self._current = None

    def forget_hooks(self) -> None:
        """The session is created anew: what hooks asked for is forgotten, what the program asked for is not."""
        self.forget_run()
        for request in self.adopted:
            if request.hook is not None:
                self.held.remove(request)
        self.refuses &= bool(self.held)
