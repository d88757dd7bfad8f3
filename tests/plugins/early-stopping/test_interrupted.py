"""A session that was interrupted stops where it would have, with the same best and the same variables."""

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, MemorySaver
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks.testing.sessions import Loop
from tenterhooks_early_stopping import EarlyStoppingHook, stop_if_higher_hook
from tenterhooks_evaluator import EvaluatorHook

PROGRAM = Path(__file__).with_name("program.py")
STEPS = 12


class KilledError(Exception):
    """Stands for the end of the process."""


class Evaluate(th.SessionRunHook):
    """Publishes a metric every other step, as an evaluation does."""

    def __init__(self, values: list[float]) -> None:
        self._values = values

    def begin(self, graph: th.Graph) -> None:
        if type(graph) is th.Graph:
            graph.placeholder("eval/x")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        step = run_context.session.global_step
        if step % 2 == 0:
            run_context.session.publish({"eval/x": self._values[step - 1]})


def make_hook(kind: str) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "checks": lambda: EarlyStoppingHook("x", patience=3, restore_best=True),
        "steps": lambda: EarlyStoppingHook("x", patience_steps=4, min_delta=0.1),
        "period": lambda: EarlyStoppingHook("x", patience=2, every_n_steps=3, restore_best=True),
        "evaluation": lambda: EarlyStoppingHook("eval/x", patience=2, restore_best=True),
        "threshold": lambda: stop_if_higher_hook("x", 1.5),
    }
    return makers[kind]()


