"""Simulates a magnet, Ising's model in two dimensions, and measures it: nothing is learnt, and there is no data.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same numbers.
`tensorboard --logdir runs/simulation` shows energy and magnetization.
"""

import argparse
import logging
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_stop_at_step import StopAtStepHook
from tenterhooks_summary import SummarySaverHook

SIZE = 64
TEMPERATURE = 2.0
BLACK = np.indices((SIZE, SIZE)).sum(axis=0) % 2 == 0
Array = np.ndarray[Any, Any]


def neighbours(spins: Array) -> Array:
    """The sum of the four spins around each, where opposite edges touch."""
    return sum((np.roll(spins, shift, axis) for shift in (-1, 1) for axis in (0, 1)), np.zeros_like(spins))


class Average(th.SessionRunHook):
    """The mean of a published value over all steps from one on; its state is saved with the session's."""

    def __init__(self, value: str, first_step: int) -> None:
        self.value, self.first_step, self.sum, self.count = value, first_step, 0.0, 0

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs(self.value) if run_context.session.global_step + 1 >= self.first_step else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_values.results is not None:
            self.sum, self.count = self.sum + run_values.results, self.count + 1

    def state_dict(self) -> dict[str, Any]:
        return {"sum": self.sum, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.sum, self.count = state["sum"], state["count"]


def main(*hooks: object) -> None:
    """Simulate, with these hooks too, and say what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/simulation", help="folder of checkpoints and summaries (%(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="how often each spin may turn (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    rng = np.random.default_rng(0)
    spins = np.ones((SIZE, SIZE))
    order = Average("magnetization", first_step=options.steps // 5)
    names = ["energy", "magnetization"]
    stop = StopAtStepHook(last_step=options.steps)
    watch = [LoggingTensorHook(names, every_n_iter=500), SummarySaverHook(save_steps=50, tensors=names)]
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        save_checkpoint_steps=100,
        state={"rng": rng, "spins": spins},
        hooks=[stop, *watch, order, *hooks],
    ) as session:
        for _ in session.steps():
            for colour in (BLACK, ~BLACK):
                # What turning a spin costs. Those of one colour are no neighbours, and may turn together.
                cost = 2 * spins * neighbours(spins)
                spins[colour & (rng.random(spins.shape) < np.exp(-cost / TEMPERATURE))] *= -1
            session.publish(energy=lambda: -(spins * neighbours(spins)).mean() / 2, magnetization=abs(spins.mean()))
    exact = (1 - np.sinh(2 / TEMPERATURE) ** -4) ** (1 / 8)
    print(f"mean magnetization {order.sum / order.count:.3f}; that of an endless magnet is {exact:.3f}")


if __name__ == "__main__":
    main()
