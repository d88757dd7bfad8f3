"""Trains a GAN in PyTorch: two networks, two optimizers, and one step of both in each pass.

The data are two bumps on a line, and the generator learns to make numbers like them. Run it, kill it whenever you like,
and run it again: it goes on from the newest checkpoint, with the same noise.
"""

import argparse
import logging
from typing import Any

import torch
from torch import nn

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_stop_at_step import StopAtStepHook

BATCH = 128


def network(inputs: int) -> Any:
    """A network that makes one number of some."""
    hidden = [nn.Linear(inputs, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2)]
    return nn.Sequential(*hidden, nn.Linear(32, 1))


def real(noise: Any) -> Any:
    """Numbers around -1 and 1."""
    signs = torch.randint(2, (BATCH, 1), generator=noise) * 2 - 1
    return signs + 0.2 * torch.randn(BATCH, 1, generator=noise)


def main(*hooks: object) -> None:
    """Train, with these hooks too, and say what the generator makes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/gan", help="folder of the checkpoints (%(default)s)")
    parser.add_argument("--steps", type=int, default=4000, help="how many steps to train (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    torch.manual_seed(0)
    noise = torch.Generator().manual_seed(1)
    generator, critic = network(4), network(1)
    networks = {"generator": generator, "critic": critic}
    optimizers = {name: torch.optim.Adam(networks[name].parameters(), lr=1e-3, betas=(0.5, 0.99)) for name in networks}
    judge = nn.functional.binary_cross_entropy_with_logits
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        save_checkpoint_steps=50,
        state={"networks": networks, "optimizers": optimizers, "noise": noise},
        hooks=[
            StopAtStepHook(last_step=options.steps),
            LoggingTensorHook(["loss/generator", "loss/critic"], every_n_iter=500),
            NanTensorHook("loss/critic"),
            *hooks,
        ],
    ) as session:
        ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
        for _ in session.steps():
            made = generator(torch.randn(BATCH, 4, generator=noise))
            critic_loss = judge(critic(real(noise)), ones) + judge(critic(made.detach()), zeros)
            optimizers["critic"].zero_grad()
            critic_loss.backward()
            optimizers["critic"].step()
            generator_loss = judge(critic(made), ones)
            optimizers["generator"].zero_grad()
            generator_loss.backward()
            optimizers["generator"].step()
            session.publish({"loss/generator": generator_loss, "loss/critic": critic_loss})
    with torch.no_grad():
        made = generator(torch.randn(10_000, 4, generator=torch.Generator().manual_seed(2)))
    print(f"of what it makes, {(made > 0).float().mean():.2f} is positive; sizes {made.abs().mean():.2f} on average")


if __name__ == "__main__":
    main()
