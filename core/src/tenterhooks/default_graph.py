"""The default graph: what a session without `graph=` takes within `with graph.as_default():`. There is none outside."""

import contextvars
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenterhooks.graph import Graph

__all__ = ["AsDefault", "get_default_graph"]

_default: contextvars.ContextVar["Graph | None"] = contextvars.ContextVar("tenterhooks_default_graph", default=None)


def get_default_graph() -> "Graph | None":
    """The graph of the innermost `with graph.as_default()`; None outside of one."""
    return _default.get()


class AsDefault:
    """A block in which a graph is the default one.

    A class, since `contextlib.contextmanager` replaces an error that lets nothing be set on it.

    Args:
        graph: The graph.
    """

    __slots__ = ("_graph", "_token")

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph

    def __enter__(self) -> "Graph":
        self._token = _default.set(self._graph)
        return self._graph

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _default.reset(self._token)
