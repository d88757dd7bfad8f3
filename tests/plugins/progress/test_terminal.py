"""What one sees in a real terminal: a process whose bytes a terminal interprets."""

import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .screen import HEIGHT, WIDTH, seen

pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")

PROGRAM = Path(__file__).parent / "program.py"
LONGEST_SECS = 30.0
STEPS = 20


class Running:
    """The program, with a terminal as its standard error.

    Args:
        folder: Where it saves.
        terminal: Whether it has one; else its standard error is a file.
    """

    def __init__(self, folder: Path, *, terminal: bool = True) -> None:
        self.file = folder.with_suffix(".txt")
        self.written = b""
        ours, its = self._open_terminal() if terminal else (None, os.open(self.file, os.O_WRONLY | os.O_CREAT))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(PROGRAM), str(folder), str(STEPS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=its,
            text=True,
            bufsize=1,
            env={**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"},
        )
        os.close(its)
        self.reader = threading.Thread(target=self._read, args=(ours,))
        self.reader.start()

    def _open_terminal(self) -> tuple[int, int]:
        import fcntl
        import termios

        ours, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        return ours, its

    def _read(self, ours: int | None) -> None:
        if ours is None:
            return
        with open(ours, "rb", buffering=0) as terminal:  # noqa: PTH123 - a descriptor has no path.
            while True:
                try:
                    read = terminal.read(4096)
                except OSError:
                    # So Linux tells that nobody can write to it any more.
                    return
                if not read:
                    return
                self.written += read

    @property
    def lines(self) -> list[str]:
        return seen(self.written)

    def do(self, *lines: str) -> None:
        """Have it make steps, and wait until it has."""
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(f"{line}\n")
            if line != "fail":
                self.read_line()

    def read_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def wait_for(self, pattern: str) -> str:
        """Wait until a line on the screen is like this."""
        deadline = time.monotonic() + LONGEST_SECS
        while True:
            for line in self.lines:
                if re.search(pattern, line):
                    return line
            assert time.monotonic() < deadline, f"there is no {pattern} in {self.lines}"
            time.sleep(0.005)

    def end(self) -> int:
        """Wait until it has ended, and all is read that it wrote; its status."""
        self.process.communicate(timeout=LONGEST_SECS)
        self.reader.join(LONGEST_SECS)
        return self.process.returncode


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    programs: list[Running] = []

    def start(*, terminal: bool = True) -> Running:
        programs.append(Running(tmp_path / "run", terminal=terminal))
        assert programs[-1].read_line() == "begun"
        return programs[-1]

    yield start
    for program in programs:
        program.process.kill()
        program.end()


def bars(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("program:")]


def test_one_line_shows_the_steps_and_their_values(start: Start) -> None:
    program = start()
    program.do("", "", "")
    # The step is shown after the program has said it.
    shown = program.wait_for(r"\| 3/20 ")
    assert shown.startswith("program:  15%|█")
    assert shown.endswith("loss=300]")
    program.do(*[""] * (STEPS - 3))
    assert program.end() == 0
    (bar,) = bars(program.lines)
    assert re.search(r"^program: 100%\|█+\| 20/20 \[.*step/s, loss=2000\]$", bar)
    # What is written after it begins a line.
    assert program.lines[-1] == "over"


def test_records_appear_above_it(start: Start) -> None:
    program = start()
    program.do("configure", "", "log the first", "log the second")
    program.wait_for(r"\| 4/20 ")
    lines = program.lines
    assert lines[-3:-1] == ["the first", "the second"]
    assert bars(lines) == lines[-1:]


@pytest.mark.parametrize("way", ["Ctrl-C", "error"])
def test_it_is_closed_where_it_was(start: Start, way: str) -> None:
    program = start()
    program.do("", "", "wait" if way == "Ctrl-C" else "fail")
    if way == "Ctrl-C":
        program.process.send_signal(signal.SIGINT)
    assert program.end() in (-signal.SIGINT, 1)
    lines = program.lines
    (bar,) = bars(lines)
    assert "| 2/20 " in bar
    assert lines[lines.index(bar) + 1].startswith("Traceback")
    assert lines[-1].startswith("KeyboardInterrupt" if way == "Ctrl-C" else "ValueError")


def test_after_a_kill_it_begins_at_the_resumed_step(start: Start) -> None:
    program = start()
    program.do(*[""] * 7)
    program.process.kill()
    program.end()
    program = start()
    program.wait_for(r"\| 5/20 \[00:00<\?, \?step/s\]")
    program.do("")
    program.wait_for(r"\| 6/20 .*loss=600\]")
    # No other step was on this screen.
    assert set(re.findall(r"\| *(\d+)/20", program.written.decode())) == {"5", "6"}


def test_without_a_terminal_there_are_whole_lines(start: Start) -> None:
    program = start(terminal=False)
    program.do(*[""] * STEPS)
    assert program.end() == 0
    text = program.file.read_text(encoding="utf-8")
    assert not set(text) & {"\r", "\x1b"}
    lines = text.splitlines()
    assert bars(lines)[0] == "program: step 0/20 (0%) [00:00<?, ?step/s]"
    assert re.fullmatch(r"program: step 20/20 \(100%\) \[00:0\d<00:00, .*step/s, loss=2000\]", bars(lines)[-1])
    assert lines[-1] == "over"
