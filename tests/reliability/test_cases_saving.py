"""Faults of saving and keeping that users met elsewhere, each shown to be absent in a whole session."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_stop_at_step import StopAtStepHook


def counting_graph(items: int | None = None) -> th.Graph:
    """A graph whose `w` is the number of its steps; its input has so many items."""
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(3))
    graph.variable("sum", 0.0)
    graph.source("batch", lambda: iter(range(10**6 if items is None else items)))

    @graph.train_op
    def train(w: Any, batch: int) -> None:
        w += 1.0

    @graph.train_op(advance=False)
    def accumulate(sum: float, batch: int) -> dict[str, float]:  # noqa: A002 - the name of a variable
        return {"sum": sum + batch}

    graph.tensor(lambda w: float(w.sum()), name="look")
    return graph


def session_in(directory: Path, *hooks: object, items: int | None = None, **options: Any) -> th.MonitoredSession:
    return th.MonitoredTrainingSession(
        graph=counting_graph(items), checkpoint_dir=directory, hooks=hooks, **{"save_checkpoint_steps": 100, **options}
    )


def saved_steps(directory: Path) -> list[int]:
    return [checkpoint.step for checkpoint in Saver(directory).list()]


def content(directory: Path) -> dict[str, bytes]:
    """The files in a folder."""
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def ends_with_the_block(directory: Path, every: int) -> None:
    with session_in(directory, save_checkpoint_steps=every) as session:
        for _ in range(7):
            session.run("train")


def ends_with_the_input(directory: Path, every: int) -> None:
    with session_in(directory, items=7, save_checkpoint_steps=every) as session:
        while not session.should_stop():
            session.run("train")


def ends_with_the_input_of_the_body(directory: Path, every: int) -> None:
    items = iter(range(7))
    with session_in(directory, save_checkpoint_steps=every) as session:
        while not session.should_stop():
            next(items)
            session.run("train")


def a_hook_asks_for_the_end(directory: Path, every: int) -> None:
    with session_in(directory, StopAtStepHook(last_step=7), save_checkpoint_steps=every) as session:
        while not session.should_stop():
            session.run("train")


def the_program_asks_for_the_end(directory: Path, every: int) -> None:
    with session_in(directory, save_checkpoint_steps=every) as session:
        while not session.should_stop():
            session.run("train")
            if session.global_step == 7:
                session.request_stop()


def the_program_closes_it(directory: Path, every: int) -> None:
    session = session_in(directory, save_checkpoint_steps=every)
    for _ in range(7):
        session.run("train")
    session.close()


ENDINGS = [
    ends_with_the_block,
    ends_with_the_input,
    ends_with_the_input_of_the_body,
    a_hook_asks_for_the_end,
    the_program_asks_for_the_end,
    the_program_closes_it,
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("every", "expected"), [(100, [0, 7]), (3, [0, 3, 6, 7]), (7, [0, 7])])
def test_the_last_completed_step_is_saved_once_at_each_clean_end(
    tmp_path: Path, ending: Callable[[Path, int], None], every: int, expected: list[int]
) -> None:
    ending(tmp_path, every)
    assert saved_steps(tmp_path) == expected
    found = Saver(tmp_path).restore()
    assert found is not None
    checkpoint, state = found
    assert (checkpoint.step, checkpoint.sequence) == (7, len(expected))
    assert state["variables"]["w"].tolist() == [7.0, 7.0, 7.0]
    assert state["sources"]["batch"]["drawn"] == 7


@pytest.mark.parametrize(
    ("op", "asks", "expected"), [("accumulate", False, [0, 2, 4, 5]), ("look", True, [0, 1, 2, 3, 4, 5])]
)
def test_runs_that_are_no_step_save_no_step_anew(tmp_path: Path, op: str, asks: bool, expected: list[int]) -> None:
    saves: list[int] = []

    class Listens(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if asks:
                run_context.session.request_checkpoint()

        @th.hookimpl(optionalhook=True)
        def after_save(self, step: int) -> None:
            saves.append(step)

    with session_in(tmp_path, Listens(), save_checkpoint_steps=2, max_to_keep=None) as session:
        for _ in range(5):
            for _ in range(3):
                session.run(op)
            session.run("train")
    assert saves == expected
    assert [checkpoint.sequence for checkpoint in Saver(tmp_path).list()] == list(range(1, len(expected) + 1))


def test_a_run_that_goes_on_in_another_folder_leaves_the_one_that_it_came_from_alone(tmp_path: Path) -> None:
    with session_in(tmp_path / "old", save_checkpoint_steps=1) as session:
        for _ in range(3):
            session.run("train")
    before = content(tmp_path / "old")
    creator = th.ChiefSessionCreator(counting_graph(), tmp_path / "old")
    hook = CheckpointSaverHook(tmp_path / "new", save_steps=1, max_to_keep=1)
    with th.MonitoredSession(creator, [hook]) as session:
        assert session.global_step == 3
        for _ in range(4):
            session.run("train")
    assert content(tmp_path / "old") == before
    assert saved_steps(tmp_path / "new") == [7]


def test_names_padded_by_another_version_are_numbers_to_readers_and_to_what_is_kept(tmp_path: Path) -> None:
    saver = Saver(tmp_path, max_to_keep=None)
    for step in (9000, 10000, 11000):
        saver.save({"step": step}, step=step)
    saver.close()
    (tmp_path / "checkpoint-1-step-9000").rename(tmp_path / "checkpoint-001-step-009000")
    (tmp_path / "checkpoint-2-step-10000").rename(tmp_path / "checkpoint-0000002-step-00000010000")
    assert saved_steps(tmp_path) == [9000, 10000, 11000]
    Saver(tmp_path, max_to_keep=3).save({"step": 100}, step=100)
    assert saved_steps(tmp_path) == [10000, 11000, 100]
    found = Saver(tmp_path).restore()
    assert found is not None
    assert found[1] == {"step": 100}


def cut(path: Path) -> None:
    """Leave half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FILES = ["arrays.safetensors", "state.json", "manifest.json"]


