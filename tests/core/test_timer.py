"""When a periodic hook is due."""

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.timer import check_steps


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def due(timer: th.SecondOrStepTimer, steps: range) -> list[int]:
    """The steps at which a timer triggers that is asked at each of them."""
    triggered = []
    for step in steps:
        if timer.should_trigger_for_step(step):
            timer.update_last_triggered_step(step)
            triggered.append(step)
    return triggered


@pytest.mark.parametrize("periods", [{}, {"every_secs": None}, {"every_secs": 1.0, "every_steps": 1}])
def test_exactly_one_period_is_given(periods: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly one of every_secs and every_steps must be given, not every_secs="):
        th.SecondOrStepTimer(**periods)


@pytest.mark.parametrize("period", [-1, -0.5, math.nan])
@pytest.mark.parametrize("name", ["every_secs", "every_steps"])
def test_a_period_that_is_negative_or_no_number_is_an_error(name: str, period: Any) -> None:
    with pytest.raises(ValueError, match=f"a period is 0 or more, not {period}"):
        th.SecondOrStepTimer(**{name: period})


def test_the_periods_can_be_read() -> None:
    assert th.SecondOrStepTimer(every_secs=2.5).every_secs == 2.5
    assert th.SecondOrStepTimer(every_secs=2.5).every_steps is None
    assert th.SecondOrStepTimer(every_steps=3).every_steps == 3


@pytest.mark.parametrize("periods", [{"every_steps": 100}, {"every_secs": 100.0}])
@pytest.mark.parametrize("step", [0, 1, 57])
def test_the_first_step_that_is_asked_about_is_due(periods: dict[str, Any], step: int) -> None:
    assert th.SecondOrStepTimer(**periods).should_trigger_for_step(step)


def test_asking_changes_nothing(clock: Clock) -> None:
    timer = th.SecondOrStepTimer(every_secs=1, clock=clock)
    assert timer.should_trigger_for_step(1)
    assert timer.should_trigger_for_step(2)
    assert timer.last_triggered_step() is None
    timer.update_last_triggered_step(2)
    clock.now += 1
    assert timer.should_trigger_for_step(3)
    assert timer.should_trigger_for_step(4)
    assert timer.last_triggered_step() == 2


@pytest.mark.parametrize("periods", [{"every_steps": 0}, {"every_secs": 1}])
def test_the_step_that_triggered_last_is_never_due_again(clock: Clock, periods: dict[str, Any]) -> None:
    timer = th.SecondOrStepTimer(**periods, clock=clock)
    timer.update_last_triggered_step(3)
    clock.now += 100
    assert not timer.should_trigger_for_step(3)
    assert timer.should_trigger_for_step(4)


def test_the_grid_of_steps_starts_at_the_first_trigger() -> None:
    assert due(th.SecondOrStepTimer(every_steps=3), range(1, 12)) == [1, 4, 7, 10]


def test_the_grid_of_steps_moves_with_a_trigger_that_came_late() -> None:
    timer = th.SecondOrStepTimer(every_steps=3)
    timer.update_last_triggered_step(1)
    timer.update_last_triggered_step(6)
    assert due(timer, range(7, 14)) == [9, 12]


def test_a_step_beyond_the_period_is_due() -> None:
    timer = th.SecondOrStepTimer(every_steps=3)
    timer.update_last_triggered_step(1)
    assert not timer.should_trigger_for_step(3)
    assert timer.should_trigger_for_step(30)


def test_seconds_are_counted_from_the_last_trigger(clock: Clock) -> None:
    timer = th.SecondOrStepTimer(every_secs=10, clock=clock)
    timer.update_last_triggered_step(1)
    clock.now += 9.5
    assert not timer.should_trigger_for_step(2)
    clock.now += 0.5
    assert timer.should_trigger_for_step(2)
    clock.now += 5
    timer.update_last_triggered_step(2)
    clock.now += 9.5
    assert not timer.should_trigger_for_step(3)


def test_an_update_gives_what_went_by_since_the_last_trigger(clock: Clock) -> None:
    timer = th.SecondOrStepTimer(every_steps=1, clock=clock)
    assert timer.update_last_triggered_step(5) == (None, None)
    clock.now += 2.5
    assert timer.update_last_triggered_step(9) == (2.5, 4)
    assert timer.last_triggered_step() == 9


def test_a_step_that_goes_back_is_due_in_steps_only_after_the_last_trigger_and_the_period() -> None:
    timer = th.SecondOrStepTimer(every_steps=3)
    timer.update_last_triggered_step(10)
    assert due(timer, range(5, 15)) == [13]


def test_a_step_that_goes_back_may_be_due_in_seconds(clock: Clock) -> None:
    timer = th.SecondOrStepTimer(every_secs=1, clock=clock)
    timer.update_last_triggered_step(10)
    assert not timer.should_trigger_for_step(5)
    clock.now += 1
    assert timer.should_trigger_for_step(5)


@pytest.mark.parametrize("name", ["every_secs", "every_steps"])
def test_a_period_of_0_means_every_new_step(clock: Clock, name: str) -> None:
    timer = th.SecondOrStepTimer(**{name: 0}, clock=clock)
    assert due(timer, range(4)) == [0, 1, 2, 3]
    assert not timer.should_trigger_for_step(3)


def test_an_endless_period_triggers_once(clock: Clock) -> None:
    timer = th.SecondOrStepTimer(every_secs=math.inf, clock=clock)
    timer.update_last_triggered_step(0)
    clock.now += 1e12
    assert not timer.should_trigger_for_step(1)


@pytest.mark.parametrize("periods", [{"every_steps": 100}, {"every_secs": 100.0}])
def test_a_reset_forgets_the_last_trigger(clock: Clock, periods: dict[str, Any]) -> None:
    timer = th.SecondOrStepTimer(**periods, clock=clock)
    timer.update_last_triggered_step(3)
    timer.reset()
    assert timer.last_triggered_step() is None
    assert timer.should_trigger_for_step(3)
    assert timer.update_last_triggered_step(3) == (None, None)


def test_a_trigger_at_step_0_and_time_0_is_a_trigger(clock: Clock) -> None:
    clock.now = 0.0
    timer = th.SecondOrStepTimer(every_secs=10, clock=clock)
    assert timer.update_last_triggered_step(0) == (None, None)
    assert timer.last_triggered_step() == 0
    assert not timer.should_trigger_for_step(1)


def test_time_is_that_of_the_monotonic_clock() -> None:
    timer = th.SecondOrStepTimer(every_secs=0)
    before = time.monotonic()
    timer.update_last_triggered_step(0)
    seconds, _ = timer.update_last_triggered_step(1)
    assert seconds is not None
    assert 0 <= seconds <= time.monotonic() - before


@given(st.integers(1, 20), st.integers(0, 50), st.integers(0, 100))
def test_steps_one_after_the_other_are_due_at_each_multiple_of_the_period(period: int, first: int, count: int) -> None:
    steps = range(first, first + count)
    assert due(th.SecondOrStepTimer(every_steps=period), steps) == list(steps[::period])


def test_before_the_first_trigger_anything_may_be_due() -> None:
    assert th.SecondOrStepTimer(every_steps=5).next_trigger() == (-math.inf, -math.inf)


@pytest.mark.parametrize(
    ("period", "expected"),
    [({"every_steps": 5}, (15, math.inf)), ({"every_secs": 2.0}, (math.inf, 1_002.0))],
)
def test_it_tells_when_it_triggers_next(clock: Clock, period: dict[str, Any], expected: tuple[float, float]) -> None:
    timer = th.SecondOrStepTimer(**period, clock=clock)
    timer.update_last_triggered_step(10)
    assert timer.next_trigger() == expected


@given(
    every_steps=st.none() | st.integers(0, 5),
    every_secs=st.integers(0, 5),
    moves=st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), max_size=20),
)
def test_before_what_it_tells_it_is_not_due(
    every_steps: int | None, every_secs: int, moves: list[tuple[int, int]]
) -> None:
    clock, step = Clock(), 0
    timer = th.SecondOrStepTimer(None if every_steps is not None else every_secs, every_steps, clock=clock)
    for steps, seconds in moves:
        step, clock.now = step + steps, clock.now + seconds
        next_step, next_time = timer.next_trigger()
        if timer.should_trigger_for_step(step):
            assert step >= next_step or clock.now >= next_time
            timer.update_last_triggered_step(step)


