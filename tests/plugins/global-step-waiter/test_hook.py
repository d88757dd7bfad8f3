"""GlobalStepWaiterHook in real sessions."""

import logging
import math
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import ManualClock
from tenterhooks_global_step_waiter import GlobalStepWaiterHook

LONGEST_SECS = 30.0


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    return graph


class Steps:
    """The global step of others: it grows by what one looks at it, or sleeps."""

    def __init__(self, *steps: int) -> None:
        self.left = list(steps)
        self.read = 0

    def __call__(self) -> int:
        self.read += 1
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "tenterhooks_global_step_waiter"]


def in_thread(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("step", [0, -1])
def test_it_does_not_wait_for_step_zero(step: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    steps = Steps(-5)
    with th.MonitoredSession(graph=make_graph(), hooks=[GlobalStepWaiterHook(step, read_step=steps)]) as session:
        session.run("train")
    assert (steps.read, messages(caplog)) == (0, [])


def test_it_looks_until_the_step_is_reached() -> None:
    clock = ManualClock()
    hook = GlobalStepWaiterHook(1000, read_step=Steps(0, 0, 500, 1001), clock=clock, sleep=clock.advance)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        session.run("train")
        assert (clock.now, session.global_step) == (1.0, 1)


def test_it_does_not_wait_where_the_step_is_reached(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with th.MonitoredSession(graph=make_graph(), hooks=[GlobalStepWaiterHook(7, read_step=Steps(7))]) as session:
        session.run("train")
    assert messages(caplog) == []


def test_a_session_waits_once() -> None:
    clock, steps = ManualClock(), Steps(0, 0, 3, 0)
    hook = GlobalStepWaiterHook(3, read_step=steps, clock=clock, sleep=clock.advance)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        session.run("train")
        read = steps.read
        for _ in range(3):
            session.run("train")
    assert (steps.read, clock.now) == (read, 0.5)


def test_a_second_session_waits_anew() -> None:
    clock = ManualClock()
    hook = GlobalStepWaiterHook(3, read_step=Steps(0, 0, 3, 0, 0, 3), clock=clock, sleep=clock.advance)
    for waited in (0.5, 1.0):
        with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
            session.run("train")
        assert clock.now == waited


def test_a_recovery_does_not_wait_again() -> None:
    class LoseWorkerOnce(th.SessionRunHook):
        lost = False

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if not self.lost:
                self.lost = True
                raise th.AbortedError

    clock = ManualClock()
    hook = GlobalStepWaiterHook(3, read_step=Steps(0, 0, 3, 0), timeout_secs=9.0, clock=clock, sleep=clock.advance)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook, LoseWorkerOnce()]) as session:
        session.run("train")
        assert (clock.now, session.global_step) == (0.5, 1)


def test_another_thread_brings_the_session_to_the_step() -> None:
    hook = GlobalStepWaiterHook(5, poll_secs=0.001, timeout_secs=LONGEST_SECS)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        raw = session.raw_session()
        assert raw is not None
        thread = in_thread(lambda: [raw.run("train") for _ in range(5)])
        session.run("train")
        assert session.global_step == 6
        thread.join()


def test_a_loop_of_the_programs_own_waits_before_its_first_pass() -> None:
    clock, steps = ManualClock(), Steps(0, 0, 2, 3)
    hook = GlobalStepWaiterHook(3, read_step=steps, clock=clock, sleep=clock.advance)
    reads = []
    with th.MonitoredSession(hooks=[hook]) as session:
        for _ in session.steps(range(3)):
            reads.append(steps.read)
    assert (reads, clock.now) == ([4, 4, 4], 1.0)


def test_after_the_time_out_it_is_an_error_that_says_what_was_waited_for() -> None:
    clock = ManualClock()
    hook = GlobalStepWaiterHook(9, timeout_secs=1.2, read_step=Steps(4), clock=clock, sleep=clock.advance)
    message = "waited 1.2 s for global step 9, and it is 4: is that running which brings it there?"
    with (
        pytest.raises(th.DeadlineExceededError, match=re.escape(message)),
        th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session,
    ):
        session.run("train")
    assert clock.now == pytest.approx(1.2)


def test_without_time_the_step_is_looked_at_once() -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[GlobalStepWaiterHook(1, timeout_secs=0)]) as session:
        with pytest.raises(th.DeadlineExceededError, match=r"waited 0\.0 s for global step 1, and it is 0"):
            session.run("train")
        session.request_stop()


class Coordinated(th.SessionRunHook):
    """Has the session's coordinator."""

    coord: th.Coordinator

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self.coord = coord


class Reading:
    """The global step of others, which says when the hook has begun to wait."""

    def __init__(self) -> None:
        self.waits = threading.Event()
        self._reads = 0

    def __call__(self) -> int:
        self._reads += 1
        if self._reads == 2:
            self.waits.set()
        return 0


