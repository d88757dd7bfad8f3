"""What code leaves behind in its process is seen, and what it prints."""

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tenterhooks.testing.process import ProcessState, left_behind, printed


def test_nothing_is_left_where_nothing_was_done() -> None:
    before = ProcessState.now()
    assert before.changes(ProcessState.now()) == []
    assert left_behind(before) == []


@contextmanager
def thread() -> Iterator[None]:
    over = threading.Event()
    started = threading.Thread(target=over.wait, name="left-alone")
    started.start()
    try:
        yield
    finally:
        over.set()
        started.join()


@contextmanager
def handler() -> Iterator[None]:
    logger, added = logging.getLogger("some.library"), logging.NullHandler()
    logger.addHandler(added)
    try:
        yield
    finally:
        logger.removeHandler(added)


@contextmanager
def signal_handler() -> Iterator[None]:
    earlier = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


@contextmanager
def variable() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LEFT_BEHIND", "1")
        yield


@contextmanager
def warnings_filter() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def stream() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sys, "stderr", object())
        yield


@contextmanager
def directory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(os.sep)
        yield


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (thread, "the thread 'left-alone' is alive"),
        (handler, "the handlers of the logger 'some.library' changed, to [<NullHandler"),
        (signal_handler, "the handler of SIGTERM changed, to <function"),
        (variable, "the environment variable LEFT_BEHIND changed, to '1'"),
        (warnings_filter, "the warnings filters changed, to [('ignore'"),
        (stream, "sys.stderr changed, to <object"),
        (directory, "the working directory changed, to "),
    ],
)
def test_a_change_is_told(done: Callable[[], AbstractContextManager[None]], told: str) -> None:
    before = ProcessState.now()
    with done():
        (change,) = before.changes(ProcessState.now())
    assert change.startswith(told)
    assert left_behind(before) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files in /proc")
def test_an_open_file_is_told(tmp_path: Path) -> None:
    before = ProcessState.now()
    with (tmp_path / "log.txt").open("w", encoding="utf-8"):
        assert before.changes(ProcessState.now()) == [f"{tmp_path / 'log.txt'} is open"]
    assert before.changes(ProcessState.now()) == []


def test_a_thread_that_is_about_to_end_is_waited_for() -> None:
    before = ProcessState.now()
    over = threading.Event()
    started = threading.Thread(target=over.wait)
    started.start()
    # Another thread lets it end while this one waits.
    threading.Timer(0.05, over.set).start()
    assert left_behind(before) == []


def test_what_python_prints_is_kept() -> None:
    with printed() as texts:
        print("hello")
    assert texts == ["hello\n"]


def test_what_others_print_is_kept() -> None:
    with printed() as texts:
        os.write(1, b"from below")
    assert texts == ["from below"]


def test_what_is_printed_before_and_after_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before\n")
    with printed() as texts:
        pass
    os.write(1, b"after\n")
    assert texts == []
    assert capfd.readouterr().out == "before\nafter\n"
