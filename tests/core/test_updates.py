"""What a training op may make of a variable is what a checkpoint can be restored with."""

import copy
import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from tenterhooks.state import capture, mismatches
from tenterhooks.updates import fits, outline, refusals


class Point(NamedTuple):
    x: Any
    y: Any


class Model:
    def __init__(self) -> None:
        self.asked = 0

    def state_dict(self) -> dict[str, Any]:
        self.asked += 1
        return {}

    def load_state_dict(self, state: Any) -> None:
        pass


def refused(fresh: Any, value: Any) -> list[str]:
    return [] if fits(outline(fresh), value) else refusals(outline(fresh), value, "v", "<TrainOp 'train'>")


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(allow_nan=False),
        st.complex_numbers(allow_nan=False),
        st.sampled_from(
            [np.float32(1), np.float64(2), np.int64(3), np.datetime64("2020-01-01"), np.str_("a"), "a", b"b"]
        ),
        st_numpy.arrays(st.sampled_from(["f4", "f8", "?", "U2"]), st_numpy.array_shapes(min_dims=0, max_side=2)),
        st.integers(0, 3).map(np.random.default_rng),
        st.integers(0, 3).map(random.Random),
        st.just(Model()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.lists(inner, max_size=2).map(tuple),
        st.tuples(inner, inner).map(lambda pair: Point(*pair)),
        st.dictionaries(st.sampled_from(["a", "b", 3]), inner, max_size=2),
    ),
    max_leaves=6,
)


@given(values, values)
def test_what_is_refused_is_what_would_not_fit_at_the_restore(fresh: Any, value: Any) -> None:
    at_the_restore = list(mismatches(fresh, capture(value, "v"), "v", "from <TrainOp 'train'>"))
    assert refused(fresh, value) == at_the_restore


@given(values)
def test_a_value_of_the_same_kind_is_accepted(value: Any) -> None:
    assert refused(value, value) == []


@pytest.mark.parametrize(
    ("fresh", "value", "message"),
    [
        (np.zeros(2), np.zeros(3), "v: float64 of shape (2,) here, float64 of shape (3,) from <TrainOp 'train'>"),
        (np.zeros(2), np.zeros(2, "f4"), "v: float64 of shape (2,) here, float32 of shape (2,) from <TrainOp 'train'>"),
        (np.zeros(2, ">f8"), np.zeros(2), "v: >f8 of shape (2,) here, float64 of shape (2,) from <TrainOp 'train'>"),
        (np.zeros(1), 3.0, "v: an array here, a float from <TrainOp 'train'>"),
        (np.zeros(()), np.float32(3), "v: float64 of shape () here, float32 of shape () from <TrainOp 'train'>"),
        (0.5, np.zeros(2), "v: a float here, an array of float64 and shape (2,) from <TrainOp 'train'>"),
        (True, "x", "v: a bool here, a str from <TrainOp 'train'>"),
        ("x", b"x", "v: a str here, a bytes from <TrainOp 'train'>"),
        ({"a": [np.zeros(2)]}, {"a": [np.zeros(3)]}, "v/a/0: float64 of shape (2,) here, float64 of shape (3,) from"),
        ((1, 2), [1, 2], "v: a tuple here, a list from <TrainOp 'train'>"),
        (random.Random(1), 3, "v: a random.Random here, a int from <TrainOp 'train'>"),
    ],
)
def test_what_is_refused_is_said_with_both_kinds(fresh: Any, value: Any, message: str) -> None:
    (problem,) = refused(fresh, value)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    ("fresh", "value"),
    [
        (None, np.zeros(3)),
        (None, "x"),
        (0, 1.5),
        (0, 1j),
        (0.0, np.float32(1)),
        (np.zeros(()), np.float64(1)),
        (np.float64(1), np.zeros(())),
        ([], [np.zeros(2)]),
        ([np.zeros(2)], []),
        ({}, {"a": np.zeros(2)}),
        (np.zeros(2), np.ones(2)),
        (np.zeros((2, 3)), np.asfortranarray(np.ones((2, 3)))),
        (Model(), 3),
    ],
)
def test_what_a_program_may_make_of_a_value_is_accepted(fresh: Any, value: Any) -> None:
    assert refused(fresh, value) == []


@pytest.mark.parametrize("fresh", [np.zeros(2), 3, {"a": 1}, object(), {1}])
@pytest.mark.parametrize("value", [object(), {1, 2}, [object()], np.array([None]), lambda: 0])
def test_what_gets_into_no_checkpoint_is_the_savers_affair(fresh: Any, value: Any) -> None:
    assert refused(fresh, value) == []


@given(values, values)
def test_what_fits_quickly_has_no_refusals(fresh: Any, value: Any) -> None:
    known = outline(fresh)
    assert not (fits(known, value) and refusals(known, value, "v", "x"))


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2),
        3,
        0.5,
        1j,
        True,
        np.float32(1),
        "x",
        b"x",
        None,
        Model(),
        [np.zeros(2), 3],
        (1, "x"),
        {"a": {"b": np.zeros(1), 3: [0.5]}},
    ],
)
def test_what_is_usual_fits_quickly(value: Any) -> None:
    assert fits(outline(value), copy.deepcopy(value))


@pytest.mark.parametrize(("fresh", "value"), [(0, 0.5), (0.5, np.float64(1)), (True, 1j), (np.float32(1), 3)])
def test_numbers_fit_each_other_quickly(fresh: Any, value: Any) -> None:
    assert fits(outline(fresh), value)


def test_an_outline_has_no_memory() -> None:
    known = outline({"w": np.zeros((1000, 1000)), "s": "x" * 1000, "n": 10**1000})
    assert known["w"].strides == (0, 0)
    assert (known["s"], known["n"]) == ("", 0)


def test_an_object_is_not_asked_for_its_state() -> None:
    model = Model()
    assert refused({"m": model, "w": np.zeros(1)}, {"m": model, "w": np.zeros(1)}) == []
    assert model.asked == 0
