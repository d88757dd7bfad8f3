"""Faults that users met with NaN and with zeros, in sessions with the built-in hooks and checkpoints on the disk."""

import csv
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_early_stopping import EarlyStoppingHook
from tenterhooks_evaluator import EvaluatorHook
from tenterhooks_learning_rate import ReduceOnPlateauHook
from tenterhooks_logging import CsvHook, JsonLinesHook, LoggingTensorHook
from tenterhooks_nan import NanTensorHook


def of_a_graph(folder: Path, hooks: Iterable[object], steps: int, ruined_at: int | None = None) -> Any:
    graph = th.Graph()
    graph.variable("w", lambda: np.ones(2))
    graph.tensor(lambda w: float(w.sum()), name="loss")

    def update(w: Any, global_step: int) -> None:
        w *= np.nan if global_step + 1 == ruined_at else 0.5

    graph.train_op(update, name="train")
    with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=folder, hooks=hooks) as session:
        while not session.should_stop() and session.global_step < steps:
            session.run("train")
        return session.state["w"].tolist(), [stop.hook for stop in session.stop]


def of_its_own(folder: Path, hooks: Iterable[object], steps: int, ruined_at: int | None = None) -> Any:
    w = np.ones(2)
    with th.MonitoredTrainingSession(state={"w": w}, checkpoint_dir=folder, hooks=hooks) as session:
        for step in session.steps(range(steps)):
            session.publish(loss=float(w.sum()))
            w *= np.nan if step + 1 == ruined_at else 0.5
        return w.tolist(), [stop.hook for stop in session.stop]


both = pytest.mark.parametrize("train", [of_a_graph, of_its_own], ids=lambda loop: loop.__name__)


@both
@pytest.mark.parametrize("deferred", [False, True])
def test_a_graceful_stop_at_nan_leaves_the_checkpoints_before_it_to_go_on_from(
    train: Any, deferred: bool, tmp_path: Path
) -> None:
    def hooks() -> list[object]:
        # One checkpoint is kept: a ruined one would take its place.
        return [
            CheckpointSaverHook(save_steps=2, max_to_keep=1),
            NanTensorHook("loss", fail_on_nan_loss=False, deferred=deferred),
        ]

    _, stopped_by = train(tmp_path, hooks(), 9, ruined_at=5)
    assert stopped_by == ["nan"]
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [4]
    assert train(tmp_path, hooks(), 9) == ([0.5**9] * 2, [])
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [9]


def test_a_value_that_is_zero_is_one_to_every_hook(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    values = [2.0, 0.0, 1.0, 1.0]
    early = EarlyStoppingHook("eval/x", patience=9)
    plateau = ReduceOnPlateauHook("eval/x", learning_rate=1.0, factor=0.5, patience=1)
    evaluator = EvaluatorHook(lambda session: {"x": values[session.global_step - 1]}, every_n_steps=1)
    hooks = [
        evaluator,
        early,
        plateau,
        CsvHook(optional=["eval/x"], every_n_steps=1),
        JsonLinesHook(optional=["eval/x"], every_n_steps=1),
        LoggingTensorHook("zero", every_n_iter=1),
        CheckpointSaverHook(save_steps=1, max_to_keep=1, best="eval/x"),
    ]
    with th.MonitoredTrainingSession(state={}, checkpoint_dir=tmp_path, hooks=hooks) as session:
        for _ in session.steps(range(4)):
            session.publish(zero=session.feeds["learning_rate"] * 0.0)
    assert (early.best, early.best_step) == (0.0, 2)
    # Two checks were no better than 0.
    assert plateau.state_dict()["scale"] == 0.5
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [2, 4]
    with (tmp_path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["zero"], row["eval/x"]) for row in csv.DictReader(file)] == [("0.0", str(x)) for x in values]
    assert '"eval/x": 0.0' in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[1]
    assert sum("zero = 0.0" in record.message for record in caplog.records) == 4


@both
def test_what_hooks_tell_of_a_resumed_run_is_of_one_step(
    train: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def hooks() -> list[object]:
        return [
            EvaluatorHook(lambda session: {"step": session.global_step}, metrics=["step"], every_n_steps=1),
            CsvHook("loss", optional=["eval/step"], every_n_steps=1),
            LoggingTensorHook("loss", every_n_iter=1),
            CheckpointSaverHook(save_steps=1, max_to_keep=None, best="eval/step"),
        ]

    train(tmp_path, hooks(), 3)
    caplog.clear()
    train(tmp_path, hooks(), 5)
    with (tmp_path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = [(int(row["step"]), float(row["eval/step"]), float(row["loss"])) for row in csv.DictReader(file)]
    assert rows == [(step, step, 2 * 0.5 ** (step - 1)) for step in range(1, 6)]
    assert [(c.step, c.metrics["eval/step"]) for c in Saver(tmp_path).list()[1:]] == [(s, s) for s in range(1, 6)]
    logged = [record.message for record in caplog.records if record.name == "tenterhooks_logging"]
    assert [message.split(":")[0] for message in logged if "loss" in message] == ["step 4", "step 5"]
