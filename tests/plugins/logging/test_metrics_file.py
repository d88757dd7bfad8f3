"""What the hooks promise that write values to a file, in real sessions."""

import csv
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import MemorySaver
from tenterhooks_logging import CsvHook, JsonLinesHook
from tenterhooks_logging._metrics_file import MetricsFileHook

Hook = Callable[..., MetricsFileHook]
Open = Callable[..., th.MonitoredSession]
BOTH = pytest.mark.parametrize("make", [JsonLinesHook, CsvHook])


def rows(path: Path) -> list[dict[str, Any]]:
    """What a file has of steps, without the times; what a row has no value of is not in it."""
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            found: list[dict[str, Any]] = [
                {tag: float(cell) for tag, cell in row.items() if cell} for row in csv.DictReader(file)
            ]
        else:
            found = [line for line in map(json.loads, file) if "end" not in line]
    return [{tag: value for tag, value in row.items() if tag != "time"} for row in found]


def steps(path: Path) -> list[int]:
    return [int(row["step"]) for row in rows(path)]


def make_graph() -> th.Graph:
    """`loss` is the step before the update."""
    graph = th.Graph()
    graph.add_to_collection("summaries", graph.tensor(float, name="loss", inputs=["global_step"]))
    graph.tensor(lambda: 0.9, name="accuracy")
    graph.train_op(lambda: None, name="train")
    return graph


def train(hook: object, folder: Path, to: int, *more: object, graph: th.Graph | None = None) -> None:
    """Train in a session that saves nothing."""
    train_in(th.MonitoredSession(graph=graph or make_graph(), hooks=[hook, *more], summary_dir=folder), to)


def train_in(session: th.MonitoredSession, to: int) -> None:
    with session:
        while session.global_step < to:
            session.run("train")


class Fails(th.SessionRunHook):
    """Raises an error when the global step is this one, as often as it is told."""

    def __init__(self, step: int, error: Exception, times: int = 1) -> None:
        self._step, self._error, self._times = step, error, times

    # After the hook has written.
    @th.hookimpl(trylast=True)
    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self._step and self._times:
            self._times -= 1
            raise self._error


