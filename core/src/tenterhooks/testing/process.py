"""What code may leave behind in its process: threads, open files, handlers, changed settings; and what it prints."""

import contextlib
import gc
import io
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

__all__ = ["ProcessState", "left_behind", "printed"]

# How long a thread that was told to end may take for it.
_PATIENCE_SECS = 2.0

# Where the system lists the open files of a process: Linux, macOS.
_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What of a process can be changed, as it is at one moment.

    Attributes:
        threads: Its threads, by what tells them apart.
        files: What its open descriptors lead to; empty where the system does not tell.
        settings: Everything else, by its name in a sentence.
    """

    threads: Mapping[int, str]
    files: Mapping[int, str]
    settings: Mapping[str, Any]

    @classmethod
    def now(cls) -> Self:
        """As it is now."""
        loggers = [logging.getLogger(), *map(logging.getLogger, list(logging.root.manager.loggerDict))]
        settings: dict[str, Any] = {
            **{f"the handlers of the logger {log.name!r}": list(log.handlers) for log in loggers if log.handlers},
            **{f"the handler of {n.name}": signal.getsignal(n) for n in _signals()},
            **{f"the environment variable {name}": value for name, value in os.environ.items()},
            "the warnings filters": list(warnings.filters),
            "sys.stdout": sys.stdout,
            "sys.stderr": sys.stderr,
            "sys.excepthook": sys.excepthook,
            "sys.path": list(sys.path),
            "the working directory": os.getcwd(),  # noqa: PTH109 - as text, which can be compared.
        }
        threads = {id(thread): thread.name for thread in threading.enumerate()}
        return cls(threads, _open_files(), settings)

    def changes(self, later: Self) -> list[str]:
        """Say what is different at a later moment; what is no longer there is no matter.

        Args:
            later: The state at that moment.
        """
        found = [f"the thread {name!r} is alive" for key, name in later.threads.items() if key not in self.threads]
        found += [f"{where} is open" for n, where in later.files.items() if self.files.get(n) != where]
        names = {**self.settings, **later.settings}
        return found + [
            f"{name} changed, to {later.settings.get(name)!r:.100}"
            for name in names
            if self.settings.get(name) != later.settings.get(name)
        ]


def left_behind(before: ProcessState) -> list[str]:
    """Say what is there now and was not before. A thread that is about to end is waited for.

    Args:
        before: The state before.
    """
    deadline = time.monotonic() + _PATIENCE_SECS
    while threading.active_count() > len(before.threads) and time.monotonic() < deadline:
        time.sleep(0.005)
    found = before.changes(ProcessState.now())
    if found:
        # What nobody refers to any more may hold something open.
        gc.collect()
        found = before.changes(ProcessState.now())
    return found


@contextlib.contextmanager
def printed() -> Iterator[list[str]]:
    """Keep what is written to the standard output in the block: by Python, and by others where the system allows.

    Yields:
        A list, which has the texts when the block is over.
    """
    texts: list[str] = []
    by_python = io.StringIO()
    with contextlib.ExitStack() as undone, tempfile.TemporaryFile() as by_others:
        # A process without an output has nothing to watch.
        with contextlib.suppress(OSError):
            kept = os.dup(1)
            undone.callback(os.close, kept)
            _flush()
            os.dup2(by_others.fileno(), 1)
            undone.callback(os.dup2, kept, 1)
            undone.callback(_flush)
        with contextlib.redirect_stdout(by_python):
            yield texts
        _flush()
        by_others.seek(0)
        texts += [text for text in (by_python.getvalue(), by_others.read().decode(errors="replace")) if text]


def _flush() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            if stream is not None:
                stream.flush()


def _signals() -> list[signal.Signals]:
    # Not all that the system has are known to Python by name.
    return [n for n in signal.valid_signals() if isinstance(n, signal.Signals)]


def _open_files() -> dict[int, str]:
    folder = next((Path(place) for place in _DESCRIPTORS if os.path.isdir(place)), None)  # noqa: PTH112
    found = {}
    for number in () if folder is None else os.listdir(folder):  # noqa: PTH208 - the listing is closed at once.
        try:
            os.fstat(int(number))
            found[int(number)] = _target(int(number))
        except OSError:
            # The one that the listing itself had.
            continue
    return found


def _target(number: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{number}").readlink())
    except OSError:
        return f"descriptor {number}"
