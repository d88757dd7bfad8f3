"""What lies in values or shares their memory is found, in an index of it too."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhooks.sharing import Parts

Array = np.ndarray[Any, Any]


def indexed(*values: Any) -> Parts:
    """Parts of which so many arrays were asked for that from now on their index answers."""
    parts = Parts(values)
    for _ in range(10):
        parts.share(np.zeros(1))
    return parts


@pytest.mark.parametrize("make", [lambda *values: Parts(values), indexed])
@pytest.mark.parametrize(
    ("view", "shared"),
    [
        (lambda a: a, True),
        (lambda a: a[3:], True),
        (lambda a: a[2:3, ::-1], True),
        (lambda a: a.T, True),
        (lambda a: a.reshape(-1)[5], True),
        (lambda a: a.reshape(-1)[5:6].view("u1")[7:], True),
        (lambda a: a[4:], True),
        (lambda a: np.frombuffer(a.data, np.float64)[:1], True),
        (lambda a: a[:0], False),
        (lambda a: a[2:2], False),
        (lambda a: a.copy(), False),
        (lambda a: np.zeros(()), False),
        (lambda a: a + 1, False),
    ],
)
def test_what_shares_memory_is_found(make: Any, view: Any, shared: bool) -> None:
    array = np.arange(30.0).reshape(5, 6)
    other = np.arange(3.0)
    value = view(array)
    if isinstance(value, np.generic):
        value = array.reshape(-1)[5:6].reshape(())
    assert make(other, {"a": [1, (array,)]}).share(value) is shared
    assert make(value, other).share(array) is shared


@pytest.mark.parametrize("make", [lambda *values: Parts(values), indexed])
def test_an_object_may_hold_any_array(make: Any) -> None:
    assert make(object()).share(np.zeros(1))


@pytest.mark.parametrize("make", [lambda *values: Parts(values), indexed])
@pytest.mark.parametrize(
    "value",
    [
        3,
        "x",
        None,
        1j,
        {1},
        bytearray(b"x"),
        np.random.default_rng(1),
        np.random.RandomState(1),
        random.Random(1),
        random,
    ],
)
def test_what_holds_no_array_shares_none(make: Any, value: Any) -> None:
    assert not make(value, [value]).share(np.zeros(1))


def test_an_array_without_elements_shares_nothing_and_hides_nothing() -> None:
    array = np.arange(30.0)
    backwards = array[29:0:-1][:0].reshape(0, 3)
    wide = np.lib.stride_tricks.as_strided(array[5:6], (0, 30), (8, 8))
    parts = indexed(array[2:2], backwards, wide)
    assert not parts.share(array)
    assert not indexed(array).share(array[7:][:0])


def test_no_values_share_nothing() -> None:
    assert not Parts([]).share(np.zeros(1))
    assert not indexed().share(np.zeros(1))


def test_the_objects_in_values_are_parts() -> None:
    thing, inner = object(), [1]
    value = {"a": (thing, inner), "n": 300}
    parts = Parts([value])
    assert all(part in parts for part in (value, thing, inner))
    assert [1] not in parts
    assert value["n"] not in parts


@st.composite
def windows(draw: st.DrawFn) -> tuple[list[Array], list[Array]]:
    """Views of one memory, of all strides, and some of them as parts."""
    memory = np.zeros(64, np.uint8)

    def window() -> Array:
        start, stop = sorted((draw(st.integers(0, 64)), draw(st.integers(0, 64))))
        view = memory[start:stop][:: draw(st.sampled_from([1, 2, 5, -1, -3]))]
        if view.size >= 4 and draw(st.booleans()):
            view = view[: view.size // 2 * 2].reshape(2, -1)[:, :: draw(st.sampled_from([1, -1, 2]))]
        return view

    return [window() for _ in range(draw(st.integers(0, 6)))], [window() for _ in range(6)]


@given(windows())
def test_the_index_says_what_a_comparison_with_each_says(case: tuple[list[Array], list[Array]]) -> None:
    arrays, asked = case
    parts = indexed(*arrays)
    for value in asked:
        assert parts.share(value) is any(np.may_share_memory(value, array) for array in arrays)


def test_arrays_are_not_compared_each_with_each() -> None:
    class Counting(np.ndarray[Any, Any]):
        looks = 0

        @property
        def flags(self) -> Any:
            Counting.looks += 1
            return super().flags

    arrays = [np.zeros(2).view(Counting) for _ in range(300)]
    parts = Parts(arrays)
    assert all(parts.share(array) for array in arrays)
    # Once for the index, and once for each that is asked for.
    assert 300 <= Counting.looks <= 600


def test_what_contains_itself_has_its_parts_once() -> None:
    array = np.zeros(3)
    looped: list[Any] = [array]
    looped.append({"me": looped})
    parts = Parts([looped])
    assert looped in parts
    assert parts.share(array[1:])
