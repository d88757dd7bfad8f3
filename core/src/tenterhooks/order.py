"""In which order things come that are made from each other."""

import graphlib
import heapq
from collections.abc import Iterable, Mapping

__all__ = ["in_order"]


def in_order(inputs: Mapping[str, Iterable[str]]) -> list[str]:
    """Names, each after its inputs, and where these allow it in the order in which they are given.

    So some names more, with what they need, do not change the order of the others.

    Raises:
        ValueError: They depend on each other in a circle.
    """
    names = list(inputs)
    place = {name: index for index, name in enumerate(names)}
    sorter = graphlib.TopologicalSorter(inputs)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        raise ValueError(f"nodes depend on each other in a circle: {' -> '.join(error.args[1])}") from None
    ready: list[int] = []
    order = []
    while sorter.is_active():
        for name in sorter.get_ready():
            heapq.heappush(ready, place[name])
        name = names[heapq.heappop(ready)]
        sorter.done(name)
        order.append(name)
    return order
