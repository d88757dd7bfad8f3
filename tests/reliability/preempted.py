"""A program that trains and saves, and waits for a line on its standard input where a test is to send it a signal.

Each batch that a run took goes into a file, so that a test sees which were taken, in all processes together.
"""

import argparse
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_preemption import PreemptionHook


def say(line: str) -> None:
    # In one write, so that what another thread logs does not come in between.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def wait(at: str) -> None:
    say(at)
    sys.stdin.readline()


class WaitInSave(th.SessionRunHook):
    """Has a save of one step wait while its files are being written, in whichever thread that is."""

    def __init__(self, step: int) -> None:
        self._step = step

    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> None:
        if step == self._step:
            # Those in which the save before it is made.
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()
            os.fsync = self._waiting(os.fsync)  # type: ignore[assignment]

    def _waiting(self, fsync: Callable[[Any], None]) -> Callable[[Any], None]:
        def waiting(descriptor: Any) -> None:
            os.fsync = fsync  # type: ignore[assignment]
            wait(f"in the save of step {self._step}")
            fsync(descriptor)

        return waiting


def model(step_to_wait_in: int | None, log: Path) -> th.Graph:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(4))
    graph.variable("rng", lambda: np.random.default_rng(1))

    def batches() -> Iterator[Any]:
        rng = np.random.default_rng(2)
        while True:
            yield rng.normal(size=4)

    graph.source("batch", batches)

    @graph.train_op
    def train(w: Any, rng: Any, batch: Any, global_step: int) -> dict[str, Any]:
        with log.open("a", encoding="ascii") as file:
            file.write(f"{global_step}: {batch.tobytes().hex()}\n")
        if global_step + 1 == step_to_wait_in:
            wait(f"in step {step_to_wait_in}")
        return {"w": 0.9 * w + batch + rng.normal(size=4)}

    return graph


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--in-step", type=int)
    parser.add_argument("--in-save", type=int)
    parser.add_argument("--save-steps", type=int, default=10**9)
    options = parser.parse_args()

    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    options.folder.mkdir(exist_ok=True)
    hooks: list[object] = [PreemptionHook()]
    if options.in_save is not None:
        hooks.append(WaitInSave(options.in_save))
    with th.MonitoredTrainingSession(
        graph=model(options.in_step, options.folder / "batches.txt"),
        checkpoint_dir=options.folder / "checkpoints",
        save_checkpoint_steps=options.save_steps,
        save_checkpoint_secs=None,
        hooks=hooks,
    ) as session:
        while not session.should_stop() and session.global_step < 8:
            session.run("train")
        say(f"weights at step {session.global_step}: {session.state['w'].tobytes().hex()}")


if __name__ == "__main__":
    main()
