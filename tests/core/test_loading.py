"""How saved values get into objects that share their memory, and what is shared afterwards."""

import copy
from collections import Counter, OrderedDict, UserDict, defaultdict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenterhooks as th


class Step(NamedTuple):
    state: int
    reward: float


class Pair(NamedTuple):
    state: int
    reward: float


class Labelled(NamedTuple):
    kind: str


class Row(tuple[Any, ...]):
    __slots__ = ()


class Rows(list[Any]):
    pass


def graph_of(train: Callable[..., Any], **variables: Any) -> th.Graph:
    graph = th.Graph()
    for name, value in variables.items():
        graph.variable(name, value)
    graph.train_op(train, name="train")
    return graph


def state_after(make: Callable[[], th.Graph], *lives: int) -> dict[str, Any]:
    """The variables after so many steps in each of several lives, each of which is restored from the one before."""
    saved: Any = None
    variables: dict[str, Any] = {}
    for steps in lives:
        session = th.Session(make())
        if saved is not None:
            session.load_state_dict(saved, checkpoint="memory")
        for _ in range(steps):
            session.run("train")
        saved, variables = copy.deepcopy(session.state_dict()), dict(session.state)
    return variables


def assert_interrupted_equals_uninterrupted(make: Callable[[], th.Graph], steps: int = 6) -> None:
    straight = state_after(make, steps)
    for lives in ([3, steps - 3], [1] * steps, [0, steps]):
        resumed = state_after(make, *lives)
        assert repr(resumed) == repr(straight), lives


def test_a_part_of_the_data_that_was_replaced_leaves_the_data_alone() -> None:
    data = np.arange(12.0).reshape(6, 2)
    before = data.copy()

    def train(centroids: Any) -> dict[str, Any]:
        near = ((data[:, None] - centroids) ** 2).sum(2).argmin(1)
        return {"centroids": np.stack([data[near == k].mean(0) for k in range(2)])}

    assert_interrupted_equals_uninterrupted(lambda: graph_of(train, centroids=lambda: data[:2]))
    assert np.array_equal(data, before)


def test_what_is_updated_in_place_is_filled_so_that_others_see_it() -> None:
    flat = np.zeros(4)

    def make() -> th.Graph:
        flat[:] = 0.0

        def train(w: Any, b: Any) -> None:
            w += 1.0
            b += flat.sum()

        return graph_of(train, w=lambda: flat[:3], b=lambda: flat[3:])

    assert_interrupted_equals_uninterrupted(make)


def test_two_that_began_as_one_and_parted_stay_apart() -> None:
    zeros = np.zeros(2)
    assert_interrupted_equals_uninterrupted(
        lambda: graph_of(lambda m, v: {"m": m + 1, "v": v + 10}, m=lambda: zeros, v=lambda: zeros)
    )
    graph = graph_of(lambda m: {"m": [entry + index for index, entry in enumerate(m)]}, m=lambda: [np.zeros(1)] * 3)
    assert_interrupted_equals_uninterrupted(lambda: graph)


def test_two_that_are_one_stay_one() -> None:
    def make() -> th.Graph:
        def train(w: Any, best: Any, global_step: int) -> dict[str, Any] | None:
            w += 1.0
            return {"best": w} if global_step == 1 else None

        return graph_of(train, w=lambda: np.zeros(2), best=lambda: np.zeros(2))

    assert_interrupted_equals_uninterrupted(make)
    state = state_after(make, 3, 0)
    assert state["best"] is state["w"]


def test_a_target_network_made_from_another_follows_it_in_steps() -> None:
    def train(w: Any, target: Any, global_step: int) -> dict[str, Any]:
        return {"w": w + 1.0, "target": w if global_step % 4 == 0 else target}

    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(2))
    graph.variable("target", lambda w: w)
    graph.train_op(train)
    assert_interrupted_equals_uninterrupted(lambda: graph)


