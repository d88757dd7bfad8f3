"""Learns which of ten slot machines pays most, with an epsilon-greedy strategy: a loop without data.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same coins.
"""

import argparse
import logging

import numpy as np

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_stop_at_step import StopAtStepHook

CHANCES = np.random.default_rng(1).permutation(np.linspace(0.1, 0.8, 10))
EPSILON = 0.1


def main(*hooks: object) -> None:
    """Play, with these hooks too, and say what was learnt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/bandit", help="folder of the checkpoints (%(default)s)")
    parser.add_argument("--steps", type=int, default=5000, help="how often to play (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    rng = np.random.default_rng(0)
    plays, wins = np.zeros(10, int), np.zeros(10, int)
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        save_checkpoint_steps=100,
        state={"rng": rng, "plays": plays, "wins": wins},
        hooks=[
            StopAtStepHook(last_step=options.steps),
            LoggingTensorHook(["machine", "regret"], every_n_iter=1000),
            *hooks,
        ],
    ) as session:
        while not session.should_stop():
            with session.step():
                # A machine that was never played promises most.
                promise = np.divide(wins, plays, out=np.ones(10), where=plays > 0)
                machine = int(rng.integers(10) if rng.random() < EPSILON else promise.argmax())
                plays[machine] += 1
                wins[machine] += rng.random() < CHANCES[machine]
                session.publish(machine=machine, regret=lambda: float(plays @ (CHANCES.max() - CHANCES)))
    favourite = int(plays.argmax())
    paid, chance = wins[favourite] / plays[favourite], CHANCES[favourite]
    print(f"machine {favourite} was played most, and paid {paid:.3f} of the time (its chance is {chance:.3f})")
    print(f"the best one is machine {CHANCES.argmax()}; {wins.sum()} of {plays.sum()} plays were won")


if __name__ == "__main__":
    main()
