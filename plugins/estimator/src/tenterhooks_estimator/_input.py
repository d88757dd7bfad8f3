"""The input of a model: a source whose items an input function gives, and the two parts of an item as nodes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tenterhooks import Graph, Node
from tenterhooks_estimator._arguments import call, named

__all__ = ["InputFn", "add_input", "check_input_fn"]

InputFn = Callable[..., Iterable[Any]]

_ARGUMENTS = ("mode", "params", "config")


def check_input_fn(input_fn: object) -> None:
    """See that it is a function with arguments that it can have.

    Raises:
        TypeError: It is none.
        ValueError: It needs another argument.
    """
    named(input_fn, "input_fn", _ARGUMENTS)  # type: ignore[arg-type] # That is what is looked at.


def add_input(graph: Graph, input_fn: InputFn, arguments: Mapping[str, Any]) -> tuple[Node, Node]:
    """Add the nodes `input`, `features` and `labels`.

    A run draws one item, a batch: a pair of features and labels, or features alone. Of what these are made, arrays or
    dicts of them, only the model's functions need to know.

    Args:
        graph: The graph.
        input_fn: Gives the batches, anew for each session.
        arguments: What it may name.

    Returns:
        The nodes of features and labels.
    """
    graph.source("input", lambda: _batches(input_fn, arguments))
    features = graph.tensor(lambda batch: _split(batch)[0], name="features", inputs=["input"])
    return features, graph.tensor(_labels, name="labels", inputs=["input"])


def _batches(input_fn: InputFn, arguments: Mapping[str, Any]) -> Iterable[Any]:
    batches = call(input_fn, "input_fn", arguments)
    # A tuple is one batch, as TensorFlow's input functions gave it: its parts would be taken for batches.
    if isinstance(batches, tuple | str | Mapping | np.ndarray) or not isinstance(batches, Iterable):
        raise TypeError(
            f"input_fn gave {batches!r:.60} of type {type(batches).__name__}: it gives an iterable of batches, each "
            "(features, labels) or features; for one batch return [(features, labels)]"
        )
    return batches


def _split(batch: Any) -> tuple[Any, Any]:
    if not isinstance(batch, tuple | list):
        return batch, None
    if len(batch) != 2:
        raise ValueError(
            f"a batch of input_fn has {len(batch)} parts: it is a pair (features, labels), or features alone; "
            "put several features into a dict"
        )
    return batch[0], batch[1]


def _labels(batch: Any) -> Any:
    labels = _split(batch)[1]
    if labels is None:
        raise ValueError("the model needs labels, and input_fn gave features alone: give (features, labels)")
    return labels
