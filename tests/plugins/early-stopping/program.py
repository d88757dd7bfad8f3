"""A training that is killed at a step: it learns until a validation loss gets no better.

python program.py FOLDER [STEP]
"""

import os
import signal
import sys
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_early_stopping import EarlyStoppingHook


def main(folder: str, killed_at: int | None = None) -> None:
    state: dict[str, Any] = {"w": np.zeros(2), "rng": np.random.default_rng(3)}
    hook = EarlyStoppingHook("eval/loss", patience=3, restore_best=True)
    with th.MonitoredTrainingSession(
        state=state, checkpoint_dir=folder, save_checkpoint_steps=2, hooks=[hook]
    ) as session:
        for _ in session.epochs(100):
            for _ in session.steps(range(5)):
                session.state["w"] += state["rng"].normal(0.1, 1.0, 2)
                if session.global_step == killed_at:
                    os.kill(os.getpid(), signal.SIGKILL)
            session.publish({"eval/loss": float(np.abs(session.state["w"] - 2.0).sum())})
        stop = session.stop[0]
    print(stop.global_step, hook.best, hook.best_step, state["w"].tobytes().hex())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
