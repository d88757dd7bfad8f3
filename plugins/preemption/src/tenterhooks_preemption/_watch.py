"""Watches signals: the first asks a session to stop, whatever the main thread is doing; a second ends the process."""

import contextlib
import functools
import logging
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

from tenterhooks import Session
from tenterhooks_preemption._wakeup import Wakeup

__all__ = ["SignalWatch", "end_by"]

_log = logging.getLogger(__name__)

# How long the handler and the thread wait for each other, which takes no time unless one of them is held up.
_PATIENCE_SECS = 0.5

# In the order in which they were installed, which is undone from the last on.
_installed: "list[SignalWatch]" = []
_masks = threading.local()


class SignalWatch:
    """Has the handlers of signals from its construction until `put_back`. Made in the main thread.

    Args:
        signals: What to watch. One that is ignored stays so, and so does one whose handler Python does not know: it
            could not be put back.
        session: What is asked to stop. Once it is gone, signals do what they did before.

    Attributes:
        came: The first signal that came, None if none has.
    """

    def __init__(self, signals: Iterable[signal.Signals], session: Session) -> None:
        self.came: signal.Signals | None = None
        self._session = weakref.ref(session)
        self._earlier: dict[int, Any] = {}
        self._handler = self._handle
        self._first = True
        self._handled = threading.Event()
        # Released when the session was asked. A plain lock: what waits for it in a handler must not need another.
        self._asked = threading.Lock()
        self._asked.acquire()
        self._heard = 0
        self._told = False
        self._over = False
        self._undoing = False
        self._wakeup = Wakeup(self._hear)
        _installed.append(self)
        _heed_forks()
        try:
            for number in signals:
                self._install(number)
        except BaseException:
            self.put_back()
            raise

    @property
    def watched(self) -> Iterable[int]:
        """The signals whose handler this is."""
        return self._earlier.keys()

    @property
    def shared(self) -> bool:
        """Whether the signal that came was noted for another session too, one that is open around this one."""
        return any(other.came is not None and not other._is_idle() for other in _installed if other is not self)

    def belong_to(self, session: Session) -> None:
        """Watch for this session, which was created in place of the first one. It keeps what that was asked for."""
        self._session = weakref.ref(session)

    def put_back(self) -> None:
        """Put back what was there before, where nobody else has put something in its place. Twice is harmless."""
        if threading.current_thread() is threading.main_thread():
            if _installed[-1:] == [self]:
                # Until all is undone, a signal that comes is noted.
                self._undo()
                self._tell()
            self._over = True
            _undo_idle()
        elif not self._over:
            self._over = True
            _log.warning(
                "the session is closed in another thread than the main one, which alone can put back the handlers of "
                "signals: they are put back when a signal comes"
            )

    def _undo(self, *, in_child: bool = False, wait: bool = True) -> None:
        self._undoing = True
        # The last goes first, and all of it is done even if a handler that is called meanwhile raises.
        with contextlib.ExitStack() as undone:
            undone.callback(_installed.remove, self)
            for number in self._earlier:
                undone.callback(self._put_back_handler, number)
            undone.callback(self._wakeup.put_back, in_child=in_child, wait=wait)

    def _install(self, number: signal.Signals) -> None:
        earlier = signal.getsignal(number)
        if earlier is None or earlier is signal.SIG_IGN:
            why = "is ignored" if earlier is signal.SIG_IGN else "has a handler that was not set from Python"
            _log.warning("%s %s, and is left so: it does not stop the session", number.name, why)
            return
        self._earlier[number] = earlier
        signal.signal(number, self._handler)

    def _put_back_handler(self, number: int) -> None:
        current = signal.getsignal(number)
        if current is self._handler or (self._handled.is_set() and current is signal.SIG_DFL):
            signal.signal(number, self._earlier[number])

    def _is_idle(self) -> bool:
        return self._over or self._session() is None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Called by Python, in the main thread between two instructions: so it does not log, nor take a lock."""
        earlier = self._earlier[number]
        if self._is_idle():
            is_mine = signal.getsignal(number) is self._handler
            _undo_idle(wait=False)
            if is_mine:
                if signal.getsignal(number) is self._handler:
                    # Another watch, of other signals, was installed upon this one.
                    signal.signal(number, earlier)
                signal.raise_signal(number)
            elif callable(earlier):
                earlier(number, frame)
            return
        if not self._first:
            end_by(number)
        self._first = False
        self._note(number)
        # From here on the system itself ends the process, even amid native code. But not the first process of a
        # container, which it spares what has no handler.
        if os.getpid() != 1:
            for other in self._earlier:
                if signal.getsignal(other) is self._handler:
                    signal.signal(other, signal.SIG_DFL)
        self._handled.set()
        self._wakeup.nudge()
        # So that a step that ends soon is the last one.
        self._asked.acquire(timeout=_PATIENCE_SECS)
        if callable(earlier) and earlier is not signal.default_int_handler:
            earlier(number, frame)

    def _hear(self, numbers: bytes) -> None:
        """Called by the thread."""
        for number in filter(self._is_ours, numbers):
            self._heard += 1
            self._note(number)
            if self._heard > 1:
                # A second signal came before the first was handled, or process 1 was in native code since.
                if self._handled.wait(_PATIENCE_SECS):
                    signal.raise_signal(number)
                # The main thread is in native code, and it alone can give a signal its default action.
                os._exit(128 + number)
        self._tell()

    def _is_ours(self, number: int) -> bool:
        """Whether a signal is for this watch. The program may have set another handler since."""
        return (
            number in self._earlier
            and not self._is_idle()
            and (self._handled.is_set() or signal.getsignal(number) is self._handler)
        )

    def _note(self, number: int) -> None:
        if self.came is None:
            self.came = signal.Signals(number)

    def _tell(self) -> None:
        """Ask the session to stop if a signal came, and say so in the log. Once, since the session remembers."""
        if self.came is None or self._told:
            return
        self._told = True
        session = self._session()
        if session is not None:
            # From this thread, so that the requests hold whether the run under way completes or not.
            session.request_checkpoint()
            session.request_stop(f"{self.came.name} came")
        self._asked.release()
        _log.warning(
            "%s came: a checkpoint and a stop at the end of this step; a second signal ends the process at once",
            self.came.name,
        )


def end_by(number: int) -> NoReturn:
    """End the process at once, as a signal does that nobody handles. Called in the main thread."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    # The first process of a container outlives that.
    os._exit(128 + number)


def _undo_idle(*, wait: bool = True) -> None:
    """Undo the watches that watch for nobody any more, unless others were installed upon them."""
    while _installed and _installed[-1]._is_idle() and not _installed[-1]._undoing:
        _installed[-1]._undo(wait=wait)


@functools.cache
def _heed_forks() -> None:
    """Have forked processes, such as the workers of a data loader, end by signals as they would without a watch."""
    if sys.platform != "win32":
        os.register_at_fork(
            before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
        )


def _before_fork() -> None:
    """Block signals: a child that gets one while it still has the handlers would tell its parent's thread of it."""
    watched = {number for watch in _installed for number in watch.watched}
    _masks.earlier = signal.pthread_sigmask(signal.SIG_BLOCK, watched) if watched else None


def _after_fork_in_parent() -> None:
    earlier = getattr(_masks, "earlier", None)
    if earlier is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _after_fork_in_child() -> None:
    for watch in reversed(_installed.copy()):
        watch._undo(in_child=True)
        watch._over = True
    came = signal.sigpending()
    try:
        _after_fork_in_parent()
    except BaseException:
        # What a handler raises here, as that of Ctrl-C does, would be printed and forgotten.
        end_by(min(came, default=signal.SIGINT))
