"""A model: the graph that a model function builds for one call of an Estimator, and what it says of it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tenterhooks import Graph, Node, TrainOp, Variable
from tenterhooks.errors import note
from tenterhooks_estimator._arguments import call
from tenterhooks_estimator._input import InputFn, add_input
from tenterhooks_estimator.run_config import RunConfig
from tenterhooks_estimator.spec import EstimatorSpec, ModeKeys

__all__ = ["MODEL_FN_ARGUMENTS", "Model", "build"]

MODEL_FN_ARGUMENTS = ("features", "labels", "mode", "params", "config")


class Model(NamedTuple):
    """A model.

    Attributes:
        graph: The graph.
        spec: What the model function returned.
        variables: The names of the variables that the model function added.
    """

    graph: Graph
    spec: EstimatorSpec
    variables: tuple[str, ...]


def build(
    model_fn: Callable[..., EstimatorSpec],
    input_fn: InputFn,
    mode: ModeKeys,
    params: Mapping[str, Any],
    config: RunConfig,
) -> Model:
    """Build a model on a graph of its own, which is the default one meanwhile.

    Raises:
        TypeError: The model function returned something else than an EstimatorSpec.
        ValueError: It is for another mode, holds a node of another graph, or its training op trains nothing.
        UnknownNameError: It names a node that does not exist.
    """
    graph = Graph()
    arguments = {"mode": mode, "params": params, "config": config}
    features, labels = add_input(graph, input_fn, arguments)
    with graph.as_default():
        spec = call(
            model_fn,
            "model_fn",
            {"features": features, "labels": None if mode is ModeKeys.PREDICT else labels, **arguments},
        )
    if not isinstance(spec, EstimatorSpec):
        raise TypeError(
            f"model_fn returns an EstimatorSpec, and this one returned {spec!r:.60} of type {type(spec).__name__}"
        )
    if spec.mode is not mode:
        raise ValueError(
            f"model_fn was called for {mode.name}, and its EstimatorSpec is for {spec.mode.name}: pass it the mode "
            "that model_fn was given"
        )
    _check_nodes(graph, spec)
    if mode is ModeKeys.TRAIN and not any(
        isinstance(op, TrainOp) and op.advance for op in _nodes(graph, spec.train_op)
    ):
        raise ValueError(
            f"train_op={spec.train_op!r} makes no step, so training would never end: make it with @graph.train_op"
        )
    return Model(graph, spec, tuple(name for name, node in graph.nodes.items() if isinstance(node, Variable)))


def _check_nodes(graph: Graph, spec: EstimatorSpec) -> None:
    named: dict[str, Any] = {"loss": spec.loss, "train_op": spec.train_op, "predictions": spec.predictions}
    named |= {f"eval_metric_ops[{name!r}]": op.inputs for name, op in spec.eval_metric_ops.items()}
    for what, nodes in named.items():
        try:
            _nodes(graph, nodes)
        except Exception as error:
            note(error, f"in {what} of the EstimatorSpec that model_fn returned")
            raise


def _nodes(graph: Graph, nodes: Node | str | Iterable[Node | str] | Mapping[str, Node | str] | None) -> list[Node]:
    if nodes is None:
        return []
    if isinstance(nodes, Node | str):
        nodes = [nodes]
    return [graph[graph.name_of(node)] for node in (nodes.values() if isinstance(nodes, Mapping) else nodes)]
