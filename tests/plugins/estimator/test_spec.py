"""An EstimatorSpec says at once what is wrong with it."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_estimator import EstimatorSpec, ModeKeys, metrics

TRAIN, EVAL, PREDICT = ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT


def test_the_modes_are_tensorflows() -> None:
    assert [str(mode) for mode in ModeKeys] == ["train", "eval", "infer"]


@pytest.mark.parametrize(
    ("mode", "given"),
    [
        (TRAIN, {"loss": "loss", "train_op": "train"}),
        (EVAL, {"loss": "loss"}),
        (PREDICT, {"predictions": "classes"}),
        (PREDICT, {"predictions": {"classes": "classes"}}),
    ],
)
def test_what_a_mode_needs_is_enough(mode: ModeKeys, given: dict[str, Any]) -> None:
    assert EstimatorSpec(mode, **given).mode is mode
    assert EstimatorSpec(str(mode), **given).mode is mode  # type: ignore[arg-type] # As TensorFlow has it.


@pytest.mark.parametrize(
    ("mode", "given", "missing"),
    [
        (TRAIN, {}, "TRAIN needs loss and train_op"),
        (TRAIN, {"loss": "loss"}, "TRAIN needs train_op"),
        (EVAL, {"predictions": "classes"}, "EVAL needs loss"),
        (PREDICT, {"loss": "loss"}, "PREDICT needs predictions"),
    ],
)
def test_what_a_mode_needs_is_not_left_out(mode: ModeKeys, given: dict[str, Any], missing: str) -> None:
    with pytest.raises(ValueError, match=missing):
        EstimatorSpec(mode, **given)


def test_hooks_and_training_ops_are_kept_as_lists_of_their_own() -> None:
    given = [th.SessionRunHook()]
    spec = EstimatorSpec(
        TRAIN, loss="loss", train_op="train", training_hooks=given, evaluation_hooks=(hook for hook in given)
    )
    given.append(th.SessionRunHook())
    assert spec.training_hooks == spec.evaluation_hooks == tuple(given[:1])
    assert spec.train_op == ["train"]
    assert EstimatorSpec(TRAIN, loss="loss", train_op=("a", "b")).train_op == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"mode": "training"},
            ValueError,
            r"mode is the one .*, not 'training'; there are \['train', 'eval', 'infer'\]",
        ),
        ({"loss": 0.5}, TypeError, r"loss is a node of the graph or its name, not 0\.5 of type float"),
        ({"predictions": {"a": 1}}, TypeError, r"predictions\['a'\] is a node .* not 1 of type int"),
        ({"predictions": {"a": None}}, TypeError, r"predictions\['a'\] is a node .* not None"),
        ({"predictions": ["a"]}, TypeError, r"predictions is a node .* not \['a'\] of type list"),
        ({"train_op": [None]}, TypeError, "train_op is a node of the graph or its name, not None"),
        ({"train_op": 3}, TypeError, "train_op is a node of the graph or its name, not 3 of type int"),
        ({"training_hooks": "nan"}, TypeError, r"training_hooks is a list, not 'nan' of type str: pass \['nan'\]"),
        ({"evaluation_hooks": th.SessionRunHook()}, TypeError, "evaluation_hooks is a list, not <"),
        ({"eval_metric_ops": ["accuracy"]}, TypeError, "eval_metric_ops is a dict of metrics by name, not"),
        (
            {"eval_metric_ops": {"a": "classes"}},
            TypeError,
            r"eval_metric_ops\['a'\] is a MetricOp, as metrics\.accuracy",
        ),
        ({"eval_metric_ops": {3: metrics.mean("x")}}, TypeError, "the name of a metric is a string, not 3 of type int"),
        ({"eval_metric_ops": {"loss": metrics.mean("x")}}, ValueError, "a metric cannot be named 'loss'"),
        ({"eval_metric_ops": {"global_step": metrics.mean("x")}}, ValueError, "a metric cannot be named 'global_step'"),
    ],
)
def test_what_is_of_the_wrong_kind_is_named(given: dict[str, Any], error: type[Exception], message: str) -> None:
    complete: dict[str, Any] = {"mode": TRAIN, "loss": "loss", "train_op": "train", "predictions": "classes"}
    with pytest.raises(error, match=message):
        EstimatorSpec(**{**complete, **given})
