"""Which checkpoints are kept: the last, the best, and every so many steps."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tenterhooks import Checkpoint
from tenterhooks.timer import check_steps

__all__ = ["Mode", "Retention", "ranked"]

Mode = Literal["min", "max"]


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept, each of these beside the others.

    Attributes:
        max_to_keep: How many of those committed last; None: all.
        best: The name of a metric.
        mode: "min" or "max": which values of it are better.
        keep_best: How many of those with the best values.
        keep_every_n_steps: Those whose step is a multiple of this.

    Raises:
        ValueError: A number is less than 1, or there is no such mode.
        TypeError: A number is not whole.
    """

    max_to_keep: int | None = 5
    best: str | None = None
    mode: Mode = "min"
    keep_best: int = 1
    keep_every_n_steps: int | None = None

    def __post_init__(self) -> None:
        for name, advice in (
            ("max_to_keep", ", or None to keep all checkpoints"),
            ("keep_best", ", or leave best away"),
            ("keep_every_n_steps", ", or None"),
        ):
            number = getattr(self, name)
            check_steps(name, number, least=None)
            if number is not None and number < 1:
                raise ValueError(f"{name} is {number}: give a number of at least 1{advice}")
        if self.mode not in ("min", "max"):
            raise ValueError(f'mode is {self.mode!r}: give "min" where less is better, or "max"')

    def surplus(self, checkpoints: list[Checkpoint]) -> list[Checkpoint]:
        """Those that are to be kept no longer.

        Of several of one step just the last is kept: what an earlier attempt held there has been undone.

        Args:
            checkpoints: All whole ones, in the order of their commits.
        """
        last_of_step = {checkpoint.step: checkpoint for checkpoint in checkpoints}
        standing = [checkpoint for checkpoint in checkpoints if last_of_step[checkpoint.step] is checkpoint]
        kept = standing if self.max_to_keep is None else standing[-self.max_to_keep :]
        if self.best is not None:
            kept = kept + ranked(standing, self.best, self.mode)[: self.keep_best]
        if self.keep_every_n_steps is not None:
            kept = kept + [checkpoint for checkpoint in standing if checkpoint.step % self.keep_every_n_steps == 0]
        names = {checkpoint.path for checkpoint in kept}
        return [checkpoint for checkpoint in checkpoints if checkpoint.path not in names]


def ranked(checkpoints: Iterable[Checkpoint], metric: str, mode: Mode) -> list[Checkpoint]:
    """Those that have a metric, the best first, of equal ones the earliest. NaN is never better than anything."""
    measured = [found for found in checkpoints if not math.isnan(found.metrics.get(metric, math.nan))]
    sign = 1 if mode == "min" else -1
    return sorted(measured, key=lambda found: sign * found.metrics[metric])
