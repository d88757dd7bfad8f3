"""The decays give what their formulas say, at each step."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tenterhooks_learning_rate import CosineDecay, CosineDecayRestarts, ExponentialDecay, PolynomialDecay


def table(schedule: Callable[[int], float], *steps: int) -> list[float]:
    return [schedule(step) for step in steps]


def near(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-12, abs=1e-15)


def test_exponential_is_smooth() -> None:
    schedule = ExponentialDecay(0.8, decay_steps=2, decay_rate=0.25)
    assert table(schedule, 0, 1, 2, 3, 4) == near(0.8, 0.4, 0.2, 0.1, 0.05)


def test_a_staircase_changes_at_each_period() -> None:
    schedule = ExponentialDecay(0.8, decay_steps=3, decay_rate=0.5, staircase=True)
    assert table(schedule, 0, 1, 2, 3, 5, 6, 8, 9) == near(0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1)


def test_polynomial_ends_and_stays() -> None:
    schedule = PolynomialDecay(1.0, decay_steps=4, end_learning_rate=0.2)
    assert table(schedule, 0, 1, 2, 3, 4, 5, 99) == near(1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2)


def test_polynomial_of_a_power() -> None:
    schedule = PolynomialDecay(1.0, decay_steps=4, end_learning_rate=0.5, power=2)
    assert table(schedule, 0, 1, 2, 4) == near(1.0, 0.5 + 0.5 * 0.5625, 0.625, 0.5)


def test_a_cycle_goes_on_to_the_next_multiple() -> None:
    schedule = PolynomialDecay(1.0, decay_steps=4, cycle=True)
    assert table(schedule, 0, 2, 4, 5, 6, 8, 9, 12) == near(1.0, 0.5, 0.0, 3 / 8, 0.25, 0.0, 0.25, 0.0)


def test_cosine_ends_and_stays() -> None:
    schedule = CosineDecay(1.0, decay_steps=4, end_learning_rate=0.2)
    eighth = 0.2 + 0.8 * 0.5 * (1 + math.sqrt(0.5))
    assert table(schedule, 0, 1, 2, 4, 5, 99) == near(1.0, eighth, 0.6, 0.2, 0.2, 0.2)


def test_cosine_restarts_are_longer_and_lower() -> None:
    schedule = CosineDecayRestarts(1.0, decay_steps=2, end_learning_rate=0.2, t_mul=2, m_mul=0.5)
    # Restarts at 2, 6 and 14.
    assert table(schedule, 0, 1, 2, 4, 6, 10, 14) == near(1.0, 0.6, 0.6, 0.4, 0.4, 0.3, 0.3)


def test_cosine_restarts_of_one_length() -> None:
    schedule = CosineDecayRestarts(1.0, decay_steps=2, t_mul=1)
    assert table(schedule, *range(6), 10**12) == near(1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0)


def test_each_restart_is_met_exactly() -> None:
    schedule = CosineDecayRestarts(1.0, decay_steps=3, t_mul=2)
    assert [schedule(3 * (2**n - 1)) for n in range(20)] == [1.0] * 20


def test_schedules_are_values() -> None:
    schedule = CosineDecay(0.1, decay_steps=5)
    assert schedule == CosineDecay(0.1, decay_steps=5)
    assert "CosineDecay(learning_rate=0.1, decay_steps=5, end_learning_rate=0.0)" in repr(schedule)


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: CosineDecay(0.1, decay_steps=0), ValueError, "decay_steps is 1 or more, not 0"),
    (
        lambda: CosineDecay(0.1, decay_steps=1.5),  # type: ignore[arg-type]
        TypeError,
        "decay_steps is a whole number, not 1.5",
    ),
    (
        lambda: ExponentialDecay(0.1, decay_steps=1, decay_rate=0.0),
        ValueError,
        "decay_rate is a finite number above 0, not 0",
    ),
    (lambda: PolynomialDecay(0.1, decay_steps=1, power=-1), ValueError, "power is a finite number above 0, not -1"),
    (
        lambda: PolynomialDecay(0.1, decay_steps=1, end_learning_rate=math.inf),
        ValueError,
        "end_learning_rate is a finite number, not inf",
    ),
    (
        lambda: CosineDecayRestarts(0.1, decay_steps=1, t_mul=0.5),
        ValueError,
        "t_mul is a finite number of 1 or more, not 0.5",
    ),
    (
        lambda: CosineDecayRestarts(0.1, decay_steps=1, m_mul=0),
        ValueError,
        "m_mul is a finite number above 0, not 0",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), WRONG)
def test_what_is_wrong_is_said(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