def train(kind: str, loop: Loop, values: list[float], saver: MemorySaver, killed_at: int | None = None) -> object:
    """Where a session stops and why, and the variable with which it ends."""
    hook = make_hook(kind)
    look: list[float] = []

    class Look(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            look.append(float(session.state["w"]))

    # A saver that stands first acts last all the same, and an evaluation that stands last is heard in its step.
    session = FakeSession(
        [KeepEachStep(saver), hook, Look(), Evaluate(values)],
        loop=loop,
        values=[{"x": value} for value in values],
        saver=saver,
    )
    try:
        with session:
            session.go_to(killed_at)
            if killed_at is not None:
                raise KilledError
    except KilledError:
        return None
    stop = [(stop.hook, stop.reason) for stop in session.stop]
    return session.global_step, stop, look, getattr(hook, "best", None), getattr(hook, "best_step", None)


@pytest.mark.parametrize("kind", ["checks", "steps", "period", "evaluation", "threshold"])
@pytest.mark.parametrize("loop", ["graph", "own"])
def test_killed_at_any_step_it_ends_as_if_it_had_not_been(kind: str, loop: Loop) -> None:
    ends = set()
    for seed in range(4):
        values = np.random.default_rng(seed).normal(0.0, 1.0, STEPS).tolist()
        unbroken: Any = train(kind, loop, values, MemorySaver())
        ends.add(unbroken[0])
        for step in range(1, unbroken[0] + 1):
            saver = MemorySaver()
            train(kind, loop, values, saver, step)
            assert train(kind, loop, values, saver) == unbroken, f"killed at step {step}"
    assert min(ends) < STEPS


class StopAt(th.SessionRunHook):
    """Stops a session for a reason of its own."""

    def __init__(self, step: int | None) -> None:
        self._step = step

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self._step:
            run_context.request_stop()


def evaluate_between(folder: Path, values: list[float], last_step: int | None = None) -> tuple[int, float]:
    """Two steps, an evaluation, and so on: the step at which it ends, and at which the variables then are."""
    state = {"w": np.zeros(())}
    hooks = [EarlyStoppingHook("x", patience=1, restore_best=True), StopAt(last_step)]
    with th.MonitoredTrainingSession(state=state, checkpoint_dir=folder, hooks=hooks) as session:
        for epoch in session.epochs(len(values)):
            for _ in session.steps(range(2)):
                session.state["w"] += 1
            session.publish(x=values[epoch])
        step = session.global_step
    return step, float(state["w"])


def test_a_value_that_came_after_the_last_pass_stops_the_next_session_where_it_would_have_this_one(
    tmp_path: Path,
) -> None:
    values = [1.0, 2.0, 2.0, 2.0]
    # It is heard in the pass that follows.
    assert evaluate_between(tmp_path / "unbroken", values) == (5, 2.0)
    assert evaluate_between(tmp_path / "broken", values, last_step=4) == (4, 2.0)
    assert evaluate_between(tmp_path / "broken", values) == (5, 2.0)
    assert evaluate_between(tmp_path / "broken", values) == (5, 2.0)


def test_a_better_value_after_the_stop_does_not_undo_it(tmp_path: Path) -> None:
    # The stop cuts the third epoch short, and the program evaluates all the same.
    values = [1.0, 2.0, 0.0, 0.0]
    assert evaluate_between(tmp_path, values) == (5, 2.0)
    assert evaluate_between(tmp_path, values) == (5, 2.0)


class SaveAtEnd(KeepEachStep):
    """Saves at the end too."""

    def end(self, session: th.Session) -> None:
        self._save(session)


def evaluate_by_hook(saver: MemorySaver, first: bool, last_step: int) -> object:
    """A session with an evaluator, which evaluates at the end too, and publishes that again when it is restored."""
    values = [5.0, 4.0, 3.0, 4.0, 5.0, 6.0]
    hook = EarlyStoppingHook("eval/x", patience=2, restore_best=True)
    evaluator = EvaluatorHook(
        lambda session: {"x": values[session.global_step // 3] + float(session.state["w"]) / 100},
        every_n_steps=3,
        metrics=["x"],
    )
    hooks = [evaluator, hook] if first else [hook, evaluator]
    with FakeSession([*hooks, SaveAtEnd(saver)], saver=saver) as session:
        session.go_to(last_step)
        end = session.global_step
        best = hook.best, hook.best_step
    return end, best, [stop.reason for stop in session.stop], evaluator.results


@pytest.mark.parametrize("first", [False, True])
def test_what_an_evaluator_publishes_again_and_what_it_finds_at_the_end_are_no_checks(first: bool) -> None:
    unbroken = evaluate_by_hook(MemorySaver(), first, 20)
    assert unbroken == (
        12,
        (3.06, 6),
        [
            (
                "'eval/x' has not improved for 2 checks and 6 steps (patience=2): it is 5.12 at global step 12, the "
                "best was 3.06 at global step 6"
            )
        ],
        {"x": 5.12},
    )
    for step in range(1, 12):
        saver = MemorySaver()
        evaluate_by_hook(saver, first, step)
        assert evaluate_by_hook(saver, first, 20) == unbroken, f"ended at step {step}"


@pytest.mark.parametrize("first", [False, True])
def test_what_an_evaluator_finds_at_the_end_stops_no_session(first: bool) -> None:
    saver, steps = MemorySaver(), []
    for last_step in (2, 9):
        hook = stop_if_higher_hook("eval/x", 1.0)
        # Past the threshold where it is evaluated out of turn.
        evaluator = EvaluatorHook(lambda session: {"x": session.global_step % 4}, every_n_steps=4, metrics=["x"])
        hooks = [evaluator, hook] if first else [hook, evaluator]
        with FakeSession([*hooks, SaveAtEnd(saver)], saver=saver) as session:
            session.go_to(last_step)
        steps.append((session.global_step, session.stop))
    assert steps == [(2, ()), (9, ())]


def test_the_best_that_is_put_back_is_no_new_value_to_others() -> None:
    found: list[tuple[float, int | None]] = []

    class Look(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            found.append((session.kept["eval/x"], session.published_at("eval/x")))

    hook = EarlyStoppingHook("eval/x", patience=9, restore_best=True)
    with FakeSession([hook, Evaluate([0.0, 3.0, 0.0, 4.0]), Look()]) as session:
        session.go_to(4)
    assert found == [(3.0, 2)]


def shuffled(order: np.random.Generator) -> Iterator[Any]:
    while True:
        yield from order.permutation(5)


def drawn_in_graph(folder: Path, patience: int) -> Any:
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.variable("order", lambda: np.random.default_rng(0))
    graph.source("batch", shuffled)
    graph.tensor(lambda w: abs(w - 3.0), name="loss")
    graph.train_op(lambda w, batch: {"w": w + 1.0}, name="train")
    hook = EarlyStoppingHook("loss", patience=patience, restore_best=True)
    with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=folder, hooks=[hook]) as session:
        drawn = []
        while not session.should_stop():
            drawn.append(int(session.run(["train", "batch"])[1]))
    return hook.best_step, drawn


def drawn_in_loop(folder: Path, patience: int) -> Any:
    state: dict[str, Any] = {"w": np.zeros(1), "order": np.random.default_rng(0)}
    hook = EarlyStoppingHook("loss", patience=patience, restore_best=True)
    with th.MonitoredTrainingSession(state=state, checkpoint_dir=folder, hooks=[hook]) as session:
        drawn = []
        for batch in session.steps(shuffled(state["order"])):
            session.publish(loss=abs(state["w"][0] - 3.0))
            state["w"] += 1.0
            drawn.append(int(batch))
    return hook.best_step, drawn


@pytest.mark.parametrize("train", [drawn_in_graph, drawn_in_loop])
def test_a_source_is_not_put_back_with_the_best(train: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    best_step, drawn = train(tmp_path / "patient", 9)
    assert (best_step, len(drawn)) == (4, 13)
    assert train(tmp_path / "resumed", 5) == (4, drawn[:9])
    caplog.set_level(logging.INFO)
    assert train(tmp_path / "resumed", 9) == (4, drawn[9:])
    (restored,) = [record.message for record in caplog.records if "wound forward" in record.message]
    assert "may give other items" not in restored


def run(folder: Path, *killed_at: int) -> str:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), *map(str, killed_at)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == (-9 if killed_at else 0), done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_was_killed_three_times_ends_as_one_that_was_not(tmp_path: Path) -> None:
    unbroken = run(tmp_path / "unbroken")
    for step in (4, 12, 21):
        assert not run(tmp_path / "killed", step)
    assert run(tmp_path / "killed") == unbroken
    # What has stopped makes no step, and ends with the same.
    assert run(tmp_path / "killed").split()[1:] == unbroken.split()[1:]
