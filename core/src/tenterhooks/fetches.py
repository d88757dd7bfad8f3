"""The structures that callers and hooks ask in: names and nodes, in lists, tuples and dicts of them, nested."""

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from tenterhooks.graph import Graph
from tenterhooks.hooks import OptionalFetches
from tenterhooks.nodes import Node

if TYPE_CHECKING:
    from tenterhooks.plan import Plan

__all__ = ["Feeds", "Fetch", "Fetches", "Pick", "Tensors", "as_tensors", "compile_fetches", "names_by_tag"]

Fetches: TypeAlias = Any
# By names and nodes. A mapping's keys are of one type to a type checker, also where that is one kind of node.
Feeds: TypeAlias = Mapping[Any, Any]
# Fills a structure of fetches from values by name.
Pick: TypeAlias = Callable[[Mapping[str, Any]], Any]
# What a hook is told to log or write: a node, several, or some by the name that they shall have there.
Tensors: TypeAlias = Node | str | Iterable[Node | str] | Mapping[str, Node | str]


class Fetch:
    """A structure of fetches, worked out.

    Attributes:
        names: The names in it, each once.
        pick: Gives the structure filled from a mapping of name to value.
        name: The name, where the structure is just that; else None.
        optional: Whether it may be that not all of the names are given; then `pick` gives None.
        plan: What a run for it alone computes, once that was worked out.
    """

    __slots__ = ("name", "names", "optional", "pick", "plan")

    def __init__(self, names: tuple[str, ...], pick: Pick, *, is_one: bool = False, optional: bool = False) -> None:
        self.names = names
        self.pick = pick
        self.name = names[0] if is_one else None
        self.optional = optional
        self.plan: Plan | None = None


def compile_fetches(graph: Graph, fetches: Fetches) -> Fetch:
    """Work out a structure of fetches.

    Raises:
        UnknownNameError: A name is of no node of the graph.
        TypeError: Something in the structure is neither a name, a node, a list, a tuple nor a dict.
        ValueError: A node belongs to another graph.
    """
    names: dict[str, None] = {}
    if isinstance(fetches, OptionalFetches):
        of_all = _pick(graph, fetches.fetches, names)
        return Fetch(tuple(names), lambda v: of_all(v) if v.keys() >= names.keys() else None, optional=True)
    pick = _pick(graph, fetches, names)
    return Fetch(tuple(names), pick, is_one=isinstance(fetches, str | Node))


def as_tensors(tensors: Tensors) -> Tensors:
    """Check what a hook was given to log or write, and make it last for more than one session.

    Raises:
        TypeError: It is neither a node or its name, several of them, nor a dict of them by tag.
    """
    if isinstance(tensors, Mapping):
        for tag in tensors:
            if not isinstance(tag, str):
                raise TypeError(f"a tag is a text, not {tag!r} of type {type(tag).__name__}: give {tensors[tag]!r} one")
        return dict(tensors)
    if isinstance(tensors, str | Node):
        return tensors
    if not isinstance(tensors, Iterable):
        raise TypeError(
            f"expected a node or its name, several of them, or a dict of them by tag, not {tensors!r} of type "
            f"{type(tensors).__name__}"
        )
    return list(tensors)


def names_by_tag(graph: Graph, tensors: Tensors) -> dict[str, str]:
    """What a hook is told to log or write, as node names by tag: a node's tag is its name, unless a dict gives another.

    Raises:
        UnknownNameError: A name is of no node of the graph.
        ValueError: A node belongs to another graph.
    """
    if isinstance(tensors, Mapping):
        names = {tag: graph.name_of(node) for tag, node in tensors.items()}
    else:
        nodes = [tensors] if isinstance(tensors, str | Node) else tensors
        names = {name: name for name in map(graph.name_of, nodes)}
    return {tag: graph[name].name for tag, name in names.items()}


def _pick(graph: Graph, fetches: Fetches, names: dict[str, None]) -> Pick:
    if isinstance(fetches, str | Node):
        name = graph[graph.name_of(fetches)].name
        names[name] = None
        return itemgetter(name)
    if isinstance(fetches, Mapping):
        items = {key: _pick(graph, value, names) for key, value in fetches.items()}
        return lambda values: {key: pick(values) for key, pick in items.items()}
    if isinstance(fetches, list | tuple):
        picks = [_pick(graph, value, names) for value in fetches]
        if isinstance(fetches, list):
            return lambda values: [pick(values) for pick in picks]
        if hasattr(fetches, "_make"):
            make = fetches._make
            return lambda values: make(pick(values) for pick in picks)
        return lambda values: tuple(pick(values) for pick in picks)
    raise TypeError(
        f"cannot fetch {fetches!r} of type {type(fetches).__name__}: "
        "fetches are names, nodes, and lists, tuples and dicts of them ([] for nothing)"
    )
