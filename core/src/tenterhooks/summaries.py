"""What writes summaries: the protocol of a writer, and one open writer per folder for all who write there."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from tenterhooks import plugins

__all__ = ["WRITERS_GROUP", "SummaryWriter", "open_summary_writer", "summary_writer_installed"]

WRITERS_GROUP = "tenterhooks.summary_writers"


class SummaryWriter(Protocol):
    """Keeps the summaries of one folder: numbers by tag and global step."""

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add a point to the curve of a tag.

        Args:
            tag: The curve's name.
            value: The number, written as it is, NaN and infinity too.
            step: The global step that it belongs to.
        """
        ...

    def flush(self) -> None:
        """Hand all that was added to where it is read; it survives the end of this process."""
        ...

    def close(self) -> None:
        """Flush, and write no more. Closing twice is harmless."""
        ...


def summary_writer_installed() -> bool:
    """Whether some distribution brings a writer, so that `open_summary_writer` has one to open."""
    return any(plugin.name == "default" for plugin in plugins.installed(WRITERS_GROUP))


def open_summary_writer(directory: str | Path) -> SummaryWriter:
    """Open the writer of a folder: the entry point `default` of the group `tenterhooks.summary_writers`.

    All who open one folder at the same time share one writer, hence one file, however they spell the folder. Each gets
    an object of their own to close; the last `close` closes the writer. Any thread may use it.

    Args:
        directory: The folder.

    Raises:
        PluginError: No writer is installed.
    """
    folder = Path(directory).resolve()
    with _lock:
        shared = _open.get(folder)
        if shared is None:
            shared = _open[folder] = _Shared(folder)
        shared.users += 1
    return _Share(shared)


class _Shared:
    """The open writer of a folder, and how many use it."""

    __slots__ = ("folder", "lock", "users", "writer")

    def __init__(self, folder: Path) -> None:
        factory = cast(
            Callable[[Path], SummaryWriter],
            plugins.load_default(WRITERS_GROUP, distribution="tenterhooks-summary", purpose="to write summaries"),
        )
        self.folder = folder
        self.writer = factory(folder)
        self.users = 0
        # Held while the writer is used: a writer need not expect threads.
        self.lock = threading.Lock()


# By resolved folder. The lock is held while a writer is found, made, or given up.
_open: dict[Path, _Shared] = {}
_lock = threading.Lock()


class _Share:
    """One user's share in the writer of a folder."""

    __slots__ = ("_closed", "_shared")

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self._closed = False

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        with self._shared.lock:
            if self._closed:
                raise RuntimeError(
                    f"the summary writer of {self._shared.folder} was closed: open it again with open_summary_writer"
                )
            self._shared.writer.add_scalar(tag, value, step)

    def flush(self) -> None:
        with self._shared.lock:
            if not self._closed:
                self._shared.writer.flush()

    def close(self) -> None:
        with _lock, self._shared.lock:
            if self._closed:
                return
            self._closed = True
            self._shared.users -= 1
            if self._shared.users == 0:
                del _open[self._shared.folder]
                self._shared.writer.close()