@pytest.mark.parametrize("options", [{"every_steps": "10"}, {"every_secs": "10"}])
def test_a_period_that_is_no_number_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="a period is a number, not '10' of type str"):
        th.SecondOrStepTimer(**options)


@pytest.mark.parametrize(
    ("steps", "least", "error", "message"),
    [
        ("2", 1, TypeError, "patience is a whole number, not '2' of type str"),
        (2.0, 1, TypeError, "patience is a whole number, not 2.0 of type float"),
        (True, 1, TypeError, "patience is a whole number, not True of type bool"),
        ([1], None, TypeError, r"patience is a whole number, not \[1\] of type list"),
        (0, 1, ValueError, "patience is 1 or more, not 0"),
        (np.int64(-1), 0, ValueError, "patience is 0 or more, not -1"),
    ],
)
def test_what_is_no_number_of_steps_is_named(
    steps: object, least: int | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check_steps("patience", steps, least)


@pytest.mark.parametrize(("steps", "least"), [(None, 1), (1, 1), (np.int32(3), 1), (-5, None), (0, 0)])
def test_what_is_one_is_taken(steps: object, least: int | None) -> None:
    check_steps("patience", steps, least)


@pytest.mark.parametrize(("period", "error"), [(2.5, ValueError), (True, TypeError), ("2", TypeError)])
def test_a_period_in_steps_is_a_whole_number(period: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"a period (in steps )?is a (whole )?number, not"):
        th.SecondOrStepTimer(every_steps=period)
    whole: Any = np.int64(2)
    assert th.SecondOrStepTimer(every_steps=whole).every_steps == 2
