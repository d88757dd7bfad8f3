"""Functions are called with the arguments that they name."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_estimator._arguments import call, check_seconds, check_whole, listed, named

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


def test_a_list_is_a_list_of_its_own() -> None:
    given = ["nan"]
    found = listed("hooks", given)
    given.append("logging")
    assert found == ["nan"]
    assert listed("hooks", iter(["a", "b"])) == ["a", "b"]


class Several(th.SessionRunHook):
    """A hook that can be gone through, as one of parts."""

    def __iter__(self) -> Iterator[str]:
        return iter(["nan"])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Several(), "hooks is a list, not <.*of type Several"),
        ("nan", r"hooks is a list, not 'nan' of type str: pass \['nan'\]"),
        ({"nan": {}}, r"hooks is a list, not \{'nan': \{\}\} of type dict"),
        (th.SessionRunHook(), r"hooks is a list, not <.*of type SessionRunHook: pass \[<"),
        (None, "hooks is a list, not None of type NoneType: leave it out"),
        (3, "hooks is a list, not 3 of type int"),
    ],
)
def test_one_thing_is_no_list(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        listed("hooks", value)


def test_numbers_that_are_not_given_or_enough_are_right() -> None:
    check_whole(1, a=None, b=1, c=np.int64(7))
    check_seconds(a=None, b=0, c=0.5, d=math.inf, e=np.float32(1))


@pytest.mark.parametrize("value", [2.0, "3", True, [1]])
def test_steps_are_whole_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match=f"steps is a whole number, not .* of type {type(value).__name__}"):
        check_whole(1, steps=value)


@pytest.mark.parametrize("value", ["3", True, [1.0]])
def test_seconds_are_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match="secs is a number of seconds, not "):
        check_seconds(secs=value)
