"""Trains a little, and writes what it finds to both kinds of files: `program.py FOLDER STEPS`.

It makes a step for each line that it reads, and says each that it makes.
"""

import math
import sys
from pathlib import Path

import numpy as np

import tenterhooks as th
from tenterhooks_logging import CsvHook, JsonLinesHook


def main(folder: Path, last: int) -> None:
    state = {"w": np.ones(4), "rng": np.random.default_rng(1)}
    hooks = [JsonLinesHook(every_n_steps=1), CsvHook(every_n_steps=1)]
    with th.MonitoredTrainingSession(
        checkpoint_dir=folder, state=state, hooks=hooks, save_checkpoint_steps=3
    ) as session:
        for step in session.steps(range(last)):
            sys.stdin.readline()
            session.state["w"] += session.state["rng"].normal(size=4)
            session.publish(loss=float(session.state["w"].sum()))
            if step % 7 == 0:
                session.publish({"seldom": math.nan, f"tag {step // 30}": step})
            print(step, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
