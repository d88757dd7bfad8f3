"""ProgressHook in real sessions, on a clock of the test's own."""

import contextlib
import fractions
import gc
import io
import logging
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.open_graph import OpenGraph
from tenterhooks.testing import ManualClock, MemorySaver
from tenterhooks_progress import ProgressHook

from .screen import Terminal, stream_handler


class Secs(th.SessionRunHook):
    """Lets each run take some seconds."""

    def __init__(self, clock: ManualClock, secs: float = 0.5) -> None:
        self._clock = clock
        self._secs = secs

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._clock.advance(self._secs)


def make_graph(computed: list[int] | None = None) -> th.Graph:
    graph = th.Graph()

    def loss(global_step: int) -> float:
        if computed is not None:
            computed.append(global_step + 1)
        return 1.0 / (global_step + 1)

    graph.tensor(loss)
    graph.train_op(lambda: None, name="train")
    return graph


class Resumed(th.ChiefSessionCreator):
    """Sessions as if restored at these steps."""

    def __init__(self, graph: th.Graph, *steps: int) -> None:
        super().__init__(graph)
        self._steps = list(steps)

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.state.global_step = self._steps.pop(0)
        return session


def train(hook: ProgressHook, clock: ManualClock, runs: int, start: int = 0, secs: float = 0.5) -> None:
    with th.MonitoredSession(Resumed(make_graph(), start), hooks=[Secs(clock, secs), hook]) as session:
        for _ in range(runs):
            session.run("train")


def shown(**options: Any) -> tuple[ProgressHook, Terminal, ManualClock]:
    """A hook that shows each step, where, and its clock."""
    terminal, clock = Terminal(), ManualClock()
    return ProgressHook(**{"every_n_secs": 0.0, "file": terminal, "clock": clock, **options}), terminal, clock


def test_the_bar_has_the_step_the_time_what_is_left_the_rate_and_the_values() -> None:
    hook, terminal, clock = shown(total=40, values=["loss"], desc="digits")
    with th.MonitoredSession(graph=make_graph(), hooks=[Secs(clock), hook]) as session:
        for _ in range(20):
            session.run("train")
        assert re.fullmatch(r"digits:  50%\|#+ +\| 20/40 \[00:10<00:10,  2\.00step/s, loss=0\.05\]", terminal.last)
    assert len(terminal.lines) == 1


def test_without_a_total_it_counts() -> None:
    hook, terminal, clock = shown(values={"the loss": "loss"})
    train(hook, clock, 4)
    assert terminal.lines == ["4step [00:02,  2.00step/s, the loss=0.25]"]


def test_it_begins_at_the_resumed_step_and_the_rate_is_that_of_this_process() -> None:
    hook, terminal, clock = shown(total=1000)
    with th.MonitoredSession(Resumed(make_graph(), 900), hooks=[Secs(clock), hook]) as session:
        assert "| 900/1000 [00:00<?, ?step/s]" in terminal.last
        # No earlier state was ever on the screen.
        assert "0/1000" not in terminal.getvalue().replace("900/1000", "")
        for _ in range(2):
            session.run("train")
        assert "| 902/1000 [00:01<00:49,  2.00step/s]" in terminal.last


