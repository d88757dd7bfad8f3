"""A session that was interrupted stops where it would have, with the same best and the same variables."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, MemorySaver
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks.testing.sessions import Loop
from tenterhooks_early_stopping import EarlyStoppingHook, stop_if_higher_hook

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
