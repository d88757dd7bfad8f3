"""What is written beside the program, in a thread that is there while there is something to write."""

import functools
import os
import threading
import weakref
from collections import deque
from itertools import repeat, starmap
from typing import Any, Protocol

__all__ = ["Backlog", "Sink"]

# So many seconds what is put is gathered: the thread is started and woken as rarely, and writes much at once.
_GATHERING_SECS = 0.2
# What is beyond that is written by who puts it.
_MAX_ITEMS = 100_000
_MAX_BYTES = 1 << 26


class Sink(Protocol):
    """Where a backlog is written. One thread at a time calls it."""

    def take(self, items: list[Any]) -> None:
        """Make ready to be written. Those for which that fails are left out, and the error says so."""

    def push(self) -> None:
        """Hand what was made ready to the system. What an error leaves over is for the next time."""

    def close(self) -> None:
        """Write no more, and give up what could not be written."""

    def forget(self) -> None:
        """Give up what another process writes, of which this one is a copy."""


class Backlog:
    """Hands what is put to a sink, all of it and in order, soon and in another thread.

    An error of the thread is raised to who puts something next. Nothing is lost by it: what was not written is tried
    again with the next item, `flush` or `close`.

    Args:
        sink: Where it goes.
        title: What it is called in messages.
    """

    def __init__(self, sink: Sink, title: str) -> None:
        self._sink = sink
        self._title = title
        self._items: deque[Any] = deque()
        self._taken: list[Any] = []
        self._closed = self._orphaned = False
        self._renew()
        _look_after_forks()
        _all.add(self)

    def _renew(self) -> None:
        self._bytes = 0
        self._error: BaseException | None = None
        # Whether the thread will look at the items once more.
        self._awake = False
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()
        self._starting = threading.Lock()
        # Held while the sink is used.
        self._lock = threading.Lock()

    def put(self, item: Any) -> None:
        """Add something to be written."""
        # The thread looks at the items after it has said that it sleeps: one of the two sees the other.
        self._items.append(item)
        if not self._awake:
            self._wake()
        elif len(self._items) > _MAX_ITEMS:
            self.flush()

    def put_large(self, item: Any, size: int) -> None:
        """Add something that takes so many bytes of memory."""
        self._bytes += size
        self.put(item)
        if self._bytes > _MAX_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write all that was put, in this thread."""
        with self._lock:
            # No line of Python is between the two, where an interrupt would lose what it comes across.
            self._taken.extend(starmap(self._items.popleft, repeat((), len(self._items))))
            self._bytes = 0
            if self._taken:
                try:
                    self._sink.take(self._taken)
                except Exception:
                    self._taken.clear()
                    raise
                self._taken.clear()
            self._sink.push()
            # What could not be written when this was raised has been now.
            self._error = None

    def close(self) -> None:
        """Write all that was put, and take nothing more."""
        with self._starting:
            if self._closed:
                return
            self._closed = True
        if threading.current_thread() is self._thread:
            # The garbage collector came by there, and found the writer that nobody had closed.
            self._orphaned = True
            return
        try:
            self.flush()
        finally:
            self._hurry.set()
            if self._thread is not None:
                self._thread.join()
            self._awake = False
            self._sink.close()

    def forget(self) -> None:
        """Be empty, in a process that was forked: what was put before is written by the other."""
        self._items.clear()
        self._taken.clear()
        self._sink.forget()
        self._renew()

    def _wake(self) -> None:
        if self._closed:
            self._items.clear()
            raise RuntimeError(f"{self._title} is closed: open another one")
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        with self._starting:
            if self._awake or self._closed:
                return
            self._awake = True
            thread = threading.Thread(target=self._run, name=self._title, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # The interpreter ends, and so would the thread.
                self._awake = False
            except BaseException:
                self._awake = False
                raise
            else:
                self._thread = thread
                return
        self.flush()

    def _run(self) -> None:
        try:
            while True:
                self._hurry.wait(_GATHERING_SECS)
                self.flush()
                self._awake = False
                if not self._items or self._closed:
                    break
                self._awake = True
            if self._orphaned:
                self.flush()
                self._sink.close()
        except BaseException as error:
            if self._orphaned:
                raise
            self._error = error
            self._awake = False


_all: weakref.WeakSet[Backlog] = weakref.WeakSet()


@functools.cache
def _look_after_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    for backlog in list(_all):
        backlog.forget()
