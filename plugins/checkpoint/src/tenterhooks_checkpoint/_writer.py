"""How a checkpoint comes into its folder: written where no reader looks, then published under its name."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _codec, _files, _folder, _manifest
from tenterhooks_checkpoint._lock import FolderLock
from tenterhooks_checkpoint._manifest import Entry

__all__ = ["Writer", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """A checkpoint that is on the disk, and that no reader sees yet.

    Attributes:
        folder: Where it is.
        step: Its global step.
        metrics: What was measured at this step.
        files: What its manifest will say of its files.
    """

    folder: Path
    step: int
    metrics: Mapping[str, float]
    files: dict[str, Entry]


class Writer:
    """Writes checkpoints into one folder, which it holds from the first on.

    Args:
        directory: The folder.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = FolderLock(directory)

    def open(self) -> None:
        """Make the folder and take it, and remove what dead processes left there.

        Raises:
            CheckpointError: Another saver has it, or it cannot be made.
        """
        with self._explaining("save"):
            self._open()

    def close(self) -> None:
        """Let other processes have the folder; the next write takes it again."""
        self._lock.give_back()

    def write(self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float]) -> Written:
        """Write the files, and wait until they are on the disk.

        Raises:
            CheckpointError: They cannot be written, or cannot hold this state, or another saver has the folder.
        """
        tree, arrays = _codec.encode(state)
        folder = _files.temporary(self._directory)
        with self._whole_or_nothing(folder, step):
            self._open()
            folder.mkdir()
            return Written(folder, step, metrics, _folder.write(folder, tree, arrays))

    def commit(self, written: Written) -> Checkpoint:
        """Make what was written the newest checkpoint, by one at a time.

        Raises:
            CheckpointError: It cannot be done.
        """
        with self._whole_or_nothing(written.folder, written.step):
            sequence = 1 + max((found.sequence for found in _manifest.committed(self._directory)), default=0)
            path = self._directory / _manifest.folder_name(sequence, written.step)
            _manifest.write(
                written.folder, written.files, step=written.step, sequence=sequence, metrics=written.metrics
            )
            _files.sync_folder(written.folder)
            written.folder.rename(path)
            _files.sync_folder(self._directory)
            return Checkpoint(path, written.step, sequence, written.metrics)

    def _open(self) -> None:
        _files.make_folder(self._directory)
        alone = self._lock.take()
        _files.remove_leftovers(self._directory, alone=alone)

    @contextlib.contextmanager
    def _whole_or_nothing(self, folder: Path, step: int) -> Iterator[None]:
        """Remove the temporary folder where the block fails, and say what an error of the system means."""
        with self._explaining(f"save step {step}"):
            try:
                yield
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise

    @contextlib.contextmanager
    def _explaining(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CheckpointError(
                f"cannot {what} in {self._directory}: {error}. Check that it is a folder that may be written, and that "
                "its disk has space, or give another one. The checkpoints that are there are as they were"
            ) from error