def test_what_runs_in_a_pause_is_not_counted() -> None:
    class Evaluate(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            with run_context.session.pause_clock(clock=clock):
                clock.advance(3600.0)

    hook, terminal, clock = shown(total=10)
    with th.MonitoredSession(graph=make_graph(), hooks=[Evaluate(), Secs(clock), hook]) as session:
        for _ in range(4):
            session.run("train")
    assert "| 4/10 [00:02<00:03,  2.00step/s]" in terminal.last


def test_values_are_computed_for_what_is_shown_alone_the_last_step_too() -> None:
    computed: list[int] = []
    hook, terminal, clock = shown(total=19, values="loss", every_n_secs=3.0)
    with th.MonitoredSession(graph=make_graph(computed), hooks=[Secs(clock), hook]) as session:
        for _ in range(19):
            session.run("train")
    # Half a second each, and whether the period is over is asked before each.
    assert computed == [7, 14, 19]
    assert "| 19/19 " in terminal.last
    assert "loss=0.05263]" in terminal.last


def test_each_step_that_is_shown_has_its_own_values() -> None:
    hook, terminal, clock = shown(values="loss", every_n_secs=1.0)
    train(hook, clock, 9)
    found = re.findall(r"(\d+)step [^\r]*?loss=([\d.]+)", terminal.getvalue())
    assert len(found) > 3
    assert {float(loss) for step, loss in found if f"{1 / int(step):.4g}" != loss} == set()


def test_values_of_an_earlier_step_than_the_last_say_so() -> None:
    hook, terminal, clock = shown(values="loss", every_n_secs=3.0)
    train(hook, clock, 9)
    assert terminal.lines == ["9step [00:04,  2.00step/s, loss=0.1429 (step 7)]"]


def test_a_recovery_goes_back_to_the_restored_step() -> None:
    class LoseWorker(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 8:
                raise th.AbortedError

    class Look(th.SessionRunHook):
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            if terminal.lines:
                looks.append(terminal.lines)

    hook, terminal, clock = shown(total=10)
    looks: list[list[str]] = []
    creator = Resumed(make_graph(), 6, 3)
    hooks = [Secs(clock), LoseWorker(), hook, Look()]
    with th.MonitoredSession(creator, hooks=hooks, sleep=clock.advance) as session:
        for _ in range(4):
            session.run("train")
        assert session.global_step == 6
    assert [re.findall(r"\d+/10 ", line) for lines in looks for line in lines] == [["6/10 "], ["3/10 "]]
    assert "| 6/10 [00:02<00:02,  2.00step/s]" in terminal.last
    assert len(terminal.lines) == 1


def test_a_loop_of_the_programs_own_shows_its_epoch() -> None:
    hook, terminal, clock = shown(total=6, values=["loss"])
    with th.MonitoredSession(hooks=[Secs(clock), hook]) as session:
        seen = []
        for _ in session.epochs(2):
            for step in session.steps(range(3)):
                session.publish(loss=step)
            seen.append(terminal.last)
    assert seen[0].endswith("| 3/6 [00:01<00:01,  2.00step/s, epoch=0, loss=2]")
    assert terminal.last.endswith("| 6/6 [00:03<00:00,  2.00step/s, epoch=1, loss=2]")


def test_a_resumed_loop_goes_on_at_its_step_and_epoch() -> None:
    hook, terminal, clock = shown(total=6, values=["loss"])
    saver = MemorySaver()
    for stop_at in (5, None):
        creator = th.ChiefSessionCreator(OpenGraph(), saver=saver)
        with th.MonitoredSession(creator, hooks=[Secs(clock), hook]) as session:
            for _ in session.epochs(2):
                for step in session.steps(range(3)):
                    session.publish(loss=step)
                    if session.global_step + 1 == stop_at:
                        session.request_stop()
            raw = session.raw_session()
            assert raw is not None
            saver.save(raw.state_dict(), step=raw.global_step)
    first, second = terminal.lines
    assert first.endswith("| 5/6 [00:02<00:00,  2.00step/s, epoch=1, loss=1]")
    assert second.endswith("| 6/6 [00:00<00:00,  2.00step/s, epoch=1, loss=2]")


def test_a_loop_without_epochs_shows_none() -> None:
    hook, terminal, clock = shown()
    with th.MonitoredSession(hooks=[Secs(clock), hook]) as session:
        for _ in session.steps(range(3)):
            pass
    assert terminal.lines == ["3step [00:01,  2.00step/s]"]


def test_optional_values_are_shown_once_there_is_one() -> None:
    hook, terminal, clock = shown(values=["loss"], optional=["eval/accuracy"])
    with th.MonitoredSession(hooks=[Secs(clock), hook]) as session:
        for step in session.steps(range(3)):
            session.publish(loss=step)
            if step == 1:
                assert "accuracy" not in terminal.last
                session.publish({"eval/accuracy": 0.5})
        assert "accuracy" not in terminal.last
        session.publish({"eval/accuracy": 0.75})
        for step in session.steps(range(1)):
            session.publish(loss=step)
    assert terminal.last == "4step [00:02,  2.00step/s, loss=0, eval/accuracy=0.75]"


def test_values_are_told_in_few_characters_of_one_line() -> None:
    values = {
        "f": 1 / 3,
        "i": 123456789,
        "t": "two\nlines",
        "n": math.nan,
        "long": "x" * 100,
        "list": [1, 2],
        "b": True,
    }
    file = io.StringIO()
    with th.MonitoredSession(hooks=[ProgressHook(values=list(values), file=file, line_every_n_secs=0.0)]) as session:
        for _ in session.steps(range(1)):
            session.publish(values)
    assert file.getvalue().endswith(
        f"f=0.3333, i=123456789, t=two lines, n=nan, long={'x' * 40}, list=[1, 2], b=True]\n"
    )


def test_an_array_of_one_number_warns_of_nothing_and_what_is_too_large_is_told() -> None:
    values = {"array": np.array([1.5]), "matrix": np.eye(2), "large": fractions.Fraction(10**400)}
    file = io.StringIO()
    with th.MonitoredSession(hooks=[ProgressHook(values=list(values), file=file, line_every_n_secs=0.0)]) as session:
        for _ in session.steps(range(1)):
            session.publish(values)
    assert file.getvalue().endswith(f"array=[1.5], matrix=[[1. 0.] [0. 1.]], large={str(10**400)[:40]}]\n")


def test_a_total_may_be_of_numpy() -> None:
    hook, terminal, clock = shown(total=np.int64(2))
    train(hook, clock, 2)
    assert "| 2/2 [00:01<00:00,  2.00step/s]" in terminal.last


def test_steps_beyond_the_total_are_counted() -> None:
    file, clock = io.StringIO(), ManualClock()
    train(ProgressHook(total=2, line_every_n_secs=0.0, file=file, clock=clock), clock, 3)
    assert file.getvalue().splitlines()[-2:] == [
        "step 2/2 (100%) [00:01<00:00,  2.00step/s]",
        "step 3 [00:01,  2.00step/s]",
    ]


def test_where_there_is_no_terminal_there_are_lines_now_and_then() -> None:
    file, clock = io.StringIO(), ManualClock()
    train(ProgressHook(total=200, values="loss", desc="digits", file=file, clock=clock), clock, 199, start=1)
    assert file.getvalue().splitlines() == [
        "digits: step 1/200 (0%) [00:00<?, ?step/s]",
        "digits: step 62/200 (31%) [00:30<01:09,  2.00step/s, loss=0.01613]",
        "digits: step 123/200 (62%) [01:01<00:38,  2.00step/s, loss=0.00813]",
        "digits: step 184/200 (92%) [01:31<00:08,  2.00step/s, loss=0.005435]",
        "digits: step 200/200 (100%) [01:39<00:00,  2.00step/s, loss=0.005]",
    ]


def test_lines_without_a_total_count() -> None:
    file, clock = io.StringIO(), ManualClock()
    train(ProgressHook(line_every_n_secs=2.0, file=file, clock=clock), clock, 6)
    assert file.getvalue().splitlines() == [
        "step 0 [00:00, ?step/s]",
        "step 5 [00:02,  2.00step/s]",
        "step 6 [00:03,  2.00step/s]",
    ]


def test_a_terminal_that_knows_no_control_characters_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    hook, terminal, clock = shown(line_every_n_secs=0.0)
    train(hook, clock, 2)
    assert not set(terminal.getvalue()) & {"\r", "\x1b"}
    assert len(terminal.getvalue().splitlines()) == 3


def test_it_writes_to_stderr_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = ProgressHook()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    train(hook, ManualClock(), 3)
    assert terminal.last.startswith("3step ")


def test_a_process_without_stderr_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    train(ProgressHook(line_every_n_secs=0.0), ManualClock(), 3)


def test_a_terminal_that_is_gone_does_not_end_the_training(caplog: pytest.LogCaptureFixture) -> None:
    hook, terminal, clock = shown(values="loss")
    handler = stream_handler(terminal)
    logging.getLogger("another").addHandler(handler)
    with th.MonitoredSession(graph=make_graph(), hooks=[Secs(clock), hook]) as session:
        session.run("train")
        terminal.close()
        for _ in range(3):
            session.run("train")
        assert session.global_step == 4
    logging.getLogger("another").removeHandler(handler)
    assert handler.stream is terminal
    # tqdm sees by itself that there is nobody to draw for.
    assert [r for r in caplog.records if r.name == "tenterhooks_progress"] == []


@pytest.mark.parametrize("terminal", [True, False], ids=["bar", "lines"])
def test_what_cannot_be_written_is_said_once(terminal: bool, caplog: pytest.LogCaptureFixture) -> None:
    class Full(io.StringIO):
        full = False

        def isatty(self) -> bool:
            return terminal

        def write(self, text: str) -> int:
            if self.full:
                raise OSError(28, "No space left on device")
            return super().write(text)

    file = Full()
    computed: list[int] = []
    hook = ProgressHook(values="loss", every_n_secs=0.0, line_every_n_secs=0.0, file=file)
    with th.MonitoredSession(graph=make_graph(computed), hooks=[hook]) as session:
        session.run("train")
        file.full = True
        for _ in range(3):
            session.run("train")
    assert computed == [1, 2]
    assert [r.getMessage() for r in caplog.records if r.name == "tenterhooks_progress"] == [
        "the progress is not shown any more, since it cannot be written: [Errno 28] No space left on device"
    ]


@pytest.mark.parametrize("error", [None, ValueError("no"), KeyboardInterrupt()], ids=["end", "error", "Ctrl-C"])
def test_the_bar_is_closed_on_every_way_out(error: BaseException | None) -> None:
    hook, terminal, clock = shown(every_n_secs=100.0)
    handler = stream_handler(terminal)
    logging.getLogger("another").addHandler(handler)
    with (
        contextlib.nullcontext() if error is None else pytest.raises(type(error)),
        th.MonitoredSession(graph=make_graph(), hooks=[Secs(clock), hook]) as session,
    ):
        for _ in range(3):
            session.run("train")
        assert "3step" not in terminal.last
        if error is not None:
            raise error
    logging.getLogger("another").removeHandler(handler)
    assert handler.stream is terminal
    assert terminal.lines == ["3step [00:01,  2.00step/s]"]
    assert terminal.getvalue().endswith("\n")


def test_a_session_that_is_dropped_leaves_a_closed_bar() -> None:
    hook, terminal, clock = shown()
    handler = stream_handler(terminal)
    logging.getLogger("another").addHandler(handler)
    session = th.MonitoredSession(graph=make_graph(), hooks=[Secs(clock), hook])
    session.run("train")
    assert not terminal.getvalue().endswith("\n")
    del session
    gc.collect()
    logging.getLogger("another").removeHandler(handler)
    assert handler.stream is terminal
    assert terminal.getvalue().endswith("\n")


def test_a_hook_whose_session_was_not_created_closes() -> None:
    class Fail(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            raise ValueError("no")

    hook, terminal, _ = shown()
    with pytest.raises(ValueError, match="no"):
        th.MonitoredSession(graph=make_graph(), hooks=[hook, Fail()])
    assert terminal.getvalue() == ""


def test_a_hook_can_be_used_in_a_second_session() -> None:
    hook, terminal, clock = shown()
    train(hook, clock, 3)
    clock.advance(1000.0)
    train(hook, clock, 4, start=3)
    assert terminal.lines == ["3step [00:01,  2.00step/s]", "7step [00:02,  2.00step/s]"]


def test_an_idle_bar_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    hook, _, _ = shown(every_n_secs=1.0)
    calls = []
    monkeypatch.setattr(hook, "_show", lambda *args: calls.append(args))
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        hook.timer.update_last_triggered_step(0)
        for _ in range(5):
            session.run("train")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"total": 0}, ValueError, "total is the global step at which the training ends, 1 or more, not 0"),
        ({"total": 1.5}, TypeError, "total is the global step at which the training ends, a whole number, not 1.5"),
        ({"every_n_secs": "1"}, TypeError, "every_n_secs is a period in seconds, a number, not '1'"),
        ({"values": 5}, TypeError, "expected a node or its name, several of them, or a dict of them by tag, not 5"),
        ({"every_n_secs": -1.0}, ValueError, "every_n_secs is a period in seconds, 0 or more, not -1.0"),
        ({"line_every_n_secs": math.nan}, ValueError, "line_every_n_secs is a period in seconds, 0 or more, not nan"),
        ({"optional": "loss"}, TypeError, "optional is a list of names, not the text 'loss': optional=['loss']"),
        ({"file": "progress.txt"}, TypeError, "file is open for writing text, as sys.stderr is, not 'progress.txt'"),
    ],
)
def test_wrong_options_are_errors(options: Mapping[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        ProgressHook(**options)


def in_graph() -> None:
    hook, _, clock = shown(values="lost")
    train(hook, clock, 1)


def in_own_loop() -> None:
    hook, _, _ = shown(values="lost")
    with th.MonitoredSession(hooks=[hook]) as session:
        for _ in session.steps(range(1)):
            session.publish(loss=1.0)


@pytest.mark.parametrize("loop", [in_graph, in_own_loop])
def test_an_unknown_value_is_an_error_with_the_nearest_names(loop: Callable[[], None]) -> None:
    with pytest.raises(th.UnknownNameError, match=r"(?s)'lost'.*'loss'"):
        loop()


def test_the_short_name_makes_the_hook() -> None:
    assert repr(th.make_hook("progress", total=7)) == "<ProgressHook to step 7>"


class Worker(th.ChiefSessionCreator):
    """Makes the session of a process that is not the chief."""

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.is_chief = False
        return session


@pytest.mark.parametrize("own", [True, False], ids=["to a file of its own", "on the terminal of all"])
def test_a_process_that_is_not_the_chief_shows_nothing_unless_told_where(
    own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    hook = ProgressHook(total=9, values="loss", every_n_secs=0.0, file=terminal if own else None)
    with th.MonitoredSession(Worker(make_graph(computed)), hooks=[hook]) as session:
        for _ in range(3):
            session.run("train")
        # It is not even called.
        assert hook.timer.should_trigger_for_step(session.global_step + 1) is own
    assert (len(terminal.lines), computed) == ((1, [1, 2, 3]) if own else (0, []))
