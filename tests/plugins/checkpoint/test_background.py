"""Saving beside the training."""

import signal
import threading
import traceback
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, CheckpointSaverListener, Saver

WAIT_SECS = 60.0


class GatedSaver(Saver):
    """Writes when it is let."""

    def __init__(self, directory: Path, *, fails_at: int | None = None) -> None:
        super().__init__(directory, max_to_keep=None)
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.threads: list[threading.Thread] = []
        self.fails_at = fails_at

    def save(
        self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float] = MappingProxyType({})
    ) -> th.Checkpoint:
        self.threads.append(threading.current_thread())
        self.begun.set()
        assert self.gate.wait(WAIT_SECS)
        if step == self.fails_at:
            self.fail()
        return super().save(state, step=step, metrics=metrics)

    def fail(self) -> None:
        raise th.CheckpointError("the disk is gone")


class Notes(th.SessionRunHook):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    @th.hookimpl(optionalhook=True)
    def after_save(self, session: th.Session, step: int, checkpoint: th.Checkpoint) -> None:
        self.calls.append((step, session.global_step, threading.current_thread() is threading.main_thread()))

    def end(self, session: th.Session) -> None:
        self.calls.append("end")

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self.calls.append("on_exception")


def counting_graph() -> th.Graph:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1000))

    @graph.train_op
    def train(w: Any) -> None:
        w += 1.0

    return graph


def session_of(saver: Saver, *hooks: object, save_steps: int = 2, **options: Any) -> th.MonitoredSession:
    hook = CheckpointSaverHook(saver=saver, save_steps=save_steps, **options)
    return th.MonitoredSession(th.ChiefSessionCreator(counting_graph(), saver=saver), [*hooks, hook])


def saved(directory: Path) -> dict[int, list[float]]:
    """For each saved step all different numbers in its array."""
    saver = Saver(directory)
    found = [saver.restore(checkpoint) for checkpoint in saver.list()]
    return {each[0].step: sorted(set(each[1]["variables"]["w"].tolist())) for each in found if each}


