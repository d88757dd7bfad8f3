"""The writer of TensorBoard event files."""

import operator
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks.savers import folder_of
from tenterhooks.summaries import SummaryWriter
from tenterhooks_summary import _arrays
from tenterhooks_summary._backlog import Backlog
from tenterhooks_summary._event_file import EventFile

__all__ = ["TensorBoardWriter"]


class TensorBoardWriter(SummaryWriter):
    """Writes summaries into one event file of a folder, in a thread.

    Adding takes no longer than to note what is added, and to copy an array. A thread, which is there while there is
    something to write, has it in the file a fraction of a second later; `flush` has it there at once. An error of the
    thread is raised by what is called next, and what could not be written is tried again. Where the program adds more
    than can be written, it writes itself.

    `start`, or else the first step that is written, makes the mark by which TensorBoard knows a restart: what an
    earlier file in the folder has at that step or later is no longer shown, so the curves of an interrupted run and of
    the one that resumed it do not overlap.

    Numbers are kept as 32-bit floats, as TensorBoard has them: NaN and infinity as they are, and what is beyond that
    range as infinity. A histogram shows the finite ones, and a warning says if there are others.

    Args:
        directory: The folder; it is made if it is not there. The file is made with the first thing that is written.
        clock: Gives the time of day in seconds, which is written with what is added.
    """

    def __init__(self, directory: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        # Imported late: these take as long as NumPy does. And not in the thread, which a fork might leave amid that.
        from tenterhooks_summary import _events, _values

        self._events, self._values = _events, _values
        # Whatever the working directory is when the file is made.
        self._directory = folder_of(directory, "the folder of summaries").absolute()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._clock = clock
        self._step = 0
        # The mark of a start, until there is something to write after it: who starts and does nothing makes no file.
        self._mark: Any = None
        self._has_hparams = False
        file = EventFile(self._directory, _events.begun_file, _events.records)
        self._backlog = Backlog(file, f"the summary writer of {self._directory}")
        # Also where nobody closes it, at the latest when the process ends.
        self._close = weakref.finalize(self, self._backlog.close)
        self._put = self._backlog.put

    def start(self, step: int) -> None:
        """Mark that a session begins, or was recovered.

        Args:
            step: The global step that its next run leads to. What is in the folder of this step or later is void.
        """
        self._step = operator.index(step)
        self._mark = (self._step, self._clock(), None, self._events.began(), None)

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add a point to the curve of a tag.

        Raises:
            RuntimeError: The writer is closed.
        """
        if self._mark is not None:
            self._put_mark()
        self._put((step, self._clock(), tag, float(value), None))

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        """Add how the numbers of an array are distributed, in 30 bins of the same width.

        Raises:
            RuntimeError: The writer is closed.
            TypeError: They are no real numbers.
            ValueError: There are none.
        """
        self._put_array(step, tag, _arrays.numbers(values, tag), self._values.histogram)

    def add_image(self, tag: str, image: Any, step: int) -> None:
        """Add an image.

        Raises:
            RuntimeError: The writer is closed.
            TypeError: It holds anything but `uint8` and floats.
            ValueError: It has the shape of no image, or floats that are not from 0 to 1.
        """
        self._put_array(step, tag, _arrays.pixels(image, tag), self._values.image)

    def add_text(self, tag: str, text: str, step: int) -> None:
        """Add a text, which TensorBoard shows as Markdown.

        Raises:
            RuntimeError: The writer is closed.
            TypeError: It is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"the text {tag!r} is {text!r:.60} of type {type(text).__name__}: give a str")
        self._put_mark()
        self._put((step, self._clock(), tag, text, self._values.text))

    def add_hparams(self, hparams: Mapping[str, bool | float | str], metrics: Iterable[str] = ()) -> None:
        """Say with which hyperparameters the run is made, and by which curves runs are compared.

        TensorBoard shows those that it reads first of a folder, also where the run is resumed with others.

        Raises:
            RuntimeError: The writer is closed.
            TypeError: One is no truth value, number or text, or its name is no text.
        """
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in hparams.items()}
        for name, value in plain.items():
            if not isinstance(name, str):
                raise TypeError(f"hyperparameters have names, not {name!r} of type {type(name).__name__}")
            if not isinstance(value, bool | int | float | str):
                raise TypeError(
                    f"the hyperparameter {name!r} is {value!r:.60} of type {type(value).__name__}: give a truth value, "
                    "a number or a text"
                )
        self._has_hparams = True
        self._put_mark()
        for value in self._values.hparams_start(plain, metrics):
            self._put((self._step, self._clock(), value.tag, value, _as_it_is))

    def flush(self) -> None:
        """Hand all that was added to the system: readers see it, and the end of this process does not lose it."""
        # It does not wait for the disk: that would be too long for a training.
        self._backlog.flush()

    def finish(self, exception: BaseException | None) -> None:
        """Mark how the session ended, beside the hyperparameters too if there are some.

        Where nothing was written since `start` there is no file, or what is in it is of before, and nothing is marked.
        """
        if self._mark is not None:
            return
        self._put((self._step, self._clock(), None, self._events.ended(exception), None))
        if self._has_hparams:
            value = self._values.hparams_end(exception)
            self._put((self._step, self._clock(), value.tag, value, _as_it_is))

    def close(self) -> None:
        """Flush, wait for the disk, and write no more. Closing twice is harmless."""
        self._close()

    def _put_mark(self) -> None:
        mark, self._mark = self._mark, None
        if mark is not None:
            self._put(mark)

    def _put_array(self, step: int, tag: str, array: Any, encode: Callable[[str, Any], Any]) -> None:
        self._put_mark()
        self._backlog.put_large((step, self._clock(), tag, array, encode), array.nbytes)


def _as_it_is(tag: str, value: Any) -> Any:
    return value
