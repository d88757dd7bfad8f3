"""One process at a time saves into a folder."""

import contextlib
import errno
import logging
import os
import socket
import sys
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from tenterhooks import CheckpointError

__all__ = ["LOCK", "FolderLock"]

LOCK = ".lock"
"""The name of the file that is locked. It stays in the folder; only the system's lock on it counts."""

_log = logging.getLogger(__name__)

# Of a file system without locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


@dataclass(slots=True)
class _Held:
    """A lock that this process has.

    Attributes:
        descriptor: Of the open file.
        holders: How many savers have it.
    """

    descriptor: int
    holders: int = 0


_held: dict[Path, _Held] = {}
_table = threading.RLock()


class FolderLock:
    """A hold on a folder: several savers of one process may have it, those of other processes may not.

    The system gives it back when the process ends, however it ends.

    Args:
        directory: The folder.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._give_back: weakref.finalize[[Path], FolderLock] | None = None

    @property
    def held(self) -> bool:
        """Whether it is held, in this process."""
        return self._give_back is not None and self._give_back.alive

    def take(self) -> None:
        """Take hold of the folder, which is there.

        On a file system that has no locks this is logged, and is all there is.

        Raises:
            CheckpointError: Another process has it.
            OSError: The file cannot be made.
        """
        path = self._directory.resolve()
        with _table:
            if path not in _held:
                _held[path] = _lock(path)
            if not self.held:
                _held[path].holders += 1
                self._give_back = weakref.finalize(self, _release, path)

    def give_back(self) -> None:
        """Give it back. Twice is harmless."""
        if self._give_back is not None:
            self._give_back()


def _release(path: Path) -> None:
    with _table:
        held = _held.get(path)
        if held is None:
            return
        held.holders -= 1
        if not held.holders:
            del _held[path]
            try:
                os.close(held.descriptor)
            except OSError as error:
                # It is closed all the same, and all checkpoints are on the disk.
                _log.warning("closing %s: %s", path / LOCK, str(error))


def _lock(directory: Path) -> _Held:
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _lock_file(descriptor)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
    except BlockingIOError as error:
        try:
            holder = os.read(descriptor, 1000).decode("utf-8", "replace") or "another process"
        finally:
            os.close(descriptor)
        raise CheckpointError(
            f"{holder} saves into {directory}: two processes cannot. Give this one another checkpoint_dir, or end that "
            "one"
        ) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise
        _log.warning("%s lies on a file system without locks: see to it that no two processes save there", directory)
    return _Held(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock_file(descriptor: int) -> None:
        # Beyond what is written there, which others may then read.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(errno.EWOULDBLOCK, "locked") from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock_file(descriptor: int) -> None:
        # Not a POSIX record lock, which is lost when anything in this process opens and closes that file.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _forget() -> None:
        """A child that was forked holds nothing: it would keep the lock after its parent's death."""
        _table.release()
        for held in _held.values():
            with contextlib.suppress(OSError):
                os.close(held.descriptor)
        _held.clear()

    os.register_at_fork(before=_table.acquire, after_in_parent=_table.release, after_in_child=_forget)
