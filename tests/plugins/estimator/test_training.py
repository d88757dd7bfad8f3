"""train_and_evaluate: when it evaluates, and what a resumed one does."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import ManualClock
from tenterhooks_checkpoint import CheckpointSaverListener
from tenterhooks_estimator import Estimator, EvalSpec, RunConfig, TrainSpec, train_and_evaluate

from .models import Batch, Noting, batches, few, input_fn, make, model_fn, saved, steps


class Evaluations(th.SessionRunHook):
    """Notes the steps that are evaluated."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self.steps.append(session.global_step)


class Ticking(th.SessionRunHook):
    """Lets a clock go on by a second with each run."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._clock.advance(1.0)


def evaluated(
    folder: Path, *, max_steps: int | None = 5, every: int = 2, hooks: Any = (), count: int = 100, **spec: Any
) -> list[int]:
    """The steps that a training evaluates."""
    clock, evaluations = ManualClock(), Evaluations()
    result = train_and_evaluate(
        make(folder, config=RunConfig(save_checkpoints_steps=every)),
        TrainSpec(few(count), max_steps=max_steps, hooks=[Ticking(clock), *hooks]),
        EvalSpec(few(2), hooks=[evaluations], **spec),
        clock=clock,
    )
    assert result["global_step"] == evaluations.steps[-1] == steps(folder)[-1]
    return evaluations.steps


def test_each_new_checkpoint_is_evaluated_but_not_the_one_before_any_step(tmp_path: Path) -> None:
    assert evaluated(tmp_path, start_delay_secs=0, throttle_secs=0) == [2, 4, 5]


def test_the_last_one_is_evaluated_once(tmp_path: Path) -> None:
    assert evaluated(tmp_path, max_steps=4, start_delay_secs=0, throttle_secs=0) == [2, 4]


def test_by_default_not_more_often_than_each_ten_minutes(tmp_path: Path) -> None:
    assert evaluated(tmp_path) == [5]


@pytest.mark.parametrize(
    ("delay", "throttle", "wanted"),
    [
        (0, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
        (0, 3, [1, 4, 7, 8]),
        (4, 0, [4, 5, 6, 7, 8]),
        (4, 2, [4, 6, 8]),
        (0, 99, [1, 8]),
    ],
)
def test_the_delay_and_the_throttle_count_seconds(
    tmp_path: Path, delay: float, throttle: float, wanted: list[int]
) -> None:
    # The saver comes after the hook that lets the time go on: a save at step n is after n seconds.
    assert evaluated(tmp_path, max_steps=8, every=1, start_delay_secs=delay, throttle_secs=throttle) == wanted


def test_it_ends_with_the_input_or_a_hook(tmp_path: Path) -> None:
    assert evaluated(tmp_path / "a", max_steps=None, count=3) == [3]
    stopping = th.make_hook("stop-at-step", last_step=4)
    assert evaluated(tmp_path / "b", max_steps=None, hooks=[stopping]) == [4]


def test_resumed_it_goes_on_and_at_its_end_it_just_evaluates(tmp_path: Path) -> None:
    assert evaluated(tmp_path, max_steps=3, start_delay_secs=0, throttle_secs=0) == [2, 3]
    assert evaluated(tmp_path, max_steps=6, start_delay_secs=0, throttle_secs=0) == [3, 5, 6]
    noting = Noting()
    assert evaluated(tmp_path, max_steps=6, hooks=[noting]) == [6]
    assert noting.calls == []


def test_it_gives_what_the_last_evaluation_gave(tmp_path: Path) -> None:
    estimator = make(tmp_path)
    result = train_and_evaluate(estimator, TrainSpec(input_fn, 4), EvalSpec(few(3), steps=2, name="held_out"))
    assert result == estimator.evaluate(few(2))
    assert (tmp_path / "eval_held_out").is_dir()


class Seeing(th.SessionRunHook):
    """Notes, by step, what is published when a run begins; and asks for it, as a hook that stops early would."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.seen: dict[int, Any] = {}
        self.paused: list[float] = []
        self.published_at: int | None = None

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(self._name, optional=True)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen[run_context.session.global_step] = run_values.results
        self.paused.append(run_context.session.paused_secs)
        self.published_at = run_context.session.published_at(self._name)


