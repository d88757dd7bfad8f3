"""One training: the loop, and the hooks that it has beside those of the program."""

import logging
from pathlib import Path

import tenterhooks as th
from tenterhooks_estimator._hooks import LossLogger, RestoreCheck
from tenterhooks_estimator._model import Model
from tenterhooks_estimator._saving import SavingListener, saver_for
from tenterhooks_estimator.run_config import RunConfig

__all__ = ["train"]

_log = logging.getLogger("tenterhooks_estimator")


def train(
    model: Model,
    model_dir: Path,
    config: RunConfig,
    hooks: list[object],
    listeners: list[SavingListener],
    *,
    steps: int | None,
    max_steps: int | None,
) -> None:
    """Train a model, from the newest checkpoint of a folder on; see `Estimator.train`."""
    spec = model.spec
    lineup: list[object] = [RestoreCheck(model.variables), *hooks]
    if config.log_step_count_steps:
        lineup.append(LossLogger(spec.loss, config.log_step_count_steps))
    lineup += spec.training_hooks
    periods = config.save_periods
    if listeners and config.is_chief:
        lineup.append(saver_for(listeners, [*lineup, *spec.training_chief_hooks], config))
        # It has them.
        periods = {}
    made = 0
    with th.MonitoredTrainingSession(
        graph=model.graph,
        is_chief=config.is_chief,
        checkpoint_dir=model_dir,
        hooks=lineup,
        chief_only_hooks=spec.training_chief_hooks,
        save_summaries_steps=config.save_summary_steps,
        max_to_keep=config.keep_checkpoint_max or None,
        **periods,
    ) as session:
        last = max_steps if steps is None else session.global_step + steps
        while not session.should_stop() and (last is None or session.global_step < last):
            # The input ends the training, whether or not the op looks at it.
            session.run([spec.train_op, "input"])
            made += 1
    if not made:
        _log.warning("no step was made: the input is empty, or a hook asked for a stop before the first one")
