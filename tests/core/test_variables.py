"""How variables begin, and how a value stays what it was while they change."""

import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.variables import SessionState, initial_state, unchanging

Array = np.ndarray[Any, Any]


def test_variables_begin_after_those_that_they_name() -> None:
    graph = th.Graph()
    graph.variable("both", lambda w, size: w * size)
    graph.variable("w", lambda size: [1] * size)
    graph.variable("size", 2)
    state = initial_state(graph)
    assert state == {"both": [1, 1, 1, 1], "w": [1, 1], "size": 2}


def test_variables_of_one_generator_begin_in_the_order_of_addition() -> None:
    def begun() -> dict[str, Any]:
        graph = th.Graph()
        graph.variable("rng", lambda: np.random.default_rng(3))
        for name in ("b", "a", "c"):
            graph.variable(name, lambda rng: rng.random())
        return initial_state(graph)

    rng = np.random.default_rng(3)
    values = [rng.random() for _ in range(3)]
    assert [begun()[name] for name in ("b", "a", "c")] == values


def test_a_fresh_state_is_at_step_0() -> None:
    assert initial_state(th.Graph()).global_step == 0
    assert SessionState().global_step == 0


def test_a_fresh_state_is_whole() -> None:
    assert SessionState().torn is None


def test_a_module_is_begun_as_itself() -> None:
    graph = th.Graph()
    graph.variable("rng", random)
    assert initial_state(graph)["rng"] is random


def test_a_state_becomes_what_another_is() -> None:
    one, other = SessionState(), SessionState()
    one.update(gone=1, w=2)
    other.update(w=3, new=4)
    one.global_step, other.global_step = 7, 5
    one.updating, other.updating = "<TrainOp 'train'>", None
    other.outlines["w"] = 0
    one.take(other)
    assert one == {"w": 3, "new": 4}
    assert (one.global_step, one.torn, one.outlines) == (5, None, {"w": 0})
    other["w"] = 9
    assert one["w"] == 3


def test_an_error_of_an_initial_value_names_the_variable() -> None:
    graph = th.Graph()
    graph.variable("w", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        th.Session(graph)
    assert caught.value.__notes__ == ["in the initial value of <Variable 'w'>"]


def test_5000_variables_each_made_from_the_one_before_begin() -> None:
    graph = th.Graph()
    graph.variable("v0", 0)
    for number in range(1, 5_000):
        graph.variable(f"v{number}", eval(f"lambda v{number - 1}: v{number - 1} + 1"))
    assert initial_state(graph)["v4999"] == 4_999


@pytest.mark.parametrize("value", [None, True, 3, 0.5, 1j, "x", b"x", np.float32(1)])
def test_what_cannot_change_is_given_itself(value: Any) -> None:
    assert unchanging({"x": value}, ["v"], {"v": value})["x"] is value


def test_an_object_that_is_no_part_of_a_variable_is_given_itself() -> None:
    value = object()
    assert unchanging({"x": value}, ["v"], {"v": [1]})["x"] is value


def test_a_tuple_of_a_kind_of_its_own_is_given_itself() -> None:
    moment = time.gmtime(0)
    assert unchanging({"x": moment}, ["v"], {"v": [1]})["x"] is moment


def test_only_the_variables_that_the_run_reads_count() -> None:
    w = np.zeros(2)
    assert unchanging({"x": w}, [], {"w": w})["x"] is w
    assert unchanging({"x": w}, ["w"], {"w": w})["x"] is not w


@pytest.mark.parametrize("module", [random, np.random])
@pytest.mark.parametrize("nested", [False, True])
def test_a_module_is_kept_as_a_generator_that_gives_the_same_numbers(module: Any, nested: bool) -> None:
    before = random.getstate(), np.random.get_state()
    try:
        value = {"rngs": [module]} if nested else module
        kept = unchanging({"x": value}, ["v"], {"v": value})["x"]
        numbers = [module.uniform(0, 1) for _ in range(3)]
        generator = kept["rngs"][0] if nested else kept
        assert generator is not module
        assert [generator.uniform(0, 1) for _ in range(3)] == numbers
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


@pytest.mark.parametrize("count", [1, 4, 5, 40])
def test_of_many_values_just_those_are_copied_that_share_memory(count: int) -> None:
    variables = {f"v{number}": np.full(3, float(number)) for number in range(count)}
    values = {f"x{number}": np.full(3, float(number)) for number in range(count)}
    views = {f"y{number}": variables[f"v{number}"][1:] for number in range(count)}
    kept = unchanging({**values, **views}, variables, variables)
    for array in variables.values():
        np.add(array, 100, out=array)
    for number in range(count):
        assert kept[f"x{number}"] is values[f"x{number}"]
        assert kept[f"y{number}"].tolist() == [number, number]


@st.composite
def views(draw: st.DrawFn) -> tuple[list[Array], Any]:
    """Some arrays, and a structure of views of them and of what shares nothing with them."""
    arrays = [np.arange(6.0) + 10 * number for number in range(draw(st.integers(1, 3)))]
    leaf = st.one_of(
        st.sampled_from(arrays),
        st.sampled_from(arrays).map(lambda array: array[2:]),
        st.sampled_from(arrays).map(lambda array: array[::-1].reshape(2, 3)),
        st.sampled_from(arrays).map(lambda array: array * 2),
        st.sampled_from([None, 3, "x"]),
    )
    structure = st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.text(max_size=2), inner, max_size=3),
        ),
        max_leaves=8,
    )
    return arrays, draw(structure)


