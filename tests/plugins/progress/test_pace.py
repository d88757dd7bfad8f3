"""The time and the rate of this process."""

from tenterhooks.testing import ManualClock
from tenterhooks_progress._pace import Pace


def begun(clock: ManualClock, step: int = 0, paused_secs: float = 0.0) -> Pace:
    pace = Pace(clock)
    pace.begin(step, paused_secs)
    return pace


def test_before_the_first_step_there_is_no_rate() -> None:
    clock = ManualClock()
    pace = begun(clock, 100)
    clock.advance(5.0)
    assert pace.at(100, 0.0) == (5.0, None)


def test_the_first_measurement_is_of_all_steps_of_this_process() -> None:
    clock = ManualClock()
    pace = begun(clock, 100)
    clock.advance(5.0)
    assert pace.at(110, 0.0) == (5.0, 2.0)


def test_the_later_ones_leave_out_what_came_before_the_first() -> None:
    clock = ManualClock()
    pace = begun(clock)
    clock.advance(60.0)
    pace.at(1, 0.0)
    clock.advance(1.0)
    assert pace.at(11, 0.0) == (61.0, 10.0)
    clock.advance(1.0)
    assert pace.at(13, 0.0) == (62.0, 6.0)


def test_pauses_are_left_out() -> None:
    clock = ManualClock()
    pace = begun(clock, paused_secs=0.0)
    clock.advance(1.0)
    pace.at(1, 0.0)
    clock.advance(32.0)
    assert pace.at(5, 30.0) == (3.0, 2.0)


def test_after_it_was_begun_again_the_time_goes_on_and_the_rate_is_that_since() -> None:
    clock = ManualClock()
    pace = begun(clock)
    clock.advance(10.0)
    pace.at(100, 0.0)
    pace.begin(50, 0.0)
    clock.advance(1.0)
    assert pace.at(51, 0.0) == (11.0, 1.0)


def test_a_clock_that_stands_still_gives_no_rate() -> None:
    pace = begun(ManualClock())
    assert [pace.at(step, 0.0) for step in (1, 2)] == [(0.0, None), (0.0, None)]
