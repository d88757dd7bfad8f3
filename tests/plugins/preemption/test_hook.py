"""What `preemption` promises of the process that it is in: what it installs, calls, and puts back."""

import gc
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_preemption import PreemptionHook

NUMBERS = [signal.SIGTERM, signal.SIGINT]
THREAD = "tenterhooks-preemption"
LONGEST_SECS = 30.0


class Program:
    """What a program has set before the session: a handler of each signal, and a descriptor to be woken up by."""

    def __init__(self) -> None:
        self.called: list[int] = []
        self.reader, self.writer = socket.socketpair()
        self.writer.setblocking(False)
        self.reader.settimeout(LONGEST_SECS)
        for number in NUMBERS:
            signal.signal(number, self.handler)
        signal.set_wakeup_fd(self.writer.fileno())
        # A bound method is another object each time.
        self.handlers = [signal.getsignal(number) for number in NUMBERS]

    def handler(self, number: int, frame: FrameType | None) -> None:
        self.called.append(number)

    def descriptor(self) -> int:
        descriptor = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(descriptor)
        return descriptor

    def is_untouched(self) -> bool:
        return (
            [signal.getsignal(number) for number in NUMBERS] == self.handlers
            and self.descriptor() == self.writer.fileno()
            and not any(thread.name == THREAD for thread in threading.enumerate())
        )


@pytest.fixture
def program() -> Iterator[Program]:
    handlers = [signal.getsignal(number) for number in NUMBERS]
    descriptor = signal.set_wakeup_fd(-1)
    program = Program()
    yield program
    signal.set_wakeup_fd(descriptor)
    for number, handler in zip(NUMBERS, handlers, strict=True):
        signal.signal(number, handler)
    program.reader.close()
    program.writer.close()


def graph_of(step: Callable[[int], object] = lambda step: None) -> th.Graph:
    graph = th.Graph()

    @graph.train_op
    def train(global_step: int) -> None:
        step(global_step)

    return graph


def in_step(number: int) -> Callable[[int], object]:
    return lambda step: signal.raise_signal(number) if step == 0 else None


class Notes(th.SessionRunHook):
    """Notes what the hooks before it have asked for, as a saver would."""

    saves_state = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, bool, bool]] = []
        self.handlers: list[Any] = []

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self.note("before", run_context)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.note("after", run_context)

    def note(self, stage: str, context: th.SessionRunContext) -> None:
        session = context.session
        self.asked.append((stage, session.global_step, session.checkpoint_requested, context.stop_requested))
        self.handlers.append(signal.getsignal(signal.SIGTERM))


def test_handlers_and_descriptor_are_put_back_at_the_end(program: Program) -> None:
    notes = Notes()
    with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(), notes]) as session:
        session.run("train")
        assert not session.should_stop()
        assert program.descriptor() != program.writer.fileno()
    assert notes.handlers
    assert program.handlers[0] not in notes.handlers
    assert program.is_untouched()


def test_they_are_put_back_after_an_error(program: Program) -> None:
    session = th.MonitoredSession(graph=graph_of(lambda step: 1 / 0), hooks=[PreemptionHook()])
    assert not program.is_untouched()
    with pytest.raises(ZeroDivisionError), session:
        session.run("train")
    assert program.is_untouched()


def test_they_are_put_back_if_the_construction_fails(program: Program) -> None:
    class Fails(th.SessionRunHook):
        seen: Any = None

        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            self.seen = signal.getsignal(signal.SIGTERM)
            raise ValueError("no")

    fails = Fails()
    with pytest.raises(ValueError, match="no"):
        th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(), fails])
    assert fails.seen is not None
    assert fails.seen not in program.handlers
    assert program.is_untouched()


def test_they_are_put_back_if_they_cannot_all_be_installed(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    set_handler = signal.signal

    def refuse(number: Any, handler: Any) -> Any:
        if number == signal.SIGINT and handler is not program.handlers[1]:
            raise OSError("no")
        return set_handler(number, handler)

    monkeypatch.setattr(signal, "signal", refuse)
    with pytest.raises(OSError, match="no"):
        th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()])
    assert program.is_untouched()


