"""Faults of logs, summaries and progress bars that users met elsewhere, each shown to be absent in whole sessions."""

import csv
import io
import json
import logging
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import tenterhooks as th
from tenterhooks.summaries import SummaryWriter
from tenterhooks.testing import ManualClock
from tenterhooks_evaluator import EvaluatorHook
from tenterhooks_logging import CsvHook, JsonLinesHook, LoggingTensorHook
from tenterhooks_progress import ProgressHook
from tenterhooks_step_counter import StepCounterHook
from tenterhooks_summary import SummarySaverHook

Loop = Literal["graph", "own"]
Points = list[tuple[int, float]]

# The last save before step 7 is at step 4.
SAVE_STEPS, FAIL_AT, LAST = 4, 7, 10

loops = pytest.mark.parametrize("loop", ["graph", "own"])


class BrokenOffError(Exception):
    """Stands for what ends a session."""


def train(
    folder: Path,
    loop: Loop,
    *hooks: object,
    value: Callable[[int], float] = float,
    fail_at: int | None = None,
    error: type[BaseException] = BrokenOffError,
    late_from: int | None = None,
) -> None:
    """Train to the last step from where the checkpoints end; each step has a value of the step before it.

    Args:
        folder: For the checkpoints and files.
        loop: The kind of loop.
        hooks: What logs.
        value: Makes the value.
        fail_at: After which step there is an error; none by default.
        error: The error.
        late_from: From which step on a loop of the program's own publishes another value.
    """
    graph = None
    if loop == "graph":
        graph = th.Graph()
        graph.tensor(value, name="value", inputs=["global_step"])
        graph.train_op(lambda: None, name="train")
    with th.MonitoredTrainingSession(
        graph=graph,
        state=None if graph else {"w": 0.0},
        checkpoint_dir=folder,
        hooks=hooks,
        save_checkpoint_steps=SAVE_STEPS,
    ) as session:

        def look() -> None:
            if session.global_step == fail_at:
                raise error

        if graph is not None:
            while session.global_step < LAST:
                session.run("train")
                look()
            return
        for _ in session.steps(range(LAST)):
            look()
            session.state["w"] += 1.0
            more = {} if late_from is None or session.global_step < late_from else {"late": 1.0}
            session.publish(value=value(session.global_step), **more)


def interrupted(folder: Path, loop: Loop, make: Callable[[], list[object]], **options: Any) -> None:
    """Train, with an error after a step that is not saved, and again."""
    with pytest.raises(BrokenOffError):
        train(folder, loop, *make(), fail_at=FAIL_AT, **options)
    train(folder, loop, *make(), **options)


