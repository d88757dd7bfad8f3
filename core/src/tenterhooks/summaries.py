"""What writes summaries, and one open writer per folder for all who write there."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

from tenterhooks import plugins
from tenterhooks.savers import folder_of

__all__ = [
    "WRITERS_GROUP",
    "SummaryWriter",
    "check_summary_writer",
    "leave_summary_writer",
    "open_summary_writer",
    "summary_writer_installed",
]

WRITERS_GROUP = "tenterhooks.summary_writers"


class SummaryWriter(ABC):
    """Keeps the summaries of a run, by tag and global step.

    A subclass takes numbers, and what else it overrides: a tracker, a table in a file. What it is given is the caller's
    again once the call is over, so it copies what it keeps.
    """

    def start(self, step: int) -> None:  # noqa: B027 - Few writers care.
        """A session begins, or was recovered. By default nothing is done.

        Args:
            step: The global step that its next run leads to. What was written of this step and of later ones is of a
                run that was lost, and will be written again.
        """

    @abstractmethod
    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add a point to the curve of a tag.

        Args:
            tag: The curve's name.
            value: The number, written as it is, NaN and infinity too.
            step: The global step that it belongs to.
        """

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        """Add how the numbers of an array are distributed.

        Args:
            tag: The histogram's name.
            values: The array, or what NumPy makes one of, of any shape.
            step: The global step that it belongs to.
        """
        self._refuse("histograms")

    def add_image(self, tag: str, image: Any, step: int) -> None:
        """Add an image.

        Args:
            tag: The image's name.
            image: An array of the shape (height, width) or (height, width, channels), with 1 channel (grey), 2 (grey
                and alpha), 3 (RGB) or 4 (RGBA): `uint8` from 0 to 255, or floats from 0 to 1.
            step: The global step that it belongs to.
        """
        self._refuse("images")

    def add_text(self, tag: str, text: str, step: int) -> None:
        """Add a text, which is shown as Markdown where the reader can.

        Args:
            tag: The text's name.
            text: The text.
            step: The global step that it belongs to.
        """
        self._refuse("texts")

    def add_hparams(self, hparams: Mapping[str, bool | float | str], metrics: Iterable[str] = ()) -> None:
        """Say with which hyperparameters the run is made.

        Args:
            hparams: The values by name.
            metrics: The tags of the curves that runs are compared by.
        """
        self._refuse("hyperparameters")

    @abstractmethod
    def flush(self) -> None:
        """Hand all that was added to where it is read; it survives the end of this process."""

    def finish(self, exception: BaseException | None) -> None:  # noqa: B027 - Few writers care.
        """The session has ended. By default nothing is done.

        Args:
            exception: What ended it, None where it ended cleanly.
        """

    @abstractmethod
    def close(self) -> None:
        """Flush, and write no more. Closing twice is harmless."""

    def _refuse(self, kind: str) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} writes no {kind}: leave them out of what is written, or take another summary writer"
        )


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
    path = folder_of(directory, "a folder of summaries").resolve()
    with _lock:
        shared = _open.get(path)
        if shared is None:
            shared = _open[path] = _Shared(path)
        shared.users += 1
    return _Share(shared)


def check_summary_writer(writer: object) -> None:
    """Check what a hook is given to write with.

    Raises:
        TypeError: It is neither None nor a `SummaryWriter`.
    """
    if writer is not None and not isinstance(writer, SummaryWriter):
        raise TypeError(
            f"a summary writer is of a subclass of tenterhooks.summaries.SummaryWriter, not {writer!r:.60} of type "
            f"{type(writer).__name__}: give one that hands on to it what it gets"
        )


def leave_summary_writer(writer: SummaryWriter, exception: BaseException | None, *, close: bool) -> None:
    """Tell a writer that a hook's session has ended, and flush it.

    Args:
        writer: The writer.
        exception: What ended the session, None where it ended cleanly.
        close: Whether to close it, as the hook does that opened it.
    """
    try:
        writer.finish(exception)
    finally:
        if close:
            writer.close()
        else:
            writer.flush()


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


class _Share(SummaryWriter):
    """One user's share in the writer of a folder."""

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self._closed = False

    def start(self, step: int) -> None:
        with self._held() as writer:
            writer.start(step)

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        # As the others do, in less time: of numbers there are many.
        with self._shared.lock:
            if self._closed:
                self._refuse_closed()
            self._shared.writer.add_scalar(tag, value, step)

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        with self._held() as writer:
            writer.add_histogram(tag, values, step)

    def add_image(self, tag: str, image: Any, step: int) -> None:
        with self._held() as writer:
            writer.add_image(tag, image, step)

    def add_text(self, tag: str, text: str, step: int) -> None:
        with self._held() as writer:
            writer.add_text(tag, text, step)

    def add_hparams(self, hparams: Mapping[str, bool | float | str], metrics: Iterable[str] = ()) -> None:
        with self._held() as writer:
            writer.add_hparams(hparams, metrics)

    def finish(self, exception: BaseException | None) -> None:
        with self._held() as writer:
            writer.finish(exception)

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

    @contextmanager
    def _held(self) -> Iterator[SummaryWriter]:
        """The writer, for this thread alone."""
        with self._shared.lock:
            if self._closed:
                self._refuse_closed()
            yield self._shared.writer

    def _refuse_closed(self) -> NoReturn:
        raise RuntimeError(
            f"the summary writer of {self._shared.folder} was closed: open it again with open_summary_writer"
        )
