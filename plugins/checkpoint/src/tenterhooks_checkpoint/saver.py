"""The default saver: a folder of checkpoints, each a folder of its own."""

import builtins
import logging
import operator
import os
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _codec, _files, _folder, _manifest, _outline
from tenterhooks_checkpoint._manifest import Entry, NotWholeError

__all__ = ["Saver"]

_log = logging.getLogger(__name__)

# Two savers of one process that commit into one folder at the same time would both take the next number.
_commit_lock = threading.Lock()

_MAX_COMMIT_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class _Written:
    """A checkpoint that is on the disk, and that no reader sees yet."""

    folder: Path
    step: int
    files: dict[str, Entry]


class Saver:
    """Keeps the checkpoints of one folder.

    Each is a folder `checkpoint-<sequence>-step-<step>`, where the sequence counts the commits. It holds
    `arrays.safetensors`, `state.json` (all that is no array) and `manifest.json` (size and checksum of the two, and a
    checksum of itself).
    It is written under a name that begins with `.tmp-`, flushed to the disk, and renamed, so what has a checkpoint's
    name is complete. What a killed process left under such a name is removed by the first save of a later one on this
    machine. Nothing is pickled.

    Several processes may read one folder while one writes.

    Args:
        directory: The folder. It is made by the first save.
        max_to_keep: How many checkpoints are kept, those committed last, those of earlier processes included. Older
            whole ones are deleted after a new one is committed. None keeps all.

    Raises:
        ValueError: `max_to_keep` is neither None nor at least 1.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     saver = Saver(directory, max_to_keep=2)
        ...     for step in (100, 200, 300):
        ...         _ = saver.save({"w": np.full(3, step)}, step=step)
        ...     print([checkpoint.path.name for checkpoint in saver.list()])
        ...     checkpoint, state = saver.restore()
        ['checkpoint-2-step-200', 'checkpoint-3-step-300']
        >>> state["w"]
        array([300, 300, 300])
    """

    def __init__(self, directory: str | os.PathLike[str], *, max_to_keep: int | None = 5) -> None:
        if max_to_keep is not None and operator.index(max_to_keep) < 1:
            raise ValueError(
                f"max_to_keep is {max_to_keep}: give a number of at least 1, or None to keep all checkpoints"
            )
        self.directory = Path(directory)
        self.max_to_keep = max_to_keep
        self._prepared = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.directory)!r}, max_to_keep={self.max_to_keep})"

    def save(self, state: Mapping[str, object], *, step: int) -> Checkpoint:
        """Write a checkpoint, make it the newest, and delete what is to be kept no longer.

        It takes the place of one of the same step, which an earlier attempt left.

        Args:
            state: Entries by name: NumPy arrays and scalars, bool, int, float, str, bytes, None, and lists, tuples and
                dicts of them.
            step: The global step.

        Returns:
            The new checkpoint.

        Raises:
            CheckpointError: The state holds something else, or it cannot be written. Those before are as they were.
            ValueError: The step is negative.
        """
        step = operator.index(step)
        if step < 0:
            raise ValueError(f"a checkpoint's step is at least 0, not {step}")
        written = self._write(state, step)
        checkpoint = self._commit(written)
        self._prune(checkpoint)
        return checkpoint

    def restore(self, checkpoint: Checkpoint | None = None) -> tuple[Checkpoint, dict[str, Any]] | None:
        """Read a checkpoint.

        Args:
            checkpoint: Which one, also one of another folder; by default the newest that is whole. A newer one that is
                not is passed over with a warning.

        Returns:
            The checkpoint and what was saved in it, with arrays of its own; None if the folder has no checkpoint.

        Raises:
            CheckpointError: The one that is asked for is not whole, or there are some and none is.
        """
        if checkpoint is not None:
            try:
                return checkpoint, _folder.read(checkpoint)
            except NotWholeError as error:
                raise CheckpointError(
                    f"cannot restore {checkpoint.path}: {error}. Restore another one, as `restore()` does"
                ) from error
        faults: dict[Path, str] = {}
        while True:
            # A writer may have committed and deleted meanwhile, so look again before giving up.
            there = self._committed()
            untried = [candidate for candidate in reversed(there) if candidate.path not in faults]
            if not untried:
                break
            for candidate in untried:
                try:
                    return candidate, _folder.read(candidate)
                except NotWholeError as error:
                    faults[candidate.path] = str(error)
                    if os.path.lexists(candidate.path):
                        _log.warning("passed over %s, which is not whole: %s", candidate.path, error)
        if not there:
            return None
        reasons = "; ".join(f"{found.path.name}: {faults[found.path]}" for found in reversed(there))
        raise CheckpointError(
            f"no checkpoint in {self.directory} is whole ({reasons}). Put a good copy there, or move these away "
            "to start from the beginning"
        )

    def list(self) -> builtins.list[Checkpoint]:
        """All checkpoints that are whole, in the order in which they were committed.

        It looks at the manifests and at the sizes of the files; only `restore` reads them.

        Raises:
            CheckpointError: The folder cannot be read.
        """
        return [checkpoint for checkpoint in self._committed() if _seems_whole(checkpoint)]

    def latest(self) -> Checkpoint | None:
        """The last one of `list()`; None if there is none.

        Raises:
            CheckpointError: The folder cannot be read.
        """
        return next((checkpoint for checkpoint in reversed(self._committed()) if _seems_whole(checkpoint)), None)

    def verify(self, checkpoint: Checkpoint) -> str | None:
        """Read all of a checkpoint, and say what is wrong with it.

        Args:
            checkpoint: Which one, also one of another folder.

        Returns:
            All faults in one line; None if it is whole, so that `restore` can read it.
        """
        try:
            _manifest.verify(checkpoint)
            _outline.read(checkpoint)
        except NotWholeError as error:
            return str(error)
        return None

    def _write(self, state: Mapping[str, object], step: int) -> _Written:
        """Write the files where no reader looks, and wait until they are on the disk."""
        tree, arrays = _codec.encode(state)
        folder = None
        try:
            if not self._prepared:
                _files.make_folder(self.directory)
                _files.remove_leftovers(self.directory)
                self._prepared = True
            folder = _files.make_temporary(self.directory)
            return _Written(folder, step, _folder.write(folder, tree, arrays))
        except BaseException as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise self._unwritable(step, error) from error
            raise

    def _commit(self, written: _Written) -> Checkpoint:
        """Make what was written the newest checkpoint."""
        try:
            with _commit_lock:
                return self._publish(written)
        except BaseException as error:
            shutil.rmtree(written.folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise self._unwritable(written.step, error) from error
            raise

    def _publish(self, written: _Written) -> Checkpoint:
        for _ in range(_MAX_COMMIT_ATTEMPTS):
            sequence = 1 + max((checkpoint.sequence for checkpoint in _manifest.committed(self.directory)), default=0)
            path = self.directory / _manifest.folder_name(sequence, written.step)
            _manifest.write(written.folder, written.files, step=written.step, sequence=sequence)
            _files.sync_folder(written.folder)
            try:
                written.folder.rename(path)
            except OSError:
                # Another process took the name; what else may be the matter will be so again.
                if not os.path.lexists(path):
                    raise
                continue
            _files.sync_folder(self.directory)
            return Checkpoint(path=path, step=written.step, sequence=sequence)
        raise FileExistsError(f"other processes took the next name {_MAX_COMMIT_ATTEMPTS} times")

    def _prune(self, newest: Checkpoint) -> None:
        """Delete the whole checkpoints that are to be kept no longer: of the same step, and beyond `max_to_keep`.

        Those that are not whole do not count, and are left for a person to look at. What cannot be deleted is tried
        again after the next save.
        """
        whole = self.list()
        # An earlier attempt saved this step; what it held there has been undone.
        replaced = [other for other in whole if other.step == newest.step and other.sequence < newest.sequence]
        kept = [checkpoint for checkpoint in whole if checkpoint not in replaced]
        beyond = [] if self.max_to_keep is None else kept[: -self.max_to_keep]
        for checkpoint in replaced + beyond:
            try:
                _files.discard(checkpoint.path)
            except FileNotFoundError:
                _log.debug("%s was deleted by someone else", checkpoint.path)
            except OSError as error:
                _log.warning("cannot delete %s, which is to be kept no longer: %s", checkpoint.path, error)

    def _committed(self) -> builtins.list[Checkpoint]:
        try:
            return _manifest.committed(self.directory)
        except OSError as error:
            raise CheckpointError(
                f"cannot look for checkpoints in {self.directory}: {error}. Check that it is a folder that may be "
                "read, or give another one"
            ) from error

    def _unwritable(self, step: int, error: OSError) -> CheckpointError:
        return CheckpointError(
            f"cannot save step {step} in {self.directory}: {error}. Check that it is a folder that may be written, and "
            "that its disk has space, or give another one. The checkpoints before this one are as they were"
        )


def _seems_whole(checkpoint: Checkpoint) -> bool:
    try:
        _manifest.check(checkpoint)
    except NotWholeError as error:
        _log.debug("%s is not whole: %s", checkpoint.path, error)
        return False
    return True
