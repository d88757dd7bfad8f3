"""Checkpoints in memory, and the hook that keeps one of each step."""

from pathlib import Path

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import MemorySaver, Recorder, run_hooks


def test_it_is_a_saver() -> None:
    saver: th.Saver = MemorySaver()
    first = saver.save({"w": 1}, step=1, metrics={"loss": 2.0})
    second = saver.save({"w": 2}, step=2, metrics={"loss": 3.0})
    assert saver.list() == [first, second]
    assert saver.latest() == second
    assert saver.restore() == (second, {"w": 2})
    assert saver.restore(first) == (first, {"w": 1})
    assert (saver.best("loss"), saver.best("loss", "max")) == (first, second)
    assert saver.best("accuracy") is None
    assert saver.verify(first) is None
    assert saver.verify(th.Checkpoint(Path("other"), 9, 9)) is not None


def test_an_empty_one_has_nothing_to_restore() -> None:
    saver = MemorySaver()
    assert (saver.restore(), saver.latest(), saver.list()) == (None, None, [])


def test_what_is_kept_does_not_change_with_the_state() -> None:
    saver = MemorySaver()
    array = np.zeros(2)
    saver.save({"w": array}, step=1)
    array += 1
    _, state = saver.restore() or (None, {})
    state["w"] += 5
    assert [kept["w"].tolist() for _, kept in saver.saved] == [[0.0, 0.0]]


def test_one_until_a_step_has_what_a_process_killed_there_has_left() -> None:
    saver = MemorySaver()
    run_hooks([], steps=4, saver=saver)
    assert [checkpoint.step for checkpoint in saver.until(2).list()] == [0, 1, 2]
    assert [checkpoint.step for checkpoint in saver.list()] == [0, 1, 2, 3, 4]


class Objects(th.SessionRunHook):
    """Objects to odd steps, and notes what was saved."""

    def __init__(self) -> None:
        self.saved: list[tuple[int, int]] = []

    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> str | None:
        return "odd" if step % 2 else None

    @th.hookimpl(optionalhook=True)
    def after_save(self, session: th.Session, step: int, checkpoint: th.Checkpoint) -> None:
        self.saved.append((step, checkpoint.step))


@pytest.mark.parametrize("loop", ["graph", "own"])
def test_a_step_that_a_hook_objects_to_is_not_kept(loop: str) -> None:
    saver, hook = MemorySaver(), Objects()
    run_hooks([hook], steps=4, loop=loop, saver=saver)  # type: ignore[arg-type]
    assert [checkpoint.step for checkpoint in saver.list()] == [0, 2, 4]
    assert hook.saved == [(0, 0), (2, 2), (4, 4)]


def test_a_restored_session_keeps_its_first_step_no_second_time() -> None:
    saver = MemorySaver()
    run_hooks([Recorder()], steps=2, saver=saver)
    run_hooks([Recorder()], steps=3, saver=saver)
    assert [checkpoint.step for checkpoint in saver.list()] == [0, 1, 2, 3]
