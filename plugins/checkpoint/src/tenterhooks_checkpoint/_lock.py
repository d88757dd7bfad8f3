"""One saver at a time has a folder, in one process."""

import contextlib
import errno
import gc
import logging
import os
import socket
import sys
import threading
import weakref
from pathlib import Path

from tenterhooks import CheckpointError

__all__ = ["LOCK", "FolderLock"]

LOCK = ".lock"
"""The name of the file that is locked. It stays in the folder; only the system's lock on it counts."""

_log = logging.getLogger(__name__)

# Of a file system without locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

# The descriptors of the files that this process has locked, by their folders.
_held: dict[Path, int] = {}
_table = threading.RLock()


class FolderLock:
    """A hold on a folder, which nobody else may have at the same time.

    The system gives it back when the process ends, however it ends.

    Args:
        directory: The folder.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._give_back: weakref.finalize[[Path, int, int], FolderLock] | None = None
        self._descriptor = -1
        self._pid = 0

    @property
    def held(self) -> bool:
        """Whether this object holds it. A forked child holds nothing."""
        return self._give_back is not None and self._give_back.alive and self._pid == os.getpid()

    def take(self) -> bool:
        """Take hold of the folder, which is there. Twice is harmless.

        Returns:
            Whether it was not held before, and nobody can be at work there. On a file system that has no locks the
            latter is not known, which is logged.

        Raises:
            CheckpointError: Somebody else has it.
            OSError: The file cannot be made.
        """
        path = self._directory.resolve()
        with _table:
            if self.held:
                if _is_file_of(self._descriptor, path):
                    return False
                # The folder was deleted, and is another one now.
                self.give_back()
            if path in _held:
                # A session that was dropped unclosed does not block it.
                gc.collect()
            if path in _held:
                raise CheckpointError(
                    f"another saver of this process saves into {path}: close its session, or give this one another "
                    "checkpoint_dir"
                )
            self._descriptor, alone = _lock(path)
            self._pid = os.getpid()
            _held[path] = self._descriptor
            self._give_back = weakref.finalize(self, _release, path, self._descriptor, self._pid)
            return alone

    def give_back(self) -> None:
        """Give it back. Twice is harmless."""
        if self._give_back is not None:
            self._give_back()


def _release(path: Path, descriptor: int, pid: int) -> None:
    with _table:
        if pid != os.getpid() or _held.get(path) != descriptor:
            return
        del _held[path]
        try:
            os.close(descriptor)
        except OSError as error:
            # It is closed all the same, and all checkpoints are on the disk.
            _log.warning("closing %s: %s", path / LOCK, str(error))


def _is_file_of(descriptor: int, directory: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), (directory / LOCK).stat())
    except FileNotFoundError:
        return False


def _lock(directory: Path) -> tuple[int, bool]:
    """Lock a folder's file; its descriptor, and whether there is a lock."""
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
        return descriptor, False
    return descriptor, True


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
        for descriptor in _held.values():
            with contextlib.suppress(OSError):
                os.close(descriptor)
        _held.clear()

    os.register_at_fork(before=_table.acquire, after_in_parent=_table.release, after_in_child=_forget)
