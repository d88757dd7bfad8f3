"""Faults around errors, interrupts and signals that users met elsewhere, each shown to be absent in a whole program."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver

# Says each of its stages, and at its third step lets the one who reads that interrupt it.
PROGRAM = """
import signal
import sys
import tenterhooks as th

# What was started in the background of a shell ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Tells(th.SessionRunHook):
    def after_run(self, run_context):
        print(run_context.session.global_step, flush=True)
        if run_context.session.global_step == 3:
            sys.stdin.read()

    def end(self):
        print("end", flush=True)

    def on_exception(self, exception):
        print(type(exception).__name__, flush=True)

graph = th.Graph()
graph.variable("w", 0.0)
graph.train_op(lambda w: {"w": w + 1.0}, name="train")
with th.MonitoredTrainingSession(
    graph=graph, checkpoint_dir=sys.argv[1], save_checkpoint_steps=2, hooks=[Tells()]
) as session:
    while session.global_step < 9:
        session.run("train")
print("success")
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_an_interrupt_ends_the_program_as_one_and_saves_no_step_that_was_not_completed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = [process.stdout.readline() for _ in range(3)]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        finally:
            process.kill()
    assert said == ["1\n", "2\n", "3\n"]
    assert out == "KeyboardInterrupt\n"
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [0, 2]


def counting_graph() -> th.Graph:
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.train_op(lambda w: {"w": w + 1.0}, name="train")
    return graph


def handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


IMPORTS = """
import signal
from importlib.metadata import entry_points

before = [signal.getsignal(number) for number in signal.valid_signals()]
import tenterhooks
found = [entry_point.load() for entry_point in entry_points(group="tenterhooks.hooks")]
assert len(found) > 5, found
assert [signal.getsignal(number) for number in signal.valid_signals()] == before
assert signal.set_wakeup_fd(-1) == -1
"""


def test_no_import_installs_a_signal_handler() -> None:
    assert len(entry_points(group="tenterhooks.hooks")) > 5
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class Fails(th.SessionRunHook):
    """Raises an error in a stage."""

    def __init__(self, error: BaseException | None) -> None:
        self._error = error

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize("error", [None, ZeroDivisionError(), KeyboardInterrupt(), SystemExit(3)])
def test_a_session_leaves_the_programs_signal_handlers_as_they_were(
    tmp_path: Path, error: BaseException | None
) -> None:
    before = handlers()
    expected: AbstractContextManager[object] = nullcontext() if error is None else pytest.raises(type(error))
    with (
        expected,
        th.MonitoredTrainingSession(
            graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=1, hooks=[Fails(error)]
        ) as session,
    ):
        session.run("train")
    assert handlers() == before


def test_a_session_may_run_in_another_thread_than_the_main_one(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def train() -> None:
        try:
            with th.MonitoredTrainingSession(
                graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=2
            ) as session:
                for _ in range(3):
                    session.run("train")
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert errors == []
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [0, 2, 3]


class Watches(th.SessionRunHook):
    """Notes what ended the session, and may fail at it."""

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.name = name
        self._error = error
        self.seen: list[object] = []

    def end(self, session: th.Session) -> None:
        self._note("end")

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self._note(exception)

    def _note(self, what: object) -> None:
        self.seen.append(what)
        if self._error is not None:
            raise self._error


def fails_in_the_body(session: th.MonitoredSession, error: BaseException) -> None:
    raise error


def fails_in_a_hook(session: th.MonitoredSession, error: BaseException) -> None:
    session.run("train", feed_dict={"error": error})


@pytest.mark.parametrize("fails", [fails_in_the_body, fails_in_a_hook])
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_the_real_error_is_on_top_and_each_hook_is_told_of_it_though_some_fail_at_that(
    tmp_path: Path, fails: Callable[[th.MonitoredSession, BaseException], None], kind: type[BaseException]
) -> None:
    error = kind("the real one")

    class Raises(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.original_args.feed_dict:
                raise run_context.original_args.feed_dict["error"]

    graph = counting_graph()
    graph.placeholder("error", default=None)
    hooks = [Watches("a"), Watches("b", OSError("no space to close b")), Raises(), Watches("c")]
    with (
        pytest.raises(kind) as caught,
        th.MonitoredTrainingSession(
            graph=graph, checkpoint_dir=tmp_path, save_checkpoint_steps=1, hooks=hooks
        ) as session,
    ):
        session.run("train")
        fails(session, error)
    assert caught.value is error
    assert [hook.seen for hook in hooks if isinstance(hook, Watches)] == [[error], [error], [error]]
    assert any("no space to close b" in note for note in error.__notes__)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [0, 1]
