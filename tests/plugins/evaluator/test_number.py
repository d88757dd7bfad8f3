"""What an evaluation gives is taken as the number that it is."""

import math
from typing import Any

import numpy as np
import pytest

from tenterhooks_evaluator._number import as_number


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array(2), True + True])
def test_a_number_is_a_float(value: Any) -> None:
    number = as_number(value, "it")
    assert (type(number), number) == (float, 2.0)


def test_nan_and_infinity_stay_what_they_are() -> None:
    assert math.isnan(as_number(np.float32("nan"), "it"))
    assert as_number(-math.inf, "it") == -math.inf


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.array([2.0]), r"has the shape \(1,\)"),
        ("2.0", "is '2.0' of type str"),
        (None, "is None of type NoneType"),
        (1j, "is 1j of type complex"),
        ([2.0], r"is \[2.0\] of type list"),
    ],
)
def test_anything_else_is_an_error_that_says_what_it_is(value: Any, found: str) -> None:
    with pytest.raises(TypeError, match=f"the metric 'a' is one number, and this {found}: give its mean"):
        as_number(value, "the metric 'a'")
