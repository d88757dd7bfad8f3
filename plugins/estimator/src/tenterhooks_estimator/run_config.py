"""What an Estimator trains with: where, how often it saves, and what it logs."""

import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenterhooks.savers import folder_of
from tenterhooks_estimator._arguments import check_seconds, check_whole

__all__ = ["RunConfig"]

_log = logging.getLogger("tenterhooks_estimator")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How an Estimator runs. A period of None is the default's, one of 0 switches off what it is of.

    Attributes:
        model_dir: The folder of checkpoints and summaries, where the Estimator is given none.
        seed: A number for the random generators that a model function and an input function make, such as
            `np.random.default_rng(config.seed)`. The library itself draws no random numbers, and seeds nothing.
        save_checkpoints_steps: The steps between two checkpoints.
        save_checkpoints_secs: The seconds between two; 600 where no period is given. Both may be given.
        keep_checkpoint_max: How many checkpoints are kept; None or 0 keeps all.
        save_summary_steps: The steps between two writes of the collection `summaries`, by the hook `summary`. By
            default none are written.
        log_step_count_steps: The steps between two records of the loss, with the logger `tenterhooks_estimator`.
        is_chief: Whether this process initialises and saves. Any other one gets no `training_chief_hooks`.

    Raises:
        TypeError: One of them is no number, or steps are not whole.
        ValueError: A number is negative.
    """

    model_dir: str | Path | None = None
    seed: int | None = None
    save_checkpoints_steps: int | None = None
    save_checkpoints_secs: float | None = None
    keep_checkpoint_max: int | None = 5
    save_summary_steps: int | None = None
    log_step_count_steps: int | None = 100
    is_chief: bool = True

    def __post_init__(self) -> None:
        check_seconds(save_checkpoints_secs=self.save_checkpoints_secs)
        check_whole(
            0,
            save_checkpoints_steps=self.save_checkpoints_steps,
            keep_checkpoint_max=self.keep_checkpoint_max,
            save_summary_steps=self.save_summary_steps,
            log_step_count_steps=self.log_step_count_steps,
        )

    @property
    def save_periods(self) -> dict[str, Any]:
        """The periods of saving that are given, as `MonitoredTrainingSession` takes them."""
        given = {
            "save_checkpoint_steps": self.save_checkpoints_steps,
            "save_checkpoint_secs": self.save_checkpoints_secs,
        }
        return {name: period for name, period in given.items() if period is not None}

    def folder(self, given: str | Path | None) -> Path:
        """The folder of an Estimator: the one that it is given, this one's, or a new temporary one.

        Raises:
            ValueError: There are two.
        """
        known = {folder_of(d, "model_dir").absolute() for d in (given, self.model_dir) if d is not None}
        if len(known) > 1:
            raise ValueError(
                f"model_dir is {str(given)!r}, and the configuration's is {str(self.model_dir)!r}: give just one"
            )
        if known:
            # Whatever the working directory will be.
            return known.pop()
        made = Path(tempfile.mkdtemp(prefix="tenterhooks-estimator-"))
        _log.warning("no model_dir is given: the checkpoints go into the new folder %s", made)
        return made
