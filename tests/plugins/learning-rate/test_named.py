"""A schedule by its name, with its options beside it."""

from collections.abc import Callable
from typing import Any, get_args

import pytest

from tenterhooks_learning_rate import (
    Constant,
    CosineDecay,
    CosineDecayRestarts,
    ExponentialDecay,
    LearningRateHook,
    PiecewiseConstantDecay,
    PolynomialDecay,
    Warmup,
)
from tenterhooks_learning_rate._named import ScheduleName, made_schedule

NAMED: dict[str, tuple[dict[str, Any], Callable[[int], float]]] = {
    "constant": ({"learning_rate": 0.1}, Constant(0.1)),
    "step": (
        {"learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5},
        ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5, staircase=True),
    ),
    "exponential": (
        {"learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5},
        ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5),
    ),
    "piecewise_constant": (
        {"boundaries": [2], "values": [0.1, 0.01]},
        PiecewiseConstantDecay(boundaries=[2], values=[0.1, 0.01]),
    ),
    "polynomial": (
        {"learning_rate": 0.1, "decay_steps": 2, "end_learning_rate": 0.01, "power": 2.0, "cycle": True},
        PolynomialDecay(0.1, decay_steps=2, end_learning_rate=0.01, power=2.0, cycle=True),
    ),
    "cosine": ({"learning_rate": 0.1, "decay_steps": 2}, CosineDecay(0.1, decay_steps=2)),
    "cosine_restarts": (
        {"learning_rate": 0.1, "decay_steps": 2, "t_mul": 1.0, "m_mul": 0.5},
        CosineDecayRestarts(0.1, decay_steps=2, t_mul=1.0, m_mul=0.5),
    ),
}


def test_each_name_is_tried() -> None:
    assert list(NAMED) == list(get_args(ScheduleName))


@pytest.mark.parametrize("name", NAMED)
def test_a_name_makes_the_schedule(name: str) -> None:
    options, schedule = NAMED[name]
    assert made_schedule(name, {**options, "cycle": options.get("cycle")}, 0) == schedule


def test_a_warm_up_goes_before_a_name_and_before_a_function() -> None:
    assert made_schedule("constant", {"learning_rate": 0.1}, 5) == Warmup(Constant(0.1), warmup_steps=5)
    assert made_schedule(Constant(0.1), {}, 5) == Warmup(Constant(0.1), warmup_steps=5)


WRONG: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("cosin", {}, ValueError, "no schedule is named 'cosin'; the nearest: 'cosine'"),
    ("cosine", {"learning_rate": 0.1}, TypeError, "the schedule 'cosine' needs the options decay_steps"),
    ("cosine", {}, TypeError, "needs the options learning_rate, decay_steps"),
    (
        "constant",
        {"learning_rate": 0.1, "decay_steps": 3},
        TypeError,
        "the schedule 'constant' has no option 'decay_steps'; there are: 'learning_rate'",
    ),
    (0.1, {}, TypeError, "schedule is a name or a function of the step, not 0.1 of type float"),
    (
        Constant(0.1),
        {"decay_steps": 3},
        TypeError,
        "decay_steps cannot be given with the schedule Constant(learning_rate=0.1)",
    ),
    ("cosine", {"learning_rate": 0.1, "decay_steps": -3}, ValueError, "decay_steps is 1 or more"),
    ("constant", {"learning_rate": 0.1, "warmup_steps": -3}, ValueError, "warmup_steps is 0 or more"),
]


@pytest.mark.parametrize(("schedule", "options", "error", "message"), WRONG)
def test_what_is_wrong_is_said(schedule: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        LearningRateHook(schedule, **options)
    assert message in str(caught.value)


def test_whether_a_decay_is_at_once_is_said_by_the_name() -> None:
    with pytest.raises(TypeError) as caught:
        LearningRateHook("step", learning_rate=0.1, decay_steps=3, decay_rate=0.5, m_mul=2.0)
    assert str(caught.value).endswith("'m_mul'; there are: 'decay_rate', 'decay_steps', 'learning_rate'")
