"""Requests to stop: who asked, why, and at which step."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        current: The hook that is being called, kept here so that a request and an error know whose they are.
        refuses: Whether the loop can know that it is to stop, so that a further run is a mistake. It cannot where
            another thread has asked since the loop did.
    """

    __slots__ = ("_adopted", "_pending", "_thread", "current", "refuses")

    def __init__(self) -> None:
        # A list that is only changed in place: a signal, or another thread, may add to it at any time.
        self._adopted: list[StopRequest] = []
        self.current: Adapter | None = None
        self.refuses = False
        self._pending: list[StopRequest] | None = None
        self._thread = threading.get_ident()

    def __bool__(self) -> bool:
        return bool(self._adopted or self._pending)

    @property
    def adopted(self) -> tuple[StopRequest, ...]:
        """Those that hold."""
        return tuple(self._adopted)

    def request_by_program(self, reason: str | None, global_step: int) -> None:
        """Note a request of the program, which holds at once and whatever becomes of the run under way."""
        self._adopted.append(StopRequest(None, reason, global_step))
        self.refuses |= threading.get_ident() == self._thread

    def request(self, reason: str | None, global_step: int) -> None:
        """Note a request that came through what hooks get."""
        own_thread = threading.get_ident() == self._thread
        hook = self.current.name if own_thread and self.current is not None else None
        request = StopRequest(hook, reason, global_step)
        if own_thread and self._pending is not None:
            self._pending.append(request)
        else:
            self._adopted.append(request)
            self.refuses |= own_thread

    def tell(self) -> bool:
        """Tell the loop whether it is to stop."""
        self.refuses |= bool(self._adopted) and threading.get_ident() == self._thread
        return bool(self)

    @property
    def in_run(self) -> bool:
        """Whether a run is under way."""
        return self._pending is not None

    def begin_run(self) -> None:
        """A run starts."""
        self._pending = []
        self._thread = threading.get_ident()

    def adopt(self) -> None:
        """The run has completed: its requests hold from now on."""
        if self._pending:
            self._adopted.extend(self._pending)
        self.refuses = bool(self._adopted)
        self._pending = None
        self.current = None

    def forget_run(self) -> None:
        """The run failed: its requests are forgotten with it."""
        self._pending = None
        self.current = None

    def forget_hooks(self) -> None:
        """The session is created anew: what hooks asked for is forgotten, what the program asked for is not."""
        self.forget_run()
        for request in self.adopted:
            if request.hook is not None:
                self._adopted.remove(request)
        self.refuses &= bool(self._adopted)
