"""The kinds of nodes, and what a function's parameters say about its inputs."""

from typing import Any, assert_type

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.nodes import parameter_names


def test_a_node_knows_its_graph_its_name_and_what_it_is_made_from() -> None:
    graph = th.Graph()
    node = graph.tensor(lambda x, y: x + y, name="sum")
    assert node.graph is graph
    assert node.name == "sum"
    assert node.inputs == ("x", "y")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("global_step", "GlobalStep"),
        ("v", "Variable"),
        ("p", "Placeholder"),
        ("s", "Source"),
        ("t", "Tensor"),
        ("train", "TrainOp"),
    ],
)
def test_a_node_is_shown_with_its_kind_and_its_name(name: str, kind: str) -> None:
    graph = th.Graph()
    graph.variable("v", 0)
    graph.placeholder("p")
    graph.source("s", list)
    graph.tensor(lambda: 0, name="t")
    graph.train_op(lambda: None, name="train")
    assert repr(graph[name]) == f"<{kind} {name!r}>"


def test_each_way_to_add_gives_the_node_of_its_public_type() -> None:
    graph = th.Graph()
    assert isinstance(graph.variable("v", 0), th.Variable)
    assert isinstance(graph.placeholder("p"), th.Placeholder)
    assert isinstance(graph.source("s", list), th.Source)
    assert type(graph.tensor(lambda: 0, name="t")) is th.Tensor
    assert isinstance(graph.train_op(lambda: None, name="train"), th.TrainOp)
    assert all(isinstance(graph[name], th.Node) for name in graph)


def test_a_function_node_can_be_called_as_the_function_that_it_is() -> None:
    graph = th.Graph()

    @graph.tensor
    def scaled(x: float, factor: float = 2.0) -> float:
        return x * factor

    @graph.train_op
    def train(w: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        return {"w": w - 1}

    assert scaled(3.0, factor=10.0) == 30.0
    assert train(np.ones(1)) == {"w": np.zeros(1)}


def test_a_function_node_keeps_the_types_of_its_function() -> None:
    graph = th.Graph()

    @graph.tensor
    def length(text: str) -> int:
        return len(text)

    @graph.tensor(name="other")
    def named(text: str) -> bytes:
        return text.encode()

    # Type checkers hold these two; at run time they do nothing.
    assert_type(length("abc"), int)
    assert_type(named("abc"), bytes)
    assert length("abc") == 3
    assert named("abc") == b"abc"


def test_parameters_name_the_inputs_in_their_order() -> None:
    assert parameter_names(lambda b, a, /, c: None, "it") == ("b", "a", "c")


def test_a_parameter_with_a_default_is_no_input() -> None:
    assert parameter_names(lambda x, y=1, *, z=2: None, "it") == ("x",)


def test_the_bound_self_of_a_method_is_no_input() -> None:
    class Model:
        def predict(self, x: float) -> float:
            return x

    assert parameter_names(Model().predict, "it") == ("x",)


@pytest.mark.parametrize("function", [lambda *args: None, lambda **kwargs: None, lambda *, x: None])
def test_a_parameter_that_names_no_input_by_position_is_an_error(function: Any) -> None:
    with pytest.raises(TypeError, match="for node 'loss' names no input; use plain parameters, or pass inputs"):
        parameter_names(function, "node 'loss'")


def test_parameters_that_cannot_be_read_are_an_error_that_says_what_to_do() -> None:
    graph = th.Graph()
    with pytest.raises(TypeError, match=r"for node 'kind' cannot be read; .*inputs=\[\.\.\.\]"):
        graph.tensor(type, name="kind")
    graph.placeholder("x", default=1.5)
    graph.tensor(type, name="kind", inputs=["x"])
    assert th.Session(graph).run("kind") is float


def test_a_builtin_type_without_readable_parameters_begins_a_variable_and_a_source() -> None:
    graph = th.Graph()
    graph.variable("seen", dict)
    graph.source("nothing", dict)
    session = th.Session(graph)
    assert session.run("seen") == {}
    with pytest.raises(th.OutOfRangeError):
        session.run("nothing")
