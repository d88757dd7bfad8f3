"""Trains in a loop of its own, with checkpoints and curves: FOLDER LAST_STEP [KILL_IN_STEP]."""

import os
import signal
import sys

import tenterhooks as th
from tenterhooks.summaries import open_summary_writer
from tenterhooks_checkpoint import CheckpointSaverHook
from tenterhooks_step_counter import StepCounterHook
from tenterhooks_stop_at_step import StopAtStepHook
from tenterhooks_summary import Histogram, SummarySaverHook


def main(folder: str, last_step: int, kill_in: int | None = None) -> None:
    hooks = [
        SummarySaverHook(save_steps=1, tensors=["loss", Histogram("weights")], hparams={"rate": 0.1}),
        StepCounterHook(every_n_steps=10),
        CheckpointSaverHook(save_steps=20, asynchronous=False),
        StopAtStepHook(last_step=last_step),
    ]
    with th.MonitoredTrainingSession(
        checkpoint_dir=folder, state={"w": 1.0}, hooks=hooks, save_checkpoint_secs=None
    ) as session:
        for _ in session.steps():
            session.state["w"] *= 0.9
            session.publish(loss=session.state["w"], weights=[session.state["w"], 1.0])
            if session.global_step + 1 == kill_in:
                # What it wrote beyond the checkpoint is there, and void.
                open_summary_writer(folder).flush()
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
