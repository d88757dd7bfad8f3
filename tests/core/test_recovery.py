"""When a session that was lost is tried again, after which pause, and when it is given up."""

import pytest

import tenterhooks as th
from tenterhooks.recovery import RECOVERABLE, Recovery

from .recorders import Recorder, counting_graph, raising


def lost(number: int) -> th.AbortedError:
    return th.AbortedError(f"lost {number}")


def test_lost_workers_are_recovered_from() -> None:
    assert set(RECOVERABLE) == {th.AbortedError, th.UnavailableError}


def test_the_first_try_is_at_once_and_the_pauses_after_it_grow_up_to_a_minute() -> None:
    pauses: list[float] = []
    recovery = Recovery(10, sleep=pauses.append)
    for number in range(10):
        recovery.failed(lost(number), step=0)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_it_is_given_up_after_so_many_recoveries_without_progress() -> None:
    recovery = Recovery(3, sleep=lambda seconds: None)
    for number in range(3):
        recovery.failed(lost(number), step=0)
    with pytest.raises(th.AbortedError):
        recovery.failed(lost(3), step=0)


def test_what_is_raised_then_is_the_first_error_with_the_later_ones_as_notes() -> None:
    recovery = Recovery(2, sleep=lambda seconds: None)
    recovery.failed(lost(0), step=7)
    recovery.failed(th.UnavailableError("gone 1"), step=7)
    with pytest.raises(th.AbortedError, match="lost 0") as caught:
        recovery.failed(lost(2), step=7)
    assert caught.value.__notes__ == [
        "given up after 2 recoveries without getting past global step 7",
        "then: UnavailableError: gone 1",
        "then: AbortedError: lost 2",
    ]


def test_a_step_past_the_furthest_one_begins_the_count_anew() -> None:
    pauses: list[float] = []
    recovery = Recovery(2, sleep=pauses.append)
    for step in [0, 0, 1, 1, 2, 2]:
        recovery.failed(lost(step), step)
    assert pauses == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("step", [5, 4, 0])
def test_a_step_up_to_the_furthest_one_is_no_progress(step: int) -> None:
    recovery = Recovery(1, sleep=lambda seconds: None)
    recovery.failed(lost(0), step=5)
    with pytest.raises(th.AbortedError, match="lost 0"):
        recovery.failed(lost(1), step)


def test_errors_before_the_progress_are_not_among_the_notes() -> None:
    recovery = Recovery(1, sleep=lambda seconds: None)
    recovery.failed(lost(0), step=0)
    recovery.failed(lost(1), step=3)
    with pytest.raises(th.AbortedError, match="lost 1") as caught:
        recovery.failed(lost(2), step=3)
    assert caught.value.__notes__[1:] == ["then: AbortedError: lost 2"]


def test_none_at_all_is_a_possible_number() -> None:
    with pytest.raises(th.AbortedError, match="lost 0"):
        Recovery(0).failed(lost(0), step=0)


def test_less_than_none_is_not() -> None:
    with pytest.raises(ValueError, match="max_recoveries is 0 or more, not -1"):
        Recovery(-1)


def test_each_is_logged_with_its_error_step_attempt_and_pause(caplog: pytest.LogCaptureFixture) -> None:
    recovery = Recovery(5, sleep=lambda seconds: None)
    for number in range(3):
        recovery.failed(lost(number), step=7)
    assert caplog.messages == [
        "recovering from AbortedError: lost 0 (at global step 7, attempt 1 of 5)",
        "recovering from AbortedError: lost 1 (at global step 7, attempt 2 of 5, after 1 s)",
        "recovering from AbortedError: lost 2 (at global step 7, attempt 3 of 5, after 2 s)",
    ]


class TestInASession:
    def test_pauses_go_through_the_sleep_that_it_was_given(self) -> None:
        pauses: list[float] = []
        hook = Recorder("a", before_run=raising(*map(lost, range(4))))
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook], sleep=pauses.append) as session:
            session.run("train")
        assert pauses == [1.0, 2.0, 4.0]

    def test_it_gives_up_after_ten_by_default(self) -> None:
        hook = Recorder("a", before_run=raising(*map(lost, range(20))))
        session = th.MonitoredSession(graph=counting_graph(), hooks=[hook], sleep=lambda seconds: None)
        with pytest.raises(th.AbortedError, match="lost 0"):
            session.run("train")
        assert hook.stages.count("before_run") == 11
        session.close()

    def test_the_error_that_it_gave_up_with_ends_it(self) -> None:
        seen: list[BaseException] = []
        errors = [lost(number) for number in range(3)]
        hook = Recorder(
            "a", before_run=raising(*errors), on_exception=lambda session, exception: seen.append(exception)
        )
        session = th.MonitoredSession(
            graph=counting_graph(), hooks=[hook], max_recoveries=2, sleep=lambda seconds: None
        )
        with pytest.raises(th.AbortedError, match="lost 0"), session:
            session.run("train")
        assert seen == [errors[0]]
        assert [note for note in errors[0].__notes__ if note.startswith("then")] == [
            "then: AbortedError: lost 1",
            "then: AbortedError: lost 2",
        ]

    def test_no_recovery_is_a_possible_wish(self) -> None:
        hook = Recorder("a", before_run=raising(lost(0)))
        session = th.MonitoredSession(graph=counting_graph(), hooks=[hook], max_recoveries=0)
        with pytest.raises(th.AbortedError, match="lost 0"):
            session.run("train")
        session.close()

    def test_a_step_that_fails_each_time_after_its_update_is_given_up(self) -> None:
        hook = Recorder("a", after_run=raising(*map(lost, range(20))))
        session = th.MonitoredSession(
            graph=counting_graph(), hooks=[hook], max_recoveries=3, sleep=lambda seconds: None
        )
        with pytest.raises(th.AbortedError, match="lost 0"):
            session.run("train")
        assert hook.stages.count("after_run") == 4
        session.close()

    def test_steps_that_get_further_each_time_are_not_given_up(self) -> None:
        failures = [error for number in range(5) for error in (*[None] * number, lost(number))]
        hook = Recorder("a", after_run=raising(*failures))
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook], max_recoveries=1) as session:
            for _ in range(11):
                session.run("train")
        assert hook.stages.count("after_create_session") == 6

    def test_a_creation_that_fails_each_time_is_given_up_in_the_constructor(self) -> None:
        hook = Recorder("a", after_create_session=raising(*map(lost, range(20))))
        with pytest.raises(th.AbortedError, match="lost 0"):
            th.MonitoredSession(graph=counting_graph(), hooks=[hook], max_recoveries=2, sleep=lambda seconds: None)
        assert hook.stages == ["begin", *["after_create_session"] * 3, "on_exception"]
