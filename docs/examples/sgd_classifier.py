"""Trains scikit-learn's SGDClassifier batch by batch on its digits: the estimator itself is the state.

Run it, kill it whenever you like, and run it again: it goes on from the newest checkpoint, with the same batches.
"""

import argparse
import logging

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook


def main(*hooks: object) -> None:
    """Train, with these hooks too, and say how well it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="runs/sgd_classifier", help="folder of the checkpoints (%(default)s)")
    parser.add_argument("--epochs", type=int, default=20, help="how often to see all digits (%(default)s)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    images, held_out_images, labels, held_out_labels = train_test_split(
        *load_digits(return_X_y=True), test_size=0.25, random_state=0
    )
    order = np.random.default_rng(0)
    scaler, model = StandardScaler(), SGDClassifier(loss="log_loss", average=True, random_state=0)
    with th.MonitoredTrainingSession(
        checkpoint_dir=options.dir,
        save_checkpoint_steps=20,
        state={"scaler": scaler, "model": model, "order": order},
        hooks=[LoggingTensorHook(["accuracy"], every_n_iter=100), *hooks],
    ) as session:
        for epoch in session.epochs(options.epochs):
            rows = order.permutation(len(images))
            for batch in session.steps(np.array_split(rows, 40)):
                if epoch == 0:
                    scaler.partial_fit(images[batch])
                model.partial_fit(scaler.transform(images[batch]), labels[batch], classes=np.arange(10))
                session.publish(accuracy=lambda: model.score(scaler.transform(held_out_images), held_out_labels))
    accuracy = model.score(scaler.transform(held_out_images), held_out_labels)
    print(f"held-out digits: accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