def test_they_are_put_back_after_a_signal(program: Program) -> None:
    session = th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=[PreemptionHook()])
    with pytest.raises(SystemExit), session:
        session.run("train")
    assert program.is_untouched()


def test_a_signal_while_they_are_put_back_is_noted(
    program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    set_handler = signal.signal

    def set_after_a_signal(number: Any, handler: Any) -> Any:
        if number == signal.SIGINT and handler == program.handler:
            signal.raise_signal(signal.SIGTERM)
        return set_handler(number, handler)

    session = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()])
    monkeypatch.setattr(signal, "signal", set_after_a_signal)
    with pytest.raises(SystemExit) as caught, session:
        pass
    assert caught.value.code == 143
    assert "SIGTERM came: a checkpoint and a stop" in caplog.text
    assert [request.reason for request in session.stop] == ["SIGTERM came"]
    assert program.is_untouched()


def test_what_the_program_sets_meanwhile_stays(program: Program) -> None:
    called = []

    def other(number: int, frame: FrameType | None) -> None:
        called.append(number)

    with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()]) as session:
        signal.signal(signal.SIGTERM, other)
        signal.raise_signal(signal.SIGTERM)
        signal.set_wakeup_fd(program.reader.fileno())
        session.run("train")
        assert not session.should_stop()
    assert called == [signal.SIGTERM]
    assert program.called == []
    assert signal.getsignal(signal.SIGTERM) is other
    assert signal.getsignal(signal.SIGINT) == program.handler
    assert program.descriptor() == program.reader.fileno()


def test_the_log_says_at_once_that_a_signal_came_though_the_program_took_the_descriptor(program: Program) -> None:
    told = threading.Event()

    class Waits(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "SIGTERM came" in record.getMessage():
                told.set()

    log, waits = logging.getLogger("tenterhooks_preemption"), Waits()
    log.addHandler(waits)
    try:
        with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(exit_by=None)]):
            signal.set_wakeup_fd(program.writer.fileno())
            signal.raise_signal(signal.SIGTERM)
            assert told.wait(LONGEST_SECS)
    finally:
        log.removeHandler(waits)


def test_a_descriptor_that_the_program_has_closed_meanwhile_is_not_put_back(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    with th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=[PreemptionHook(exit_by=None)]) as session:
        program.writer.close()
        session.run("train")
        assert session.should_stop()
    assert program.descriptor() == -1
    assert capfd.readouterr() == ("", "")


def test_a_signal_in_a_run_is_acted_on_in_that_run_before_savers_act(program: Program) -> None:
    notes = Notes()
    hooks = [notes, PreemptionHook()]
    session = th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=hooks)
    with pytest.raises(SystemExit) as caught, session:
        while not session.should_stop():
            session.run("train")
        requests = [(request.hook, request.reason, request.global_step) for request in session.stop]
    assert requests == [(None, "SIGTERM came", 0)]
    assert notes.asked == [("before", 0, False, False), ("after", 1, True, True)]
    assert caught.value.code == 143


def test_a_signal_between_runs_stops_before_the_next(program: Program) -> None:
    with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(exit_by=None)]) as session:
        session.run("train")
        signal.raise_signal(signal.SIGTERM)
        assert session.should_stop()
        assert session.stop == (th.StopRequest(None, "SIGTERM came", 1),)


def test_a_signal_after_the_loop_asked_and_before_its_run_makes_that_run_the_last(program: Program) -> None:
    notes = Notes()
    with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(exit_by=None), notes]) as session:
        assert not session.should_stop()
        signal.raise_signal(signal.SIGTERM)
        session.run("train")
        assert session.should_stop()
    assert notes.asked == [("before", 0, True, True), ("after", 1, True, True)]


