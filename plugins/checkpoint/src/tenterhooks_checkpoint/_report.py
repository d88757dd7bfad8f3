"""What is said of a checkpoint, whole or not."""

import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import _manifest
from tenterhooks_checkpoint._manifest import NotWholeError
from tenterhooks_checkpoint._text import byte_count, local_time

__all__ = ["HEAD", "Report", "reports"]

HEAD = ("sequence", "step", "size", "time", "metrics", "state")
"""What stands above the cells of `Report.as_row`."""


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one checkpoint.

    Attributes:
        checkpoint: Which one.
        size: Of its files, in bytes.
        time: When it was committed, if its manifest says so.
        metrics: What was measured at its step, by name.
        fault: What is wrong with it; None if it is whole.
    """

    checkpoint: Checkpoint
    size: int
    time: datetime | None
    metrics: Mapping[str, float]
    fault: str | None

    @property
    def state(self) -> str:
        """Whole, or broken and why."""
        return "whole" if self.fault is None else f"broken: {self.fault}"

    def as_row(self) -> tuple[str, ...]:
        """The cells of a line."""
        order, step = str(self.checkpoint.sequence), str(self.checkpoint.step)
        metrics = ", ".join(f"{name} {value:.6g}" for name, value in self.metrics.items()) or "-"
        return order, step, byte_count(self.size), local_time(self.time), metrics, self.state

    def as_json(self) -> dict[str, Any]:
        """What stands in the output as JSON."""
        return {
            "name": self.checkpoint.path.name,
            "path": str(self.checkpoint.path),
            "sequence": self.checkpoint.sequence,
            "step": self.checkpoint.step,
            "size": self.size,
            "time": None if self.time is None else self.time.isoformat(),
            "metrics": {name: value if math.isfinite(value) else str(value) for name, value in self.metrics.items()},
            "fault": self.fault,
        }


def reports(checkpoints: Iterable[Checkpoint], fault: Callable[[Checkpoint], str | None]) -> Iterator[Report]:
    """Look at checkpoints one after the other; those that a saver deletes meanwhile are left out."""
    for checkpoint in checkpoints:
        found = fault(checkpoint)
        if found is None or os.path.lexists(checkpoint.path):
            time, metrics = _measured(checkpoint)
            yield Report(checkpoint, _size(checkpoint.path), time, metrics, found)


def _size(folder: Path) -> int:
    try:
        # A link might lead elsewhere.
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return 0
        return sum(path.lstat().st_size for path in folder.iterdir())
    except OSError:
        return 0


def _measured(checkpoint: Checkpoint) -> tuple[datetime | None, Mapping[str, float]]:
    """The time and the metrics, as far as the manifest can be read."""
    try:
        manifest = _manifest.read(checkpoint)
    except NotWholeError:
        return None, {}
    return manifest.time, manifest.metrics
