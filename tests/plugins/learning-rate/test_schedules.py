"""The schedules give what their formulas say, at each step."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tenterhooks_learning_rate import Constant, PiecewiseConstantDecay, PolynomialDecay, Warmup


def table(schedule: Callable[[int], float], *steps: int) -> list[float]:
    return [schedule(step) for step in steps]


def near(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-12, abs=1e-15)


def test_constant() -> None:
    assert table(Constant(0.5), 0, 1, 10**9) == [0.5, 0.5, 0.5]


def test_a_boundary_is_the_first_step_of_the_next_value() -> None:
    schedule = PiecewiseConstantDecay(boundaries=[2, 3], values=[1.0, 0.1, 0.01])
    assert table(schedule, 0, 1, 2, 3, 4, 100) == [1.0, 1.0, 0.1, 0.01, 0.01, 0.01]


def test_without_boundaries_there_is_one_value() -> None:
    assert table(PiecewiseConstantDecay(boundaries=[], values=[0.3]), 0, 7) == [0.3, 0.3]


def test_what_a_schedule_was_made_of_can_be_changed() -> None:
    boundaries, values = [2], [1.0, 0.1]
    schedule = PiecewiseConstantDecay(boundaries=boundaries, values=values)
    boundaries[0], values[0] = 1, 7.0
    assert table(schedule, 0, 1, 2) == [1.0, 1.0, 0.1]


def test_a_warm_up_goes_up_to_what_then_begins_at_its_step_0() -> None:
    schedule = Warmup(PolynomialDecay(1.0, decay_steps=2), warmup_steps=4)
    assert table(schedule, *range(8)) == near(0.0, 0.25, 0.5, 0.75, 1.0, 0.5, 0.0, 0.0)


def test_a_warm_up_from_another_value_and_of_any_function() -> None:
    schedule = Warmup(lambda step: 3.0 + step, warmup_steps=2, initial_learning_rate=1.0)
    assert table(schedule, 0, 1, 2, 3) == near(1.0, 2.0, 3.0, 4.0)


def test_a_warm_up_of_no_steps_is_none() -> None:
    assert table(Warmup(Constant(0.5), warmup_steps=0), 0, 1) == [0.5, 0.5]


class Stateful:
    def __call__(self, step: int) -> float:
        return 0.1

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Constant(math.nan), ValueError, "learning_rate is a finite number, not nan"),
    (lambda: Constant("0.1"), TypeError, "learning_rate is a number, not '0.1' of type str"),  # type: ignore[arg-type]
    (lambda: Constant(True), TypeError, "learning_rate is a number, not True of type bool"),
    (
        lambda: PiecewiseConstantDecay(boundaries=[3, 3], values=[1, 2, 3]),
        ValueError,
        "boundaries are steps, each later than the one before",
    ),
    (
        lambda: PiecewiseConstantDecay(boundaries=[0], values=[1, 2]),
        ValueError,
        "each of boundaries is 1 or more, not 0",
    ),
    (
        lambda: PiecewiseConstantDecay(boundaries=[3], values=[1.0]),
        ValueError,
        "values has one more than boundaries, for the steps before the first one: 2, not 1",
    ),
    (
        lambda: PiecewiseConstantDecay(boundaries=3, values=[1.0, 0.1]),  # type: ignore[arg-type]
        TypeError,
        "boundaries is a list of numbers, not 3 of type int",
    ),
    (
        lambda: PiecewiseConstantDecay(boundaries=[3], values="12"),  # type: ignore[arg-type]
        TypeError,
        "values is a list of numbers, not '12' of type str",
    ),
    (
        lambda: Warmup(0.1, warmup_steps=1),  # type: ignore[arg-type]
        TypeError,
        "then is a schedule, a function of the step, not 0.1",
    ),
    (
        lambda: Warmup(Constant(0.1), warmup_steps=-1),
        ValueError,
        "warmup_steps is 0 or more, not -1",
    ),
    (lambda: Warmup(Stateful(), warmup_steps=1), TypeError, "then has a state"),
]


@pytest.mark.parametrize(("make", "error", "message"), WRONG)
def test_what_is_wrong_is_said(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
