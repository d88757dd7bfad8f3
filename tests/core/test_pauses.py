"""The time that a session stood still, since something was done that is no part of its loop."""

from collections.abc import Callable
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.pauses import Pauses
from tenterhooks.testing import ManualClock

from .own_loops import Opened, each_kind, raw_of


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_the_seconds_of_all_pauses_are_summed_up(clock: ManualClock) -> None:
    pauses = Pauses()
    assert pauses.secs == 0.0
    for secs in (2.0, 3.0):
        clock.advance(10.0)
        with pauses.pause(clock):
            clock.advance(secs)
    assert pauses.secs == 5.0


def test_one_within_another_counts_once(clock: ManualClock) -> None:
    pauses = Pauses()
    with pauses.pause(clock):
        clock.advance(1.0)
        with pauses.pause(clock):
            clock.advance(2.0)
        clock.advance(4.0)
    assert pauses.secs == 7.0


def test_one_that_an_error_ends_counts(clock: ManualClock) -> None:
    pauses = Pauses()
    with pytest.raises(KeyboardInterrupt), pauses.pause(clock):
        clock.advance(2.0)
        raise KeyboardInterrupt
    clock.advance(4.0)
    assert pauses.secs == 2.0


def test_one_that_is_under_way_is_counted_so_far(clock: ManualClock) -> None:
    pauses = Pauses()
    with pauses.pause(clock):
        clock.advance(2.0)
        assert pauses.secs == 2.0


def test_a_clock_that_fails_begins_none(clock: ManualClock) -> None:
    def broken() -> float:
        raise OSError("no clock")

    pauses = Pauses()
    with pytest.raises(OSError, match="no clock"), pauses.pause(broken):
        pass
    with pauses.pause(clock):
        clock.advance(2.0)
    assert pauses.secs == 2.0


def test_a_raw_session_has_them(clock: ManualClock) -> None:
    session = th.Session(th.Graph())
    with session.pause_clock(clock=clock):
        clock.advance(2.0)
    assert session.paused_secs == 2.0


@each_kind
def test_those_of_a_program_and_of_hooks_are_of_one_session(opened: Opened, clock: ManualClock) -> None:
    class Pauser(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            with run_context.session.pause_clock(clock=clock):
                clock.advance(1.0)

    with opened(hooks=[Pauser()]) as session:
        for _ in session.steps(range(3)):
            with session.pause_clock(clock=clock):
                clock.advance(10.0)
        assert session.paused_secs == raw_of(session).paused_secs == 33.0


def test_a_session_that_is_created_anew_goes_on_with_the_sum(clock: ManualClock) -> None:
    class LosesItsWorker(th.SessionRunHook):
        lost = False

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            with run_context.session.pause_clock(clock=clock):
                clock.advance(2.0)
                if not self.lost:
                    self.lost = True
                    raise th.AbortedError("lost")

    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    with th.MonitoredSession(graph=graph, hooks=[LosesItsWorker()]) as session:
        first = raw_of(session)
        session.run("train")
        assert raw_of(session) is not first
        assert session.paused_secs == 4.0


@pytest.mark.parametrize("ask", [lambda session: session.paused_secs, lambda session: session.pause_clock()])
def test_a_closed_session_has_none(ask: Callable[[Any], object]) -> None:
    with th.MonitoredSession(hooks=[]) as session:
        pass
    with pytest.raises(RuntimeError, match="the session is closed"):
        ask(session)
