"""The graph of a loop of the program's own: its state, and whatever it publishes."""

from collections.abc import Mapping
from typing import Any

from tenterhooks.graph import GLOBAL_STEP, Graph
from tenterhooks.nodes import EVERYTHING, Node, Published, Variable

__all__ = ["OpenGraph"]


class OpenGraph(Graph):
    """A graph in which any name can be fetched: one that no node has is of a value that the loop publishes.

    Hooks may add nodes to it in their `begin`, also such as take published values.

    Args:
        state: What is saved and restored, by name. The session works on these very objects.

    Raises:
        TypeError: It is no mapping of strings.
        ValueError: An entry has the name of something else.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        if not isinstance(state, Mapping | None):
            raise TypeError(f"state is a dict of values by name, not {state!r:.60} of type {type(state).__name__}")
        for name, value in (state or {}).items():
            if name in (GLOBAL_STEP, EVERYTHING):
                raise ValueError(f"no entry of state can be named {name!r}, which the session has: choose another name")
            self._add(Variable(self, name, lambda value=value: value, ()))

    def __getitem__(self, name: str) -> Node:
        node = self.nodes.get(name)
        if node is None:
            # Also while the graph is finalized: what is published is known when it is.
            node = self.nodes[name] = Published(self, name)
        return node

    def check(self) -> None:
        """Check as any graph does; names that no node has are of values that will be published."""
        for node in list(self.nodes.values()):
            for name in node.inputs:
                self[name]
        for names in self._collections.values():
            for name in names:
                self[name]
        super().check()

    def _add(self, node: Any) -> Any:
        if isinstance(self.nodes.get(node.name), Published) and not self.finalized:
            # It was named before it exists.
            del self.nodes[node.name]
        return super()._add(node)