def test_a_session_that_goes_on_in_another_thread_is_stopped_too(program: Program) -> None:
    begun, go_on, seen = threading.Event(), threading.Event(), []

    def step(number: int) -> None:
        begun.set()
        go_on.wait(LONGEST_SECS)

    with th.MonitoredSession(graph=graph_of(step), hooks=[PreemptionHook(exit_by=None)]) as session:

        def train() -> None:
            session.run("train")
            seen.append((session.global_step, session.should_stop()))

        thread = threading.Thread(target=train)
        thread.start()
        begun.wait(LONGEST_SECS)
        signal.raise_signal(signal.SIGTERM)
        go_on.set()
        thread.join()
    assert seen == [(1, True)]


def test_a_run_that_fails_leaves_the_request(program: Program) -> None:
    failures = [ValueError("once")]

    def fails_once(step: int) -> None:
        if failures:
            signal.raise_signal(signal.SIGTERM)
            raise failures.pop()

    with th.SingularMonitoredSession([PreemptionHook(exit_by=None)], graph=graph_of(fails_once)) as session:
        with pytest.raises(ValueError, match="once"):
            session.run("train")
        assert session.should_stop()
        assert [request.reason for request in session.stop] == ["SIGTERM came"]


def test_after_a_recovery_the_handlers_are_the_same_and_the_request_holds(program: Program) -> None:
    seen: list[object] = []

    def lost(step: int) -> None:
        seen.append(signal.getsignal(signal.SIGINT))
        if len(seen) == 2:
            signal.raise_signal(signal.SIGTERM)
        if len(seen) < 3:
            raise th.AbortedError("lost")

    hook = PreemptionHook(exit_by=None)
    with th.MonitoredSession(graph=graph_of(lost), hooks=[hook], sleep=lambda secs: None) as session:
        session.run("train")
        pytest.fail("the run was repeated")
    assert [request.reason for request in session.stop] == ["SIGTERM came"]
    assert len(seen) == 2
    assert seen[0] is seen[1]
    assert program.called == [signal.SIGTERM]
    assert program.is_untouched()


def test_a_signal_while_other_hooks_hear_of_the_recovery_stops_the_session(program: Program) -> None:
    class LosesWorker(th.SessionRunHook):
        created = 0

        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            self.created += 1
            if self.created == 1:
                coord.request_stop(th.AbortedError("lost"))
            else:
                signal.raise_signal(signal.SIGTERM)

    hooks = [LosesWorker(), PreemptionHook(exit_by=None)]
    with th.MonitoredSession(graph=graph_of(), hooks=hooks, sleep=lambda secs: None) as session:
        assert session.should_stop()
    assert [request.reason for request in session.stop] == ["SIGTERM came"]
    assert program.is_untouched()


def test_a_signal_while_the_session_is_created_anew_stops_it(program: Program) -> None:
    class Creator(th.ChiefSessionCreator):
        created = 0

        def create_session(self) -> th.Session:
            self.created += 1
            if self.created == 2:
                signal.raise_signal(signal.SIGTERM)
            return super().create_session()

    runs = []

    def lost(step: int) -> None:
        runs.append(step)
        raise th.AbortedError("lost")

    creator = Creator(graph_of(lost))
    with th.MonitoredSession(creator, [PreemptionHook(exit_by=None)], sleep=lambda secs: None) as session:
        session.run("train")
    assert [request.reason for request in session.stop] == ["SIGTERM came"]
    assert len(runs) == 1
    assert program.is_untouched()


@pytest.mark.parametrize("number", NUMBERS)
def test_the_programs_handler_is_called_and_its_descriptor_written_to(program: Program, number: signal.Signals) -> None:
    hook = PreemptionHook(exit_by=None)
    with th.MonitoredSession(graph=graph_of(in_step(number)), hooks=[hook]) as session:
        session.run("train")
        assert session.should_stop()
        assert program.reader.recv(16) == bytes([number])
    assert program.called == [number]


def test_what_the_programs_handler_raises_ends_the_session_at_once(program: Program) -> None:
    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(3)

    signal.signal(signal.SIGTERM, leave)
    notes = Notes()
    session = th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=[PreemptionHook(), notes])
    with pytest.raises(SystemExit) as caught, session:
        session.run("train")
    assert caught.value.code == 3
    assert [stage for stage, *_ in notes.asked] == ["before"]
    assert signal.getsignal(signal.SIGTERM) is leave


