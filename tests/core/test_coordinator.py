"""Threads beside a session: told to stop together, and heard when they fail."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tenterhooks as th

LONG = 30.0


@pytest.fixture
def coord() -> th.Coordinator:
    return th.Coordinator()


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What a stuck thread waits for; it is released at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def started(target: Callable[..., Any], *args: Any, name: str | None = None) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread


def fail(error: BaseException) -> None:
    raise error


def reporting(coord: th.Coordinator, error: BaseException) -> None:
    """The body of a thread that fails."""
    with coord.stop_on_exception():
        fail(error)


# Asking for a stop


def test_a_stop_is_asked_for_and_seen(coord: th.Coordinator) -> None:
    assert not coord.should_stop()
    coord.request_stop()
    assert coord.should_stop()


def test_waiting_for_a_stop_ends_with_the_stop(coord: th.Coordinator) -> None:
    seen: list[bool] = []
    thread = started(lambda: seen.append(coord.wait_for_stop(LONG)))
    coord.request_stop()
    thread.join(LONG)
    assert seen == [True]


def test_waiting_for_a_stop_that_does_not_come_gives_false(coord: th.Coordinator) -> None:
    assert not coord.wait_for_stop(0.001)


def test_an_error_is_a_request_to_stop(coord: th.Coordinator) -> None:
    coord.request_stop(ValueError())
    assert coord.should_stop()


# Which error is kept


def test_a_coordinator_without_an_error_raises_none(coord: th.Coordinator) -> None:
    coord.request_stop()
    coord.raise_requested_exception()
    coord.join()
    assert coord.exception is None


def test_an_error_that_was_reported_is_raised_by_join(coord: th.Coordinator) -> None:
    error = ValueError("of a thread")
    thread = started(reporting, coord, error)
    with pytest.raises(ValueError, match="of a thread") as caught:
        coord.join([thread])
    assert caught.value is error


def test_an_error_that_was_reported_can_be_raised_before_the_join(coord: th.Coordinator) -> None:
    error = ValueError("of a thread")
    coord.request_stop(error)
    assert coord.exception is error
    with pytest.raises(ValueError, match="of a thread"):
        coord.raise_requested_exception()


def test_the_first_error_is_kept(coord: th.Coordinator) -> None:
    coord.request_stop(ValueError("first"))
    coord.request_stop(TypeError("second"))
    with pytest.raises(ValueError, match="first"):
        coord.join()


def test_a_further_error_is_logged(coord: th.Coordinator, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        coord.request_stop(ValueError("first"))
        coord.request_stop(TypeError("second"))
    assert caplog.messages == [
        "a further error was reported to the coordinator, the first one is kept: TypeError('second')"
    ]


def test_an_error_after_a_plain_request_to_stop_is_kept(coord: th.Coordinator) -> None:
    coord.request_stop()
    coord.request_stop(ValueError("late"))
    with pytest.raises(ValueError, match="late"):
        coord.join()


class Finished(th.OutOfRangeError):
    pass


@pytest.mark.parametrize("error", [th.OutOfRangeError(), Finished()])
def test_the_end_of_the_input_is_a_plain_request_to_stop(coord: th.Coordinator, error: Exception) -> None:
    coord.request_stop(error)
    assert coord.should_stop()
    assert coord.exception is None
    coord.join()


def test_clean_types_can_be_chosen() -> None:
    coord = th.Coordinator(clean_stop_exception_types=(KeyError, StopIteration))
    coord.request_stop(StopIteration())
    coord.join()
    other = th.Coordinator(clean_stop_exception_types=(KeyError,))
    other.request_stop(th.OutOfRangeError())
    with pytest.raises(th.OutOfRangeError):
        other.join()


def test_an_error_that_is_reported_after_the_join_is_raised_at_the_reporter(coord: th.Coordinator) -> None:
    coord.join()
    with pytest.raises(ValueError, match="too late"):
        coord.request_stop(ValueError("too late"))
    with pytest.raises(ValueError, match="too late"):
        reporting(coord, ValueError("too late"))
    assert coord.exception is None


def test_a_plain_or_clean_request_after_the_join_is_fine(coord: th.Coordinator) -> None:
    coord.join()
    coord.request_stop()
    coord.request_stop(th.OutOfRangeError())
    assert coord.should_stop()


def test_clearing_forgets_stop_error_and_join(coord: th.Coordinator) -> None:
    coord.request_stop(ValueError("old"))
    with pytest.raises(ValueError, match="old"):
        coord.join()
    coord.clear_stop()
    assert not coord.joined
    assert not coord.should_stop()
    assert coord.exception is None
    coord.request_stop(TypeError("new"))
    with pytest.raises(TypeError, match="new"):
        coord.join()


@pytest.mark.parametrize("error", [ValueError(), SystemExit(), KeyboardInterrupt(), GeneratorExit()])
def test_a_guarded_block_reports_any_exception_and_does_not_raise_it(
    coord: th.Coordinator, error: BaseException
) -> None:
    reporting(coord, error)
    assert coord.exception is error
    assert coord.should_stop()


def test_a_guarded_block_that_raises_nothing_asks_for_nothing(coord: th.Coordinator) -> None:
    with coord.stop_on_exception():
        pass
    assert not coord.should_stop()


def test_a_guarded_block_takes_the_end_of_the_input_as_a_plain_request(coord: th.Coordinator) -> None:
    reporting(coord, th.OutOfRangeError())
    assert coord.should_stop()
    assert coord.exception is None


# Joining


def test_join_waits_until_all_threads_have_ended(coord: th.Coordinator, release: threading.Event) -> None:
    thread = started(release.wait, LONG)
    joined = threading.Event()

    def join() -> None:
        coord.join([thread])
        joined.set()

    joiner = started(join)
    assert not joined.wait(0.02)
    release.set()
    joiner.join(LONG)
    assert joined.is_set()
    assert coord.joined
    assert not coord.should_stop()


def test_join_waits_for_threads_that_stop_when_they_are_told(coord: th.Coordinator) -> None:
    thread = started(coord.wait_for_stop)
    started(coord.request_stop)
    coord.join([thread])
    assert not thread.is_alive()


def test_threads_that_live_on_after_the_grace_period_are_an_error_that_names_them(
    coord: th.Coordinator, release: threading.Event
) -> None:
    threads = [started(release.wait, LONG, name=name) for name in ("reader-b", "reader-a")]
    coord.request_stop()
    with pytest.raises(RuntimeError, match=r"threads did not stop within 0\.01 s: reader-a, reader-b"):
        coord.join(threads, stop_grace_period_secs=0.01)
    assert coord.joined


def test_threads_that_live_on_can_be_left_with_a_warning(
    coord: th.Coordinator, release: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    thread = started(release.wait, LONG, name="reader")
    coord.request_stop()
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    assert caplog.messages == ["threads did not stop within 0.01 s: reader; they are left running"]
    assert thread.is_alive()


def test_an_error_takes_precedence_over_threads_that_live_on(coord: th.Coordinator, release: threading.Event) -> None:
    thread = started(release.wait, LONG)
    coord.request_stop(ValueError("of a thread"))
    with pytest.raises(ValueError, match="of a thread"):
        coord.join([thread], stop_grace_period_secs=0.01)


def test_the_grace_period_is_that_of_all_threads_together(coord: th.Coordinator, release: threading.Event) -> None:
    threads = [started(release.wait, LONG) for _ in range(50)]
    coord.request_stop()
    joiner = started(lambda: coord.join(threads, stop_grace_period_secs=0.1, ignore_live_threads=True))
    joiner.join(4)
    assert not joiner.is_alive()


def test_registered_threads_and_those_passed_are_joined_together(
    coord: th.Coordinator, release: threading.Event
) -> None:
    registered, passed = (started(release.wait, LONG, name=name) for name in ("registered", "passed"))
    coord.register_thread(registered)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="passed, registered"):
        coord.join([passed], stop_grace_period_secs=0.01)


def test_a_join_forgets_the_registered_threads(coord: th.Coordinator, release: threading.Event) -> None:
    coord.register_thread(started(release.wait, LONG))
    coord.request_stop()
    coord.join(stop_grace_period_secs=0.01, ignore_live_threads=True)
    coord.join(stop_grace_period_secs=0.01)
    assert coord.joined


def test_a_thread_that_registered_itself_can_join_the_others(coord: th.Coordinator) -> None:
    joined = threading.Event()

    def body() -> None:
        coord.register_thread(threading.current_thread())
        coord.join(stop_grace_period_secs=0.01)
        joined.set()

    started(body)
    assert joined.wait(5)


def test_a_thread_that_was_not_started_is_not_waited_for(coord: th.Coordinator) -> None:
    coord.register_thread(threading.Thread(target=coord.wait_for_stop))
    coord.join()
    assert coord.joined


def test_threads_that_register_while_others_report_are_all_joined(coord: th.Coordinator) -> None:
    errors = [ValueError(str(number)) for number in range(20)]
    for error in errors:
        coord.register_thread(started(reporting, coord, error))
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        coord.join()
    assert caught.value in errors
