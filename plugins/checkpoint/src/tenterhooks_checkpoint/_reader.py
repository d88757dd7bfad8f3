"""What is in a folder of checkpoints, while a writer may be at work there."""

import builtins
import dataclasses
import logging
import os
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _folder, _manifest
from tenterhooks_checkpoint._background import wait_for
from tenterhooks_checkpoint._manifest import NotWholeError

__all__ = ["Reader"]

_log = logging.getLogger(__name__)


class Reader:
    """Reads the checkpoints of one folder.

    What another process commits and deletes meanwhile is looked for again, so that none is missed but what was older
    than the newest that is found.

    Args:
        directory: The folder.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def restore_one(self, checkpoint: Checkpoint) -> tuple[Checkpoint, dict[str, Any]]:
        """Read this checkpoint, whose folder may be another one.

        Raises:
            CheckpointError: It is not whole.
        """
        try:
            return _read(checkpoint)
        except NotWholeError as error:
            raise CheckpointError(
                f"cannot restore {checkpoint.path}: {error}. Restore another one, as `restore()` does"
            ) from error

    def restore(self) -> tuple[Checkpoint, dict[str, Any]] | None:
        """Read the newest one that is whole, and say what is passed over; None if there is none at all.

        Raises:
            CheckpointError: There are some and none is whole.
        """
        wait_for(self._directory)
        faults: dict[Path, str] = {}
        while True:
            there = self._committed()
            untried = [candidate for candidate in reversed(there) if candidate.path not in faults]
            if not untried:
                break
            for candidate in untried:
                try:
                    return _read(candidate)
                except NotWholeError as error:
                    # Not the error: a log that keeps its records would keep what it was reading.
                    fault = faults[candidate.path] = str(error)
                    if os.path.lexists(candidate.path):
                        _log.warning("passed over %s, which is not whole: %s", candidate.path, fault)
        if not there:
            return None
        reasons = "; ".join(f"{found.path.name}: {faults[found.path]}" for found in reversed(there))
        raise CheckpointError(
            f"no checkpoint in {self._directory} is whole ({reasons}). Put a good copy there, or move these away "
            "to start from the beginning"
        )

    def list(self) -> builtins.list[Checkpoint]:
        """All that seem whole, in the order of their commits."""
        while True:
            there = self._committed()
            whole = [found for checkpoint in there if (found := _seems_whole(checkpoint)) is not None]
            newest = whole[-1].sequence if whole else 0
            if not any(_is_gone(checkpoint) for checkpoint in there if checkpoint.sequence > newest):
                return whole

    def latest(self) -> Checkpoint | None:
        """The newest that seems whole; None if there is none."""
        while True:
            for checkpoint in reversed(self._committed()):
                found = _seems_whole(checkpoint)
                if found is not None:
                    return found
                if _is_gone(checkpoint):
                    break
            else:
                return None

    def _committed(self) -> builtins.list[Checkpoint]:
        try:
            return _manifest.committed(self._directory)
        except OSError as error:
            raise CheckpointError(
                f"cannot look for checkpoints in {self._directory}: {error}. Check that it is a folder that may be "
                "read, or give another one"
            ) from error


def _read(checkpoint: Checkpoint) -> tuple[Checkpoint, dict[str, Any]]:
    manifest, state = _folder.read(checkpoint)
    return dataclasses.replace(checkpoint, metrics=manifest.metrics), state


def _seems_whole(checkpoint: Checkpoint) -> Checkpoint | None:
    """The checkpoint with its metrics; None if it is not whole, as far as that shows without reading its files."""
    try:
        return dataclasses.replace(checkpoint, metrics=_manifest.check(checkpoint).metrics)
    except NotWholeError as error:
        _log.debug("%s is not whole: %s", checkpoint.path, str(error))
        return None


def _is_gone(checkpoint: Checkpoint) -> bool:
    return not os.path.lexists(checkpoint.path)
