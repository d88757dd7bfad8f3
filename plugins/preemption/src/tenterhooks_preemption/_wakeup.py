"""Tells a thread of each signal as it comes, by the descriptor into which Python writes the numbers of signals."""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable

__all__ = ["Wakeup"]


class Wakeup:
    """A thread that hears of signals while the main thread is in native code, where Python calls no handler.

    Whoever had the descriptor before hears of them as before. Made in the main thread.

    Args:
        hear: Called by the thread, with the numbers of the signals that came.
    """

    def __init__(self, hear: Callable[[bytes], object]) -> None:
        self._hear = hear
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._earlier = -1
        self._forward: int | socket.socket | None = None
        self._thread = threading.Thread(target=self._listen, name="tenterhooks-preemption", daemon=True)
        try:
            self._thread.start()
            self._earlier = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
            if self._earlier != -1:
                self._forward = _duplicate(self._earlier)
        except BaseException:
            self.put_back()
            raise

    def nudge(self) -> None:
        """Have `hear` called, with no number, whoever has the descriptor now."""
        with contextlib.suppress(OSError):
            self._writer.send(b"\0")

    def put_back(self, *, in_child: bool = False, wait: bool = True) -> None:
        """Put the earlier descriptor back, unless somebody has put another in its place, and end the thread.

        Args:
            in_child: Whether this is a process that was just forked: the thread is in its parent.
            wait: Whether to wait until the thread has ended. What has come is heard of until then.
        """
        try:
            current = signal.set_wakeup_fd(self._earlier)
        except (OSError, ValueError):
            # Whose it was has closed it.
            current = signal.set_wakeup_fd(-1)
        if current != self._writer.fileno():
            signal.set_wakeup_fd(current)
        if in_child or self._thread.ident is None:
            self._close()
        else:
            # Ends the thread when it has read what is there. A child has the same socket, and must leave it open.
            self._writer.shutdown(socket.SHUT_WR)
            if wait:
                self._thread.join()
        self._writer.close()

    def _listen(self) -> None:
        try:
            while received := self._reader.recv(4096):
                numbers = received.replace(b"\0", b"")
                # First, since what hears of them may take its time.
                self._pass_on(numbers)
                self._hear(numbers)
        finally:
            self._close()

    def _pass_on(self, numbers: bytes) -> None:
        """Write the numbers as Python would have. What cannot be written would have been lost, too."""
        if numbers and self._forward is not None:
            with contextlib.suppress(OSError):
                if isinstance(self._forward, int):
                    os.write(self._forward, numbers)
                else:
                    self._forward.send(numbers)

    def _close(self) -> None:
        """Close what the thread uses."""
        self._reader.close()
        forward, self._forward = self._forward, None
        if isinstance(forward, int):
            os.close(forward)
        elif forward is not None:
            forward.close()


def _duplicate(descriptor: int) -> int | socket.socket:
    """Another descriptor of the same: its owner may close it, and its number may then be that of a file."""
    if sys.platform == "win32":
        return socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM)
    return os.dup(descriptor)