def file_of(make: Hook, folder: Path) -> Path:
    return folder / ("metrics.csv" if make is CsvHook else "metrics.jsonl")


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every_n_steps": 1, "every_n_secs": 1.0}, "only one of every_n_steps and every_n_secs can be given"),
        ({"every_n_steps": 0}, "every_n_steps is 1 or more, not 0"),
        ({"every_n_steps": -3}, "every_n_steps is 1 or more, not -3"),
        ({"every_n_secs": -1.0}, "a period is 0 or more, not -1.0"),
        ({"every_n_secs": float("nan")}, "a period is 0 or more, not nan"),
        ({"every_n_steps": "10"}, "every_n_steps is a whole number, not '10' of type str"),
        ({"every_n_secs": "1"}, "a period is a number, not '1' of type str"),
        ({"tensors": 5}, "expected a node or its name, several of them, or a dict of them by tag, not 5 of type int"),
        ({"tensors": {3: "loss"}}, "a tag is a text, not 3 of type int: give 'loss' one"),
        ({"optional": "accuracy"}, r"optional is a list of names, .*: optional=\['accuracy'\]"),
    ],
)
def test_wrong_options_are_an_error_that_says_what_is_right(make: Hook, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(**{"tensors": "loss", **options})


@BOTH
def test_the_first_run_is_written_and_then_one_each_period(make: Hook, tmp_path: Path) -> None:
    train(make("loss", every_n_steps=3), tmp_path, 7)
    assert rows(file_of(make, tmp_path)) == [
        {"step": 1, "loss": 0.0},
        {"step": 4, "loss": 3.0},
        {"step": 7, "loss": 6.0},
    ]


@BOTH
def test_values_are_computed_only_in_runs_that_are_written(make: Hook, tmp_path: Path) -> None:
    computed: list[int] = []
    graph = make_graph()

    @graph.tensor
    def costly(global_step: int) -> float:
        computed.append(global_step)
        return 1.0

    train(make("costly", every_n_steps=3), tmp_path, 7, graph=graph)
    assert computed == [0, 3, 6]


@BOTH
def test_a_period_of_seconds(make: Hook, tmp_path: Path) -> None:
    now = [0.0]

    class Clock(th.SessionRunHook):
        @th.hookimpl(trylast=True)
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            now[0] += 0.6

    train(make("loss", every_n_secs=1.0, clock=lambda: now[0]), tmp_path, 6, Clock())
    assert steps(file_of(make, tmp_path)) == [1, 3, 5]


@BOTH
def test_the_time_is_that_of_day(make: Hook, tmp_path: Path) -> None:
    before = time.time()
    train(make("loss"), tmp_path, 1)
    text = file_of(make, tmp_path).read_text(encoding="utf-8")
    written = float(text.splitlines()[1].split(",")[1]) if make is CsvHook else json.loads(text.splitlines()[0])["time"]
    assert before - 0.001 <= written <= time.time() + 0.001


@BOTH
def test_runs_that_do_not_train_write_no_step_twice(make: Hook, tmp_path: Path) -> None:
    with th.MonitoredSession(
        graph=make_graph(), hooks=[make("loss", every_n_steps=1)], summary_dir=tmp_path
    ) as session:
        for fetches in (None, None, "train", None, "train", None):
            session.run(fetches or [])
    assert steps(file_of(make, tmp_path)) == [0, 1, 2]


@BOTH
def test_by_default_a_graph_has_its_summaries_written(make: Hook, tmp_path: Path) -> None:
    train(make(every_n_steps=1), tmp_path, 2)
    assert rows(file_of(make, tmp_path)) == [{"step": 1, "loss": 0.0}, {"step": 2, "loss": 1.0}]


@BOTH
def test_by_default_a_loop_has_all_single_numbers_written(
    make: Hook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hook = make(every_n_steps=1)
    with th.MonitoredSession(state={}, hooks=[hook], summary_dir=tmp_path) as session:
        for step in session.steps(range(3)):
            session.publish(loss=step / 2, grads=np.zeros(3), time=7.0, costly=lambda: 1 / 0)
            if step == 1:
                session.publish(extra=np.float32(0.25))
    assert rows(file_of(make, tmp_path)) == [
        {"step": 1, "loss": 0.0},
        {"step": 2, "loss": 0.5, "extra": 0.25},
        {"step": 3, "loss": 1.0},
    ]
    said = [record.getMessage() for record in caplog.records if record.name == "tenterhooks_logging"]
    assert said == [
        "'grads' is not written, since it is no single number or text: tensors=... names what is to be written",
        "'time' is not written, since the file has that name itself: tensors=... names what is to be written",
    ]


@BOTH
def test_by_default_what_was_published_between_passes_is_written_until_it_is_replaced(
    make: Hook, tmp_path: Path
) -> None:
    with th.MonitoredSession(state={}, hooks=[make(every_n_steps=1)], summary_dir=tmp_path) as session:
        for epoch in session.epochs(2):
            for _ in session.steps(range(2)):
                session.publish(loss=0.5)
            session.publish({"eval/accuracy": epoch + 0.5})
        with session.step():
            session.publish(loss=0.5)
    accuracies = [row.get("eval/accuracy") for row in rows(file_of(make, tmp_path))]
    assert accuracies == [None, None, 0.5, 0.5, 1.5]


@BOTH
@pytest.mark.parametrize("value", [np.complex64(1), np.datetime64("2020-01-01"), np.array(object()), np.bytes_(b"x")])
def test_what_is_single_and_can_be_written_in_no_file_is_left_out_and_said_once(
    make: Hook, value: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with th.MonitoredSession(state={}, hooks=[make(every_n_steps=1)], summary_dir=tmp_path) as session:
        for _ in session.steps(range(2)):
            session.publish(loss=0.5, odd=value)
    assert rows(file_of(make, tmp_path)) == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.5}]
    assert caplog.text.count("'odd' is not written, since ") == 1


@BOTH
def test_names_may_come_from_a_generator_and_last_for_a_second_session(make: Hook, tmp_path: Path) -> None:
    hook = make((name for name in ["loss"]), every_n_steps=1)
    for folder in (tmp_path / "a", tmp_path / "b"):
        train(hook, folder, 1)
        assert rows(file_of(make, folder)) == [{"step": 1, "loss": 0.0}]


@BOTH
def test_an_optional_value_is_written_once_it_is_there(make: Hook, tmp_path: Path) -> None:
    with th.MonitoredSession(
        state={}, hooks=[make("loss", optional=["eval/accuracy"], every_n_steps=1)], summary_dir=tmp_path
    ) as session:
        for step in session.steps(range(4)):
            session.publish(loss=0.5, other=1.0)
            if step == 1:
                session.publish({"eval/accuracy": 0.75})
    found = rows(file_of(make, tmp_path))
    assert [row.get("eval/accuracy") for row in found] == [None, 0.75, None, None]
    assert all("other" not in row for row in found)


@BOTH
def test_an_optional_value_may_be_published_by_a_hook_of_a_graph(make: Hook, tmp_path: Path) -> None:
    class Evaluates(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            graph.placeholder("eval/accuracy")

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 2:
                run_context.session.publish({"eval/accuracy": 0.75})

    hook = make("loss", optional=["eval/accuracy"], every_n_steps=1)
    with th.MonitoredSession(graph=make_graph(), hooks=[Evaluates(), hook], summary_dir=tmp_path) as session:
        for _ in range(3):
            session.run("train")
    assert [row.get("eval/accuracy") for row in rows(file_of(make, tmp_path))] == [None, 0.75, 0.75]


@BOTH
def test_a_run_with_nothing_to_write_makes_no_row(make: Hook, tmp_path: Path) -> None:
    hook = make([], optional=["eval/accuracy"], every_n_steps=1)
    with th.MonitoredSession(state={}, hooks=[hook], summary_dir=tmp_path) as session:
        for step in session.steps(range(3)):
            if step == 1:
                session.publish({"eval/accuracy": 0.75})
    assert steps(file_of(make, tmp_path)) == [2]


@BOTH
def test_what_a_loop_did_not_publish_and_is_not_optional_is_an_error(make: Hook, tmp_path: Path) -> None:
    with (
        pytest.raises(th.UnknownNameError, match="'accuracy', and nobody published it"),
        th.MonitoredSession(state={}, hooks=[make(["loss", "accuracy"])], summary_dir=tmp_path) as session,
        session.step(),
    ):
        session.publish(loss=0.5)


@BOTH
def test_an_unknown_name_is_an_error_at_the_start_with_the_nearest(make: Hook, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"'los'.*nearest.*'loss'"):
        train(make("los"), tmp_path, 1)


@BOTH
@pytest.mark.parametrize("tag", ["step", "time", "end"])
def test_a_tag_that_the_file_has_itself_is_an_error(make: Hook, tag: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"no value can be written as '{tag}'.*tensors={{'the_{tag}': 'loss'}}"):
        train(make({tag: "loss"}), tmp_path, 1)


@BOTH
def test_nothing_to_write_is_an_error(make: Hook, tmp_path: Path) -> None:
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    with pytest.raises(
        ValueError, match=r"there is nothing to write: pass \w+Hook\(tensors=...\), or put tensors into"
    ):
        train(make(), tmp_path, 1, graph=graph)


@BOTH
def test_without_a_folder_it_says_what_to_give(make: Hook) -> None:
    message = r"there is no folder for metrics\.\w+: pass \w+Hook\(path=...\), or give the session a summary_dir"
    with pytest.raises(ValueError, match=message):
        th.MonitoredSession(graph=make_graph(), hooks=[make("loss")])


@BOTH
def test_two_hooks_cannot_write_to_one_file(make: Hook, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"another hook writes to .*metrics\.\w+: give one of them another path"):
        train(make("loss"), tmp_path, 1, make("accuracy"))
    train(make("loss"), tmp_path, 1, make("accuracy", path=tmp_path / "accuracy"))


@BOTH
def test_what_cannot_be_written_is_an_error_that_names_it(make: Hook, tmp_path: Path) -> None:
    graph = make_graph()
    graph.tensor(object, name="model", inputs=[])
    with pytest.raises(TypeError, match=r"'model' is <object .*write numbers, texts, and arrays"):
        train(make(["loss", "model"]), tmp_path, 1, graph=graph)


@BOTH
def test_a_nan_is_a_nan(make: Hook, tmp_path: Path) -> None:
    graph = make_graph()
    for name, value in {"nan": np.nan, "inf": np.inf, "minus": np.float32("-inf"), "zero": 0.0}.items():
        graph.tensor(lambda value=value: value, name=name)
    train(make(["nan", "inf", "minus", "zero"]), tmp_path, 1, graph=graph)
    (row,) = rows(file_of(make, tmp_path))
    numbers = [float(row[name]) for name in ("nan", "inf", "minus", "zero")]
    np.testing.assert_array_equal(numbers, [np.nan, np.inf, -np.inf, 0.0])
    assert "Infinity" in file_of(make, tmp_path).read_text(encoding="utf-8")


@BOTH
def test_a_resumed_run_has_each_step_once(make: Hook, tmp_path: Path, open_session: Open) -> None:
    """Step 3 was written and not saved."""
    path = file_of(make, tmp_path)
    with pytest.raises(RuntimeError, match="lost"):
        train_in(
            open_session(tmp_path, make("loss", every_n_steps=1), Fails(3, RuntimeError("lost")), graph=make_graph()),
            5,
        )
    assert steps(path) == [1, 2, 3]
    train_in(open_session(tmp_path, make("loss", every_n_steps=1), graph=make_graph()), 5)
    assert rows(path) == [{"step": step, "loss": step - 1.0} for step in range(1, 6)]


@BOTH
@pytest.mark.parametrize("interrupted", range(1, 7))
def test_interrupted_at_any_step_the_file_is_that_of_an_unbroken_run(
    make: Hook, interrupted: int, tmp_path: Path, open_session: Open
) -> None:
    def loop(folder: Path, fail_at: int | None) -> None:
        with open_session(folder, make(every_n_steps=1), state={"w": np.ones(2)}) as session:
            for item in session.steps(range(6)):
                session.state["w"] *= 0.5
                session.publish(loss=float(session.state["w"].sum()))
                if item == 3:
                    session.publish(late=item)
                if session.global_step + 1 == fail_at:
                    raise OSError("the power is gone")

    loop(tmp_path / "unbroken", None)
    with pytest.raises(OSError, match="the power is gone"):
        loop(tmp_path / "broken", interrupted)
    loop(tmp_path / "broken", None)
    assert rows(file_of(make, tmp_path / "broken")) == rows(file_of(make, tmp_path / "unbroken"))
    assert steps(file_of(make, tmp_path / "broken")) == [1, 2, 3, 4, 5, 6]


@BOTH
@pytest.mark.parametrize("period", [1, 2])
def test_a_recovery_writes_no_step_twice(make: Hook, period: int, tmp_path: Path, open_session: Open) -> None:
    """What is written anew is so from the restored step on, not from where the period before would have come to."""
    fails = Fails(4, th.AbortedError("worker lost"), times=2)
    train_in(open_session(tmp_path, make("loss", every_n_steps=period), fails, graph=make_graph()), 6)
    assert steps(file_of(make, tmp_path)) == ([1, 2, 3, 4, 5, 6] if period == 1 else [1, 3, 5])


@BOTH
def test_a_recovery_without_a_checkpoint_begins_the_file_anew(make: Hook, tmp_path: Path) -> None:
    hooks = [make("loss", every_n_steps=1), Fails(3, th.AbortedError("worker lost"))]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks, summary_dir=tmp_path, sleep=lambda secs: None) as session:
        while session.global_step < 4:
            session.run("train")
    # The run that failed is the one that is made again.
    assert steps(file_of(make, tmp_path)) == [1, 2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 1


@BOTH
def test_a_fresh_session_leaves_the_file_of_an_earlier_run(
    make: Hook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = file_of(make, tmp_path)
    caplog.set_level(logging.INFO, "tenterhooks_logging")
    for _ in range(2):
        train(make("loss"), tmp_path, 1)
    older = path.with_stem("metrics-1")
    assert rows(path) == rows(older) == [{"step": 1, "loss": 0.0}]
    assert f"is of an earlier run and is called {older.name} now" in caplog.text


@BOTH
def test_what_a_session_goes_on_after_is_on_the_disk_before_it_is_saved(
    make: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_session: Open
) -> None:
    path, synced = file_of(make, tmp_path), []

    def noting(descriptor: int) -> None:
        # A table is put on the disk as a whole, too, when it gets its columns.
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            synced.append(steps(path))

    monkeypatch.setattr("os.fsync", noting)
    train_in(open_session(tmp_path, make("loss", every_n_steps=1), graph=make_graph()), 5)
    assert synced == [[1, 2], [1, 2, 3, 4]]


@BOTH
def test_the_object_can_be_used_again(make: Hook, tmp_path: Path) -> None:
    hook = make("loss", every_n_steps=2)
    for name in ("a", "b"):
        train(hook, tmp_path / name, 3)
    assert steps(file_of(make, tmp_path / "a")) == steps(file_of(make, tmp_path / "b")) == [1, 3]


@pytest.mark.parametrize(("name", "made"), [("json-lines", JsonLinesHook), ("csv", CsvHook)])
def test_the_short_name_makes_the_hook(name: str, made: type) -> None:
    assert type(th.make_hook(name)) is made


@BOTH
@pytest.mark.parametrize("first", [False, True])
def test_what_is_found_after_a_run_is_of_its_step_wherever_that_hook_stands(
    make: Hook, first: bool, tmp_path: Path, open_session: Open
) -> None:
    class Evaluates(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            session = run_context.session
            session.publish({"eval/x": float(session.global_step)})

    hook = make("loss", optional=["eval/x"], every_n_steps=1)
    hooks = [Evaluates(), hook] if first else [hook, Evaluates()]
    with open_session(tmp_path, *hooks, state={"w": np.ones(1)}) as session:
        for _ in session.steps(range(2)):
            session.state["w"] *= 0.5
            session.publish(loss=1.0)
    assert [row["eval/x"] for row in rows(file_of(make, tmp_path))] == [1.0, 2.0]


class Worker(th.ChiefSessionCreator):
    """Makes the session of a process that is not the chief."""

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.is_chief = False
        return session


@BOTH
def test_a_process_that_is_not_the_chief_leaves_the_chiefs_file_alone(
    make: Hook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its session is restored from what the chief saved, and would go on with the chief's file."""
    path, computed = file_of(make, tmp_path), []
    train(make("loss", every_n_steps=1), tmp_path, 3)
    written = path.read_bytes()
    graph = make_graph()
    graph.tensor(lambda: computed.append(1), name="costly")
    caplog.set_level(logging.INFO, "tenterhooks_logging")
    train_in(
        th.MonitoredSession(Worker(graph, tmp_path, saver=MemorySaver()), [make("costly", every_n_steps=1)]),
        2,
    )
    assert path.read_bytes() == written
    assert (computed, len(list(tmp_path.iterdir()))) == ([], 1)
    assert f"{make.__name__} writes no file here, since the chief does: path=..." in caplog.text


@BOTH
def test_a_process_that_is_not_the_chief_writes_to_a_path_of_its_own(make: Hook, tmp_path: Path) -> None:
    hook = make("loss", every_n_steps=1, path=tmp_path / "worker-1" / "file")
    train_in(th.MonitoredSession(Worker(make_graph()), [hook]), 2)
    assert "\n2," in (text := (tmp_path / "worker-1" / "file").read_text(encoding="utf-8")) or '"step": 2' in text