@pytest.mark.parametrize(("name", "prefix"), [(None, "eval"), ("held_out", "eval_held_out")])
def test_hooks_of_the_training_can_ask_for_what_was_found(tmp_path: Path, name: str | None, prefix: str) -> None:
    estimator = make(tmp_path, config=RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=None))
    hooks = {metric: Seeing(f"{prefix}/{metric}") for metric in ("loss", "accuracy")}
    train_and_evaluate(
        estimator,
        TrainSpec(input_fn, max_steps=5, hooks=[*hooks.values()]),
        EvalSpec(few(2), name=name, start_delay_secs=0, throttle_secs=0),
    )
    assert steps(tmp_path) == [0, 2, 4, 5]
    at_2, at_4 = (
        estimator.evaluate(few(2), checkpoint_path=path) for path in sorted(tmp_path.glob("checkpoint-*-step-[24]"))
    )
    for metric, hook in hooks.items():
        assert hook.seen == {1: None, 2: None, 3: at_2[metric], 4: at_2[metric], 5: at_4[metric]}


def test_a_session_that_is_created_anew_has_what_was_found_before(tmp_path: Path) -> None:
    failed: list[int] = []

    class Aborting(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 5 and not failed:
                failed.append(5)
                raise th.AbortedError("lost")

    seeing, evaluations = Seeing("eval/loss"), Evaluations()
    for throttle in (1.0, 0.0):
        folder = tmp_path / str(throttle)
        failed.clear()
        evaluations.steps.clear()
        train_and_evaluate(
            make(folder, config=RunConfig(save_checkpoints_steps=2)),
            TrainSpec(input_fn, max_steps=6, hooks=[Aborting(), seeing]),
            EvalSpec(few(2), hooks=[evaluations], start_delay_secs=0, throttle_secs=throttle),
            clock=ManualClock(),
        )
        assert failed == [5]
        assert seeing.seen[5] is not None
        # It counts once: the throttled one has in its last run still what was published after step 2.
        assert seeing.published_at == (2 if throttle else 4)
        # The checkpoint that it goes on from is not evaluated again.
        assert evaluations.steps == ([2, 6] if throttle else [2, 4, 6])


def test_early_stopping_goes_by_what_was_found(tmp_path: Path) -> None:
    # The loss falls. To one who wants it high the second evaluation shows it, in the run after.
    hook = th.make_hook("early-stopping", metric="eval/loss", mode="max", patience=1)
    assert evaluated(tmp_path, max_steps=None, hooks=[hook], start_delay_secs=0, throttle_secs=0) == [2, 4, 5]


def test_a_name_that_no_metric_has_is_an_error_before_the_training(tmp_path: Path) -> None:
    logging_hook = th.make_hook("logging", tensors="eval/acuracy", every_n_iter=1)
    with pytest.raises(th.UnknownNameError, match="the nearest: 'eval/accuracy'"):
        train_and_evaluate(make(tmp_path), TrainSpec(input_fn, 4, hooks=[logging_hook]), EvalSpec(few(1)))


def test_the_time_of_an_evaluation_is_none_of_the_trainings(tmp_path: Path) -> None:
    clock, seeing = ManualClock(), Seeing("eval/loss")

    class Long(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            clock.advance(7.0)

    train_and_evaluate(
        make(tmp_path, config=RunConfig(save_checkpoints_steps=2)),
        TrainSpec(input_fn, max_steps=5, hooks=[seeing]),
        EvalSpec(few(1), hooks=[Long()], start_delay_secs=0, throttle_secs=0),
        clock=clock,
    )
    assert seeing.paused == [0.0, 0.0, 7.0, 7.0, 14.0]


def test_an_evaluation_does_not_pass_for_the_end_of_the_input(tmp_path: Path) -> None:
    class Running(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            raise th.OutOfRangeError("nothing left")

    noting = Noting()
    with pytest.raises(RuntimeError, match=r"the evaluation at global step 2 raised OutOfRangeError \(nothing left\)"):
        train_and_evaluate(
            make(tmp_path, config=RunConfig(save_checkpoints_steps=2)),
            TrainSpec(input_fn, max_steps=5, hooks=[noting]),
            EvalSpec(few(1), hooks=[Running()], start_delay_secs=0, throttle_secs=0),
        )
    assert noting.calls[-1] == "noting.RuntimeError"


def drawing(count: int) -> Iterator[Batch]:
    """Batches that use up random numbers of the process."""
    for features, labels in batches(count):
        yield {"x": features["x"] + np.random.normal(size=(8, 3)) + random.random()}, labels


def test_when_it_evaluates_does_not_change_what_it_learns(tmp_path: Path) -> None:
    for name, throttle in [("often", 0.0), ("once", 1e9)]:
        np.random.seed(1)
        random.seed(1)
        train_and_evaluate(
            make(tmp_path / name, config=RunConfig(save_checkpoints_steps=2)),
            TrainSpec(lambda: drawing(99), max_steps=7),
            EvalSpec(lambda: drawing(2), start_delay_secs=0, throttle_secs=throttle),
        )
    assert saved(tmp_path / "often") == saved(tmp_path / "once")
    # They were drawn from.
    np.random.seed(2)
    make(tmp_path / "other").train(lambda: drawing(99), max_steps=7)
    assert saved(tmp_path / "other")["/variables/w"] != saved(tmp_path / "often")["/variables/w"]


class Failing(th.SessionRunHook):
    def __init__(self, step: int) -> None:
        self._step = step

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self._step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("step", range(1, 8))
def test_interrupted_at_any_step_and_resumed_it_ends_as_one_that_was_not(tmp_path: Path, step: int) -> None:
    config = RunConfig(save_checkpoints_steps=3)
    specs = TrainSpec(input_fn, max_steps=7), EvalSpec(few(2), start_delay_secs=0, throttle_secs=0)
    through = train_and_evaluate(make(tmp_path / "a", config=config), *specs)
    evaluations = Evaluations()
    with pytest.raises(KeyboardInterrupt):
        train_and_evaluate(
            make(tmp_path / "b", config=config),
            TrainSpec(input_fn, max_steps=7, hooks=[Failing(step)]),
            EvalSpec(few(2), hooks=[evaluations], start_delay_secs=0, throttle_secs=0),
        )
    # Nothing is evaluated on the way out.
    assert evaluations.steps == [done for done in (3, 6) if done < step]
    assert train_and_evaluate(make(tmp_path / "b", config=config), *specs) == through
    assert saved(tmp_path / "a") == saved(tmp_path / "b")


@pytest.mark.parametrize("step", range(1, 12))
def test_interrupted_at_any_step_it_stops_early_where_one_that_was_not_does(tmp_path: Path, step: int) -> None:
    def run(folder: Path, *hooks: object) -> dict[str, Any]:
        # The loss falls: to one who wants it high no evaluation after the first is better.
        stopping = th.make_hook("early-stopping", metric="eval/loss", mode="max", patience=4)
        return train_and_evaluate(
            make(folder, config=RunConfig(save_checkpoints_steps=2)),
            TrainSpec(input_fn, max_steps=30, hooks=[stopping, *hooks]),
            EvalSpec(few(2), start_delay_secs=0, throttle_secs=0),
        )

    through = run(tmp_path / "a")
    assert through["global_step"] == 11
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "b", Failing(step))
    assert run(tmp_path / "b") == through
    assert saved(tmp_path / "a") == saved(tmp_path / "b")


def test_an_evaluation_that_fails_ends_the_training(tmp_path: Path) -> None:
    noting = Noting()
    with pytest.raises(ValueError, match="the evaluation saw no batch"):
        train_and_evaluate(
            make(tmp_path, config=RunConfig(save_checkpoints_steps=2)),
            TrainSpec(input_fn, max_steps=5, hooks=[noting]),
            EvalSpec(few(0), start_delay_secs=0, throttle_secs=0),
        )
    assert noting.calls == ["noting.begin", "noting.run1", "noting.run2", "noting.ValueError"]
    # What was to be evaluated is saved.
    assert steps(tmp_path) == [0, 2]


def test_other_listeners_are_told_before_it_evaluates(tmp_path: Path) -> None:
    calls: list[str] = []

    class Listener(CheckpointSaverListener):
        def after_save(self, session: th.Session, step: int) -> None:
            calls.append(f"saved {step}")

    class Hook(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            calls.append("evaluated")

    train_and_evaluate(
        make(tmp_path, config=RunConfig(save_checkpoints_steps=2)),
        TrainSpec(input_fn, max_steps=4, saving_listeners=[Listener()]),
        EvalSpec(few(1), hooks=[Hook()], start_delay_secs=0, throttle_secs=0),
    )
    assert calls == ["saved 0", "saved 2", "evaluated", "saved 4", "evaluated"]


def test_where_nothing_is_saved_there_is_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the RunConfig switches saving off"):
        train_and_evaluate(
            make(tmp_path, config=RunConfig(save_checkpoints_secs=0)), TrainSpec(input_fn, 4), EvalSpec(few(1))
        )


@pytest.mark.parametrize(
    ("kind", "given", "error", "message"),
    [
        (TrainSpec, {"input_fn": [1]}, TypeError, r"input_fn is a function, not \[1\]"),
        (TrainSpec, {"max_steps": 0}, ValueError, "max_steps is 1 or more, not 0"),
        (EvalSpec, {"input_fn": lambda size: []}, ValueError, r"input_fn .* needs the argument 'size'"),
        (TrainSpec, {"max_steps": "9"}, TypeError, "max_steps is a whole number, not '9' of type str"),
        (TrainSpec, {"hooks": "nan"}, TypeError, r"hooks is a list, not 'nan' of type str: pass \['nan'\]"),
        (TrainSpec, {"saving_listeners": 3}, TypeError, "saving_listeners is a list, not 3 of type int"),
        (EvalSpec, {"hooks": None}, TypeError, "hooks is a list, not None of type NoneType: leave it out"),
        (EvalSpec, {"throttle_secs": "1"}, TypeError, "throttle_secs is a number of seconds, not '1' of type str"),
        (EvalSpec, {"steps": 0}, ValueError, "steps is 1 or more, not 0"),
        (EvalSpec, {"throttle_secs": -1}, ValueError, "throttle_secs is 0 or more, not -1"),
        (EvalSpec, {"start_delay_secs": float("nan")}, ValueError, "start_delay_secs is 0 or more, not nan"),
    ],
)
def test_a_spec_says_at_once_what_is_wrong(
    kind: Any, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kind(**{"input_fn": input_fn, **given})


def test_a_spec_may_be_used_again_though_its_hooks_came_from_a_generator(tmp_path: Path) -> None:
    calls: list[str] = []
    train_spec = TrainSpec(input_fn, 1, hooks=(hook for hook in [Noting("train", calls)]))
    eval_spec = EvalSpec(few(1), hooks=(hook for hook in [Noting("eval", calls)]))
    for folder in ("a", "b"):
        train_and_evaluate(make(tmp_path / folder), train_spec, eval_spec)
    assert calls == ["train.begin", "train.run1", "train.end", "eval.begin", "eval.run1", "eval.end"] * 2


def test_arguments_of_another_kind_are_named(tmp_path: Path) -> None:
    good: list[Any] = [make(tmp_path), TrainSpec(input_fn), EvalSpec(input_fn)]
    kinds = [("estimator", "Estimator"), ("train_spec", "TrainSpec"), ("eval_spec", "EvalSpec")]
    for place, (name, kind) in enumerate(kinds):
        arguments = [*good]
        arguments[place] = 3
        with pytest.raises(TypeError, match=f"{name} is an object of {kind}, not 3 of type int"):
            train_and_evaluate(*arguments)


def test_a_subclass_is_an_estimator(tmp_path: Path) -> None:
    class Mine(Estimator):
        pass

    mine = Mine(model_fn, tmp_path, params={})
    assert train_and_evaluate(mine, TrainSpec(input_fn, 1), EvalSpec(few(1)))["global_step"] == 1
