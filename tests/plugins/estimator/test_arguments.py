"""Functions are called with the arguments that they name."""

from typing import Any

import pytest

from tenterhooks_estimator._arguments import call, named

GIVEN = {"features": 1, "labels": 2, "mode": 3}


class Callable:
    def __call__(self, mode: int, features: int) -> tuple[int, int]:
        return mode, features

    def method(self, labels: int) -> int:
        return labels


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda: "none", "none"),
        (lambda features: features, 1),
        (lambda mode, features: (mode, features), (3, 1)),
        (lambda labels=None: labels, 2),
        (lambda features, other=5: (features, other), (1, 5)),
        (lambda *, mode: mode, 3),
        (lambda features, *rest, **more: (features, rest, more), (1, (), {})),
        (Callable(), (3, 1)),
        (Callable().method, 2),
    ],
)
def test_it_gets_what_it_names(function: Any, result: Any) -> None:
    assert call(function, "model_fn", GIVEN) == result


def test_another_argument_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(
        ValueError, match=r"model_fn .* needs the argument 'feature', and can have features, labels, mode"
    ):
        named(lambda feature: feature, "model_fn", GIVEN)
    with pytest.raises(ValueError, match="the nearest: 'features'"):
        named(lambda feature: feature, "model_fn", GIVEN)


def test_an_argument_by_position_only_is_an_error() -> None:
    def by_position(features: int, /) -> int:
        return features

    with pytest.raises(ValueError, match="needs the argument 'features: int'"):
        named(by_position, "model_fn", GIVEN)


def test_what_cannot_be_called_or_read_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"input_fn is a function, not \[1\] of type list"):
        named([1], "input_fn", GIVEN)  # type: ignore[arg-type] # That is what is tested.
    with pytest.raises(TypeError, match=r"the parameters of input_fn .* cannot be read: wrap it in a function"):
        named(dict, "input_fn", GIVEN)
