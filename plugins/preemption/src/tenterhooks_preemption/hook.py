"""Saves and stops a session at the next step when the process gets a signal."""

import atexit
import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Generator, Iterable
from typing import Any, Literal

from tenterhooks import Coordinator, Session, SessionRunHook, hookimpl
from tenterhooks.errors import note
from tenterhooks.graph import Graph
from tenterhooks_preemption._watch import SignalWatch, end_by

__all__ = ["PreemptionHook"]

_log = logging.getLogger(__name__)

# These ask no process to end: it cannot handle them, or has made a fault, or is by default not ended by them.
_UNFIT = {
    *("SIGKILL", "SIGSTOP"),
    *("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"),
    *("SIGCHLD", "SIGCONT", "SIGINFO", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"),
}


class PreemptionHook(SessionRunHook):
    """Asks for a checkpoint and a stop at the end of the step under way when the process gets a signal.

    A second signal ends the process at once. It has the handlers of the signals from the session's creation to its
    end; handlers that the program had set before are called too. It works in sessions that the main thread creates,
    in others it does nothing, and says so in the log.

    Args:
        signals: The names of the signals, such as SIGUSR1. They differ between platforms: Windows has SIGTERM, SIGINT
            and SIGBREAK. One that the process ignores stays ignored.
        exit_by: What ends the process once the session has ended after a signal: "code": `SystemExit` with the status
            128 + the signal's number leaves the session; "signal": the same, and last of all the signal's default
            action, so that the parent process sees which signal it was (on Windows as "code"); None: nothing, the
            program goes on.

    Raises:
        ValueError: The platform has no such signal, it asks no process to end, or there is no such way to exit.
        TypeError: `signals` is one string.
    """

    def __init__(
        self,
        *,
        signals: Iterable[str] = ("SIGTERM", "SIGINT"),
        exit_by: 'Literal["code", "signal"] | None' = "code",
    ) -> None:
        if isinstance(signals, str):
            raise TypeError(f"signals is a list of names, not one string: pass [{signals!r}]")
        self._signals = tuple(dict.fromkeys(_signal(name) for name in signals))
        if not self._signals:
            raise ValueError("signals is empty: name at least one, such as SIGTERM")
        if exit_by not in ("code", "signal", None):
            raise ValueError(f'exit_by is "code", "signal" or None, not {exit_by!r}')
        self._exit_by = exit_by
        self._watch: SignalWatch | None = None

    def begin(self, graph: Graph) -> None:
        """Forget a session that was dropped and never closed."""
        self._put_back()

    # Before other hooks, since until then the watch of a session that was created anew is that of the lost one.
    @hookimpl(tryfirst=True)
    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Take the handlers. Until here a signal has nothing to save, and ends the process as ever."""
        if self._watch is not None:
            # The session was created anew.
            self._watch.belong_to(session)
        elif threading.current_thread() is threading.main_thread():
            self._watch = SignalWatch(self._signals, session)
        else:
            _log.warning("signals do not stop this session: it was created outside of the main thread")

    # As wrappers, so that the handlers are there until all hooks have ended, and the savers among them have saved.

    @hookimpl(specname="end", wrapper=True, tryfirst=True)
    def _around_end(self, session: Session) -> Generator[None, Any, Any]:
        """Put the handlers back, and end the process if a signal came.

        Raises:
            SystemExit: A signal came, and `exit_by` has it end the process. It leaves the session when all is closed.
        """
        came = None
        try:
            result = yield
        finally:
            came, shared = self._put_back()
        # A session around this one is asked to stop as well, and has yet to be saved.
        if came is not None and self._exit_by is not None and not shared:
            _log.info("the session ended after %s: exiting with status %d", came.name, 128 + came)
            if self._exit_by == "signal" and sys.platform != "win32":
                atexit.register(_end_at_exit, came)
            raise SystemExit(128 + came)
        return result

    @hookimpl(specname="on_exception", wrapper=True, tryfirst=True)
    def _around_on_exception(self, exception: BaseException) -> Generator[None, Any, Any]:
        """Put the handlers back. The exception that is under way ends the process, or the program knows better."""
        try:
            result = yield
        finally:
            came, _ = self._put_back()
            if came is not None:
                note(exception, f"{came.name} had come, which asked for a checkpoint and a stop")
        return result

    def _put_back(self) -> tuple[signal.Signals | None, bool]:
        """Put the handlers back; which signal had come, and whether an outer session stops because of it too."""
        watch, self._watch = self._watch, None
        if watch is None:
            return None, False
        watch.put_back()
        return watch.came, watch.shared


def _signal(name: str) -> signal.Signals:
    fit = [known.name for known in signal.Signals if known.name not in _UNFIT]
    try:
        found = signal.Signals[name]
    except KeyError:
        raise ValueError(f"this platform has no signal {name!r}: take some of {', '.join(fit)}") from None
    if found.name in _UNFIT:
        raise ValueError(f"{name} does not ask a process to end: take some of {', '.join(fit)}")
    return found


def _end_at_exit(came: signal.Signals) -> None:
    """End the process by a signal, as the last of the functions that are called at the exit."""
    atexit.unregister(_end_at_exit)
    # It would be the first of them, and the others would not be called. There is no public way to be the last.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    end_by(came)
