"""Whoever reads a folder while another writes always finds a whole checkpoint, and never an older one than before.

The environment's TENTERHOOKS_SAVES is the number of saves; 1000 is all of it.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_checkpoint import Saver

from .reading import Reading, state

SAVES = int(os.environ.get("TENTERHOOKS_SAVES", "200"))


@contextmanager
def reader(directory: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that reads until its input ends, and has read once."""
    command = [sys.executable, "-m", "reliability.reading", str(directory)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def end(process: "subprocess.Popen[str]") -> Any:
    """End a reader's input, and give what it saw."""
    out, _ = process.communicate()
    assert process.returncode == 0
    return json.loads(out)


def save_all(saver: Saver) -> int:
    """Make the saves, and give the number of the last one. Their steps go down: the newest has the lowest."""
    last = 0
    for step in reversed(range(SAVES)):
        last = saver.save(state(step), step=step).sequence
    return last


def test_readers_in_other_processes_always_find_the_newest_of_a_writer_that_keeps_one(tmp_path: Path) -> None:
    writer = Saver(tmp_path, max_to_keep=1)
    writer.save(state(SAVES), step=SAVES)
    with ExitStack() as stack:
        readers = [stack.enter_context(reader(tmp_path)) for _ in range(4)]
        last = save_all(writer)
        reports = [end(process) for process in readers]
    assert [report["wrong"] for report in reports] == [[], [], [], []]
    assert [report["newest"] for report in reports] == [last] * 4
    # Those before the first save and after the last one show nothing of those in between.
    between = {sequence for report in reports for sequence in report["sequences"]} - {1, last}
    assert between
    assert [checkpoint.sequence for checkpoint in writer.list()] == [last]


@pytest.mark.parametrize("shared", [False, True])
def test_a_reader_in_a_thread_always_finds_the_newest_of_a_writer_that_keeps_one(tmp_path: Path, shared: bool) -> None:
    writer = Saver(tmp_path, max_to_keep=1)
    writer.save(state(SAVES), step=SAVES)
    reading = Reading(writer if shared else Saver(tmp_path))
    ended = threading.Event()
    thread = threading.Thread(target=reading.go_on_until, args=(ended.is_set,))
    thread.start()
    try:
        last = save_all(writer)
    finally:
        ended.set()
        thread.join()
    assert reading.wrong == []
    assert reading.newest == last
    assert reading.sequences - {1, last}