@pytest.mark.parametrize("name", FILES)
def test_a_session_goes_on_from_the_newest_whole_one_and_names_what_it_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    with session_in(tmp_path, save_checkpoint_steps=1) as session:
        for _ in range(3):
            session.run("train")
    *_, before, newest = Saver(tmp_path).list()
    cut(newest.path / name)
    with caplog.at_level(logging.INFO), session_in(tmp_path) as session:
        assert session.global_step == before.step == 2
        assert session.state["w"].tolist() == [2.0, 2.0, 2.0]
        session.run("train")
        session.run("train")
    passed_over = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert any(str(newest.path) in message and name in message for message in passed_over)
    assert any(str(before.path) in record.getMessage() for record in caplog.records if record.levelno == logging.INFO)
    # The step that was passed over is made and saved anew, and outranks the broken one.
    found = Saver(tmp_path).restore()
    assert found is not None
    assert found[0].step == 4
    assert found[0].sequence > newest.sequence


@pytest.mark.parametrize("name", FILES)
def test_a_session_whose_checkpoints_are_all_broken_does_not_begin_anew(tmp_path: Path, name: str) -> None:
    with session_in(tmp_path, save_checkpoint_steps=1) as session:
        session.run("train")
    for checkpoint in Saver(tmp_path).list():
        cut(checkpoint.path / name)
    before = content(tmp_path)
    with pytest.raises(th.CheckpointError, match=r"no checkpoint in .* is whole"):
        session_in(tmp_path)
    assert content(tmp_path) == before


def test_what_a_killed_save_left_is_cleaned_up_and_never_counted(tmp_path: Path) -> None:
    with session_in(tmp_path, save_checkpoint_steps=1) as session:
        session.run("train")
    (checkpoint, _) = Saver(tmp_path).list()
    # No process has this number: it is beyond what systems give.
    left = tmp_path / ".tmp-4194999-0123abcd-7"
    checkpoint.path.rename(left)
    cut(left / "manifest.json")
    with session_in(tmp_path, save_checkpoint_steps=1, max_to_keep=2) as session:
        assert session.global_step == 1
        session.run("train")
    assert saved_steps(tmp_path) == [1, 2]
    assert not left.exists()


def test_micro_batches_of_one_step_save_once_and_call_hooks_once(tmp_path: Path) -> None:
    calls: list[str] = []

    class Note(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            calls.append("before")

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            calls.append("after")

    saver = CheckpointSaverHook(save_steps=2, max_to_keep=None)
    with th.MonitoredTrainingSession(
        state={"w": np.zeros(1)}, checkpoint_dir=tmp_path, hooks=[saver, Note()]
    ) as session:
        for micro_batches in session.steps(range(16), group=4):
            for _ in micro_batches:
                session.state["w"] += 1.0
    assert saved_steps(tmp_path) == [0, 2, 4]
    # The last one finds that the input is over.
    assert calls == ["before", "after"] * 4 + ["before"]
    found = Saver(tmp_path).restore()
    assert found is not None
    assert found[1]["variables"]["w"].tolist() == [16.0]
