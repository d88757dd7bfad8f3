"""What `preemption` makes of signals that are sent to a process."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not send these signals to a process")

PROGRAM = Path(__file__).parent / "program.py"
LONGEST_SECS = 60.0


class Program:
    """The program, running."""

    def __init__(self, *options: object) -> None:
        command = [sys.executable, str(PROGRAM), *map(str, options)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self.output = ""
        # What waits for a line that does not come is to fail, not to hang.
        self.watchdog = threading.Timer(LONGEST_SECS, self.kill)
        self.watchdog.start()

    def kill(self) -> None:
        """End it, and what it has forked."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def read_to(self, text: str) -> None:
        """Wait until it has said this."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return
        raise AssertionError(f"it never said {text!r} but\n{self.output}")

    def send(self, *numbers: signal.Signals, told: bool = True) -> None:
        """Send it signals, and wait until it says that the first one came."""
        for number in numbers:
            self.process.send_signal(number)
        if told:
            self.read_to(f"{numbers[0].name} came")

    def go_on(self) -> None:
        """Have it go on where it waits."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Wait until it has ended, with its standard input open; its status."""
        assert self.process.stdout is not None
        self.output += self.process.stdout.read()
        return self.process.wait()


Start = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Start]:
    programs: list[Program] = []

    def start(*options: object) -> Program:
        programs.append(Program(*options))
        return programs[-1]

    yield start
    for program in programs:
        program.watchdog.cancel()
        program.kill()
        program.process.communicate()


def result(program: Program) -> str:
    """The step and the bits of the weights that it ended with."""
    found = re.search(r"^(step \d+: [0-9a-f]+);", program.output, re.MULTILINE)
    assert found, program.output
    return found[1]


SIGNALS = [signal.SIGTERM, signal.SIGINT] + ([] if sys.platform == "win32" else [signal.SIGUSR1])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_in_a_step_stops_after_that_step_with_a_reason_and_a_status(
    start: Start, number: signal.Signals
) -> None:
    program = start("--in-step", 3, "--signals", "SIGTERM", "SIGINT", number.name)
    program.read_to("in step 3")
    program.send(number)
    program.go_on()
    assert program.end() == 128 + number
    assert result(program).startswith("step 3:")
    assert f"stop: the program at global step 2: {number.name} came\n" in program.output
    assert "Traceback" not in program.output


def test_a_signal_between_two_runs_stops_there(start: Start) -> None:
    program = start("--after-step", 2)
    program.read_to("after step 2")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 143
    assert result(program).startswith("step 2:")


def test_a_signal_while_a_saver_saves_at_the_end_lets_it_finish(start: Start) -> None:
    program = start("--slow-end", "--last-step", 2)
    program.read_to("saving")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 143
    assert "saved step 2\n" in program.output


def test_without_a_signal_the_program_goes_on_after_the_session(start: Start) -> None:
    program = start()
    assert program.end() == 0
    assert result(program).startswith("step 6:")
    assert "went on\n" in program.output


def test_by_code_the_program_cleans_up_and_does_not_go_on(start: Start) -> None:
    program = start("--in-step", 2, "--exit-by", "code")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 143
    assert program.output.endswith("cleaned up\nat exit\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_by_signal_the_program_cleans_up_and_the_parent_sees_the_signal(start: Start, number: signal.Signals) -> None:
    program = start("--in-step", 2, "--exit-by", "signal", "--signals", number.name)
    program.read_to("in step 2")
    program.send(number)
    program.go_on()
    assert program.end() == -number
    assert program.output.endswith("cleaned up\nat exit\n")


def test_by_none_the_program_goes_on(start: Start) -> None:
    program = start("--in-step", 2, "--exit-by", "none")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 0
    assert result(program).startswith("step 2:")
    assert "went on\n" in program.output


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_process_at_once(start: Start, second: signal.Signals) -> None:
    program = start("--in-step", 2)
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.send(second, told=False)
    assert program.end() == -second
    assert "cleaned up" not in program.output


def test_a_second_signal_that_the_programs_handler_passes_on_ends_the_process(start: Start) -> None:
    program = start("--in-step", 2, "--pass-on")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.read_to("the program passed SIGTERM on")
    program.send(signal.SIGTERM, told=False)
    assert program.end() == -signal.SIGTERM
    assert "cleaned up" not in program.output


def test_a_second_signal_ends_the_process_while_a_saver_saves_at_the_end(start: Start) -> None:
    program = start("--slow-end", "--last-step", 2)
    program.read_to("saving")
    program.send(signal.SIGTERM)
    program.send(signal.SIGTERM, told=False)
    assert program.end() == -signal.SIGTERM
    assert "saved" not in program.output


def test_a_signal_in_a_native_call_is_logged_before_the_call_returns(start: Start) -> None:
    program = start("--in-step", 2, "--way", "native")
    program.read_to("in step 2")
    # Waits for the record; the call goes on until it is told to return.
    program.send(signal.SIGTERM)
    assert "the call has returned" not in program.output
    program.go_on()
    assert program.end() == 143
    assert program.output.count("SIGTERM came: ") == 1
    assert result(program).startswith("step 2:")


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_in_a_native_call_ends_the_process_too(start: Start, second: signal.Signals) -> None:
    program = start("--in-step", 2, "--way", "native")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.send(second, told=False)
    assert program.end() == 128 + second
    assert "the call has returned" not in program.output


def test_a_forked_process_ends_by_a_signal_and_its_parent_does_not_stop(start: Start) -> None:
    program = start("--in-step", 2, "--way", "fork")
    program.read_to("in step 2")
    program.go_on()
    assert program.end() == 0
    assert "the forked process was ended by SIGTERM\n" in program.output
    assert " came" not in program.output
    assert result(program).startswith("step 6:")


def test_a_worker_has_the_handlers_and_the_descriptor_that_its_parent_had_before_the_session(start: Start) -> None:
    program = start("--in-step", 2, "--way", "worker")
    program.read_to("in step 2")
    program.go_on()
    assert program.end() == 0
    assert "the worker has [<Handlers.SIG_DFL: 0>, <built-in function default_int_handler>], -1\n" in program.output


def test_ctrl_c_in_a_process_that_was_just_forked_ends_that_one_alone(start: Start) -> None:
    program = start("--in-step", 2, "--way", "fork", "--interrupt-forked")
    program.read_to("in step 2")
    program.go_on()
    assert program.end() == 0
    assert "the forked process was ended by SIGINT\n" in program.output
    assert " came" not in program.output
    assert "Traceback" not in program.output


def test_after_a_forked_process_a_signal_still_stops_the_parent(start: Start) -> None:
    program = start("--in-step", 2, "--way", "fork")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 143


def test_an_error_in_the_step_in_which_a_signal_came_is_not_hidden(start: Start) -> None:
    program = start("--in-step", 2, "--way", "fail")
    program.read_to("in step 2")
    program.send(signal.SIGTERM)
    program.go_on()
    assert program.end() == 1
    assert "ValueError: the step failed\n" in program.output
    assert "SIGTERM had come, which asked for a checkpoint and a stop" in program.output


def test_import_and_construction_touch_no_signal() -> None:
    code = """
import signal, threading
def seen():
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    return [signal.getsignal(number) for number in signal.valid_signals()], descriptor, threading.active_count()
before = seen()
import tenterhooks_preemption
tenterhooks_preemption.PreemptionHook()
assert seen() == before, (before, seen())
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=LONGEST_SECS)
