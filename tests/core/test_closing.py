"""Which of the errors that come at the end of a session leaves it, and that every hook is told whatever comes."""

import _thread
import contextlib
import inspect
import sys
import threading
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.closing import leave

from .recorders import Calls, Recorder, counting_graph, raising, training

INTERRUPTS = [KeyboardInterrupt, SystemExit]


class TestLeave:
    def test_a_clean_end_without_errors_raises_nothing(self) -> None:
        leave(None, [])

    def test_an_exception_without_further_errors_is_left_to_who_raised_it(self) -> None:
        error = ValueError("body")
        leave(error, [])
        assert not hasattr(error, "__notes__")

    @pytest.mark.parametrize("interrupt", INTERRUPTS)
    def test_an_interrupt_goes_before_an_error_which_is_its_cause(self, interrupt: type[BaseException]) -> None:
        error, came = ValueError("body"), interrupt("now")
        with pytest.raises(interrupt) as caught:
            leave(error, [came])
        assert caught.value is came
        assert came.__cause__ is error

    @pytest.mark.parametrize("first", [True, False])
    def test_ctrl_c_goes_before_an_exit(self, first: bool) -> None:
        exit_, came = SystemExit(0), KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            leave(ValueError("body"), [came, exit_] if first else [exit_, came])
        with pytest.raises(KeyboardInterrupt) as caught:
            leave(exit_, [came])
        assert caught.value.__cause__ is exit_

    @pytest.mark.parametrize("came", [KeyboardInterrupt("again"), SystemExit("again")])
    def test_an_interrupt_under_way_stays_on_top(self, came: BaseException) -> None:
        under_way = KeyboardInterrupt()
        leave(under_way, [came])
        assert under_way.__notes__ == [f"while closing: {type(came).__name__}: again ()"]

    def test_the_first_of_several_interrupts_leaves_and_the_others_are_notes(self) -> None:
        error, first = ValueError("body"), KeyboardInterrupt("first")
        with pytest.raises(KeyboardInterrupt) as caught:
            leave(error, [TypeError("other"), first, KeyboardInterrupt("second")])
        assert caught.value is first
        assert error.__notes__ == [
            "while closing: TypeError: other ()",
            "while closing: KeyboardInterrupt: second ()",
        ]

    def test_an_exit_that_a_thread_reported_is_a_note(self) -> None:
        error, reported = ValueError("body"), SystemExit(3)
        leave(error, [reported], reported)
        assert error.__notes__ == ["while closing: SystemExit: 3 ()"]


