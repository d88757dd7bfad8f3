"""Evaluations: their numbers, their hooks, and what they leave alone."""

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver
from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys, metrics

from .models import Enough, Noting, batches, default_graph, few, input_fn, make, saved, steps


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "model").train(few(5))
    return tmp_path / "model"


def test_it_gives_the_metrics_the_loss_and_the_step(folder: Path) -> None:
    w = Saver(folder).restore()[1]["variables"]["w"]  # type: ignore[index] # There is one.
    losses, hits = [], []
    for features, labels in batches(3, seed=7):
        logits = features["x"] @ w
        losses.append(((logits - labels) ** 2).mean())
        hits.extend((logits > 0) == labels)
    result = make(folder).evaluate(lambda: batches(3, seed=7))
    assert result["accuracy"] == np.mean(hits)
    assert result["loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert result["global_step"] == 5
    assert 0.5 < result["auc"] <= 1.0
    assert set(result) == {"accuracy", "auc", "loss", "global_step"}


def test_it_sees_as_many_batches_as_are_wanted(folder: Path) -> None:
    drawn: list[int] = []

    def counted() -> Any:
        for number, batch in enumerate(batches(9)):
            drawn.append(number)
            yield batch

    result = make(folder).evaluate(counted, steps=4)
    assert drawn == [0, 1, 2, 3]
    assert result == make(folder).evaluate(few(4))


def test_it_is_of_the_checkpoint_that_is_named(folder: Path) -> None:
    first = Saver(folder).list()[0].path
    assert make(folder).evaluate(few(2), checkpoint_path=first)["global_step"] == 0


def test_it_changes_nothing_in_the_checkpoints(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    make(folder).evaluate(few(2), hooks=[Noting()])
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "eval" not in path.parts}
    assert after == before


def test_hooks_are_called_those_of_the_call_first(folder: Path) -> None:
    calls: list[str] = []
    make(folder, hooks=[Noting("model", calls)]).evaluate(few(2), hooks=[Noting("a", calls)])
    assert calls == [f"{name}.{call}" for call in ("begin", "run5", "run5", "end") for name in ("a", "model")]


def test_a_hook_may_end_it(folder: Path) -> None:
    class Stopping(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            run_context.request_stop("enough")

    assert make(folder).evaluate(few(9), hooks=[Stopping()]) == make(folder).evaluate(few(1))


def test_an_error_of_it_is_told_to_hooks_and_says_which_metric(folder: Path) -> None:
    def wrong() -> Any:
        yield next(batches(1))
        yield {"x": np.ones((2, 3))}, np.array([7, 7])

    noting = Noting()
    with pytest.raises(ValueError, match=r"labels are truth values, or 0 and 1, and .*7") as caught:
        make(folder).evaluate(wrong, hooks=[noting])
    assert "in the metric 'auc' of the evaluation" in caught.value.__notes__
    assert noting.calls[-1] == "noting.ValueError"


def test_a_metric_may_be_the_programs_own(folder: Path) -> None:
    class Largest:
        def __init__(self) -> None:
            self._largest = -math.inf

        def update(self, values: Any) -> None:
            self._largest = max(self._largest, float(np.max(values)))

        def result(self) -> float:
            return self._largest

    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        ops = {
            "largest": metrics.MetricOp(Largest, {"values": graph.tensor(lambda features: features["x"], name="x")}),
            "mean": metrics.mean("x"),
        }
        return EstimatorSpec(mode, loss=graph.tensor(lambda features: 1.5, name="loss"), eval_metric_ops=ops)

    seen = np.concatenate([features["x"] for features, _ in batches(3)])
    estimator = Estimator(model_fn, folder)
    for _ in range(2):
        result = estimator.evaluate(few(3))
        assert result["largest"] == seen.max()
        assert result["mean"] == pytest.approx(seen.mean(), rel=1e-12)
        assert result["loss"] == 1.5


def test_each_value_is_computed_once_a_batch_for_all_metrics(folder: Path) -> None:
    calls: list[str] = []

    def model_fn(mode: ModeKeys, labels: th.Node) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        graph.tensor(lambda labels: calls.append("classes") or labels, name="classes")  # type: ignore[func-returns-value]
        ops = {"a": metrics.accuracy(labels, "classes"), "b": metrics.precision("labels", "classes")}
        return EstimatorSpec(mode, loss=graph.tensor(lambda classes: 0.0, name="loss"), eval_metric_ops=ops)

    Estimator(model_fn, folder).evaluate(few(3))
    assert calls == ["classes"] * 3


def with_loss(folder: Path, loss: Any) -> Estimator:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        ops = {"mean": metrics.mean(graph.tensor(lambda w: w.sum(), name="sum"))}
        return EstimatorSpec(mode, loss=graph.tensor(loss, name="loss"), eval_metric_ops=ops)

    return Estimator(model_fn, folder)


def test_it_ends_with_an_input_that_the_model_does_not_look_at(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tenterhooks_estimator"):
        with_loss(folder, lambda: 1.5).evaluate(few(3), hooks=[Enough(5)])
    assert any(message.startswith("evaluated 3 batches") for message in caplog.messages)


@pytest.mark.parametrize(("loss", "count"), [([0.5, 1.5], 2), (np.ones((2, 3)), 6), ([], 0)])
def test_a_loss_is_one_number(folder: Path, loss: Any, count: int) -> None:
    with pytest.raises(ValueError, match=f"the loss of a batch is one number, not {count}: take their mean, say"):
        with_loss(folder, lambda: loss).evaluate(few(1), hooks=[Enough(5)])
    assert with_loss(folder, lambda: np.array([[2.5]])).evaluate(few(1))["loss"] == 2.5


def test_what_is_no_metric_is_named(folder: Path) -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        loss = graph.tensor(lambda: 1.0, name="loss")
        made: Any = list
        return EstimatorSpec(mode, loss=loss, eval_metric_ops={"wrong": metrics.MetricOp(made, {"values": loss})})

    with pytest.raises(AttributeError, match="update") as caught:
        Estimator(model_fn, folder).evaluate(few(1), hooks=[Enough(5)])
    assert "in the metric 'wrong' of the evaluation" in caught.value.__notes__


def test_an_empty_input_is_an_error(folder: Path) -> None:
    with pytest.raises(ValueError, match="the evaluation saw no batch: input_fn gave none"):
        make(folder).evaluate(few(0))


def test_without_a_checkpoint_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(th.CheckpointError, match=r"no checkpoint in .*: train first, or pass checkpoint_path"):
        make(tmp_path).evaluate(few(1))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"steps": 0}, ValueError, "steps is 1 or more, not 0"),
        ({"input_fn": None}, TypeError, "input_fn is a function, not None"),
        ({"hooks": [object()]}, th.HookError, "hook"),
        ({"hooks": "nan"}, TypeError, r"hooks is a list, not 'nan' of type str: pass \['nan'\]"),
        ({"name": 3}, ValueError, "name of an evaluation is a part of a folder's name, not 3"),
        ({"checkpoint_path": "nowhere"}, th.CheckpointError, "nowhere is no whole checkpoint"),
        ({"name": "a/b"}, ValueError, "name of an evaluation is a part of a folder's name, not 'a/b'"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(folder).evaluate(**{"input_fn": input_fn, **given})


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_the_results_are_summaries_in_a_folder_of_their_own(folder: Path) -> None:
    estimator = make(folder)
    first = estimator.evaluate(few(2))
    estimator.train(few(9), steps=3)
    second = estimator.evaluate(few(2))
    assert estimator.eval_dir() == folder / "eval"
    written = curves(folder / "eval")
    assert set(written) == {"accuracy", "auc", "loss"}
    for name, points in written.items():
        assert points == [(5, pytest.approx(first[name])), (8, pytest.approx(second[name]))]


def test_named_evaluations_are_told_apart(folder: Path) -> None:
    make(folder).evaluate(few(1), name="train")
    assert make(folder).eval_dir("train") == folder / "eval_train"
    assert set(curves(folder / "eval_train")) == {"accuracy", "auc", "loss"}
    assert not (folder / "eval").exists()


def test_a_result_that_is_no_number_is_no_summary(folder: Path) -> None:
    class Shape:
        def update(self, values: Any) -> None:
            self._shape = np.shape(values)

        def result(self) -> Any:
            return self._shape

    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        loss = graph.tensor(lambda: 1.0, name="loss")
        ops = {"shape": metrics.MetricOp(Shape, {"values": "labels"})}
        return EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)

    assert Estimator(model_fn, folder).evaluate(few(1))["shape"] == (8,)
    assert curves(folder / "eval") == {"loss": [(5, 1.0)]}


def test_it_says_what_it_found(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        result = make(folder).evaluate(few(1))
    told = ", ".join(f"{name} = {result[name]}" for name in ("accuracy", "auc", "global_step", "loss"))
    assert f"evaluated 1 batch: {told}" in caplog.messages
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


def test_a_training_that_goes_on_is_not_disturbed(tmp_path: Path) -> None:
    class Evaluating(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            make(tmp_path / "other").evaluate(few(2))

    make(tmp_path / "other").train(few(1))
    make(tmp_path / "a").train(input_fn, steps=4, hooks=[Evaluating()])
    make(tmp_path / "b").train(input_fn, steps=4)
    assert saved(tmp_path / "a") == saved(tmp_path / "b")
    assert steps(tmp_path / "other") == [0, 1]
