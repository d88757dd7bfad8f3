"""What a model function builds, and what it is told is wrong with it."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_estimator import EstimatorSpec, ModeKeys, RunConfig, metrics
from tenterhooks_estimator._model import Model, build

from .models import default_graph

TRAIN, EVAL, PREDICT = ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT


def build_for(mode: ModeKeys, model_fn: Any, params: Any = None) -> Model:
    return build(model_fn, lambda: [(1, 2)], mode, params or {}, RunConfig(seed=3))


def trained(mode: ModeKeys, **changed: Any) -> EstimatorSpec:
    graph = default_graph()
    graph.variable("w", 1.0)
    graph.tensor(lambda w: w, name="loss")
    graph.train_op(lambda w: {"w": w + 1}, name="train")
    given: dict[str, Any] = {"loss": "loss", "train_op": "train", "predictions": "w", **changed}
    return EstimatorSpec(mode, **given)


def test_each_call_has_a_graph_of_its_own_which_is_the_default_one_meanwhile() -> None:
    outer = th.Graph()
    graphs = []

    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graphs.append(th.get_default_graph())
        return trained(mode)

    with outer.as_default():
        models = [build_for(EVAL, model_fn), build_for(EVAL, model_fn)]
        assert th.get_default_graph() is outer
    assert [model.graph for model in models] == graphs
    assert len({id(graph) for graph in [outer, *graphs]}) == 3
    assert models[0].variables == ("w",)


@pytest.mark.parametrize("mode", list(ModeKeys))
def test_a_model_function_gets_the_nodes_and_what_it_names(mode: ModeKeys) -> None:
    seen: dict[str, Any] = {}

    def model_fn(features: Any, labels: Any, mode: Any, params: Any, config: Any) -> EstimatorSpec:
        seen.update(features=features, labels=labels, mode=mode, params=params, config=config)
        return trained(mode)

    model = build_for(mode, model_fn, {"size": 3})
    assert seen == {
        "features": model.graph["features"],
        "labels": None if mode is PREDICT else model.graph["labels"],
        "mode": mode,
        "params": {"size": 3},
        "config": RunConfig(seed=3),
    }


@pytest.mark.parametrize("returned", [None, {"loss": "loss"}, ModeKeys.TRAIN])
def test_a_model_function_returns_a_spec(returned: Any) -> None:
    with pytest.raises(TypeError, match=r"model_fn returns an EstimatorSpec, and this one returned .* of type"):
        build_for(TRAIN, lambda: returned)


def test_a_spec_is_for_the_mode_that_was_asked_for() -> None:
    with pytest.raises(ValueError, match="model_fn was called for EVAL, and its EstimatorSpec is for PREDICT"):
        build_for(EVAL, lambda: trained(PREDICT))


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"loss": "los"}, "in loss of"),
        ({"train_op": ["train", "trian"]}, "in train_op of"),
        ({"predictions": {"a": "los"}}, "in predictions of"),
        ({"eval_metric_ops": {"mean": metrics.mean("los")}}, r"in eval_metric_ops\['mean'\] of"),
    ],
)
def test_a_name_that_no_node_has_is_an_error_that_says_where(changed: dict[str, Any], where: str) -> None:
    with pytest.raises(th.UnknownNameError, match=r"the nearest: '(loss|train)'") as caught:
        build_for(TRAIN, lambda: trained(TRAIN, **changed))
    assert any(note.startswith(where.replace("\\", "")) for note in caught.value.__notes__)


def test_a_node_of_another_graph_is_an_error() -> None:
    other = th.Graph()
    with pytest.raises(ValueError, match="node 'x' belongs to another graph"):
        build_for(EVAL, lambda: trained(EVAL, loss=other.placeholder("x")))


@pytest.mark.parametrize("train_op", ["loss", ["loss", "w"], []])
def test_a_training_op_makes_steps(train_op: Any) -> None:
    with pytest.raises(ValueError, match=r"makes no step, so training would never end: make it with @graph.train_op"):
        build_for(TRAIN, lambda: trained(TRAIN, train_op=train_op))


def test_one_that_adds_nothing_to_the_step_makes_none() -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        op = default_graph().train_op(lambda: None, name="still", advance=False)
        return trained(mode, train_op=op)

    with pytest.raises(ValueError, match=r"train_op=.*still.* makes no step"):
        build_for(TRAIN, model_fn)


def test_the_names_of_the_input_are_taken() -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        default_graph().tensor(lambda: 1, name="labels")
        return trained(mode)

    with pytest.raises(ValueError, match="the graph already has <Tensor 'labels'>"):
        build_for(TRAIN, model_fn)
