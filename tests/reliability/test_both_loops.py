"""The built-in hooks in both kinds of loop: the same training in a graph and in a loop of the program's own."""

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.summaries import SummaryWriter
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_feed_fn import FeedFnHook
from tenterhooks_final_ops import FinalOpsHook
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanLossDuringTrainingError, NanTensorHook
from tenterhooks_preemption import PreemptionHook
from tenterhooks_step_counter import StepCounterHook
from tenterhooks_stop_at_step import StopAtStepHook
from tenterhooks_summary import SummarySaverHook

_DATA = np.random.default_rng(0).normal(size=(12, 4))
_BATCHES = 4


def shuffled(order: np.random.Generator) -> Iterator[Any]:
    yield from order.permutation(len(_DATA)).reshape(_BATCHES, -1)


def loss_of(w: Any, batch: Any) -> float:
    return float(np.square(_DATA[batch] - w).mean())


def update(w: Any, batch: Any, noise: np.random.Generator, rate: float) -> None:
    w -= rate * (w - _DATA[batch].mean(axis=0)) + 0.01 * noise.normal(size=4)


def of_a_graph(hooks: Iterable[object], folder: Path | None = None, steps: int = 8) -> Any:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(4))
    graph.variable("order", lambda: np.random.default_rng(1))
    graph.variable("noise", lambda: np.random.default_rng(2))
    graph.placeholder("rate", default=0.1)

    def epochs(order: np.random.Generator) -> Iterator[Any]:
        while True:
            yield from shuffled(order)

    graph.source("batch", epochs)
    graph.tensor(loss_of, name="loss")
    graph.train_op(update, name="train")
    with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=folder, hooks=hooks) as session:
        while not session.should_stop() and session.global_step < steps:
            session.run("train")
        return session.state["w"].tolist()