def test_the_training_goes_on_and_what_is_written_is_of_one_step(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    with session_of(saver) as session:
        saver.gate.clear()
        for _ in range(3):
            session.run("train")
        # The save of step 2 is not over, and step 3 has changed the array.
        assert [checkpoint.step for checkpoint in saver.list()] == [0]
        saver.gate.set()
    assert saved(tmp_path) == {0: [0.0], 2: [2.0], 3: [3.0]}


def test_a_further_save_waits_for_the_one_in_flight(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    with session_of(saver, save_steps=1) as session:
        for _ in range(20):
            session.run("train")
            assert sum(thread.is_alive() for thread in saver.threads if thread is not threading.main_thread()) <= 1
    assert saved(tmp_path) == {step: [float(step)] for step in range(21)}


def test_the_first_and_the_last_save_are_on_the_disk_when_they_are_over(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    session = session_of(saver, save_steps=100)
    assert list(saved(tmp_path)) == [0]
    session.run("train")
    session.close()
    assert list(saved(tmp_path)) == [0, 1]
    assert set(saver.threads) == {threading.main_thread()}


def test_the_end_waits_for_what_is_in_flight(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    session = session_of(saver)
    saver.gate.clear()
    session.run("train")
    session.run("train")
    opener = threading.Timer(0.05, saver.gate.set)
    opener.start()
    session.close()
    assert list(saved(tmp_path)) == [0, 2]


def test_a_failure_is_raised_by_the_next_run_with_its_own_traceback(tmp_path: Path) -> None:
    saver, notes = GatedSaver(tmp_path, fails_at=2), Notes()
    with pytest.raises(th.CheckpointError, match="the disk is gone") as caught, session_of(saver, notes) as session:
        session.run("train")
        session.run("train")
        saver.threads[-1].join(WAIT_SECS)
        session.run("train")
        pytest.fail("the run was made")
    assert "fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert any("save of global step 2" in note for note in caught.value.__notes__)
    assert notes.calls == [(0, 0, True), "on_exception"]
    assert list(saved(tmp_path)) == [0]


def test_a_program_that_goes_on_after_a_failure_is_saved_again(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path, fails_at=2)
    with session_of(saver) as session:
        session.run("train")
        session.run("train")
        saver.threads[-1].join(WAIT_SECS)
        with pytest.raises(th.CheckpointError, match="the disk is gone"):
            session.run("train")
        for _ in range(3):
            session.run("train")
    assert list(saved(tmp_path)) == [0, 4, 5]


def test_a_failure_that_no_run_has_raised_is_raised_at_the_end(tmp_path: Path) -> None:
    saver, notes = GatedSaver(tmp_path, fails_at=2), Notes()
    with pytest.raises(th.CheckpointError, match="the disk is gone"), session_of(saver, notes) as session:
        session.run("train")
        session.run("train")
        saver.threads[-1].join(WAIT_SECS)
    assert notes.calls == [(0, 0, True), "end"]


def test_a_failure_is_not_lost_with_a_worker(tmp_path: Path) -> None:
    class LosesTheWorker(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 2:
                saver.gate.set()
                raise th.AbortedError("lost")

    saver = GatedSaver(tmp_path, fails_at=2)
    with pytest.raises(th.CheckpointError, match="the disk is gone"), session_of(saver, LosesTheWorker()) as session:
        session.run("train")
        saver.gate.clear()
        session.run("train")
        session.run("train")


def test_what_after_save_raises_does_not_hide_a_failed_save(tmp_path: Path) -> None:
    class Raises(th.SessionRunHook):
        @th.hookimpl(optionalhook=True)
        def after_save(self, step: int) -> None:
            if step == 2:
                raise ValueError("my after_save failed")

    saver = GatedSaver(tmp_path, fails_at=3)
    session = session_of(saver, Raises())
    saver.gate.clear()
    for _ in range(3):
        session.run("train")
    threading.Timer(0.05, saver.gate.set).start()
    with pytest.raises(th.CheckpointError, match="the disk is gone") as caught:
        session.close()
    assert any("my after_save failed" in note for note in caught.value.__notes__)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="POSIX only")
def test_an_interrupt_in_a_wait_leaves_the_checkpoint_of_one_step(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    main = threading.get_ident()
    with session_of(saver) as session:
        session.run("train")
        saver.begun.clear()
        saver.gate.clear()
        session.run("train")
        session.run("train")
        assert saver.begun.wait(WAIT_SECS)
        # The save of step 4 waits for that of step 2.
        threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            session.run("train")
        threading.Timer(0.1, saver.gate.set).start()
        session.run("train")
    found = saved(tmp_path)
    assert found.pop(2) == [2.0]
    assert found == {0: [0.0], 5: [5.0]}


def test_a_thread_that_cannot_be_started_is_an_error_and_blocks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = GatedSaver(tmp_path)
    with session_of(saver) as session:
        session.run("train")
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", none_left)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                session.run("train")
        session.run("train")
    assert 3 in saved(tmp_path)
    with session_of(saver):
        pass


def none_left(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_memory_is_given_back_at_the_end(tmp_path: Path) -> None:
    hook = CheckpointSaverHook(tmp_path, save_steps=1)
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        session.run("train")
        (kept,) = [weakref.ref(array) for array in arrays_in(hook)]
        session.run("train")
        assert kept() is not None
    assert kept() is None


def arrays_in(hook: CheckpointSaverHook) -> list[Any]:
    background = hook._background
    assert background is not None
    background.wait()
    return list(background._snapshot._kept.values())


def test_a_failure_that_comes_while_the_end_waits_is_raised_and_the_last_step_is_tried(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path, fails_at=2)
    session = session_of(saver)
    saver.gate.clear()
    for _ in range(3):
        session.run("train")
    opener = threading.Timer(0.05, saver.gate.set)
    opener.start()
    with pytest.raises(th.CheckpointError, match="the disk is gone"):
        session.close()
    assert list(saved(tmp_path)) == [0, 3]


def test_after_save_is_told_in_a_later_run_by_the_sessions_own_thread(tmp_path: Path) -> None:
    saver, notes = GatedSaver(tmp_path), Notes()
    with session_of(saver, notes) as session:
        saver.gate.clear()
        for _ in range(3):
            session.run("train")
        assert notes.calls == [(0, 0, True)]
        saver.gate.set()
        saver.threads[-1].join(WAIT_SECS)
        session.run([])
        assert notes.calls[1:] == [(2, 3, True)]
    assert notes.calls[2:] == ["end", (3, 3, True)]


def test_an_error_of_the_program_leaves_the_save_in_flight_to_be_finished(tmp_path: Path) -> None:
    saver, notes = GatedSaver(tmp_path), Notes()
    opener = threading.Timer(0.05, saver.gate.set)
    with pytest.raises(ZeroDivisionError), session_of(saver, notes) as session:
        saver.gate.clear()
        session.run("train")
        session.run("train")
        opener.start()
        raise ZeroDivisionError
    assert list(saved(tmp_path)) == [0, 2]
    assert notes.calls == [(0, 0, True), "on_exception", (2, 2, True)]


def test_a_session_that_is_created_anew_has_what_was_in_flight(tmp_path: Path) -> None:
    class LosesTheWorker(th.SessionRunHook):
        lost = False

        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 2 and not self.lost:
                self.lost = True
                threading.Timer(0.05, saver.gate.set).start()
                raise th.AbortedError("lost")

    saver = GatedSaver(tmp_path)
    with session_of(saver, LosesTheWorker()) as session:
        saver.gate.clear()
        session.run("train")
        session.run("train")
        session.run("train")
        raw = session.raw_session()
        assert raw is not None
        assert raw.restored is not None
        assert raw.restored.global_step == 2
        assert session.global_step == 3


def test_with_listeners_each_save_is_on_the_disk_when_they_hear_of_it(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []

    class Looks(CheckpointSaverListener):
        def after_save(self, session: th.Session, step: int) -> bool:
            newest = saver.latest()
            seen.append((step, None if newest is None else newest.step))
            return step == 4

    saver = GatedSaver(tmp_path)
    with session_of(saver, listeners=[Looks()]) as session:
        while not session.should_stop():
            session.run("train")
        assert session.global_step == 4
    assert seen == [(0, 0), (2, 2), (4, 4)]
    assert set(saver.threads) == {threading.main_thread()}


def test_asynchronous_saving_can_be_switched_off(tmp_path: Path) -> None:
    saver = GatedSaver(tmp_path)
    with session_of(saver, save_steps=1, asynchronous=False) as session:
        session.run("train")
        assert list(saved(tmp_path)) == [0, 1]
    assert set(saver.threads) == {threading.main_thread()}


def test_what_cannot_be_saved_is_an_error_at_the_creation(tmp_path: Path) -> None:
    graph = counting_graph()
    graph.variable("text", lambda: np.ma.zeros(3))
    with pytest.raises(th.CheckpointError, match="variables/text"):
        th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=1)])


def test_the_folder_is_given_back_at_the_end(tmp_path: Path) -> None:
    class Closes(Saver):
        closed = 0

        def close(self) -> None:
            self.closed += 1
            super().close()

    saver = Closes(tmp_path)
    with session_of(saver) as session:
        session.run("train")
        assert saver.closed == 0
    assert saver.closed == 1
    with pytest.raises(ZeroDivisionError), session_of(saver):
        raise ZeroDivisionError
    assert saver.closed == 2
