"""A graph: named values, added until it is finalized, with every name checked."""

import doctest
from typing import Any

import pytest

import tenterhooks as th
import tenterhooks.graph


def test_the_examples_of_the_docstrings_run() -> None:
    result = doctest.testmod(tenterhooks.graph)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_global_step_is_in_every_graph() -> None:
    assert list(th.Graph()) == ["global_step"]


def test_a_graph_gives_its_nodes_by_name() -> None:
    graph = th.Graph()
    node = graph.placeholder("x")
    assert graph["x"] is node
    assert "x" in graph
    assert "y" not in graph


def test_a_value_that_a_hook_will_publish_is_a_node() -> None:
    graph = th.Graph()
    node = graph.published("eval/accuracy")
    assert graph["eval/accuracy"] is node
    assert repr(node) == "<Published 'eval/accuracy'>"
    with pytest.raises(ValueError, match="the graph already has <Published 'eval/accuracy'>"):
        graph.published("eval/accuracy")


def test_a_graph_goes_through_its_names_in_the_order_of_addition() -> None:
    graph = th.Graph()
    graph.placeholder("b")
    graph.placeholder("a")
    assert list(graph) == ["global_step", "b", "a"]


def test_a_graph_says_how_many_nodes_it_has() -> None:
    graph = th.Graph()
    graph.placeholder("x")
    assert repr(graph) == "<Graph of 2 nodes>"


def test_a_name_that_does_not_exist_is_a_key_error_with_the_nearest() -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate")
    with pytest.raises(KeyError) as caught:
        graph["learning_rat"]
    assert isinstance(caught.value, th.UnknownNameError)
    assert str(caught.value) == "no node of the graph is named 'learning_rat'; the nearest: 'learning_rate'"


def test_a_function_may_be_added_plainly_or_as_a_decorator_of_both_kinds() -> None:
    graph = th.Graph()

    def plain() -> int:
        return 1

    graph.tensor(plain)

    @graph.tensor
    def bare() -> int:
        return 2

    @graph.tensor(name="layer1/h")
    def called() -> int:
        return 3

    @graph.train_op(name="layer1/train", advance=False)
    def train() -> int:
        return 4

    assert th.Session(graph).run(["plain", bare, "layer1/h", called, train]) == [1, 2, 3, 3, 4]


def test_a_node_takes_its_functions_name() -> None:
    graph = th.Graph()

    @graph.train_op
    def update() -> None: ...

    assert update.name == "update"


def test_a_function_without_a_name_needs_one() -> None:
    graph = th.Graph()
    with pytest.raises(TypeError, match=r"has no name of its own; pass name="):
        graph.tensor(lambda: 1)


def test_inputs_stand_in_for_parameter_names() -> None:
    graph = th.Graph()
    graph.placeholder("layer0/h", default=3)
    graph.placeholder("layer1/w", default=4)
    graph.tensor(lambda *factors: factors[0] * factors[1], name="layer1/h", inputs=["layer0/h", "layer1/w"])
    assert th.Session(graph).run("layer1/h") == 12


def test_one_string_as_inputs_is_an_error() -> None:
    graph = th.Graph()
    with pytest.raises(TypeError, match="inputs='w' of node 'h' is one string; pass a list of names"):
        graph.tensor(lambda w: w, name="h", inputs="w")


@pytest.mark.parametrize("add", ["tensor", "train_op"])
def test_a_node_of_something_that_is_no_function_is_an_error(add: str) -> None:
    with pytest.raises(TypeError, match="a node needs a function, not 3 of type int"):
        getattr(th.Graph(), add)(3, name="three")


def test_a_source_of_something_that_is_no_function_is_an_error() -> None:
    items: Any = [1, 2]
    with pytest.raises(TypeError, match="source 'batch' needs a function that gives an iterable, not list"):
        th.Graph().source("batch", items)


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_name_is_a_string_that_is_not_empty(name: Any) -> None:
    with pytest.raises(TypeError, match="a node's name is a string that is not empty"):
        th.Graph().placeholder(name)


@pytest.mark.parametrize("name", ["x", "global_step"])
def test_a_name_can_be_taken_only_once(name: str) -> None:
    graph = th.Graph()
    graph.placeholder("x")
    with pytest.raises(
        ValueError, match=rf"the graph already has <\w+ '{name}'>: choose another name, .*{name}.* in gr"
    ):
        graph.variable(name, 0)


def test_nodes_may_be_named_before_they_exist() -> None:
    graph = th.Graph()
    graph.tensor(lambda x: x + 1, name="y")
    graph.placeholder("x", default=1)
    graph.finalize()
    assert th.Session(graph).run("y") == 2


def test_an_input_that_does_not_exist_is_found_when_the_graph_is_finalized() -> None:
    graph = th.Graph()
    graph.placeholder("images")
    graph.tensor(lambda image: image, name="features")
    with pytest.raises(
        th.UnknownNameError, match="node 'features' takes 'image', and no node has that name; the nearest: 'images'"
    ):
        graph.finalize()
    assert not graph.finalized


def test_a_collections_name_that_does_not_exist_is_found_too() -> None:
    graph = th.Graph()
    graph.placeholder("loss")
    graph.add_to_collection("losses", "loss")
    graph.add_to_collection("summaries", "loss")
    graph.add_to_collection("summaries", "los")
    with pytest.raises(
        th.UnknownNameError,
        match="the collection 'summaries' holds 'los', and no node has that name; the nearest: 'loss'",
    ):
        graph.finalize()


