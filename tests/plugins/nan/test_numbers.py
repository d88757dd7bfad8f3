"""What of numbers and arrays is bad."""

from typing import Any

import numpy as np
import pytest

from tenterhooks_nan._numbers import first_index, has_nan, has_non_finite

NAN = float("nan")
INF = float("inf")


NANS = [
    NAN,
    complex(0, NAN),
    np.float16(NAN),
    np.float64(NAN),
    np.complex128(complex(NAN, 0)),
    np.array(NAN),
    np.array([1.0, NAN, np.inf]),
    np.array([[1.0], [NAN]], ">f4"),
    np.array([1.0, NAN])[::-1],
    np.array([1.0, complex(NAN, 1)]),
    np.array([1.0, NAN], np.longdouble),
]
INFINITE = [
    INF,
    -INF,
    complex(0, INF),
    np.float16(INF),
    np.float64(-INF),
    np.array([1.0, INF]),
    np.array([-INF, 1.0], "f4"),
    np.array([1.0, complex(1, -INF)]),
]
FINE = [
    *(1, 0.0, True, -1e308, 1j),
    np.float64(1.0),
    np.array([1.0, np.finfo(float).max, np.finfo(float).min]),
    np.array([]),
    np.array([1, 2]),
    np.array(["nan"]),
    np.array([np.datetime64("NaT")]),
    np.zeros(2, "V4"),
]


@pytest.mark.parametrize("value", NANS)
def test_nan_is_found(value: Any) -> None:
    assert has_nan(value) is True
    assert has_non_finite(value) is True


@pytest.mark.parametrize("value", INFINITE)
def test_infinity_is_found_where_it_is_asked_for(value: Any) -> None:
    assert has_nan(value) is False
    assert has_non_finite(value) is True


@pytest.mark.parametrize("value", FINE)
def test_a_finite_number_is_fine(value: Any) -> None:
    assert has_nan(value) is False
    assert has_non_finite(value) is False


# What is in these is looked at one by one.
TAKEN_APART = [np.array([(NAN,)], [("a", "f4")]), np.array([1.0, NAN], object)]


@pytest.mark.parametrize("value", [None, "nan", b"nan", [NAN], {"a": NAN}, object(), *TAKEN_APART])
def test_of_what_is_no_number_nothing_is_said(value: Any) -> None:
    assert has_nan(value) is None
    assert has_non_finite(value) is None


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 1, 5), (1, 1)])
def test_the_first_bad_index_is_named(shape: tuple[int, ...]) -> None:
    for first in np.ndindex(*shape):
        value = np.zeros(shape, "f4")
        value[first] = NAN
        value[-1] = NAN if first != np.unravel_index(0, shape) else value[-1]
        wanted = tuple(int(index) for index in np.argwhere(np.isnan(value))[0])
        assert first_index(value, "nan") == first_index(value, "non-finite") == wanted


@pytest.mark.parametrize("value", [NAN, np.float32(NAN), np.array(NAN), np.zeros(3), np.zeros(0)])
def test_one_number_and_what_is_fine_have_no_index(value: Any) -> None:
    assert first_index(value, "nan") is None


def test_the_index_is_of_what_is_asked_for() -> None:
    value = np.array([[0.0, INF], [NAN, 0.0]])
    assert first_index(value, "nan") == (1, 0)
    assert first_index(value, "non-finite") == (0, 1)


class Scalar:
    """A number of another library: nothing but the number itself is to be asked of its device."""

    ndim = 0

    def __init__(self, number: Any, dtype: str) -> None:
        self.number = number
        self.dtype = dtype

    def item(self) -> Any:
        return self.number


@pytest.mark.parametrize(
    ("number", "dtype", "found"),
    [(NAN, "x.bfloat16", True), (1.0, "x.bfloat16", False), (complex(0, NAN), "x.complex64", True)],
)
def test_one_number_of_any_library_is_taken_from_its_device(number: Any, dtype: str, found: bool) -> None:
    assert has_nan(Scalar(number, dtype)) is found
    assert has_non_finite(Scalar(number, dtype)) is found


def test_what_cannot_be_nan_stays_on_its_device() -> None:
    key = Scalar(None, "key<fry>")
    del key.number
    assert has_nan(key) is False
    assert has_non_finite(key) is False


def test_one_number_without_item_is_compared_as_an_array() -> None:
    class Array:
        ndim = 0
        dtype = "float32"

        def __init__(self, nan: bool) -> None:
            self.nan = nan

        def __ne__(self, other: object) -> "Array":  # type: ignore[override]
            return self

        __hash__ = None  # type: ignore[assignment]

        def any(self) -> bool:
            return self.nan

    assert [has_nan(Array(nan)) for nan in (True, False)] == [True, False]