def test_pythons_handler_of_ctrl_c_is_not_called(program: Program) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with th.MonitoredSession(graph=graph_of(in_step(signal.SIGINT)), hooks=[PreemptionHook(exit_by=None)]) as session:
        session.run("train")
        assert session.should_stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored_and_the_log_says_so(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with th.MonitoredSession(graph=graph_of(in_step(signal.SIGINT)), hooks=[PreemptionHook()]) as session:
        session.run("train")
        assert not session.should_stop()
    assert "SIGINT is ignored, and is left so: it does not stop the session" in caplog.messages
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_outside_of_the_main_thread_it_does_nothing_and_says_so(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    opened, seen = threading.Event(), threading.Event()

    def train() -> None:
        with th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()]) as session:
            opened.set()
            seen.wait()
            session.run("train")

    thread = threading.Thread(target=train)
    thread.start()
    opened.wait()
    untouched = program.is_untouched()
    seen.set()
    thread.join()
    assert untouched
    records = [record for record in caplog.records if record.name.startswith("tenterhooks_preemption")]
    assert [record.levelno for record in records] == [logging.WARNING]
    assert "created outside of the main thread" in records[0].getMessage()


def test_the_log_says_once_that_a_signal_came(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    hook = PreemptionHook(exit_by=None)
    with th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=[hook]) as session:
        session.run("train")
    told = [record for record in caplog.records if "SIGTERM came: a checkpoint and a stop" in record.getMessage()]
    assert [record.levelno for record in told] == [logging.WARNING]
    # Not in the handler, which may interrupt the writing of another record.
    assert told[0].threadName == THREAD


def test_an_error_at_the_end_comes_together_with_the_exit(program: Program) -> None:
    class Fails(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            raise ValueError("no")

    hooks = [PreemptionHook(), Fails()]
    session = th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=hooks)
    with pytest.raises(BaseExceptionGroup) as caught, session:
        session.run("train")
    assert {type(error) for error in caught.value.exceptions} == {SystemExit, ValueError}
    assert program.is_untouched()


def test_the_exit_comes_when_all_is_closed(program: Program) -> None:
    ended = []

    class Ends(th.SessionRunHook):
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            self.thread = threading.Thread(target=coord.wait_for_stop)
            coord.register_thread(self.thread)
            self.thread.start()

        def end(self, session: th.Session) -> None:
            ended.append(session)

    ends = Ends()
    graph = graph_of(in_step(signal.SIGTERM))
    session = th.MonitoredSession(graph=graph, hooks=[PreemptionHook(), ends])
    try:
        with session:
            session.run("train")
    except SystemExit:
        assert len(ended) == 1
        assert ended[0].closed
        assert not ends.thread.is_alive()
        assert not graph.finalized
    else:
        pytest.fail("nothing was raised")


def test_a_session_within_another_leaves_the_exit_to_that_one(program: Program) -> None:
    inner_stopped = []

    def evaluate(step: int) -> None:
        with th.MonitoredSession(graph=graph_of(in_step(signal.SIGTERM)), hooks=[PreemptionHook()]) as inner:
            inner.run("train")
            inner_stopped.append(inner.should_stop())

    notes = Notes()
    outer = th.MonitoredSession(graph=graph_of(evaluate), hooks=[PreemptionHook(), notes])
    with pytest.raises(SystemExit), outer:
        outer.run("train")
    assert inner_stopped == [True]
    assert notes.asked[-1] == ("after", 1, True, True)
    assert program.called == [signal.SIGTERM]
    assert program.is_untouched()


