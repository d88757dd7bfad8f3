"""The writer of TensorBoard event files."""

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["TensorBoardWriter"]


class TensorBoardWriter:
    """Writes scalars into one event file of a folder, through tensorboardX's record writer.

    The file is made with the first point. It starts with the mark by which TensorBoard knows a restart, so what an
    earlier file in the folder has at that step or later is no longer shown: the curves of an interrupted run and of the
    one that resumed it do not overlap.

    Numbers are kept as 32-bit floats, as TensorBoard has them: NaN and infinity as they are, and what is beyond that
    range as infinity.

    Args:
        directory: The folder; it is made if it is not there.
        clock: Gives the time of day in seconds, which is written with each point.
    """

    def __init__(self, directory: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._clock = clock
        self._records: Any = None
        self._closed = False

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add a point to the curve of a tag.

        Raises:
            RuntimeError: The writer is closed.
        """
        # Imported late: it takes as long as NumPy does, and a hook may never come to write.
        from tensorboardX.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

        if self._closed:
            raise RuntimeError(f"the summary writer of {self._directory} is closed: open another one")
        if self._records is None:
            self._start(step)
        self._write(step=step, summary=Summary(value=[Summary.Value(tag=tag, simple_value=value)]))

    def flush(self) -> None:
        """Hand all that was added to the system: readers see it, and the end of this process does not lose it."""
        # tensorboardX's own flush waits for the disk too, which the training would do at each point of a curve.
        if self._records is not None:
            self._records._writer.flush()

    def close(self) -> None:
        """Flush, and write no more. Closing twice is harmless."""
        self._closed = True
        records, self._records = self._records, None
        if records is not None:
            try:
                records.flush()
            finally:
                records.close()

    def _start(self, step: int) -> None:
        """Make the file, with what TensorBoard expects first."""
        from tensorboardX import RecordWriter  # type: ignore[import-untyped]
        from tensorboardX.proto.event_pb2 import SessionLog  # type: ignore[import-untyped]

        # TensorBoard reads the files of a folder in the order of their names. tensorboardX's own names have whole
        # seconds, in which a second file would take the place of the first.
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        name = f"events.out.tfevents.{seconds:010d}.{nanoseconds:09d}.{socket.gethostname()}.{os.getpid()}"
        self._records = RecordWriter(str(self._directory / name))
        self._write(file_version="brain.Event:2")
        self._write(step=step, session_log=SessionLog(status=SessionLog.START))

    def _write(self, **fields: Any) -> None:
        from tensorboardX.proto.event_pb2 import Event

        self._records.write(Event(wall_time=self._clock(), **fields).SerializeToString())
