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


def test_places_are_named() -> None:
    class Optimizer:
        def state_dict(self) -> dict[str, Any]:
            return {"m": [np.zeros(2), np.array([NAN])], "steps": 3}

    state = {"w": np.array([NAN]), "nested": {"ok": 1.0, 3: (0.0, NAN)}, "optimizer": Optimizer(), "fine": np.ones(2)}
    assert list(places(state, "")) == ["w", "nested/3/[1]", "optimizer/m/[1]"]
