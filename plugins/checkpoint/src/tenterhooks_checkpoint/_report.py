"""What is said of a checkpoint, whole or not."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import _manifest
from tenterhooks_checkpoint._manifest import NotWholeError
from tenterhooks_checkpoint._text import byte_count, local_time

__all__ = ["HEAD", "Report", "reports"]

HEAD = ("sequence", "step", "size", "time", "state")
"""What stands above the cells of `Report.as_row`."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one checkpoint.

    Attributes:
        checkpoint: Which one.
        size: Of its files, in bytes.
        time: When it was committed, if its manifest says so.
        fault: What is wrong with it; None if it is whole.
    """

    checkpoint: Checkpoint
    size: int
    time: datetime | None
    fault: str | None

    @property
    def state(self) -> str:
        """Whole, or broken and why."""
        return "whole" if self.fault is None else f"broken: {self.fault}"

    def as_row(self) -> tuple[str, ...]:
        """The cells of a line."""
        checkpoint = self.checkpoint
        return str(checkpoint.sequence), str(checkpoint.step), byte_count(self.size), local_time(self.time), self.state

    def as_json(self) -> dict[str, Any]:
        """What stands in the output as JSON."""
        return {
            "name": self.checkpoint.path.name,
            "path": str(self.checkpoint.path),
            "sequence": self.checkpoint.sequence,
            "step": self.checkpoint.step,
            "size": self.size,
            "time": None if self.time is None else self.time.isoformat(),
            "fault": self.fault,
        }


def reports(checkpoints: Iterable[Checkpoint], fault: Callable[[Checkpoint], str | None]) -> Iterator[Report]:
    """Look at checkpoints one after the other; those that a saver deletes meanwhile are left out."""
    for checkpoint in checkpoints:
        found = fault(checkpoint)
        if found is None or os.path.lexists(checkpoint.path):
            yield Report(checkpoint, _size(checkpoint.path), _time(checkpoint), found)


def _size(folder: Path) -> int:
    try:
        # A link might lead elsewhere.
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return 0
        return sum(path.lstat().st_size for path in folder.iterdir())
    except OSError:
        return 0


def _time(checkpoint: Checkpoint) -> datetime | None:
    try:
        return _manifest.read(checkpoint).time
    except NotWholeError:
        return None