class TestInterrupts:
    @pytest.mark.parametrize("interrupt", INTERRUPTS)
    def test_one_in_on_exception_leaves_the_block_and_all_others_are_called(
        self, interrupt: type[BaseException]
    ) -> None:
        others = [Recorder("b"), Recorder("c")]
        error = ValueError("body")
        with (
            pytest.raises(interrupt) as caught,
            training(Recorder("a", on_exception=raising(interrupt("now"))), *others),
        ):
            raise error
        assert caught.value.__cause__ is error
        assert "in on_exception of hook 'a'" in caught.value.__notes__[0]
        assert [hook.stages[-1] for hook in others] == ["on_exception", "on_exception"]

    @pytest.mark.parametrize("interrupt", INTERRUPTS)
    def test_one_in_on_exception_leaves_the_constructor(self, interrupt: type[BaseException]) -> None:
        graph = counting_graph()
        hooks = [
            Recorder("a", on_exception=raising(interrupt("now"))),
            Recorder("b", after_create_session=raising(ValueError("no session"))),
        ]
        with pytest.raises(interrupt) as caught:
            th.MonitoredSession(graph=graph, hooks=hooks)
        assert isinstance(caught.value.__cause__, ValueError)
        assert not graph.finalized

    def test_one_in_on_exception_goes_before_what_a_thread_reported(self) -> None:
        def report(session: th.Session, coord: th.Coordinator) -> None:
            coord.request_stop(ValueError("thread"))

        hook = Recorder("a", after_create_session=report, on_exception=raising(KeyboardInterrupt()))
        session = training(hook)
        with pytest.raises(KeyboardInterrupt) as caught:
            session.close()
        assert isinstance(caught.value.__cause__, ValueError)

    def test_one_while_threads_are_joined_leaves_the_block(self) -> None:
        goes_on = threading.Event()

        def start(session: th.Session, coord: th.Coordinator) -> None:
            def work() -> None:
                coord.wait_for_stop()
                # The main thread, which waits for this one by then or soon.
                _thread.interrupt_main()
                goes_on.wait()

            thread = threading.Thread(target=work, daemon=True)
            coord.register_thread(thread)
            thread.start()

        error = ValueError("body")
        try:
            with pytest.raises(KeyboardInterrupt) as caught, training(Recorder("a", after_create_session=start)):
                raise error
        finally:
            goes_on.set()
        assert caught.value.__cause__ is error

    def test_an_exit_that_a_thread_reported_does_not_go_before_the_error(self) -> None:
        def report(session: th.Session, coord: th.Coordinator) -> None:
            coord.request_stop(SystemExit(3))

        with pytest.raises(ValueError, match="body"), training(Recorder("a", after_create_session=report)):
            raise ValueError("body")

    @pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "wrapped"])
    @pytest.mark.parametrize("error", [None, ValueError("body")], ids=["end", "on_exception"])
    def test_one_at_any_line_of_closing_keeps_at_most_one_hook_from_its_closing_stage(
        self, error: Exception | None, wrapped: bool
    ) -> None:
        stage = "end" if error is None else "on_exception"
        lines = 1
        place = 0
        while place < lines:
            calls: Calls = []
            graph = counting_graph()
            hooks: list[object] = [Recorder("a", calls), Recorder("b", calls), Recorder("c", calls)]
            session = th.MonitoredSession(graph=graph, hooks=[*hooks, Around(calls)] if wrapped else hooks)
            lines, raised = _interrupted(place, lambda s=session: s._close(error))  # type: ignore[misc]
            told = [name for name, called in calls if called == stage]
            assert len(told) == len(set(told)), f"at line {place}: {told}"
            assert len({"a", "b", "c"} & set(told)) >= 2, f"at line {place}: {told}"
            assert place == lines or isinstance(raised, KeyboardInterrupt), f"at line {place}: {raised!r}"
            assert not graph.finalized
            session.close()
            place += 1
        assert lines > 40


class Around:
    """A wrapper of both closing stages, which notes that it was called."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    @th.hookimpl(wrapper=True)
    def end(self) -> Generator[None, Any, Any]:
        self._calls.append(("around", "end"))
        return (yield)

    @th.hookimpl(wrapper=True)
    def on_exception(self) -> Generator[None, Any, Any]:
        self._calls.append(("around", "on_exception"))
        return (yield)


def test_a_close_near_the_end_of_the_stack_comes_back() -> None:
    def at(depth: int, call: Callable[[], object]) -> None:
        call() if depth == 0 else at(depth - 1, call)

    reached = 0
    for depth in range(60):
        graph = counting_graph()
        hook = Recorder("a")
        session = th.MonitoredSession(graph=graph, hooks=[hook])
        room = sys.getrecursionlimit() - len(inspect.stack()) - depth
        with contextlib.suppress(RecursionError, BaseExceptionGroup):
            at(room, session.close)
        reached += "end" in hook.stages
    assert 0 < reached < 60


CLOSING = ("tenterhooks.registry", "tenterhooks.adapters", "pluggy._hooks", "pluggy._manager", "pluggy._callers")


def _interrupted(place: int, call: Callable[[], object]) -> tuple[int, BaseException | None]:
    """Interrupt a call at one line of the modules of closing, as Ctrl-C may; give how many lines there are."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if frame.f_globals.get("__name__") not in CLOSING:
            return None
        if event == "line":
            count += 1
            if count == place + 1:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    previous = sys.gettrace()
    raised = None
    sys.settrace(trace)
    try:
        call()
    except (KeyboardInterrupt, ValueError) as error:
        raised = error
    finally:
        sys.settrace(previous)
    return count + (count > place), raised