@given(views())
def test_any_structure_of_views_stays_what_it_was(case: tuple[list[Array], Any]) -> None:
    arrays, value = case
    before = repr(value)
    kept = unchanging({"x": value}, ["params"], {"params": {"nested": arrays}})
    for array in arrays:
        np.add(array, 1000, out=array)
    assert repr(kept) == f"{{'x': {before}}}"


def looped_dict() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["me"] = value
    return value


def looped_list() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(("initial", "message"), [(looped_dict, "/me is the dict"), (looped_list, "/0 is the list")])
def test_a_variable_that_contains_itself_is_an_error_at_the_creation_that_names_it(initial: Any, message: str) -> None:
    graph = th.Graph()
    graph.variable("table", initial)
    with pytest.raises(th.CheckpointError, match=f"^variables/table{message} that it lies in"):
        initial_state(graph)


def test_a_variable_that_comes_to_contain_itself_is_an_error_of_the_save_alone() -> None:
    graph = th.Graph()
    graph.variable("history", list)
    graph.source("batch", lambda history: iter(range(9)))
    graph.train_op(lambda history, batch: history.append(history), name="train")
    session = th.Session(graph)
    for _ in range(3):
        session.run(["train", "batch"])
    with pytest.raises(th.CheckpointError, match=r"^variables/history/0 is the list that it lies in"):
        session.state_dict()


class TestPutBack:
    def test_they_are_what_they_were(self) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: np.zeros(2))
        graph.variable("nested", lambda: {"a": [1.0, np.ones(1)]})
        graph.variable("rng", lambda: np.random.default_rng(3))
        state = initial_state(graph)
        w, rng = state["w"], state["rng"]
        kept = state.copied()
        w += 1.0
        state["nested"]["a"][1] += 1.0
        state["nested"]["a"][0] = 5.0
        first = rng.random()
        state.put_back(kept)
        assert state["w"] is w
        assert w.tolist() == [0.0, 0.0]
        assert state["nested"] == {"a": [1.0, np.ones(1)]}
        assert state["rng"].random() == first

    def test_an_array_that_took_the_place_of_another_is_not_filled(self) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: np.zeros(2))
        state = initial_state(graph)
        kept = state.copied()
        newer = state["w"] = np.ones(2)
        state.put_back(kept)
        assert newer.tolist() == [1.0, 1.0]
        assert state["w"].tolist() == [0.0, 0.0]

    def test_it_is_an_update_and_makes_a_torn_state_whole(self) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: np.zeros(2))
        session = th.Session(graph)
        before, kept = session.position, session.state.copied()
        session.state.updating = "an update"
        session.state.put_back(kept)
        assert session.torn is None
        assert session.position > before
        assert session.global_step == 0

    def test_what_does_not_fit_is_an_error_and_nothing_is_put_back(self) -> None:
        graph = th.Graph()
        graph.variable("v", lambda: 0.0)
        graph.variable("w", lambda: np.zeros(2))
        state = initial_state(graph)
        state["v"] = 1.0
        with pytest.raises(th.CheckpointError, match=r"none was:\n  w: .*\(2,\) here, .*\(3,\) in what is"):
            state.put_back({"v": 0.0, "w": np.zeros(3), "gone": 1})
        assert state["v"] == 1.0
        state.put_back({"v": 0.0, "gone": 1})
        assert state["v"] == 0.0
