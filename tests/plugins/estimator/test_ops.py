"""Metrics of nodes: which metric, and what it takes."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_estimator import metrics
from tenterhooks_estimator.metrics import AUC, Accuracy, BinnedAUC, Mean, MetricOp, Precision, Recall


@pytest.mark.parametrize(
    ("op", "kind", "inputs"),
    [
        (metrics.accuracy("l", "p"), Accuracy, {"labels": "l", "predictions": "p"}),
        (metrics.accuracy("l", "p", "w"), Accuracy, {"labels": "l", "predictions": "p", "weights": "w"}),
        (metrics.auc("l", "p", "w"), AUC, {"labels": "l", "predictions": "p", "weights": "w"}),
        (metrics.auc("l", "p", num_thresholds=9), BinnedAUC, {"labels": "l", "predictions": "p"}),
        (metrics.mean("v"), Mean, {"values": "v"}),
        (metrics.mean("v", "w"), Mean, {"values": "v", "weights": "w"}),
        (metrics.precision("l", "p", "w"), Precision, {"labels": "l", "predictions": "p", "weights": "w"}),
        (metrics.recall("l", "p", "w"), Recall, {"labels": "l", "predictions": "p", "weights": "w"}),
    ],
)
def test_a_function_gives_its_metric_of_the_nodes(op: MetricOp, kind: type[Any], inputs: dict[str, str]) -> None:
    assert type(op.make()) is kind
    assert op.inputs == inputs


def test_nodes_are_taken_as_they_are() -> None:
    graph = th.Graph()
    node = graph.placeholder("labels")
    assert metrics.accuracy(node, "classes").inputs["labels"] is node


def test_each_evaluation_has_a_metric_of_its_own() -> None:
    op = metrics.mean("loss")
    op.make().update(1.0)
    assert op.make().result() != 1.0


def test_the_number_of_thresholds_is_the_metrics() -> None:
    assert repr(metrics.auc("l", "p", num_thresholds=9).make()) == "<BinnedAUC of 8 bins>"


@pytest.mark.parametrize(
    ("make", "inputs", "message"),
    [
        (3, {}, "make is a function that makes a metric, such as its class, not 3"),
        (Mean(), {}, "make is a function that makes a metric, such as its class, not <Mean"),
        (Mean, ["loss"], r"inputs is a dict of nodes by the metric's arguments, not \['loss'\]"),
    ],
)
def test_what_is_of_the_wrong_kind_is_named(make: Any, inputs: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        MetricOp(make, inputs)