def test_a_dependency_cycle_is_an_error_that_shows_it() -> None:
    graph = th.Graph()
    graph.tensor(lambda b: b, name="a")
    graph.tensor(lambda c: c, name="b")
    graph.tensor(lambda a: a, name="c")
    with pytest.raises(ValueError, match=r"nodes depend on each other in a circle: \w( -> \w){3}$"):
        graph.finalize()


def test_a_node_that_takes_itself_is_a_cycle() -> None:
    graph = th.Graph()
    graph.tensor(lambda a: a, name="a")
    with pytest.raises(ValueError, match="circle: a -> a"):
        graph.finalize()


def test_a_session_cannot_be_opened_on_names_that_do_not_exist() -> None:
    graph = th.Graph()
    graph.tensor(lambda x: x, name="y")
    with pytest.raises(th.UnknownNameError, match="'y' takes 'x'"):
        th.Session(graph)


@pytest.mark.parametrize("state_or_input", ["variable", "source"])
def test_state_and_input_are_made_from_variables_only(state_or_input: str) -> None:
    graph = th.Graph()
    graph.placeholder("size", default=3)
    getattr(graph, state_or_input)("made", lambda size: [size])
    with pytest.raises(ValueError, match="'made'> can only be made from variables, not from <Placeholder 'size'>"):
        graph.finalize()


def test_a_finalized_graph_says_so() -> None:
    graph = th.Graph()
    assert not graph.finalized
    graph.finalize()
    assert graph.finalized


@pytest.mark.parametrize(
    "add",
    [
        lambda graph: graph.variable("new", 0),
        lambda graph: graph.placeholder("new"),
        lambda graph: graph.source("new", list),
        lambda graph: graph.tensor(lambda: 0, name="new"),
        lambda graph: graph.train_op(lambda: 0, name="new"),
        lambda graph: graph.add_to_collection("summaries", "global_step"),
    ],
)
def test_nothing_can_be_added_to_a_finalized_graph(add: Any) -> None:
    graph = th.Graph()
    graph.finalize()
    with pytest.raises(RuntimeError, match=r"cannot add .*: the graph is finalized while a session is open; build it"):
        add(graph)
    assert "new" not in graph
    assert graph.get_collection("summaries") == []


def test_a_graph_can_grow_again_when_the_last_of_its_sessions_is_closed() -> None:
    graph = th.Graph()
    graph.freeze()
    graph.freeze()
    graph.thaw()
    assert graph.finalized
    graph.thaw()
    graph.placeholder("x")
    assert "x" in graph


def test_a_graph_that_was_finalized_before_its_sessions_stays_so() -> None:
    graph = th.Graph()
    graph.finalize()
    graph.freeze()
    graph.thaw()
    assert graph.finalized


def test_freezing_checks_names_and_leaves_a_graph_that_fails_open() -> None:
    graph = th.Graph()
    graph.tensor(lambda x: x, name="y")
    with pytest.raises(th.UnknownNameError):
        graph.freeze()
    assert not graph.finalized


def test_a_collection_holds_names_in_the_order_of_addition() -> None:
    graph = th.Graph()
    loss = graph.placeholder("loss")
    graph.add_to_collection("summaries", "global_step")
    graph.add_to_collection("summaries", loss)
    assert graph.get_collection("summaries") == ["global_step", "loss"]


def test_a_collection_that_nobody_added_to_is_empty() -> None:
    assert th.Graph().get_collection("summaries") == []


def test_what_is_done_to_the_list_of_a_collection_stays_with_the_caller() -> None:
    graph = th.Graph()
    graph.add_to_collection("summaries", "global_step")
    graph.get_collection("summaries").clear()
    assert graph.get_collection("summaries") == ["global_step"]


def test_a_node_of_another_graph_is_an_error() -> None:
    stranger = th.Graph().placeholder("x")
    graph = th.Graph()
    graph.placeholder("x")
    with pytest.raises(ValueError, match="node 'x' belongs to another graph"):
        graph.add_to_collection("summaries", stranger)


def test_what_is_neither_node_nor_name_has_no_name() -> None:
    graph = th.Graph()
    with pytest.raises(TypeError, match="expected a node or its name, not 3 of type int"):
        graph.name_of(3)
    assert graph.name_of("x") == "x"
    assert graph.name_of(graph.placeholder("y")) == "y"


def test_a_session_takes_the_default_graph() -> None:
    with th.Graph().as_default() as graph:
        assert th.Session().graph is graph


def test_a_session_without_a_graph_is_an_error_that_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match=r"a session needs a graph: pass graph=, or open it within `with graph.as_def"):
        th.Session()


def test_an_initial_value_is_made_by_a_function() -> None:
    graph = th.Graph()
    graph.variable("w", lambda: [1, 2])
    assert th.Session(graph).state == {"w": [1, 2]}


def test_an_initial_value_that_is_no_function_is_copied_for_each_session() -> None:
    initial = [1, 2]
    graph = th.Graph()
    graph.variable("w", initial)
    th.Session(graph).state["w"].append(3)
    assert th.Session(graph).state["w"] == [1, 2] == initial


def test_a_finalized_graph_can_be_run() -> None:
    graph = th.Graph()
    graph.placeholder("x", default=1)
    graph.finalize()
    assert th.Session(graph).run("x") == 1
