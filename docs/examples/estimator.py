"""Recognizes scikit-learn's digits: a subclass of Estimator, with a hook of its own that logs what its network gives.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same numbers.
"""

import argparse
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import tenterhooks as th
from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys, RunConfig, metrics

images, digits = load_digits(return_X_y=True)
held_in, held_out = np.split(np.random.default_rng(0).permutation(len(images)), [1347])


def input_fn() -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng(1)
    while True:
        rows = rng.choice(held_in, 64)
        yield images[rows] / 16, digits[rows]


class LogOutputs(th.SessionRunHook):
    """Logs, in each run, what is in the collections `logits` and `probabilities`, of the first image."""

    def begin(self, graph: th.Graph) -> None:
        self._args = th.SessionRunArgs([*graph.get_collection("logits"), *graph.get_collection("probabilities")])

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return self._args

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        step, first = run_context.session.global_step, [output[0].round(2) for output in run_values.results]
        logging.getLogger("digits").info("step %d: logits %s, probabilities %s", step, *first)


class DigitsClassifier(Estimator):
    """A network of one layer."""

    def __init__(self, model_dir: str) -> None:
        super().__init__(self.network, model_dir, config=RunConfig(save_checkpoints_steps=50))

    def network(self, features: th.Node, labels: th.Node, mode: ModeKeys) -> EstimatorSpec:
        graph = features.graph
        graph.variable("w", np.zeros((64, 10)))
        logits = graph.tensor(lambda features, w: features @ w, name="logits")
        graph.tensor(lambda logits: np.exp(logits - logits.max(axis=1, keepdims=True)), name="odds")
        probabilities = graph.tensor(lambda odds: odds / odds.sum(axis=1, keepdims=True), name="probabilities")
        classes = graph.tensor(lambda logits: logits.argmax(axis=1), name="classes")
        graph.add_to_collection("logits", logits)
        graph.add_to_collection("probabilities", probabilities)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions={"class": classes, "probabilities": probabilities})
        graph.tensor(lambda probabilities, labels: probabilities[np.arange(len(labels)), labels], name="hits")
        loss = graph.tensor(lambda hits: -np.log(hits + 1e-12).mean(), name="loss")
        graph.tensor(lambda probabilities, labels: (probabilities - np.eye(10)[labels]) / len(labels), name="error")
        train = graph.train_op(lambda w, features, error: {"w": w - 0.5 * features.T @ error}, name="train")
        ops, hooks = {"accuracy": metrics.accuracy(labels, classes)}, [LogOutputs()]
        return EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=ops, training_hooks=hooks)


def main(*hooks: object) -> None:
    """Train, with these hooks too, and say how well it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/estimator", help="folder of checkpoints and summaries (%(default)s)")
    parser.add_argument("--steps", type=int, default=1000, help="the step to stop at (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    classifier = DigitsClassifier(options.dir).train(input_fn, hooks=hooks, max_steps=options.steps)
    result = classifier.evaluate(lambda: [(images[held_out] / 16, digits[held_out])])
    print(f"step {result['global_step']}: accuracy {result['accuracy']:.4f} and loss {result['loss']:.4f}, held out")


if __name__ == "__main__":
    main()