@pytest.mark.parametrize("own", [False, True], ids=["graph", "own"])
@pytest.mark.parametrize("of", ["coordinator", "program", "hook"])
def test_a_stop_ends_the_wait_and_lets_the_run_be_made(of: str, own: bool) -> None:
    step = Reading()
    # Only the coordinator ends a sleep.
    poll_secs = 10 * LONGEST_SECS if of == "coordinator" else 0.001
    hook = GlobalStepWaiterHook(9, poll_secs=poll_secs, timeout_secs=10 * LONGEST_SECS, read_step=step)
    coordinated = Coordinated()
    with th.MonitoredSession(graph=None if own else make_graph(), hooks=[coordinated, hook]) as session:
        raw = session.raw_session()
        assert raw is not None
        ask: dict[str, Callable[[], object]] = {
            "coordinator": coordinated.coord.request_stop,
            "program": session.request_stop,
            "hook": raw.request_stop,
        }

        def stop() -> None:
            step.waits.wait(LONGEST_SECS)
            ask[of]()

        thread = in_thread(stop)
        if own:
            for _ in session.steps():
                pass
        else:
            while not session.should_stop():
                session.run("train")
        assert (session.global_step, session.should_stop()) == (1, True)
        thread.join()


def test_an_error_in_a_thread_ends_the_wait_and_no_run_is_made() -> None:
    step = Reading()
    hook = GlobalStepWaiterHook(9, poll_secs=10 * LONGEST_SECS, read_step=step)
    coordinated, steps = Coordinated(), []

    def fail() -> None:
        with coordinated.coord.stop_on_exception():
            step.waits.wait(LONGEST_SECS)
            raise KeyError("the thread failed")

    with (
        pytest.raises(KeyError, match="the thread failed"),
        th.MonitoredSession(graph=make_graph(), hooks=[coordinated, hook]) as session,
    ):
        thread = in_thread(fail)
        try:
            session.run("train")
        finally:
            steps.append(session.global_step)
            thread.join()
    assert steps == [0]


def test_it_says_that_it_waits_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = ManualClock()
    hook = GlobalStepWaiterHook(100, poll_secs=10.0, read_step=lambda: int(clock.now), clock=clock, sleep=clock.advance)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        session.run("train")
    assert messages(caplog) == [
        "waiting for global step 100, now it is 0",
        "still waiting for global step 100, now it is 30",
        "still waiting for global step 100, now it is 60",
        "still waiting for global step 100, now it is 90",
        "the wait for global step 100 is over at step 100",
    ]


@pytest.mark.parametrize("step", [None, 2.5, "3"])
def test_a_function_that_gives_no_step_is_an_error_that_says_what_it_gives(step: Any) -> None:
    hooks = [GlobalStepWaiterHook(1, read_step=lambda: step)]
    with (
        pytest.raises(TypeError, match=re.escape(f"read_step gave {step!r}, and not a global step")),
        th.MonitoredSession(graph=make_graph(), hooks=hooks) as session,
    ):
        session.run("train")


def test_steps_may_be_of_numpy() -> None:
    step: Any = np.int64(3)
    hook = GlobalStepWaiterHook(step, read_step=lambda: step)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        session.run("train")
    assert repr(hook) == "<GlobalStepWaiterHook until step 3>"


def test_an_error_of_the_function_names_the_hook() -> None:
    def read() -> int:
        raise OSError("the folder is gone")

    hooks = [GlobalStepWaiterHook(1, read_step=read)]
    with (
        pytest.raises(OSError, match="the folder is gone") as caught,
        th.MonitoredSession(graph=make_graph(), hooks=hooks) as session,
    ):
        session.run("train")
    assert "before_run of hook 'global-step-waiter'" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"wait_until_step": 1.5}, TypeError, "wait_until_step is a global step, a whole number, not 1.5"),
        ({"wait_until_step": "7"}, TypeError, "wait_until_step is a global step, a whole number, not '7'"),
        ({"wait_until_step": True}, TypeError, "wait_until_step is a global step, a whole number, not True"),
        ({"timeout_secs": "5"}, TypeError, "timeout_secs is a number of seconds, not '5'"),
        ({"poll_secs": "5"}, TypeError, "poll_secs is a number of seconds, not '5'"),
        ({"timeout_secs": -1}, ValueError, "timeout_secs is 0 or more, or None to wait for ever, not -1"),
        ({"timeout_secs": math.nan}, ValueError, "timeout_secs is 0 or more, or None to wait for ever, not nan"),
        ({"poll_secs": 0}, ValueError, "poll_secs is more than 0, not 0"),
        ({"poll_secs": math.nan}, ValueError, "poll_secs is more than 0, not nan"),
        ({"read_step": 7}, TypeError, "read_step is a function that gives the global step, not 7"),
    ],
)
def test_wrong_options_are_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        GlobalStepWaiterHook(**{"wait_until_step": 1, **options})


def test_the_short_name_makes_the_hook() -> None:
    assert repr(th.make_hook("global-step-waiter", wait_until_step=7)) == "<GlobalStepWaiterHook until step 7>"
