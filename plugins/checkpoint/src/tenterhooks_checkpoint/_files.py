"""Files that outlive a crash, and folders that only show when they are finished."""

import errno
import functools
import itertools
import logging
import os
import re
import secrets
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Leftover",
    "discard",
    "leftovers",
    "make_folder",
    "remove_leftovers",
    "sync_file",
    "sync_folder",
    "temporary",
]

_DISCARDED = ".old"
_TEMPORARY = re.compile(r"\.tmp-([0-9]+)-([0-9a-f]+)-[0-9]+(\.old)?")

_log = logging.getLogger(__name__)
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary folder.

    Attributes:
        path: The folder.
        pid: The number of the process that made it.
        in_use: Whether that process still lives, and may go on with it. Nobody goes on with a deleted checkpoint.
    """

    path: Path
    pid: int
    in_use: bool


def sync_file(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    # Windows flushes only what is open for writing.
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until a folder's entries are on the disk, where the system has a call for that.

    Windows has none, and some network file systems refuse it. There a crash of the machine, not of the process, may
    lose the newest checkpoint as a whole; it does not harm the ones before.
    """
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there, so that they outlive a crash."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    if missing:
        path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)


def temporary(directory: Path) -> Path:
    """A path for a folder that readers do not look at, and that is removed by a later process if this one dies."""
    pid = os.getpid()
    return directory / f".tmp-{pid}-{_token(pid)}-{next(_numbers)}"


def discard(path: Path) -> None:
    """Delete a folder; it is out of sight before the first of its files goes.

    What is left of it where that fails goes with the next leftovers.

    Raises:
        OSError: It cannot be deleted.
    """
    hidden = temporary(path.parent)
    hidden = hidden.with_name(hidden.name + _DISCARDED)
    path.rename(hidden)
    shutil.rmtree(hidden)


def leftovers(directory: Path) -> list[Leftover]:
    """The temporary folders that are there, those in use too.

    Raises:
        OSError: The folder cannot be read.
    """
    matches = [(path, _TEMPORARY.fullmatch(path.name)) for path in sorted(directory.iterdir())]
    return [
        Leftover(path, int(match[1]), match[3] is None and _owner_lives(int(match[1]), match[2]))
        for path, match in matches
        if match
    ]


def remove_leftovers(directory: Path, *, alone: bool) -> None:
    """Delete the temporary folders of processes that are no more; what cannot be deleted is logged and left.

    Args:
        directory: Where they are.
        alone: Whether nobody can be at work there: a process that has the number of the one that left them is another.
    """
    for leftover in leftovers(directory):
        if leftover.in_use and not alone:
            continue
        path = leftover.path
        _log.info("removing %s, which a process left that did not finish its save", path)
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            _log.debug("%s was removed by someone else", path)
        except OSError as error:
            _log.warning("cannot remove %s, left by a process that did not finish its save: %s", path, str(error))


@functools.cache
def _token(pid: int) -> str:
    """What tells this process from an earlier one with the same number: in a container each run may have number 1.

    Args:
        pid: This process; a child that was forked has a token of its own.
    """
    return secrets.token_hex(4)


def _owner_lives(pid: int, token: str) -> bool:
    if pid == os.getpid():
        return token == _token(pid)
    return _process_lives(pid)


if sys.platform == "win32":

    def _process_lives(pid: int) -> bool:
        import ctypes

        # Not os.kill: there it ends the process, whatever the signal.
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        synchronize, access_denied, still_running = 0x00100000, 5, 0x102
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = kernel.OpenProcess(synchronize, False, pid)
        if not handle:
            return ctypes.get_last_error() == access_denied
        try:
            return bool(kernel.WaitForSingleObject(ctypes.c_void_p(handle), 0) == still_running)
        finally:
            kernel.CloseHandle(ctypes.c_void_p(handle))

else:

    def _process_lives(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            return True
        return True
