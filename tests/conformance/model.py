"""The model that every scenario trains."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

import tenterhooks as th

__all__ = ["NODES", "build_graph"]

NODES = frozenset({"c", "double_x", "loss", "train_op", "x", "x_times_y", "y"})


def build_graph(batches: Sequence[float | str] | None) -> th.Graph:
    """The model, anew, as a restarted program builds it.

    Args:
        batches: The items of the input; None is 1.0 for ever.
    """
    graph = th.Graph()
    graph.placeholder("x", default=1.0)
    graph.placeholder("y", default=2.0)
    graph.source("loss", lambda: _Batches(batches))

    @graph.tensor
    def c() -> float:
        return 7.0

    @graph.tensor
    def double_x(x: float) -> float:
        return 2.0 * x

    @graph.tensor
    def x_times_y(x: float, y: float) -> float:
        return x * y

    @graph.train_op
    def train_op(loss: np.float32, global_step: int) -> int:
        return global_step + 1

    return graph


class _Batches:
    """An input that each session starts again, so it has no position to save."""

    def __init__(self, items: Sequence[float | str] | None) -> None:
        self._items = items

    def __iter__(self) -> Iterator[np.float32]:
        return map(np.float32, itertools.repeat(1.0) if self._items is None else self._items)

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Stay at the start, where the wound-forward position of a plain iterable would be another one."""
