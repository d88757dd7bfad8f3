"""Log records above the bar."""

import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_progress import ProgressHook

from .screen import Terminal, seen, stream_handler

LOG = logging.getLogger("tests.aside")


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Puts back what tests do to the logger."""
    LOG.setLevel(logging.INFO)
    yield
    LOG.handlers.clear()
    LOG.propagate = True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def session(terminal: Terminal) -> th.MonitoredSession:
    hook = ProgressHook(every_n_secs=0.0, total=9, file=terminal, clock=lambda: 0.0)
    return th.MonitoredSession(hooks=[hook])


def step(opened: th.MonitoredSession) -> None:
    with opened.step():
        pass


def bars(lines: list[str]) -> list[bool]:
    """Which of the lines are bars."""
    return ["/9 [" in line for line in lines]


def test_records_appear_whole_above_the_bar(terminal: Terminal) -> None:
    LOG.addHandler(stream_handler(terminal))
    with session(terminal) as opened:
        for number in range(3):
            step(opened)
            LOG.info("record %d", number)
            # Where steps take long, the bar is there all the same.
            assert bars(terminal.lines)[-1]
    assert terminal.lines[:3] == ["INFO record 0", "INFO record 1", "INFO record 2"]
    assert bars(terminal.lines) == [False, False, False, True]


def test_one_that_writes_to_another_stream_of_the_terminal_makes_room_too(terminal: Terminal) -> None:
    class Shared(Terminal):
        """Another stream to the same screen."""

        def write(self, text: str) -> int:
            return terminal.write(text)

    LOG.addHandler(stream_handler(Shared()))
    with session(terminal) as opened:
        step(opened)
        LOG.info("record")
    assert terminal.lines[0] == "INFO record"
    assert bars(terminal.lines) == [False, True]


def test_a_handler_that_was_added_meanwhile_makes_room_from_the_next_update_on(terminal: Terminal) -> None:
    with session(terminal) as opened:
        step(opened)
        handler = stream_handler(terminal)
        LOG.addHandler(handler)
        step(opened)
        LOG.info("record")
        step(opened)
    assert bars(terminal.lines) == [False, True]
    assert (LOG.handlers, handler.stream) == ([handler], terminal)


def test_one_that_was_removed_meanwhile_is_not_put_back_and_has_its_stream(terminal: Terminal) -> None:
    handler, other = stream_handler(terminal), stream_handler(io.StringIO())
    LOG.addHandler(handler)
    with session(terminal) as opened:
        step(opened)
        LOG.handlers[:] = [other]
        step(opened)
    assert (LOG.handlers, handler.stream) == ([other], terminal)


def test_one_that_got_another_stream_meanwhile_keeps_that(terminal: Terminal) -> None:
    handler, file = stream_handler(terminal), io.StringIO()
    LOG.addHandler(handler)
    with session(terminal) as opened:
        step(opened)
        handler.setStream(file)
        LOG.info("record")
    assert handler.stream is file
    assert file.getvalue() == "INFO record\n"


def test_a_file_is_left_alone(terminal: Terminal) -> None:
    handler = stream_handler(io.StringIO())
    LOG.addHandler(handler)
    stream = handler.stream
    with session(terminal) as opened:
        step(opened)
        assert handler.stream is stream


def test_one_whose_stream_is_closed_is_left_alone(terminal: Terminal) -> None:
    stream = io.StringIO()
    handler = stream_handler(stream)
    LOG.addHandler(handler)
    stream.close()
    with session(terminal) as opened:
        step(opened)
        assert handler.stream is stream
        assert "| 1/9 [" in terminal.last


def test_two_bars_share_a_handler_and_the_last_gives_it_back(terminal: Terminal) -> None:
    handler = stream_handler(terminal)
    LOG.addHandler(handler)
    first, second = session(terminal), session(terminal)
    step(first)
    first.close()
    step(second)
    assert handler.stream is not terminal
    second.close()
    assert handler.stream is terminal


def test_the_bar_of_an_evaluation_is_below_and_goes_with_it(terminal: Terminal) -> None:
    LOG.addHandler(stream_handler(terminal))
    with session(terminal) as training:
        step(training)
        with session(terminal) as evaluation:
            step(evaluation)
            LOG.info("record")
            assert bars(terminal.lines) == [False, True, True]
        step(training)
    assert terminal.lines[0] == "INFO record"
    assert bars(terminal.lines) == [False, True]


def test_a_program_that_set_up_no_logging_has_its_warnings_above_the_bar(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)
    LOG.propagate = False
    last_resort = logging.lastResort
    with session(terminal) as opened:
        step(opened)
        LOG.info("not a warning")
        LOG.warning("a warning")
        step(opened)
    assert logging.lastResort is last_resort
    assert terminal.lines[0] == "a warning"
    assert bars(terminal.lines) == [False, True]


def test_a_last_resort_of_the_programs_own_is_kept(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    own = stream_handler(io.StringIO())
    with session(terminal) as opened:
        step(opened)
        logging.lastResort = own
        step(opened)
    assert logging.lastResort is own


def warn_on(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have warnings shown there as outside of tests, and give what shows them."""

    def show(*args: Any, **kwargs: Any) -> None:
        sys.stderr.write("the warning\n")

    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(warnings, "showwarning", show)
    warnings.simplefilter("always")
    return show


def test_warnings_appear_above_the_bar(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    warned = warn_on(terminal, monkeypatch)
    with session(terminal) as opened:
        for _ in range(2):
            step(opened)
            warnings.warn("of the program", stacklevel=1)
    assert terminal.lines[:2] == ["the warning", "the warning"]
    assert bars(terminal.lines) == [False, False, True]
    assert warnings.showwarning is warned


def test_of_two_bars_the_last_gives_back_what_shows_warnings(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned = warn_on(terminal, monkeypatch)
    first, second = session(terminal), session(terminal)
    step(first)
    first.close()
    step(second)
    assert warnings.showwarning is not warned
    second.close()
    assert warnings.showwarning is warned


def test_what_shows_warnings_of_the_programs_own_is_kept(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    warn_on(terminal, monkeypatch)
    with session(terminal) as opened:
        step(opened)
        before = warnings.showwarning
        logging.captureWarnings(True)
        logging.captureWarnings(False)
        assert warnings.showwarning is before
        with warnings.catch_warnings(record=True) as caught:
            step(opened)
            warnings.warn("caught", stacklevel=1)
        assert [str(warning.message) for warning in caught] == ["caught"]
        own = warnings.showwarning = lambda *args, **kwargs: None
    assert warnings.showwarning is own


def test_where_stderr_is_a_file_warnings_are_left_alone(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    warned = warn_on(terminal, monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with session(terminal) as opened:
        step(opened)
        assert warnings.showwarning is warned


def test_without_it_a_record_tears_the_bar(terminal: Terminal) -> None:
    handler = stream_handler(terminal)
    with session(terminal) as opened:
        step(opened)
        handler.emit(logging.makeLogRecord({"msg": "torn", "levelname": "INFO"}))
    # What the other tests would see if handlers were left alone.
    assert bars(seen(terminal.getvalue().replace("\n", "\r\n").encode()))[0]