def test_a_checkpoint_from_before_fills_all_arrays() -> None:
    session = th.Session(graph_of(lambda w: None, w=lambda: np.zeros(2)))
    kept = session.state["w"]
    saved = session.state_dict()
    del saved["in_place"]
    saved["variables"]["w"] = np.ones(2)
    session.load_state_dict(saved, checkpoint="memory")
    assert session.state["w"] is kept
    assert kept.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("fresh", "grown", "problem"),
    [
        (None, lambda: np.random.default_rng(0), "w: a random generator that was not there at first"),
        ([], lambda: [np.random.default_rng(0)], "w/0: a random generator that was not there at first"),
        ([], lambda: [Step(1, 2.0)], "w/0: a Step that was not there at first, and would come back as a tuple"),
        (None, lambda: Counter("ab"), "w: a Counter that was not there at first, and would come back as a dict"),
        ({}, lambda: {"a": defaultdict(float)}, "w/a: a defaultdict that was not there at first"),
        ([{}], lambda: [Counter("ab")], "w/0: a Counter that was not there at first, and would come back as a dict"),
        ([[]], lambda: [Rows([1])], "w/0: a Rows that was not there at first, and would come back as a list"),
        (
            [Counter("a")],
            lambda: [{"a": 1}],
            "w/0: a dict that was not there at first, and would come back as a Counter",
        ),
        ([Rows()], lambda: [[]], "w/0: a list that was not there at first, and would come back as a Rows"),
        (
            [Step(1, 2.0)],
            lambda: [Pair(1, 2.0)],
            "w/0: a Pair that was not there at first, and would come back as a Step",
        ),
        (None, lambda: Row([1]), "w: a Row, which cannot be made at a restore: make it a tuple"),
        (None, lambda: MappingProxyType({"a": 1}), "w: a mappingproxy, which cannot be filled at a restore: make it"),
        ([{"a": 1}], lambda: [UserDict(a=1)], "w/0: a UserDict that was not there at first, and would come"),
        ({"window": np.zeros(0)}, lambda: {"window": np.zeros(3)}, "w/window: float64 of shape (0,)"),
        ({"r": np.random.default_rng(0)}, lambda: {"r": np.random.default_rng(0), "x": 1}, "w: the keys"),
        ([(0.0, "start")], lambda: [(0.0, np.zeros(1))], "w/0/1: a str here, an array"),
    ],
)
def test_what_could_be_saved_and_not_be_restored_is_an_error_of_the_save(fresh: Any, grown: Any, problem: str) -> None:
    session = th.Session(graph_of(lambda: None, w=lambda: copy.deepcopy(fresh)))
    session.state_dict()
    value = session.state["w"]
    if isinstance(value, dict):
        value.update(grown())
    elif isinstance(value, list):
        value[:] = grown()
    else:
        session.state["w"] = grown()
    with pytest.raises(th.CheckpointError, match="could be saved, and not be restored") as caught:
        session.state_dict()
    assert f"variables/{problem}" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(b=1, a=2),
        Counter("ab"),
        UserDict(b=1, a=[2]),
        defaultdict(list, a=[1]),
        Rows([1]),
        Step(1, 2.0),
        Labelled("a"),
        [OrderedDict(a=Step(1, 2.0))],
    ],
    ids=repr,
)
def test_a_value_comes_back_as_one_of_its_kind_where_it_was_there_at_first(value: Any) -> None:
    session = th.Session(graph_of(lambda: None, w=lambda: copy.deepcopy(value)))
    saved = copy.deepcopy(session.state_dict())
    fresh = th.Session(graph_of(lambda: None, w=lambda: copy.deepcopy(value)))
    fresh.load_state_dict(saved, checkpoint="memory")
    assert type(fresh.state["w"]) is type(value)
    assert repr(fresh.state["w"]) == repr(value)


@pytest.mark.parametrize("fresh", [None, {}, OrderedDict()], ids=repr)
@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_a_dict_and_an_ordered_one_come_back_as_what_they_are_whatever_was_there_at_first(
    fresh: Any, kind: type[Any]
) -> None:
    session = th.Session(graph_of(lambda: None, w=lambda: copy.deepcopy(fresh)))
    session.state["w"] = kind(b=np.ones(2), a={"c": 1})
    saved = copy.deepcopy(session.state_dict())
    resumed = th.Session(graph_of(lambda: None, w=lambda: copy.deepcopy(fresh)))
    resumed.load_state_dict(saved, checkpoint="memory")
    assert type(resumed.state["w"]) is kind
    assert repr(resumed.state["w"]) == repr(session.state["w"])


def test_what_may_grow_may_be_saved() -> None:
    session = th.Session(graph_of(lambda: None, history=list, table=lambda: defaultdict(float), any=None, object=Grows))
    saved: Any = None
    for _ in range(2):
        session.state["history"].append(np.zeros(len(session.state["history"])))
        session.state["table"][len(session.state["table"])] = 1.0
        session.state["any"] = {"a": [1, np.zeros(3)]}
        session.state["object"].entries.append(1)
        saved = copy.deepcopy(session.state_dict())
    session.load_state_dict(saved, checkpoint="memory")
    assert type(session.state["table"]) is defaultdict
    assert session.state["object"].entries == [1, 1]


class Grows:
    def __init__(self) -> None:
        self.entries: list[int] = []

    def state_dict(self) -> dict[str, Any]:
        return {"entries": self.entries}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.entries = list(state["entries"])
