"""TensorFlow's five functions."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, ManualClock, MemorySaver
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks_early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)


def stopped_at(hook: object, values: list[float]) -> int | None:
    with FakeSession([hook], values=[{"x": value} for value in values]) as session:
        session.go_to()
    return session.stop[0].global_step if session.stop else None


@pytest.mark.parametrize(
    ("make", "threshold", "options", "values", "step"),
    [
        (stop_if_higher_hook, 0.8, {}, [0.5, 0.8, 0.9], 3),
        (stop_if_higher_hook, 0.9, {}, [0.5, 0.8, 0.9], None),
        (stop_if_higher_hook, 0.8, {"min_steps": 3}, [0.9, 0.9, 0.5, 0.9], 4),
        (stop_if_higher_hook, 0.8, {"run_every_steps": 2}, [0.5, 0.9, 0.9], 3),
        (stop_if_higher_hook, 0.0, {}, [math.nan, 0.0, math.inf], 3),
        (stop_if_lower_hook, 0.5, {}, [0.8, 0.5, 0.4], 3),
        (stop_if_lower_hook, 0.4, {}, [0.8, 0.5, 0.4], None),
        (stop_if_lower_hook, 0.0, {}, [math.nan, -0.0, -1e-9], 3),
        (stop_if_no_increase_hook, 2, {}, [1, 2, 2, 2], 4),
        (stop_if_no_increase_hook, 2, {}, [1, 2, 2, 3, 1], None),
        (stop_if_no_increase_hook, 2, {"min_steps": 2}, [9, 2, 2, 3, 1], None),
        (stop_if_no_increase_hook, 3, {"run_every_steps": 2}, [1, 1, 1, 1, 1], 5),
        (stop_if_no_decrease_hook, 2, {}, [2, 1, 1, 1], 4),
        (stop_if_no_decrease_hook, 2, {}, [2, 1, 1, 0, 3], None),
    ],
    ids=lambda value: value.__name__ if callable(value) else repr(value),
)
def test_the_step_of_the_stop_is_tensorflows(
    make: Callable[..., object], threshold: float, options: dict[str, Any], values: list[float], step: int | None
) -> None:
    assert stopped_at(make("x", threshold, **options), values) == step


def test_the_reason_names_the_metric_and_the_threshold() -> None:
    with FakeSession([stop_if_lower_hook("x", 0.5)], values={"x": 0.25}) as session:
        session.go_to()
    (stop,) = session.stop
    assert (stop.hook, stop.reason) == ("stop-if-lower", "'x' is 0.25, lower than 0.5")


@pytest.mark.parametrize("make", [stop_if_higher_hook, stop_if_lower_hook], ids=lambda make: make.__name__)
def test_a_session_that_had_stopped_makes_no_run_unless_the_threshold_is_another(make: Any) -> None:
    saver, sign = MemorySaver(), 1 if make is stop_if_higher_hook else -1
    values = [{"x": 0.0}, {"x": 2.0 * sign}, {"x": 0.0}]
    with FakeSession([make("x", sign), KeepEachStep(saver)], values=values) as session:
        session.go_to()
    with FakeSession([make("x", sign)], values=values, saver=saver) as session:
        session.go_to()
    assert session.global_step == 2
    with FakeSession([make("x", 3 * sign)], values=values, saver=saver) as session:
        session.go_to()
    assert session.global_step == 3


def test_several_combine_by_any() -> None:
    hooks = [stop_if_higher_hook("x", 5.0), stop_if_no_increase_hook("x", 2), make_early_stopping_hook(lambda: False)]
    with FakeSession(hooks, values=[{"x": 1.0}]) as session:
        session.go_to(9)
    assert [stop.hook for stop in session.stop] == ["early-stopping"]
    assert session.global_step == 3


class TestPredicate:
    @pytest.mark.parametrize("period", [1, 2, 4])
    def test_it_is_asked_after_the_first_run_and_then_each_period(self, period: int) -> None:
        asked: list[int] = []

        def ask() -> bool:
            asked.append(1)
            return False

        with FakeSession([make_early_stopping_hook(ask, run_every_steps=period)]) as session:
            session.go_to(9)
        assert len(asked) == -(-9 // period)

    def test_true_stops_the_session(self) -> None:
        answers = iter([False, False, True])

        def enough() -> bool:
            return next(answers)

        with FakeSession([make_early_stopping_hook(enough, run_every_steps=1)]) as session:
            session.go_to(9)
        (stop,) = session.stop
        assert (stop.hook, stop.global_step) == ("make-early-stopping", 3)
        assert "enough" in str(stop.reason)

    @pytest.mark.parametrize("error", [StopIteration, th.OutOfRangeError])
    def test_what_would_pass_for_the_end_of_the_input_is_none(self, error: type[Exception]) -> None:
        def ask() -> bool:
            raise error("no more")

        session = th.MonitoredSession(hooks=[make_early_stopping_hook(ask)])
        message = f"ask at .* raised {error.__name__}, which would pass for the end of the input: give true or false"
        with pytest.raises(RuntimeError, match=message), session:
            list(session.steps(range(2)))

    def test_the_period_is_60_seconds_by_default(self) -> None:
        clock = ManualClock()
        asked: list[float] = []

        def ask() -> bool:
            asked.append(clock())
            return False

        with FakeSession([make_early_stopping_hook(ask, clock=clock)], clock=clock) as session:
            session.go_to(130)
        assert [at - asked[0] for at in asked] == [0.0, 60.0, 120.0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: stop_if_higher_hook(object(), 1.0), TypeError, "no estimator is passed"),  # type: ignore[arg-type]
        (lambda: stop_if_higher_hook("x", math.nan), ValueError, "the threshold is a number, not NaN"),
        (lambda: stop_if_lower_hook("x", 1.0, min_steps=-1), ValueError, "0 or more, not -1"),
        (
            lambda: stop_if_lower_hook("x", 1.0, run_every_secs=1, run_every_steps=1),
            ValueError,
            "at most one period in steps and seconds can be given",
        ),
        (lambda: stop_if_no_increase_hook("x", 0), ValueError, "patience_steps is 1 or more, not 0"),
        (lambda: stop_if_no_decrease_hook(None, 1), TypeError, "not None of type NoneType"),  # type: ignore[arg-type]
        (lambda: make_early_stopping_hook("x"), TypeError, "a function without arguments, not 'x'"),  # type: ignore[arg-type]
        (
            lambda: make_early_stopping_hook(bool, run_every_secs=1, run_every_steps=1),
            ValueError,
            "only one of the periods can be given",
        ),
        (lambda: make_early_stopping_hook(bool, run_every_steps=-1), ValueError, "a period is 0 or more, not -1"),
    ],
)
def test_what_is_wrong_is_said(make: Callable[[], th.SessionRunHook], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
