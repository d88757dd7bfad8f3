"""The default saver: a folder of checkpoints, each a folder of its own."""

import builtins
import logging
import operator
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks.savers import folder_of
from tenterhooks_checkpoint import _files, _manifest, _outline
from tenterhooks_checkpoint._manifest import NotWholeError
from tenterhooks_checkpoint._reader import Reader
from tenterhooks_checkpoint._retention import Mode, Retention, ranked
from tenterhooks_checkpoint._writer import Writer

__all__ = ["Saver"]

_log = logging.getLogger(__name__)

_NO_METRICS: Mapping[str, float] = MappingProxyType({})


class Saver:
    """Keeps the checkpoints of one folder.

    Each is a folder `checkpoint-<sequence>-step-<step>`, where the sequence counts the commits. It holds
    `arrays.safetensors`, `state.json` (all that is no array) and `manifest.json` (size and checksum of the two, and a
    checksum of itself).
    It is written under a name that begins with `.tmp-`, flushed to the disk, and renamed, so what has a checkpoint's
    name is complete. What a killed process left under such a name is removed by the first save of a later one on this
    machine. Nothing is pickled.

    Any number may read one folder while one saver writes; a second one that would write gets an error, in this process
    or in another. `open` or the first save takes the folder, and `close` gives it back, or the end of the process.

    Args:
        directory: The folder. It is made by the first save.
        max_to_keep: How many checkpoints are kept, those committed last, those of earlier processes included. Older
            whole ones are deleted after a new one is committed. None keeps all.
        best: The name of a metric: those with its best values are kept, too.
        mode: "min" or "max", which of its values are better. NaN is never better than anything.
        keep_best: How many of those are kept.
        keep_every_n_steps: Those whose step is a multiple of this are kept, too.

    Raises:
        ValueError: A number is not at least 1, or there is no such mode.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     saver = Saver(directory, max_to_keep=2)
        ...     for step in (100, 200, 300):
        ...         _ = saver.save({"w": np.full(3, step)}, step=step)
        ...     print([checkpoint.path.name for checkpoint in saver.list()])
        ...     checkpoint, state = saver.restore()
        ...     saver.close()
        ['checkpoint-2-step-200', 'checkpoint-3-step-300']
        >>> state["w"]
        array([300, 300, 300])
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        max_to_keep: int | None = 5,
        best: str | None = None,
        mode: Mode = "min",
        keep_best: int = 1,
        keep_every_n_steps: int | None = None,
    ) -> None:
        # Whatever the working directory will be.
        self.directory = folder_of(directory, "the folder of checkpoints").absolute()
        self._retention = Retention(max_to_keep, best, mode, keep_best, keep_every_n_steps)
        self._reader = Reader(self.directory)
        self._writer = Writer(self.directory)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.directory)!r}, max_to_keep={self._retention.max_to_keep})"

    def save(self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float] = _NO_METRICS) -> Checkpoint:
        """Write a checkpoint, make it the newest, and delete what is to be kept no longer.

        It takes the place of one of the same step, which an earlier attempt left.

        Args:
            state: Entries by name: NumPy arrays and scalars, bool, int, float, str, bytes, None, and lists, tuples and
                dicts of them.
            step: The global step.
            metrics: What was measured at this step, by name.

        Returns:
            The new checkpoint.

        Raises:
            CheckpointError: The state holds something else, it cannot be written, or another saver has this folder.
                Those before are as they were.
            ValueError: The step is negative.
        """
        step = operator.index(step)
        if step < 0:
            raise ValueError(f"a checkpoint's step is at least 0, not {step}")
        written = self._writer.write(state, step=step, metrics={name: float(metrics[name]) for name in metrics})
        checkpoint = self._writer.commit(written)
        self._prune()
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
        return self._reader.restore() if checkpoint is None else self._reader.restore_one(checkpoint)

    def list(self) -> builtins.list[Checkpoint]:
        """All checkpoints that are whole, in the order in which they were committed.

        It looks at the manifests and at the sizes of the files; only `restore` reads them.

        Raises:
            CheckpointError: The folder cannot be read.
        """
        return self._reader.list()

    def latest(self) -> Checkpoint | None:
        """The last one of `list()`; None if there is none.

        Raises:
            CheckpointError: The folder cannot be read.
        """
        return self._reader.latest()

    def best(self, metric: str | None = None, mode: Mode | None = None) -> Checkpoint | None:
        """The one of `list()` with the best value of a metric, of several the one committed first.

        Args:
            metric: Its name; by default the one that the saver was made with.
            mode: "min" or "max", which is better; by default the one that the saver was made with.

        Returns:
            The checkpoint; None if there is none with that metric. NaN is no value.

        Raises:
            ValueError: No metric is named, here or when the saver was made.
            CheckpointError: The folder cannot be read.
        """
        metric = metric or self._retention.best
        if metric is None:
            raise ValueError('best of what? Name a metric, as in best("loss"), or give best= to the saver')
        return next(iter(ranked(self.list(), metric, mode or self._retention.mode)), None)

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

    def open(self) -> None:
        """Make the folder, take hold of it, and remove what dead processes left there. A save does so by itself.

        Raises:
            CheckpointError: Another saver has this folder, or it cannot be written.
        """
        self._writer.open()

    def close(self) -> None:
        """Let others save into the folder. Closing twice is harmless; the next save takes it again."""
        self._writer.close()

    def _prune(self) -> None:
        """Delete the whole checkpoints that are to be kept no longer.

        Those that are not whole do not count, and are left for a person to look at. What cannot be deleted is tried
        again after the next save.
        """
        try:
            surplus = self._retention.surplus(self.list())
        except CheckpointError as error:
            # What was saved is there.
            _log.warning("nothing is deleted that is to be kept no longer: %s", str(error))
            return
        for checkpoint in surplus:
            try:
                _files.discard(checkpoint.path)
            except FileNotFoundError:
                _log.debug("%s was deleted by someone else", checkpoint.path)
            except OSError as error:
                _log.warning("cannot delete %s, which is to be kept no longer: %s", checkpoint.path, str(error))
