"""What a model function returns: which nodes of its graph are the loss, the training op, the predictions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tenterhooks import Node
from tenterhooks_estimator._arguments import listed
from tenterhooks_estimator.metrics import MetricOp

__all__ = ["EstimatorSpec", "ModeKeys"]


class ModeKeys(StrEnum):
    """What a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


# What each mode cannot do without.
_REQUIRED = {
    ModeKeys.TRAIN: ("loss", "train_op"),
    ModeKeys.EVAL: ("loss",),
    ModeKeys.PREDICT: ("predictions",),
}
_RESERVED = ("loss", "global_step")


@dataclass(frozen=True, slots=True)
class EstimatorSpec:
    """The nodes and hooks of a model, in one mode. A node is given as it is or by its name.

    Attributes:
        mode: What it was built for.
        predictions: What `predict` gives: a node, or a dict of them by name. Required for PREDICT.
        loss: One number for a batch. Required for TRAIN and EVAL.
        train_op: The training op, or a list of them, which run in one step. Required for TRAIN.
        eval_metric_ops: What `evaluate` gives beside the loss, by name: `metrics.accuracy(labels, classes)`, say.
        training_hooks: Hooks of a training.
        training_chief_hooks: Hooks of a training that only the chief gets.
        evaluation_hooks: Hooks of an evaluation.
        prediction_hooks: Hooks of a prediction.

    Raises:
        ValueError: The mode needs what is not given, there is no such mode, or a metric has the name of another result.
        TypeError: Something is of the wrong kind.
    """

    mode: ModeKeys
    predictions: Node | str | Mapping[str, Node | str] | None = field(default=None, kw_only=True)
    loss: Node | str | None = field(default=None, kw_only=True)
    train_op: Node | str | Sequence[Node | str] | None = field(default=None, kw_only=True)
    eval_metric_ops: Mapping[str, MetricOp] = field(default_factory=dict, kw_only=True)
    training_hooks: Iterable[object] = field(default=(), kw_only=True)
    training_chief_hooks: Iterable[object] = field(default=(), kw_only=True)
    evaluation_hooks: Iterable[object] = field(default=(), kw_only=True)
    prediction_hooks: Iterable[object] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        modes = [str(mode) for mode in ModeKeys]
        if self.mode not in modes:
            raise ValueError(
                f"mode is the one that model_fn was given, of ModeKeys, not {self.mode!r}; there are {modes}"
            )
        self._set("mode", ModeKeys(self.mode))
        missing = [name for name in _REQUIRED[self.mode] if getattr(self, name) is None]
        if missing:
            raise ValueError(
                f"an EstimatorSpec for {self.mode.name} needs {' and '.join(missing)}: a node of the graph, or its name"
            )
        if self.loss is not None:
            _check_node("loss", self.loss)
        if isinstance(self.predictions, Mapping):
            for name, node in self.predictions.items():
                _check_node(f"predictions[{name!r}]", node)
        elif self.predictions is not None:
            _check_node("predictions", self.predictions)
        if self.train_op is not None:
            ops = list(self.train_op) if isinstance(self.train_op, list | tuple) else [self.train_op]
            for op in ops:
                _check_node("train_op", op)
            self._set("train_op", ops)
        _check_metrics(self.eval_metric_ops)
        for name in ("training_hooks", "training_chief_hooks", "evaluation_hooks", "prediction_hooks"):
            self._set(name, tuple(listed(name, getattr(self, name))))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _check_node(what: str, node: object) -> None:
    if not isinstance(node, Node | str):
        raise TypeError(f"{what} is a node of the graph or its name, not {node!r:.60} of type {type(node).__name__}")


def _check_metrics(ops: object) -> None:
    if not isinstance(ops, Mapping):
        raise TypeError(f"eval_metric_ops is a dict of metrics by name, not {ops!r:.60} of type {type(ops).__name__}")
    for name, op in ops.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a metric is a string, not {name!r} of type {type(name).__name__}")
        if not isinstance(op, MetricOp):
            raise TypeError(
                f"eval_metric_ops[{name!r}] is a MetricOp, as metrics.accuracy(labels, predictions) makes one, not "
                f"{op!r:.60} of type {type(op).__name__}"
            )
        if name in _RESERVED:
            raise ValueError(f"a metric cannot be named {name!r}, which evaluate gives itself: choose another name")
