"""The hook that evaluates values at the end."""

from collections.abc import Mapping
from typing import Any

import tenterhooks as th

__all__ = ["FinalOpsHook"]


class FinalOpsHook(th.SessionRunHook):
    """Evaluates values of the graph at the clean end of a session.

    No hooks are called for that, and no input is drawn: a source gives its last item again.

    Args:
        final_ops: A node or its name, or lists, tuples and dicts of them, nested.
        final_ops_feed_dict: Values by node or name that stand in for what the nodes would be.

    Attributes:
        final_ops_values: The values in the shape of `final_ops`; None until the session ended, and if it did not end
            cleanly.

    Raises:
        UnknownNameError: When the session is created: a node does not exist.

    Example:
        >>> hook = FinalOpsHook({"accuracy": "eval/accuracy"})
    """

    def __init__(self, final_ops: Any, *, final_ops_feed_dict: Mapping[Any, Any] | None = None) -> None:
        self._final_ops = final_ops
        self._feed_dict = final_ops_feed_dict
        self.final_ops_values: Any = None

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self.final_ops_values = None

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Check the names: at the end it would be a pity."""
        session.compile(self._final_ops)
        for node in self._feed_dict or ():
            session.graph[session.graph.name_of(node)]

    def end(self, session: th.Session) -> None:
        """Evaluate."""
        self.final_ops_values = session.run(self._final_ops, feed_dict=self._feed_dict)
