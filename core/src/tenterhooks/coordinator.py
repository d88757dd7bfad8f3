"""Threads beside the session: how they are told to stop, and how their errors come back."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tenterhooks.errors import OutOfRangeError

__all__ = ["Coordinator"]

_log = logging.getLogger(__name__)


class Coordinator:
    """Stops a set of threads together, and hands an error of one of them to whoever joins.

    As TensorFlow's class of the same name, but for one thing: an error that is reported after a plain request to stop
    is kept, where TensorFlow dropped it.

    Args:
        clean_stop_exception_types: An error of one of these types is a plain request to stop.

    Attributes:
        exception: The first error that was reported, None if there was none.
        stopping: Whether a stop was asked for.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] = (OutOfRangeError,)) -> None:
        self._clean_types = clean_stop_exception_types
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.exception: BaseException | None = None
        self.stopping = False
        self._threads: set[threading.Thread] = set()
        self._joined = False

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Ask all threads to stop.

        Args:
            ex: The error because of which they should. The first one is kept and raised by `join`.

        Raises:
            BaseException: `ex` itself if `join` has ended, since nobody else would hear of it.
        """
        with self._lock:
            if ex is not None and not isinstance(ex, self._clean_types):
                if self._joined:
                    raise ex
                if self.exception is None:
                    self.exception = ex
                elif ex is not self.exception:
                    _log.info("a further error was reported to the coordinator, the first one is kept: %r", ex)
            self.stopping = True
            self._stop.set()

    def clear_stop(self) -> None:
        """Forget the request to stop, the error and that threads were joined."""
        with self._lock:
            self._joined = False
            self.exception = None
            self.stopping = False
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self.stopping

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is asked for, or for `timeout` seconds; gives `should_stop()`."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Report what the block raises, and end the block without raising it. For the body of a thread."""
        try:
            yield
        except BaseException as ex:
            self.request_stop(ex)

    def register_thread(self, thread: threading.Thread) -> None:
        """Have `join` wait for this thread too."""
        with self._lock:
            # One that has ended needs no wait; of threads for one task each there may be very many.
            self._threads = {other for other in self._threads if other.ident is None or other.is_alive()} | {thread}

    def raise_requested_exception(self) -> None:
        """Raise the error that was reported, if one was."""
        if self.exception is not None:
            raise self.exception

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120.0,
        *,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until all threads have ended, or until a stop was asked for and the grace period is over.

        Args:
            threads: Threads to wait for beside the registered ones.
            stop_grace_period_secs: How many seconds the threads have after a request to stop.
            ignore_live_threads: Only log threads that are alive after that, where it would be a `RuntimeError`.

        Raises:
            BaseException: The error that was reported, if one was.
            RuntimeError: Threads are alive after the grace period.
        """
        with self._lock:
            # A thread that registered itself and joins would wait for itself.
            waited_for = (self._threads | set(threads or ())) - {threading.current_thread()}
        while any(thread.is_alive() for thread in waited_for) and not self._stop.wait(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waited_for:
            # One that was never started cannot be joined. Bit by bit, since Ctrl-C does not end a wait everywhere.
            while thread.is_alive() and (left := deadline - time.monotonic()) > 0.0:
                thread.join(min(left, 0.05))
        with self._lock:
            self._joined = True
            self._threads.clear()
            exception = self.exception
        stragglers = sorted(thread.name for thread in waited_for if thread.is_alive())
        if exception is not None:
            raise exception
        if stragglers:
            message = f"threads did not stop within {stop_grace_period_secs:g} s: {', '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(message)
            _log.warning("%s; they are left running", message)
