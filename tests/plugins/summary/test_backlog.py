"""What is put is written, all of it and in order, by a thread that is there while there is something to write."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_summary import _backlog
from tenterhooks_summary._backlog import Backlog

LONGEST_SECS = 60.0


class Sink:
    """Keeps what is written, and fails where it is told to."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self.pushed: list[Any] = []
        self.closed = 0
        self.threads: set[str] = set()
        self.error: BaseException | None = None
        self.failed = threading.Event()

    def take(self, items: list[Any]) -> None:
        self.threads.add(threading.current_thread().name)
        self.taken += items

    def push(self) -> None:
        if self.error is not None:
            self.failed.set()
            raise self.error
        self.pushed = list(self.taken)

    def close(self) -> None:
        self.closed += 1

    def forget(self) -> None:
        self.taken, self.pushed = [], []


@pytest.fixture
def sink() -> Sink:
    return Sink()


def until(true: Any) -> None:
    deadline = time.monotonic() + LONGEST_SECS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def thread_of(backlog: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == backlog]


def test_what_is_put_is_written_by_a_thread_that_ends(sink: Sink) -> None:
    backlog = Backlog(sink, "ends")
    backlog.put(1)
    until(lambda: sink.pushed == [1])
    until(lambda: not thread_of("ends"))
    backlog.put(2)
    until(lambda: sink.pushed == [1, 2])
    assert sink.threads == {"ends"}


def test_a_flush_writes_at_once_and_in_order(sink: Sink) -> None:
    backlog = Backlog(sink, "flushed")
    for number in range(100):
        backlog.put(number)
        if number % 10 == 9:
            backlog.flush()
            assert sink.pushed == list(range(number + 1))


def test_many_threads_lose_nothing(sink: Sink) -> None:
    backlog = Backlog(sink, "shared")

    def put(name: str) -> None:
        for number in range(5000):
            backlog.put((name, number))
            if number % 500 == 0:
                backlog.flush()

    threads = [threading.Thread(target=put, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    backlog.close()
    for name in "abcd":
        assert [number for of, number in sink.pushed if of == name] == list(range(5000))


def test_who_puts_more_than_is_kept_writes_it(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_backlog, "_GATHERING_SECS", LONGEST_SECS)
    monkeypatch.setattr(_backlog, "_MAX_ITEMS", 10)
    backlog = Backlog(sink, "many")
    for number in range(11):
        assert sink.pushed == []
        backlog.put(number)
    assert sink.pushed == list(range(11))
    backlog.close()


def test_who_puts_larger_things_than_are_kept_writes_them(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_backlog, "_GATHERING_SECS", LONGEST_SECS)
    monkeypatch.setattr(_backlog, "_MAX_BYTES", 1000)
    backlog = Backlog(sink, "large")
    for number in range(4):
        backlog.put_large(number, 300)
    assert sink.pushed == [0, 1, 2, 3]
    backlog.put_large(4, 900)
    assert sink.pushed == [0, 1, 2, 3]
    backlog.close()


def test_an_error_of_the_thread_is_raised_by_the_next_put_and_nothing_is_lost(sink: Sink) -> None:
    backlog = Backlog(sink, "fails")
    sink.error = OSError("disk full")
    backlog.put(1)
    until(lambda: not thread_of("fails"))
    with pytest.raises(OSError, match="disk full") as caught:
        backlog.put(2)
    assert any(entry.name == "push" for entry in caught.traceback)
    sink.error = None
    backlog.put(3)
    until(lambda: sink.pushed == [1, 2, 3])
    backlog.close()


def test_an_error_that_is_over_at_the_flush_is_none(sink: Sink) -> None:
    backlog = Backlog(sink, "heals")
    sink.error = OSError("disk full")
    backlog.put(1)
    assert sink.failed.wait(LONGEST_SECS)
    until(lambda: not thread_of("heals"))
    sink.error = None
    backlog.flush()
    backlog.put(2)
    backlog.close()
    assert sink.pushed == [1, 2]


@pytest.mark.parametrize("call", ["flush", "close"])
def test_an_error_that_lasts_is_raised_by_flush_and_close(sink: Sink, call: str) -> None:
    backlog = Backlog(sink, "lasts")
    sink.error = OSError("disk full")
    backlog.put(1)
    with pytest.raises(OSError, match="disk full"):
        getattr(backlog, call)()
    assert sink.closed == (call == "close")


def test_what_cannot_be_taken_is_an_error_once(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(items: list[Any]) -> None:
        raise ValueError(f"not {items}")

    backlog = Backlog(sink, "refuses")
    monkeypatch.setattr(sink, "take", refuse)
    backlog.put(1)
    with pytest.raises(ValueError, match=r"not \[1\]"):
        backlog.flush()
    monkeypatch.undo()
    backlog.put(2)
    backlog.close()
    assert sink.pushed == [2]


def test_one_that_is_closed_takes_nothing_more(sink: Sink) -> None:
    backlog = Backlog(sink, "the writer")
    backlog.put(1)
    backlog.close()
    backlog.close()
    assert (sink.pushed, sink.closed, thread_of("the writer")) == ([1], 1, [])
    with pytest.raises(RuntimeError, match="the writer is closed: open another one"):
        backlog.put(2)
    assert sink.pushed == [1]


def test_one_whose_owner_is_collected_by_its_own_thread_is_closed_there(sink: Sink) -> None:
    backlog = Backlog(sink, "orphan")
    taken = sink.take

    def take(items: list[Any]) -> None:
        # As the garbage collector does that finds the owner.
        backlog.close()
        taken(items)

    sink.take = take  # type: ignore[method-assign]
    backlog.put(1)
    until(lambda: sink.closed == 1)
    assert sink.pushed == [1]


def test_a_child_of_a_fork_writes_nothing_twice_and_does_not_hang(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork on this system")
    program = f"""
import os, sys, warnings
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_backlog import Backlog, Sink
warnings.simplefilter("ignore", DeprecationWarning)
sink = Sink()
backlog = Backlog(sink, "forked")
backlog.put(1)
with backlog._lock:
    child = os.fork()
if child == 0:
    backlog.put(2)
    backlog.flush()
    backlog.close()
    os._exit(0 if sink.pushed == [2] else 1)
backlog.close()
assert sink.pushed == [1], sink.pushed
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=LONGEST_SECS, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