def of_its_own(hooks: Iterable[object], folder: Path | None = None, steps: int = 8) -> Any:
    w, order, noise = np.zeros(4), np.random.default_rng(1), np.random.default_rng(2)
    state = {"w": w, "order": order, "noise": noise}
    with th.MonitoredTrainingSession(state=state, checkpoint_dir=folder, hooks=hooks) as session:
        for _ in session.epochs(steps // _BATCHES):
            for batch in session.steps(shuffled(order)):
                session.publish(loss=loss_of(w, batch))
                update(w, batch, noise, session.feeds.get("rate", 0.1))
        return w.tolist()


Loop = Callable[..., Any]
both = pytest.mark.parametrize("train", [of_a_graph, of_its_own], ids=lambda loop: loop.__name__)


class Killed(BaseException):
    """Stands for the end of the process."""


class Kill(th.SessionRunHook):
    """Ends the process in the run that leads to a step."""

    def __init__(self, step: int) -> None:
        self._step = step

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self._step:
            raise Killed


class Curve(SummaryWriter):
    """Keeps the points that it is given."""

    def __init__(self) -> None:
        self.points: list[tuple[str, float, int]] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.points.append((tag, value, step))

    def flush(self) -> None: ...

    def close(self) -> None: ...


def saver(folder: Path, every: int = 1, **options: Any) -> CheckpointSaverHook:
    return CheckpointSaverHook(folder, save_steps=every, **options)


def test_both_train_alike() -> None:
    assert of_a_graph([]) == of_its_own([])


@both
@pytest.mark.parametrize("every", [1, 3])
def test_killed_at_any_step_and_resumed_it_ends_as_one_that_ran_through(
    train: Loop, every: int, tmp_path: Path
) -> None:
    through = train([saver(tmp_path / "through")], tmp_path / "through")
    ended = Saver(tmp_path / "through").restore()
    assert ended is not None
    for kill_at in range(1, 9):
        folder = tmp_path / str(kill_at)
        with pytest.raises(Killed):
            train([Kill(kill_at), saver(folder, every)], folder)
        assert train([saver(folder, every)], folder) == through, kill_at
        resumed = Saver(folder).restore()
        assert resumed is not None
        assert resumed[1]["global_step"] == ended[1]["global_step"] == 8
        for generator in ("order", "noise"):
            assert resumed[1]["variables"][generator] == ended[1]["variables"][generator]


@both
def test_checkpoint_saves_on_its_grid_what_is_asked_for_and_the_end(train: Loop, tmp_path: Path) -> None:
    class AskForOne(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 4:
                run_context.session.request_checkpoint()

    train([AskForOne(), saver(tmp_path, 3, max_to_keep=None)], tmp_path, steps=8)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [0, 3, 4, 7, 8]


@both
def test_checkpoint_keeps_the_best_by_a_value_of_the_loop(train: Loop, tmp_path: Path) -> None:
    train([saver(tmp_path, 1, max_to_keep=None, best="loss")], tmp_path)
    measured = [checkpoint.metrics for checkpoint in Saver(tmp_path).list()]
    assert all(metrics["loss"] > 0 for metrics in measured[1:])
    assert len(measured) == 9


@both
def test_stop_at_step_stops_there_and_makes_no_step_more_when_resumed(train: Loop, tmp_path: Path) -> None:
    for _ in range(2):
        train([StopAtStepHook(last_step=5), saver(tmp_path)], tmp_path)
        newest = Saver(tmp_path).latest()
        assert newest is not None
        assert newest.step == 5


@both
def test_logging_logs_the_first_run_and_each_period(train: Loop, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_logging")
    hook = LoggingTensorHook({"l": "loss"}, every_n_iter=3, at_end=True, formatter=lambda values: f"{values['l']:.3f}")
    train([hook])
    logged = [float(record.message) for record in caplog.records if record.name == "tenterhooks_logging"]
    assert len(logged) == 4
    assert logged == [float(f"{value:.3f}") for value in [*losses_at(train, 1, 4, 7), logged[-1]]]


def losses_at(train: Loop, *steps: int) -> list[float]:
    curve = Curve()
    train([SummarySaverHook(save_steps=1, tensors="loss", summary_writer=curve)])
    return [value for _, value, step in curve.points if step in steps]


@both
def test_summary_draws_a_curve(train: Loop) -> None:
    curve = Curve()
    train([SummarySaverHook(save_steps=3, tensors={"train/loss": "loss"}, summary_writer=curve)])
    assert [(tag, step) for tag, _, step in curve.points] == [("train/loss", step) for step in (1, 4, 7)]
    assert [value for _, value, _ in curve.points] == losses_at(of_a_graph, 1, 4, 7)


@both
def test_step_counter_counts_them(train: Loop) -> None:
    curve = Curve()
    times = iter(range(100))
    train([StepCounterHook(every_n_steps=4, summary_writer=curve, clock=lambda: next(times))])
    assert curve.points == [("global_step/sec", 4.0, 5)]


@both
def test_nan_ends_it_and_nothing_ruined_is_saved(train: Loop, tmp_path: Path) -> None:
    class Ruin(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 3:
                run_context.session.state["w"][0] = np.nan

    with pytest.raises(NanLossDuringTrainingError, match="'loss' is NaN in the run that led to global step 4"):
        train([Ruin(), NanTensorHook("loss"), saver(tmp_path)], tmp_path)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [0, 1, 2]


@both
def test_feed_fn_feeds_and_its_end_ends_the_session(train: Loop) -> None:
    rates = iter([0.2, 0.1, 0.0])
    counts: list[int] = []

    class Count(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            counts.append(session.global_step)

    train([FeedFnHook(lambda: {"rate": next(rates)}), Count()])
    assert counts == [3]


@both
def test_final_ops_has_the_last_values(train: Loop) -> None:
    hook = FinalOpsHook({"step": "global_step", "w": "w"})
    trained = train([hook])
    assert hook.final_ops_values["step"] == 8
    assert hook.final_ops_values["w"].tolist() == trained


@both
def test_preemption_stops_it_and_it_goes_on(train: Loop, tmp_path: Path) -> None:
    through = train([])

    class Signal(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 2:
                run_context.request_stop("a signal")

    train([PreemptionHook(), Signal(), saver(tmp_path, 100)], tmp_path)
    newest = Saver(tmp_path).latest()
    assert newest is not None
    assert newest.step == 3
    assert train([saver(tmp_path, 100)], tmp_path) == through


def test_a_checkpoint_before_the_first_evaluation_is_not_among_the_best(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hook = saver(tmp_path, 1, max_to_keep=None, best="accuracy", mode="max")
    with th.MonitoredTrainingSession(state={}, checkpoint_dir=tmp_path, hooks=[hook]) as session:
        for epoch in session.epochs(2):
            for x in session.steps([1, 2]):
                session.publish(x=x)
            session.publish(accuracy=0.5 + epoch)
    metrics = {checkpoint.step: checkpoint.metrics for checkpoint in Saver(tmp_path).list()}
    assert metrics == {0: {}, 1: {}, 2: {}, 3: {"accuracy": 0.5}, 4: {"accuracy": 1.5}}
    (warning,) = [record.message for record in caplog.records if "best=" in record.message]
    assert warning.startswith(
        "best='accuracy' has no value at global step 1, since what it needs was not published or fed"
    )
