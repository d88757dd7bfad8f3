"""The shapes that values are asked for in, and come back in."""

import re
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.fetches import as_tensors, compile_fetches, names_by_tag

NAMES = ("a", "b", "c")


class Pair(NamedTuple):
    first: Any
    second: Any


def graph_of_three() -> th.Graph:
    graph = th.Graph()
    for number, name in enumerate(NAMES):
        graph.placeholder(name, default=number)
    return graph


@pytest.fixture
def session() -> th.Session:
    return th.Session(graph_of_three())


def test_a_name_gives_its_value(session: th.Session) -> None:
    assert session.run("b") == 1


def test_a_node_gives_its_value(session: th.Session) -> None:
    assert session.run(session.graph["b"]) == 1


@pytest.mark.parametrize(
    ("fetches", "values"),
    [
        (["c", "a"], [2, 0]),
        (("c", "a"), (2, 0)),
        ({"loss": "c", 7: "a"}, {"loss": 2, 7: 0}),
        ({"x": ["a", ("b", {"y": "c"})]}, {"x": [0, (1, {"y": 2})]}),
        ([], []),
        ((), ()),
        ({}, {}),
        ([[], ()], [[], ()]),
        (OrderedDict(x="b"), {"x": 1}),
    ],
)
def test_a_structure_gives_its_values_in_the_same_shape(session: th.Session, fetches: Any, values: Any) -> None:
    assert session.run(fetches) == values


def test_a_named_tuple_gives_one_of_its_kind(session: th.Session) -> None:
    result = session.run(Pair("a", ["b", "c"]))
    assert type(result) is Pair
    assert result == Pair(0, [1, 2])


@pytest.mark.parametrize("first", [("a", "b"), Pair("a", "b")])
def test_a_named_tuple_and_a_tuple_of_the_same_names_are_told_apart(session: th.Session, first: Any) -> None:
    second = Pair("a", "b") if type(first) is tuple else ("a", "b")
    assert [type(session.run(fetches)) for fetches in (first, second)] == [type(first), type(second)]


def test_a_named_tuple_within_a_tuple_keeps_its_kind(session: th.Session) -> None:
    assert type(session.run((("a", "b"),))[0]) is tuple
    assert type(session.run((Pair("a", "b"),))[0]) is Pair


def test_a_node_that_is_asked_for_twice_is_given_twice(session: th.Session) -> None:
    assert session.run(["a", session.graph["a"], {"again": "a"}]) == [0, 0, {"again": 0}]


@given(
    st.recursive(
        st.sampled_from(NAMES),
        lambda inner: st.one_of(
            st.lists(inner),
            st.lists(inner).map(tuple),
            st.dictionaries(st.text(), inner),
            st.builds(Pair, inner, inner),
        ),
        max_leaves=20,
    )
)
def test_any_nested_structure_comes_back_as_it_was(fetches: Any) -> None:
    graph = graph_of_three()
    # Each node's value is its name, so the result is what was asked for.
    result = th.Session(graph).run(fetches, {name: name for name in NAMES})
    assert result == fetches
    assert repr(result) == repr(fetches)


def test_each_name_is_noted_once() -> None:
    fetch = compile_fetches(graph_of_three(), ["b", {"x": "b", "y": ("a", "b")}])
    assert fetch.names == ("b", "a")
    assert fetch.pick({"a": "A", "b": "B"}) == ["B", {"x": "B", "y": ("A", "B")}]


@pytest.mark.parametrize("fetches", ["lost", ["a", "lost"], {"x": ("lost",)}])
def test_a_name_that_does_not_exist_is_an_error_with_the_nearest(fetches: Any) -> None:
    graph = graph_of_three()
    graph.placeholder("loss", default=0)
    with pytest.raises(th.UnknownNameError, match="no node of the graph is named 'lost'; the nearest: 'loss'"):
        th.Session(graph).run(fetches)


@pytest.mark.parametrize("fetches", [None, 3, ["a", None], {"x": {"a", "b"}}, b"a"])
def test_what_cannot_be_fetched_is_an_error_that_says_what_can(session: th.Session, fetches: Any) -> None:
    with pytest.raises(
        TypeError, match=r"cannot fetch .* fetches are names, nodes, and lists, tuples and dicts of them"
    ):
        session.run(fetches)


def test_a_node_of_another_graph_cannot_be_fetched(session: th.Session) -> None:
    with pytest.raises(ValueError, match="node 'a' belongs to another graph"):
        session.run([graph_of_three()["a"]])


@pytest.mark.parametrize(
    ("tensors", "names"),
    [
        ("a", {"a": "a"}),
        (["b", "a"], {"b": "b", "a": "a"}),
        (iter("ab"), {"a": "a", "b": "b"}),
        ({"loss": "a", "again": "a"}, {"loss": "a", "again": "a"}),
        ([], {}),
    ],
)
def test_a_tag_is_the_name_of_its_node_unless_a_dict_gives_another(tensors: Any, names: dict[str, str]) -> None:
    tags = names_by_tag(graph_of_three(), tensors)
    assert list(tags.items()) == list(names.items())


def test_a_tag_may_be_of_a_node() -> None:
    graph = graph_of_three()
    assert names_by_tag(graph, graph["b"]) == {"b": "b"}
    assert names_by_tag(graph, {"x": graph["b"], "y": "c"}) == {"x": "b", "y": "c"}


@pytest.mark.parametrize("tensors", ["aa", ["a", "aa"], {"a": "aa"}])
def test_a_tag_of_a_name_that_does_not_exist_is_an_error(tensors: Any) -> None:
    with pytest.raises(th.UnknownNameError, match="no node of the graph is named 'aa'; the nearest: 'a'"):
        names_by_tag(graph_of_three(), tensors)


def test_a_tag_of_a_node_of_another_graph_is_an_error() -> None:
    with pytest.raises(ValueError, match="node 'a' belongs to another graph"):
        names_by_tag(graph_of_three(), [graph_of_three()["a"]])


def test_what_a_hook_is_given_lasts_for_more_than_one_session() -> None:
    graph = th.Graph()
    node = graph.tensor(lambda: 1.0, name="loss")
    by_tag = {"the loss": "loss"}
    kept = as_tensors(by_tag)
    by_tag.clear()
    assert kept == {"the loss": "loss"}
    names: list[th.Node | str] = [node, "loss"]
    assert as_tensors(iter(names)) == names
    assert as_tensors("loss") == "loss"
    assert as_tensors(node) is node


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (5, "expected a node or its name, several of them, or a dict of them by tag, not 5 of type int"),
        (None, "expected a node or its name, several of them, or a dict of them by tag, not None of type NoneType"),
        ({3: "loss"}, "a tag is a text, not 3 of type int: give 'loss' one"),
    ],
)
def test_what_is_neither_names_nor_nodes_is_an_error_at_once(tensors: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        as_tensors(tensors)
