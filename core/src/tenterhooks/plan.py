"""What a run has to compute, and in which order, worked out once for a set of fetches."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenterhooks.errors import NotPublishedError
from tenterhooks.graph import Graph
from tenterhooks.nodes import REQUIRED, Placeholder, Published, Source, Tensor, TrainOp, Variable
from tenterhooks.order import in_order

__all__ = ["Plan", "lacking", "make_plan", "needed"]


class Plan:
    """The order of one run.

    Attributes:
        fetched: What is wanted of it.
        is_new: Whether no run was made by it so far.
        variables: The variables that are read.
        defaults: The placeholders that nobody feeds, with their defaults.
        sources: The sources that give an item.
        before: The functions before any update.
        update: The training ops, and what stands between them.
        after: The functions after all training ops.
        advance: Whether the run adds one to the global step.
        kept: What is fetched of the time before the update, in a run that trains.
        updaters: The training ops, for messages.
    """

    __slots__ = (
        "advance",
        "after",
        "before",
        "defaults",
        "fetched",
        "is_new",
        "kept",
        "sources",
        "update",
        "updaters",
        "variables",
    )

    def __init__(self, fetched: tuple[str, ...]) -> None:
        self.fetched = fetched
        self.is_new = True
        self.variables: list[str] = []
        self.defaults: list[tuple[str, Any]] = []
        self.sources: list[str] = []
        self.before: list[Tensor[..., Any]] = []
        self.update: list[Tensor[..., Any]] = []
        self.after: list[Tensor[..., Any]] = []
        self.advance = False
        self.kept: tuple[str, ...] = ()
        self.updaters = ""


def make_plan(graph: Graph, fetched: Iterable[str], fed: Iterable[str]) -> Plan:
    """Work out what a run computes.

    Args:
        graph: The graph.
        fetched: The names that somebody wants.
        fed: The names that are given; they are not computed, nor what only they need.

    Raises:
        ValueError: Something needed is a placeholder without default that nobody feeds, or depends on itself.
        UnknownNameError: Something needed takes what does not exist, or is a value that nobody published.
    """
    fed = frozenset(fed)
    fetched = tuple(fetched)
    wanted = needed(graph, fetched, fed)
    plan = Plan(fetched)
    inputs = {
        name: node.inputs if isinstance(node, Tensor) and name not in fed else ()
        for name, node in graph.nodes.items()
        if name in wanted
    }
    late: dict[str, Tensor[..., Any]] = {}
    for name in in_order(inputs):
        node = graph.nodes[name]
        if name in fed:
            continue
        if isinstance(node, Variable):
            plan.variables.append(name)
        elif isinstance(node, Source):
            plan.sources.append(name)
        elif isinstance(node, Placeholder):
            if node.default is REQUIRED:
                if isinstance(node, Published):
                    there = sorted(entry for entry in fed if entry != "*")
                    raise NotPublishedError(
                        f"a hook asked for {name!r}, and nobody published it; published were: "
                        + (", ".join(map(repr, there)) or "none")
                        + f": session.publish({{{name!r}: ...}}) in each pass in which session.wants({name!r}), or "
                        "between passes",
                        name,
                    )
                takers = sorted(taker for taker, names in inputs.items() if name in names)
                raise ValueError(
                    f"placeholder {name!r} has no default and nobody feeds it"
                    + (f"; it is needed by {', '.join(map(repr, takers))}" if takers else "")
                    + f": pass feed_dict={{{name!r}: ...}}, have a hook feed it, or give it a default"
                )
            plan.defaults.append((name, node.default))
        elif isinstance(node, Tensor):
            if isinstance(node, TrainOp) or any(entry in late for entry in node.inputs):
                late[name] = node
            else:
                plan.before.append(node)
    order = _order_late(late, {name: index for index, name in enumerate(inputs)})
    last = max((index for index, node in enumerate(order) if isinstance(node, TrainOp)), default=-1)
    plan.update, plan.after = order[: last + 1], order[last + 1 :]
    plan.advance = any(isinstance(node, TrainOp) and node.advance for node in plan.update)
    if plan.update:
        plan.updaters = " and ".join(repr(node) for node in plan.update if isinstance(node, TrainOp))
        plan.kept = tuple(name for name in fetched if name not in late and name not in fed)
    return plan


def needed(graph: Graph, fetched: Iterable[str], fed: frozenset[str] = frozenset()) -> set[str]:
    """All nodes that the fetched ones are made from, as far as they are not fed."""
    found: set[str] = set()
    waiting = list(fetched)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        node = graph.nodes[name]
        # What a variable or a source is begun with is not of this run.
        if name not in fed and isinstance(node, Tensor):
            # Raises for an unknown name; a graph that is not finalized has not been checked.
            waiting.extend(graph[entry].name for entry in node.inputs)
    return found


def lacking(graph: Graph, fetched: Iterable[str], fed: Iterable[str]) -> Iterator[str]:
    """What the fetched ones are made from and nobody gives: placeholders without a default that are not fed."""
    fed = frozenset(fed)
    for name in needed(graph, fetched, fed) - fed:
        node = graph.nodes[name]
        if isinstance(node, Placeholder) and node.default is REQUIRED:
            yield name


def _order_late(late: dict[str, Tensor[..., Any]], place: Mapping[str, int]) -> list[Tensor[..., Any]]:
    """Put each training op after all that does not depend on it, several in the order in which they were added."""
    ranked = sorted(late, key=lambda name: (isinstance(late[name], TrainOp), place[name]))
    return [late[name] for name in in_order({name: [e for e in late[name].inputs if e in late] for name in ranked})]
