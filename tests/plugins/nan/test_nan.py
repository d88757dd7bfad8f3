"""Where NaN is found."""

from typing import Any

import numpy as np
import pytest

from tenterhooks_nan._nan import has_nan, places

NAN = float("nan")


@pytest.mark.parametrize(
    "value",
    [
        NAN,
        complex(0, NAN),
        np.float16(NAN),
        np.array(NAN),
        np.array([1.0, NAN, np.inf]),
        np.array([[1.0], [NAN]], ">f4"),
        np.array([1.0, NAN])[::-1],
        np.array([1.0, complex(NAN, 1)]),
        np.array([1.0, NAN], np.longdouble),
    ],
)
def test_nan_is_found(value: Any) -> None:
    assert has_nan(value)


@pytest.mark.parametrize(
    "value",
    [
        *(1, 0.0, float("inf"), None, "nan", b"nan", True),
        np.array([1.0, np.inf, -np.inf]),
        np.array([]),
        np.array([1, 2]),
        np.array(["nan"]),
        np.array([np.datetime64("NaT")]),
        np.zeros(2, [("a", "f4")]),
    ],
)
def test_anything_else_is_none(value: Any) -> None:
    assert not has_nan(value)


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


def test_what_cannot_be_nan_stays_on_its_device() -> None:
    key = Scalar(None, "key<fry>")
    del key.number
    assert not has_nan(key)


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


def test_places_are_named() -> None:
    class Optimizer:
        def state_dict(self) -> dict[str, Any]:
            return {"m": [np.zeros(2), np.array([NAN])], "steps": 3}

    state = {"w": np.array([NAN]), "nested": {"ok": 1.0, 3: (0.0, NAN)}, "optimizer": Optimizer(), "fine": np.ones(2)}
    assert list(places(state, "")) == ["w", "nested/3/[1]", "optimizer/m/[1]"]
