"""Fits a wave with a small network in JAX: a jitted update, Optax's Adam, and random numbers from a key.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same bits.
"""

import argparse
import logging
from typing import Any

import jax
import jax.numpy as jnp
import optax

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_stop_at_step import StopAtStepHook

BATCH = 64
OPTIMIZER = optax.adam(optax.cosine_decay_schedule(0.01, 2000))
Params = dict[str, Any]


def fresh(key: Any) -> Params:
    """The parameters of a network with one hidden layer."""
    first, second = jax.random.split(key)
    return {
        "hidden": {"w": jax.random.normal(first, (1, 32)), "b": jnp.zeros(32)},
        "out": {"w": jax.random.normal(second, (32, 1)) / 6, "b": jnp.zeros(1)},
    }


def network(params: Params, x: Any) -> Any:
    hidden = jnp.tanh(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return hidden @ params["out"]["w"] + params["out"]["b"]


def loss_of(params: Params, key: Any) -> Any:
    """The loss on a fresh batch with some noise."""
    places, noise = jax.random.split(key)
    x = jax.random.uniform(places, (BATCH, 1), minval=-2.0, maxval=2.0)
    y = jnp.sin(2 * x) + 0.1 * jax.random.normal(noise, x.shape)
    return jnp.square(network(params, x) - y).mean()


def updated(params: Params, moments: Any, key: Any) -> tuple[Params, Any, Any, Any]:
    key, now = jax.random.split(key)
    loss, gradient = jax.value_and_grad(loss_of)(params, now)
    changes, moments = OPTIMIZER.update(gradient, moments, params)
    return optax.apply_updates(params, changes), moments, key, loss


def main(*hooks: object) -> None:
    """Fit, with these hooks too, and say how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/jax_regression", help="folder of the checkpoints (%(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="how many batches to fit (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    # The memory of the old values is used for the new ones.
    update = jax.jit(updated, donate_argnums=(0, 1))
    params = fresh(jax.random.key(0))
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        save_checkpoint_steps=100,
        state={"params": params, "moments": OPTIMIZER.init(params), "key": jax.random.key(1)},
        hooks=[StopAtStepHook(last_step=options.steps), LoggingTensorHook("loss", every_n_iter=500), *hooks],
    ) as session:
        s = session.state
        for _ in session.steps():
            s["params"], s["moments"], s["key"], loss = update(s["params"], s["moments"], s["key"])
            session.publish(loss=loss)
        x = jnp.linspace(-2.0, 2.0, 101)[:, None]
        error = jnp.abs(network(s["params"], x) - jnp.sin(2 * x)).mean()
    print(f"mean error {float(error):.4f}")


if __name__ == "__main__":
    main()
