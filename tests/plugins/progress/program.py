"""Trains with a bar: `program.py FOLDER LAST_STEP`.

It makes a step for each line that it reads, and does what the line says. What it has done it says on its standard
output.
"""

import logging
import sys
from pathlib import Path

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook
from tenterhooks_progress import ProgressHook

LOG = logging.getLogger("program")


def do(line: str) -> None:
    what, _, text = line.strip().partition(" ")
    match what:
        case "log":
            LOG.info(text)
        case "configure":
            logging.basicConfig(level=logging.INFO, format="%(message)s")
        case "fail":
            raise ValueError(text)
        case "wait":
            print("waiting", flush=True)
            sys.stdin.readline()


def main(folder: Path, last: int) -> None:
    hooks = [
        ProgressHook(total=last, values="loss", every_n_secs=0.0, desc="program"),
        CheckpointSaverHook(save_steps=5, asynchronous=False),
    ]
    with th.MonitoredTrainingSession(checkpoint_dir=folder, state={"w": 0.0}, hooks=hooks) as session:
        print("begun", flush=True)
        for step in session.steps(range(last)):
            do(sys.stdin.readline())
            session.state["w"] += 1.0
            session.publish(loss=100.0 * session.state["w"])
            print(step, flush=True)
    print("over", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
