"""A process that is told to end saves, and the one that is started after it ends as if there had been only one."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenterhooks_checkpoint import Saver

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not send these signals to a process")

PROGRAM = Path(__file__).parent / "preempted.py"
LONGEST_SECS = 60.0


class Runs:
    """The program, run several times upon one folder; one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = ""

    def start(self, *options: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(self.folder), *map(str, options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )
        self.output = ""
        # What waits for a line that does not come is to fail, not to hang.
        self.watchdog = threading.Timer(LONGEST_SECS, self.process.kill)
        self.watchdog.start()

    def read_to(self, text: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return
        raise AssertionError(f"it never said {text!r} but\n{self.output}")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, and wait until it says that it came."""
        self.process.send_signal(number)
        self.read_to(f"{number.name} came")

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Wait until it has ended; its status."""
        assert self.process.stdout is not None
        self.output += self.process.stdout.read()
        status = self.process.wait()
        self.stop()
        return status

    def stop(self) -> None:
        """End the process if it has not ended, and close what led to it."""
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    @property
    def saved_steps(self) -> list[int]:
        """The steps of all checkpoints, each of which is whole."""
        saver = Saver(self.folder / "checkpoints")
        found = saver.list()
        assert [saver.verify(checkpoint) for checkpoint in found] == [None] * len(found)
        return [checkpoint.step for checkpoint in found]

    @property
    def weights(self) -> str:
        """The step and the bits of the weights with which the last process ended."""
        found = re.search(r"^weights at (step \d+: [0-9a-f]+)$", self.output, re.MULTILINE)
        assert found, self.output
        return found[1]

    @property
    def batches(self) -> list[str]:
        """The step and the bits of each batch that was taken."""
        return (self.folder / "batches.txt").read_text(encoding="ascii").splitlines()


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    runs = Runs(tmp_path / "stopped")
    yield runs
    runs.stop()


@pytest.fixture
def uninterrupted(tmp_path: Path) -> Iterator[Runs]:
    runs = Runs(tmp_path / "uninterrupted")
    runs.start()
    assert runs.end() == 0, runs.output
    yield runs
    runs.stop()


def assert_resumed_equals(runs: Runs, uninterrupted: Runs) -> None:
    runs.start()
    assert runs.end() == 0, runs.output
    assert runs.weights.startswith("step 8: ")
    assert runs.weights == uninterrupted.weights
    assert runs.batches == uninterrupted.batches


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_a_step_leaves_one_checkpoint_at_its_end_from_which_the_next_process_goes_on_exactly(
    runs: Runs, uninterrupted: Runs, number: signal.Signals, status: int
) -> None:
    runs.start("--in-step", 3)
    runs.read_to("in step 3")
    # The one of the creation.
    assert runs.saved_steps == [0]
    runs.signal(number)
    runs.go_on()
    assert runs.end() == status
    assert runs.saved_steps == [0, 3]
    assert_resumed_equals(runs, uninterrupted)


def test_a_signal_at_any_step_boundary_loses_nothing(runs: Runs, uninterrupted: Runs) -> None:
    for step in range(1, 8):
        runs.start("--in-step", step)
        runs.read_to(f"in step {step}")
        runs.signal(signal.SIGTERM)
        runs.go_on()
        assert runs.end() == 143
        assert runs.saved_steps[-1] == step
    assert_resumed_equals(runs, uninterrupted)


def test_a_signal_during_a_save_lets_it_finish(runs: Runs, uninterrupted: Runs) -> None:
    runs.start("--save-steps", 2, "--in-save", 4)
    runs.read_to("in the save of step 4")
    assert 4 not in runs.saved_steps
    runs.signal(signal.SIGTERM)
    runs.go_on()
    assert runs.end() == 143
    assert 4 in runs.saved_steps
    # A later one than 4 if steps are made while the files are written: up to the next save, which waits for this one.
    assert 4 <= runs.saved_steps[-1] <= 6
    assert runs.weights.startswith(f"step {runs.saved_steps[-1]}: ")
    assert_resumed_equals(runs, uninterrupted)


def test_a_second_signal_ends_the_process_at_once_and_costs_the_steps_since_the_last_save(
    runs: Runs, uninterrupted: Runs
) -> None:
    runs.start("--save-steps", 2, "--in-step", 6)
    runs.read_to("in step 6")
    runs.signal(signal.SIGTERM)
    runs.process.send_signal(signal.SIGTERM)
    assert runs.end() == -signal.SIGTERM
    saved = runs.saved_steps[-1]
    assert saved in (2, 4)
    runs.start()
    assert runs.end() == 0
    assert runs.weights == uninterrupted.weights
    # The steps that are lost are made again, with the same batches.
    assert runs.batches == uninterrupted.batches[:6] + uninterrupted.batches[saved:]


def test_a_second_signal_during_a_save_leaves_the_checkpoint_before_it(runs: Runs, uninterrupted: Runs) -> None:
    runs.start("--save-steps", 2, "--in-save", 4)
    runs.read_to("in the save of step 4")
    runs.signal(signal.SIGTERM)
    runs.process.send_signal(signal.SIGTERM)
    assert runs.end() == -signal.SIGTERM
    assert runs.saved_steps == [0, 2]
    runs.start()
    assert runs.end() == 0
    assert runs.weights == uninterrupted.weights
