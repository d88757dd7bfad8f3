"""Values as a file of text has them."""

import decimal
import fractions
import json
import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from tenterhooks_logging._values import is_single, plain


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1, 1),
        (True, True),
        (None, None),
        ("text", "text"),
        (0.1, 0.1),
        (0.0, 0.0),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), "NaN"),
        (np.float16("inf"), "Infinity"),
        (np.longdouble(0.5), 0.5),
        (np.longdouble("nan"), "NaN"),
        (np.bool_(True), True),
        (np.int64(3), 3),
        (np.array(2.0), 2.0),
        (np.array([[1.0, np.nan], [0.0, -np.inf]]), [[1.0, "NaN"], [0.0, "-Infinity"]]),
        (np.array([True, False]), [True, False]),
        (np.array(["a"]), ["a"]),
        ([1, (2.0, math.nan)], [1, [2.0, "NaN"]]),
        (OrderedDict(a={3: math.inf}), {"a": {"3": "Infinity"}}),
        (decimal.Decimal("0.5"), 0.5),
        (fractions.Fraction(1, 4), 0.25),
    ],
)
def test_a_value_is_written_as_it_is(value: Any, written: Any) -> None:
    found = plain(value, "x")
    assert found == written
    assert type(found) is type(written)
    assert json.loads(json.dumps(found, allow_nan=False)) == written


@pytest.mark.parametrize("value", [1j, np.complex64(1), object(), b"x", {1, 2}, np.datetime64("2000-01-01"), [[1j]]])
def test_what_is_no_number_and_no_text_is_an_error_that_names_it(value: Any) -> None:
    with pytest.raises(TypeError, match=r"'x' is .* of type \w+, which cannot be written: write numbers, texts"):
        plain(value, "x")


@pytest.mark.parametrize("value", [1, 0.5, True, "a", np.float32(1), np.array(1.0)])
def test_one_number_or_text_is_single(value: Any) -> None:
    assert is_single(value)


@pytest.mark.parametrize("value", [None, [1.0], np.zeros(1), np.zeros((0,)), {"a": 1}, object(), b"x"])
def test_anything_else_is_not(value: Any) -> None:
    assert not is_single(value)
