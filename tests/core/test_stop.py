"""Requests to stop: who asked, why, at which step, and which of them hold."""

import dataclasses
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.adapters import Adapter
from tenterhooks.stop import StopRequest, StopRequests


def graph_that_trains() -> th.Graph:
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    return graph


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (StopRequest("nan", "the loss is NaN", 7), "hook 'nan' at global step 7: the loss is NaN"),
        (StopRequest("nan", None, 7), "hook 'nan' at global step 7"),
        (StopRequest(None, "enough", 0), "the program at global step 0: enough"),
        (StopRequest(None, None, 0), "the program at global step 0"),
    ],
)
def test_a_request_reads_as_who_when_and_why(request_: StopRequest, text: str) -> None:
    assert str(request_) == text


def test_a_request_cannot_be_changed() -> None:
    request = StopRequest(None, None, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.reason = "another"  # type: ignore[misc]


def test_there_is_no_request_at_first() -> None:
    stops = StopRequests()
    assert not stops
    assert stops.adopted == ()


def test_a_request_outside_of_a_run_holds_at_once() -> None:
    stops = StopRequests()
    stops.request("enough", 3)
    assert stops
    assert stops.adopted == (StopRequest(None, "enough", 3),)


def test_a_request_in_a_run_is_seen_at_once_and_holds_when_the_run_has_completed() -> None:
    stops = StopRequests()
    stops.in_run = True
    stops.request("enough", 3)
    assert stops
    assert not stops.adopted
    stops.adopt()
    assert list(stops.adopted) == [StopRequest(None, "enough", 3)]


def test_a_request_in_a_run_that_failed_is_forgotten_with_it() -> None:
    stops = StopRequests()
    stops.in_run = True
    stops.request("enough", 3)
    stops.forget_run()
    assert not stops
    stops.in_run = True
    stops.adopt()
    assert not stops


def test_all_requests_are_kept_in_their_order() -> None:
    stops = StopRequests()
    stops.request("first", 0)
    stops.in_run = True
    stops.request("second", 1)
    stops.request("third", 1)
    stops.adopt()
    assert [request.reason for request in stops.adopted] == ["first", "second", "third"]


def test_a_request_of_another_thread_holds_though_the_run_under_way_fails() -> None:
    stops = StopRequests()
    stops.in_run = True
    thread = threading.Thread(target=stops.request, args=("signal", 3))
    thread.start()
    thread.join(10)
    assert stops.adopted == (StopRequest(None, "signal", 3),)
    stops.forget_run()
    assert stops.adopted == (StopRequest(None, "signal", 3),)


def test_a_run_may_be_made_by_another_thread_than_made_the_session() -> None:
    stops = StopRequests()

    def run() -> None:
        stops.in_run, stops.thread = True, threading.get_ident()
        stops.request("enough", 3)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert stops
    assert stops.adopted == ()


def test_a_session_that_is_created_anew_forgets_what_hooks_asked_for_and_not_the_program() -> None:
    stops = StopRequests()
    stops.current = adapter("nan")
    stops.request(None, 1)
    stops.request_by_program("signal", 2)
    stops.request(None, 3)
    stops.in_run = True
    stops.request("in the run", 3)
    stops.forget_hooks()
    assert list(stops.adopted) == [StopRequest(None, "signal", 2)]
    stops.adopt()
    assert list(stops.adopted) == [StopRequest(None, "signal", 2)]


def adapter(name: str) -> Adapter:
    """One of a hook that has no stages."""
    return Adapter(object(), name, name, {}, StopRequests())


def test_a_request_of_the_program_in_a_run_holds_at_once_and_is_no_hooks() -> None:
    stops = StopRequests()
    stops.in_run = True
    stops.current = adapter("nan")
    stops.request_by_program("signal", 3)
    assert stops.adopted == (StopRequest(None, "signal", 3),)
    stops.forget_run()
    stops.forget_hooks()
    assert stops.adopted == (StopRequest(None, "signal", 3),)


def test_a_request_that_comes_while_a_run_is_adopted_is_not_lost() -> None:
    lines = 1
    place = 0
    while place < lines:
        stops = StopRequests()
        stops.in_run = True
        stops.request("of the run", 3)

        def ask(stops: StopRequests = stops) -> None:
            stops.request_by_program("signal", 3)

        lines = at_opcode(place, StopRequests.adopt, stops.adopt, ask)
        if place < lines:
            assert {request.reason for request in stops.adopted} == {"of the run", "signal"}, place
        place += 1
    assert lines > 5


def at_opcode(place: int, function: Callable[..., Any], call: Callable[[], object], act: Callable[[], object]) -> int:
    """Act between two instructions of a function, as a signal handler may, and give how many there are."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if frame.f_code is not function.__code__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == place + 1:
                sys.settrace(None)
                act()
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(previous)
    return count if count <= place else count + 1


class Stops(th.SessionRunHook):
    """Asks for a stop in one stage."""

    name = "stops"

    def __init__(self, stage: str, way: str) -> None:
        self.stage = stage
        self.way = way

    def ask(self, stage: str, target: Any) -> None:
        if stage == self.stage:
            target.request_stop(f"in {stage}")

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self.ask("after_create_session", session)

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self.ask("before_run", run_context if self.way == "context" else run_context.session)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.ask("after_run", run_context if self.way == "context" else run_context.session)


@pytest.mark.parametrize("way", ["context", "session"])
@pytest.mark.parametrize(("stage", "step"), [("before_run", 0), ("after_run", 1)])
def test_a_hooks_request_in_a_run_bears_its_name_and_the_step(stage: str, step: int, way: str) -> None:
    with th.MonitoredSession(graph=graph_that_trains(), hooks=[Stops(stage, way)]) as session:
        session.run("train")
        assert session.should_stop()
        assert session.stop == (th.StopRequest("stops", f"in {stage}", step),)
        assert session.global_step == 1


def in_another_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join(10)


def test_a_run_is_made_and_is_the_last_if_another_thread_asked_since_the_loop_did() -> None:
    with th.MonitoredSession(graph=graph_that_trains()) as session:
        assert not session.should_stop()
        in_another_thread(lambda: session.request_stop("enough"))
        session.run("train")
        with pytest.raises(RuntimeError, match="the program at global step 0: enough"):
            session.run("train")
        assert session.should_stop()


def test_no_run_is_made_once_the_loop_was_told_what_another_thread_asked_for() -> None:
    with th.MonitoredSession(graph=graph_that_trains()) as session:
        in_another_thread(lambda: session.request_stop("enough"))
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="the program at global step 0: enough"):
            session.run("train")
        assert session.global_step == 0


def test_another_thread_that_asks_whether_to_stop_does_not_have_the_loop_told() -> None:
    answers: list[bool] = []
    with th.MonitoredSession(graph=graph_that_trains()) as session:
        in_another_thread(lambda: session.request_stop("enough"))
        in_another_thread(lambda: answers.append(session.should_stop()))
        session.run("train")
        assert session.global_step == 1
    assert answers == [True]


def test_no_run_is_made_after_the_programs_own_request() -> None:
    with th.MonitoredSession(graph=graph_that_trains()) as session:
        session.request_stop("enough")
        with pytest.raises(RuntimeError, match="the program at global step 0: enough"):
            session.run("train")


def test_what_a_hook_asked_of_a_lost_session_does_not_refuse_the_runs_of_the_new_one() -> None:
    stops = StopRequests()
    stops.current = Adapter(object(), "nan", "nan", {}, stops)
    stops.request("enough", 1)
    assert stops.refuses
    stops.forget_hooks()
    assert not stops.refuses


def test_a_hooks_request_at_creation_bears_its_name_and_holds_before_any_run() -> None:
    with th.MonitoredSession(graph=graph_that_trains(), hooks=[Stops("after_create_session", "session")]) as session:
        assert session.should_stop()
        assert session.stop == (th.StopRequest("stops", "in after_create_session", 0),)


def test_the_programs_request_bears_no_name() -> None:
    with th.MonitoredSession(graph=graph_that_trains()) as session:
        session.run("train")
        session.request_stop("enough")
        assert session.stop == (th.StopRequest(None, "enough", 1),)
