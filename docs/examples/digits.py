"""Trains a two-layer network in NumPy on scikit-learn's digits, with the five hooks of tenterhooks.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint and ends with the same
weights as one that ran through. `tensorboard --logdir runs/digits` shows loss, accuracy and AUC.
"""

import argparse
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import tenterhooks as th
from tenterhooks_final_ops import FinalOpsHook
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_stop_at_step import StopAtStepHook

Array = np.ndarray[Any, Any]

digits = load_digits()
images, held_out_images, labels, held_out_labels = train_test_split(
    digits.data / 16.0, digits.target, test_size=0.25, random_state=0, stratify=digits.target
)


def batches(size: int = 64) -> Iterator[tuple[Array, Array]]:
    """All digits in a new order each epoch, for ever."""
    order = np.random.default_rng(1)
    while True:
        shuffled = order.permutation(len(images))
        for start in range(0, len(shuffled) - size + 1, size):
            chosen = shuffled[start : start + size]
            yield images[chosen], labels[chosen]


def forward(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> tuple[Array, Array]:
    """The hidden layer and the probabilities of the ten digits, one row for each image."""
    hidden = np.maximum(x @ w1 + b1, 0.0)
    logits = hidden @ w2 + b2
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return hidden, odds / odds.sum(axis=1, keepdims=True)


graph = th.Graph()
graph.variable("rng", lambda: np.random.default_rng(0))
graph.variable("w1", lambda rng: rng.normal(0.0, 0.1, (64, 64)))
graph.variable("b1", lambda: np.zeros(64))
graph.variable("w2", lambda rng: rng.normal(0.0, 0.1, (64, 10)))
graph.variable("b2", lambda: np.zeros(10))
graph.placeholder("learning_rate", default=0.2)
graph.source("batch", batches)


@graph.tensor
def layers(batch: tuple[Array, Array], w1: Array, b1: Array, w2: Array, b2: Array) -> tuple[Array, Array]:
    return forward(batch[0], w1, b1, w2, b2)


@graph.tensor
def loss(layers: tuple[Array, Array], batch: tuple[Array, Array]) -> float:
    return float(-np.log(layers[1][np.arange(len(batch[1])), batch[1]] + 1e-12).mean())


@graph.tensor
def gradients(layers: tuple[Array, Array], batch: tuple[Array, Array], w2: Array) -> dict[str, Array]:
    (x, y), (hidden, probabilities) = batch, layers
    error = (probabilities - np.eye(10)[y]) / len(y)
    hidden_error = (error @ w2.T) * (hidden > 0)
    return {"w1": x.T @ hidden_error, "b1": hidden_error.sum(0), "w2": hidden.T @ error, "b2": error.sum(0)}


@graph.train_op
def train(w1: Array, b1: Array, w2: Array, b2: Array, gradients: dict[str, Array], learning_rate: float) -> None:
    w1 -= learning_rate * gradients["w1"]
    b1 -= learning_rate * gradients["b1"]
    w2 -= learning_rate * gradients["w2"]
    b2 -= learning_rate * gradients["b2"]


# Computed only in the runs in which a hook, or the caller, asks for them.
@graph.tensor
def held_out(w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    return forward(held_out_images, w1, b1, w2, b2)[1]


@graph.tensor
def accuracy(held_out: Array) -> float:
    return float((held_out.argmax(axis=1) == held_out_labels).mean())


@graph.tensor
def auc(held_out: Array) -> float:
    return float(roc_auc_score(held_out_labels, held_out, multi_class="ovr"))


for tensor in (loss, accuracy, auc):
    graph.add_to_collection("summaries", tensor)


def main() -> None:
    """Train, and say how well it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/digits", help="folder of checkpoints and summaries (%(default)s)")
    parser.add_argument("--last-step", type=int, default=1500, help="the step to stop at (%(default)s)")
    parser.add_argument("--save-steps", type=int, default=100, help="steps between two checkpoints (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    final = FinalOpsHook({"step": "global_step", "accuracy": accuracy, "auc": auc})
    with th.MonitoredTrainingSession(
        graph=graph,
        checkpoint_dir=options.dir,
        save_checkpoint_steps=options.save_steps,
        save_summaries_steps=50,
        log_step_count_steps=500,
        hooks=[
            StopAtStepHook(last_step=options.last_step),
            NanTensorHook(loss),
            LoggingTensorHook(["loss", "accuracy"], every_n_iter=250),
            final,
        ],
    ) as session:
        while not session.should_stop():
            session.run(train)
    result = final.final_ops_values
    print(f"step {result['step']}, held-out digits: accuracy {result['accuracy']:.4f}, AUC {result['auc']:.4f}")


if __name__ == "__main__":
    main()
