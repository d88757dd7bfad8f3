"""Training: how far, with which hooks, and what a resumed one does."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys, RunConfig

from .models import Noting, batches, default_graph, few, input_fn, make, saved, steps


def test_it_gives_the_estimator(tmp_path: Path) -> None:
    estimator = make(tmp_path)
    assert estimator.train(input_fn, steps=1) is estimator


def test_steps_are_counted_from_where_it_starts(tmp_path: Path) -> None:
    estimator = make(tmp_path)
    estimator.train(input_fn, steps=3)
    assert steps(tmp_path) == [0, 3]
    estimator.train(input_fn, steps=3)
    assert steps(tmp_path) == [0, 3, 6]


def test_max_steps_are_counted_from_the_beginning(tmp_path: Path) -> None:
    estimator = make(tmp_path)
    estimator.train(input_fn, max_steps=3)
    estimator.train(input_fn, max_steps=5)
    assert steps(tmp_path) == [0, 3, 5]


@pytest.mark.parametrize("max_steps", [1, 3])
def test_where_max_steps_are_made_nothing_is_built_and_no_hook_called(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, max_steps: int
) -> None:
    make(tmp_path).train(input_fn, max_steps=3)
    noting, of_model = Noting(), Noting()
    estimator = make(tmp_path, hooks=[of_model])
    before = saved(tmp_path)
    with caplog.at_level(logging.INFO, "tenterhooks_estimator"):
        assert estimator.train(input_fn, max_steps=max_steps, hooks=[noting]) is estimator
    assert (noting.calls, of_model.calls) == ([], [])
    assert f"nothing to train: {estimator.latest_checkpoint()} is at global step 3, and max_steps is {max_steps}" in (
        caplog.messages
    )
    assert steps(tmp_path) == [0, 3]
    assert saved(tmp_path) == before


def test_it_ends_with_the_input(tmp_path: Path) -> None:
    noting = Noting()
    make(tmp_path).train(few(2), max_steps=9, hooks=[noting])
    assert noting.calls == ["noting.begin", "noting.run1", "noting.run2", "noting.end"]
    assert steps(tmp_path) == [0, 2]


def test_it_ends_with_an_input_that_its_op_does_not_look_at(tmp_path: Path) -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        loss = graph.tensor(lambda: 0.0, name="loss")
        return EstimatorSpec(mode, loss=loss, train_op=graph.train_op(lambda: None, name="train"))

    # A stop, so that it fails, and does not hang.
    Estimator(model_fn, tmp_path).train(few(3), hooks=[th.make_hook("stop-at-step", last_step=5)])
    assert steps(tmp_path) == [0, 3]


def test_it_ends_where_a_hook_asks_for_it(tmp_path: Path) -> None:
    make(tmp_path).train(input_fn, hooks=[th.make_hook("stop-at-step", last_step=4)])
    assert steps(tmp_path) == [0, 4]


def test_a_short_name_is_a_hook(tmp_path: Path) -> None:
    make(tmp_path).train(few(2), hooks=["nan"])
    with pytest.raises(th.PluginError, match="no plugin named 'nam' is installed; the nearest: 'nan'"):
        make(tmp_path).train(few(2), hooks=["nam"])


def test_an_empty_input_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make(tmp_path).train(few(0))
    assert "no step was made: the input is empty, or a hook asked for a stop before the first one" in caplog.messages


def test_the_order_of_the_hooks(tmp_path: Path) -> None:
    calls: list[str] = []
    hooks = [Noting("a", calls), Noting("b", calls)]
    estimator = make(tmp_path, hooks=[Noting("model", calls)], chief_hooks=[Noting("chief", calls)])
    estimator.train(few(1), hooks=hooks)
    assert calls == [f"{name}.{call}" for call in ("begin", "run1", "end") for name in ("chief", "a", "b", "model")]


def test_what_is_for_the_chief_only_is_not_for_others(tmp_path: Path) -> None:
    make(tmp_path).train(few(1))
    calls: list[str] = []
    worker = RunConfig(is_chief=False)
    hooks, chief_hooks = [Noting("model", calls)], [Noting("chief", calls)]
    make(tmp_path, config=worker, hooks=hooks, chief_hooks=chief_hooks).train(few(3), steps=1)
    assert calls == ["model.begin", "model.run2", "model.end"]


def test_the_loss_is_logged_each_period(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tenterhooks_estimator"):
        make(tmp_path, config=RunConfig(log_step_count_steps=2)).train(few(4))
    first, second = [record for record in caplog.records if record.name == "tenterhooks_estimator"]
    labels = next(batches(1))[1]
    assert first.getMessage() == f"step 1: loss = {labels.mean()}"
    assert second.getMessage().startswith("step 3: loss = ")
    assert second.getMessage().endswith(" s)")


@pytest.mark.parametrize("period", [0, None])
def test_without_a_period_no_loss_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, period: int | None
) -> None:
    with caplog.at_level(logging.INFO, "tenterhooks_estimator"):
        make(tmp_path, config=RunConfig(log_step_count_steps=period)).train(few(2))
    assert [record for record in caplog.records if record.name == "tenterhooks_estimator"] == []


def test_summaries_are_written_where_a_period_is_given(tmp_path: Path) -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.add_to_collection("summaries", graph.tensor(lambda global_step: 2.0 * global_step, name="loss"))
        return EstimatorSpec(mode, loss="loss", train_op=graph.train_op(lambda features: None, name="train"))

    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    Estimator(model_fn, tmp_path, config=RunConfig(save_summary_steps=2)).train(few(4))
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(point.step, point.value) for point in events.Scalars("loss")] == [(1, 0.0), (3, 4.0)]


def test_several_training_ops_are_one_step(tmp_path: Path) -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("made", [])
        first = graph.train_op(lambda features, made: made.append("first"), name="first")
        graph.train_op(lambda made: made.append("second"), name="second")
        return EstimatorSpec(mode, loss=graph.tensor(lambda: 0.0, name="loss"), train_op=[first, "second"])

    Estimator(model_fn, tmp_path).train(few(2))
    assert steps(tmp_path) == [0, 2]
    assert saved(tmp_path)["/variables/made"] == ["first", "second"] * 2


class Failing(th.SessionRunHook):
    """Ends the training abruptly in the run that leads to a step."""

    def __init__(self, step: int, stage: str) -> None:
        self._step = step
        self._stage = stage

    def before_run(self, run_context: th.SessionRunContext) -> None:
        if self._stage == "before_run" and run_context.session.global_step + 1 == self._step:
            raise KeyboardInterrupt

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if self._stage == "after_run" and run_context.session.global_step == self._step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["before_run", "after_run"])
@pytest.mark.parametrize("step", range(1, 8))
def test_interrupted_at_any_step_and_resumed_it_ends_as_one_that_was_not(tmp_path: Path, step: int, stage: str) -> None:
    through, resumed = tmp_path / "through", tmp_path / "resumed"
    config = RunConfig(save_checkpoints_steps=3)
    make(through, config=config).train(input_fn, max_steps=7)
    with pytest.raises(KeyboardInterrupt):
        make(resumed, config=config).train(input_fn, max_steps=7, hooks=[Failing(step, stage)])
    assert steps(resumed)[-1] < 7
    make(resumed, config=config).train(input_fn, max_steps=7)
    assert saved(resumed) == saved(through)
    assert saved(through)["/global_step"] == 7


def test_one_of_other_steps_ends_otherwise(tmp_path: Path) -> None:
    make(tmp_path / "a").train(input_fn, max_steps=7)
    make(tmp_path / "b").train(input_fn, max_steps=6)
    assert saved(tmp_path / "a")["/variables/w"] != saved(tmp_path / "b")["/variables/w"]


def test_a_checkpoint_of_another_model_is_an_error_that_names_the_variables(tmp_path: Path) -> None:
    make(tmp_path).train(few(1))

    def other(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("kernel", np.zeros(3))
        train = graph.train_op(lambda kernel: None, name="train")
        return EstimatorSpec(mode, loss=graph.tensor(lambda: 0.0, name="loss"), train_op=train)

    before = saved(tmp_path)
    with pytest.raises(
        th.CheckpointError, match="is not of this model, since it lacks the variables 'kernel': use the"
    ):
        Estimator(other, tmp_path).train(few(1))
    with pytest.raises(th.CheckpointError, match=r"does not fit this graph, nothing was restored:\n.*w.*\(4,\)"):
        make(tmp_path, size=4).train(few(1))
    assert saved(tmp_path) == before


def test_a_hook_may_bring_a_variable_of_its_own_later(tmp_path: Path) -> None:
    class Bringing(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            graph.variable("bringing/count", 0)

    make(tmp_path).train(few(9), steps=1)
    make(tmp_path).train(few(9), steps=1, hooks=[Bringing()])
    assert saved(tmp_path)["/variables/bringing/count"] == 0


def test_it_recovers_as_any_training_does(tmp_path: Path) -> None:
    failed: list[int] = []

    class Aborting(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 3 and not failed:
                failed.append(3)
                raise th.AbortedError("lost")

    config = RunConfig(save_checkpoints_steps=2)
    make(tmp_path / "a", config=config).train(input_fn, steps=6, hooks=[Aborting()])
    make(tmp_path / "b", config=config).train(input_fn, steps=6)
    assert failed == [3]
    assert saved(tmp_path / "a") == saved(tmp_path / "b")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"steps": 1, "max_steps": 1},
            ValueError,
            r"give either steps, from here on, or max_steps, in all, not steps=1",
        ),
        ({"steps": 0}, ValueError, "steps is 1 or more, not 0"),
        ({"max_steps": 1e6}, TypeError, r"max_steps is a whole number, not 1000000\.0 of type float"),
        ({"max_steps": -3}, ValueError, "max_steps is 1 or more, not -3"),
        ({"input_fn": [1]}, TypeError, r"input_fn is a function, not \[1\]"),
        ({"input_fn": lambda size: []}, ValueError, "input_fn .* needs the argument 'size'"),
        ({"hooks": [object()]}, th.HookError, "hook"),
        ({"hooks": "nan"}, TypeError, r"hooks is a list, not 'nan' of type str: pass \['nan'\]"),
        ({"hooks": th.SessionRunHook()}, TypeError, "hooks is a list, not <"),
        ({"saving_listeners": None}, TypeError, "saving_listeners is a list, not None of type NoneType: leave it out"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(
    tmp_path: Path, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(tmp_path / "model").train(**{"input_fn": input_fn, **given})
    assert not (tmp_path / "model").exists()