def jsonl(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def curve(folder: Path, tag: str) -> Points:
    """The points that TensorBoard shows."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder), size_guidance={accumulator.SCALARS: 0})
    events.Reload()
    return [(point.step, point.value) for point in events.Scalars(tag)]


def in_files(folder: Path) -> dict[str, Points]:
    """What each file has of the value."""
    return {
        "jsonl": [(line["step"], float(line["value"])) for line in jsonl(folder) if "end" not in line],
        "csv": [(int(row["step"]), float(row["value"])) for row in table(folder)],
        "summary": curve(folder, "value"),
    }


def to_files() -> list[object]:
    return [
        JsonLinesHook("value", every_n_steps=1),
        CsvHook("value", every_n_steps=1),
        SummarySaverHook(save_steps=1, tensors="value"),
    ]


class Tracker(SummaryWriter):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.rates: list[float] = []
        self.ends: list[str] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.steps.append(step)
        self.rates.append(value)

    def flush(self) -> None:
        """It keeps nothing back."""

    def finish(self, exception: BaseException | None) -> None:
        self.ends.append(type(exception).__name__)

    def close(self) -> None:
        """There is nothing to close."""


@loops
def test_after_a_resume_all_count_the_same_steps(loop: Loop, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_logging")
    shown, rates, clock = io.StringIO(), Tracker(), ManualClock()

    class Secs(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            clock.advance(1.0)

    def make() -> list[object]:
        return [
            Secs(),
            *to_files(),
            LoggingTensorHook("value", every_n_iter=1),
            ProgressHook(values="value", file=shown, line_every_n_secs=0.0),
            StepCounterHook(every_n_steps=1, summary_writer=rates, clock=clock),
        ]

    interrupted(tmp_path, loop, make)
    expected = {step: step - 1.0 for step in range(1, LAST + 1)}
    pattern = r"step (\d+)(?:: | \[.*, )value ?= ?([\d.]+)"
    logged = re.findall(pattern, "\n".join(r.getMessage() for r in caplog.records if r.name == "tenterhooks_logging"))
    lines = re.findall(pattern, shown.getvalue())
    made = [*range(1, FAIL_AT + 1), *range(SAVE_STEPS + 1, LAST + 1)]
    for found in (logged, lines):
        assert [(int(step), float(value)) for step, value in found] == [(step, expected[step]) for step in made]
    assert in_files(tmp_path) == {name: list(expected.items()) for name in ("jsonl", "csv", "summary")}
    # Each process begins to measure with its first step.
    assert rates.steps == [step for step, before in zip(made, [None, *made], strict=False) if before == step - 1]


@loops
def test_the_steps_between_the_last_save_and_the_crash_are_there_once(loop: Loop, tmp_path: Path) -> None:
    """The second run finds other values, so it shows whose are kept."""
    with pytest.raises(BrokenOffError):
        train(tmp_path, loop, *to_files(), value=lambda global_step: global_step, fail_at=FAIL_AT)
    train(tmp_path, loop, *to_files(), value=lambda global_step: 100.0 + global_step)
    first, last = range(1, SAVE_STEPS + 1), range(SAVE_STEPS + 1, LAST + 1)
    expected = [(step, step - 1.0) for step in first] + [(step, step + 99.0) for step in last]
    assert in_files(tmp_path) == dict.fromkeys(("jsonl", "csv", "summary"), expected)


def test_a_table_keeps_its_history_and_takes_a_metric_that_comes_later(tmp_path: Path) -> None:
    interrupted(tmp_path, "own", lambda: [CsvHook(every_n_steps=1)], late_from=5)
    rows = table(tmp_path)
    assert [row["step"] for row in rows] == [str(step) for step in range(1, LAST + 1)]
    assert [row["late"] for row in rows] == [""] * 5 + ["1.0"] * 5
    assert all(set(row) == {"step", "time", "value", "late"} for row in rows)


@loops
def test_a_rate_has_neither_the_steps_from_before_the_resume_nor_the_time_of_evaluations(
    loop: Loop, tmp_path: Path
) -> None:
    clock, tracker, shown = ManualClock(), Tracker(), io.StringIO()

    class Secs(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            clock.advance(0.5)

    def evaluate(session: th.Session) -> dict[str, float]:
        clock.advance(600.0)
        return {"accuracy": 0.5}

    def make() -> list[object]:
        return [
            EvaluatorHook(evaluate, metrics=["accuracy"], every_n_steps=3, clock=clock),
            StepCounterHook(every_n_steps=1, summary_writer=tracker, clock=clock),
            ProgressHook(file=shown, line_every_n_secs=0.0, clock=clock),
            Secs(),
        ]

    interrupted(tmp_path, loop, make)
    assert len(tracker.rates) > 8
    assert set(tracker.rates) == {2.0}
    assert set(re.findall(r"([\d.?]+)step/s", shown.getvalue())) == {"?", "2.00"}
    # So a rate of less than one is told.
    assert "s/step" not in shown.getvalue()


@loops
@pytest.mark.parametrize("error", [BrokenOffError, KeyboardInterrupt, SystemExit])
def test_a_writer_is_told_how_each_session_ended(loop: Loop, error: type[BaseException], tmp_path: Path) -> None:
    tracker = Tracker()

    def make() -> list[object]:
        return [SummarySaverHook(save_steps=1, tensors="value", summary_writer=tracker), JsonLinesHook("value")]

    with pytest.raises(error):
        train(tmp_path, loop, *make(), fail_at=FAIL_AT, error=error)
    assert jsonl(tmp_path)[-1]["end"] == f"failed: {error.__name__}"
    train(tmp_path, loop, *make())
    assert tracker.ends == [error.__name__, "NoneType"]
    assert [line["end"] for line in jsonl(tmp_path) if "end" in line] == ["clean"]


@loops
def test_a_nan_is_written_as_one_everywhere(loop: Loop, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_logging")
    odd = {2: math.nan, 5: math.inf, 8: -math.inf}
    shown = io.StringIO()
    hooks = [
        *to_files(),
        LoggingTensorHook("value", every_n_iter=1),
        ProgressHook(values="value", file=shown, line_every_n_secs=0.0),
    ]
    train(tmp_path, loop, *hooks, value=lambda global_step: odd.get(global_step, 1.5))
    expected = [str(odd.get(step, 1.5)) for step in range(LAST)]
    found = {name: [str(value) for _, value in points] for name, points in in_files(tmp_path).items()}
    found["log"] = re.findall(r"step \d+: value = ([-\w.]+)", caplog.text)
    found["bar"] = re.findall(r"value=([-\w.]+)", shown.getvalue())
    assert found == dict.fromkeys(("jsonl", "csv", "summary", "log", "bar"), expected)


class Terminal(io.StringIO):
    """What a bar is drawn on."""

    def isatty(self) -> bool:
        return True


@loops
def test_a_bar_begins_at_the_resumed_step_and_is_closed_by_an_interrupt(loop: Loop, tmp_path: Path) -> None:
    screens = Terminal(), Terminal()

    def hook(screen: Terminal) -> ProgressHook:
        return ProgressHook(total=LAST, every_n_secs=0.0, file=screen)

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, loop, hook(screens[0]), fail_at=FAIL_AT, error=KeyboardInterrupt)
    train(tmp_path, loop, hook(screens[1]))
    for screen, steps in zip(screens, (range(FAIL_AT + 1), range(SAVE_STEPS, LAST + 1)), strict=True):
        assert {int(step) for step in re.findall(rf"\| (\d+)/{LAST} \[", screen.getvalue())} == set(steps)
        # A bar that is closed has an end of its line.
        assert screen.getvalue().endswith("\n")