def test_once_a_session_was_dropped_signals_do_what_they_did_before(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    hook = PreemptionHook()
    session = th.MonitoredSession(graph=graph_of(), hooks=[hook])
    del session
    gc.collect()
    signal.raise_signal(signal.SIGTERM)
    assert program.called == [signal.SIGTERM]
    assert [signal.getsignal(number) for number in NUMBERS] == program.handlers
    assert " came" not in caplog.text
    # The hook can go on to another session.
    with th.MonitoredSession(graph=graph_of(), hooks=[hook]) as session:
        session.run("train")
        assert not session.should_stop()
    assert program.is_untouched()


def test_a_signal_while_those_of_a_dropped_session_are_put_back_does_what_it_did_before(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_handler = signal.signal

    def set_after_a_signal(number: Any, handler: Any) -> Any:
        if number == signal.SIGINT and handler == program.handler and not program.called:
            signal.raise_signal(signal.SIGTERM)
        return set_handler(number, handler)

    hook = PreemptionHook()
    session = th.MonitoredSession(graph=graph_of(), hooks=[hook])
    del session
    gc.collect()
    monkeypatch.setattr(signal, "signal", set_after_a_signal)
    with th.MonitoredSession(graph=graph_of(), hooks=[hook]) as session:
        assert not session.should_stop()
    assert program.called == [signal.SIGTERM]
    assert program.is_untouched()


@pytest.mark.parametrize("signals", [["SIGTERM", "SIGINT"], ["SIGINT"]])
def test_sessions_may_be_closed_in_the_order_in_which_they_were_opened(program: Program, signals: list[str]) -> None:
    first = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()])
    second = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(signals=signals, exit_by=None)])
    first.close()
    signal.raise_signal(signal.SIGINT)
    assert program.called == [signal.SIGINT]
    assert second.should_stop()
    second.close()
    assert program.is_untouched()


def test_a_signal_of_a_session_that_was_closed_below_another_does_what_it_did_before(program: Program) -> None:
    first = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()])
    second = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook(signals=["SIGINT"])])
    first.close()
    signal.raise_signal(signal.SIGTERM)
    assert program.called == [signal.SIGTERM]
    assert not second.should_stop()
    second.close()
    assert program.is_untouched()


def test_closed_in_another_thread_it_says_so_and_signals_do_what_they_did_before(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    session = th.MonitoredSession(graph=graph_of(), hooks=[PreemptionHook()])
    thread = threading.Thread(target=session.close)
    thread.start()
    thread.join()
    assert "closed in another thread than the main one" in caplog.text
    signal.raise_signal(signal.SIGINT)
    assert program.called == [signal.SIGINT]
    for watching in [thread for thread in threading.enumerate() if thread.name == THREAD]:
        watching.join(LONGEST_SECS)
    assert program.is_untouched()


def test_a_hook_may_live_through_several_sessions(program: Program) -> None:
    hook = PreemptionHook(exit_by=None)
    for stops in (True, False):
        with th.MonitoredSession(
            graph=graph_of(in_step(signal.SIGTERM) if stops else lambda step: None), hooks=[hook]
        ) as session:
            session.run("train")
            assert session.should_stop() is stops
    assert program.is_untouched()


@pytest.mark.parametrize("name", ["TERM", "sigterm", "SIGNOTHING", ""])
def test_a_signal_that_the_platform_lacks_is_an_error_that_lists_those_it_has(name: str) -> None:
    with pytest.raises(ValueError, match=rf"this platform has no signal '{name}': take some of .*SIGINT"):
        PreemptionHook(signals=[name])


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere there is such a signal")
def test_windows_lacks_the_signals_of_unix() -> None:
    with pytest.raises(ValueError, match="this platform has no signal 'SIGUSR1'"):
        PreemptionHook(signals=["SIGUSR1"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has none of these")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP", "SIGCHLD", "SIGWINCH", "SIGSEGV"])
def test_a_signal_that_asks_no_process_to_end_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} does not ask a process to end: take some of .*SIGTERM"):
        PreemptionHook(signals=["SIGTERM", name])


def test_wrong_options_are_errors() -> None:
    with pytest.raises(TypeError, match=r"not one string: pass \['SIGTERM'\]"):
        PreemptionHook(signals="SIGTERM")
    with pytest.raises(ValueError, match="signals is empty"):
        PreemptionHook(signals=[])
    with pytest.raises(ValueError, match="not 'raise'"):
        PreemptionHook(exit_by="raise")  # type: ignore[arg-type]


def test_its_short_name_makes_one() -> None:
    assert isinstance(th.make_hook("preemption", signals=["SIGTERM"]), PreemptionHook)
