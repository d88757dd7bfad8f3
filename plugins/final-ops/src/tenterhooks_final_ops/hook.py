"""The hook that evaluates values at the end."""

import contextlib
import logging
from collections.abc import Mapping
from typing import Any

import tenterhooks as th
from tenterhooks.errors import NotPublishedError

__all__ = ["FinalOpsHook"]

_log = logging.getLogger(__name__)


class FinalOpsHook(th.SessionRunHook):
    """Evaluates values of the graph at the clean end of a session.

    No hooks are called for that, and no input is drawn: a source gives its last item again. Where a loop of the
    program's own made no pass, as when a program that had come to its end is started again, what it would have
    published is not there: that is logged, and there are no values.

    Args:
        final_ops: A node or its name, or lists, tuples and dicts of them, nested.
        final_ops_feed_dict: Values by node or name that stand in for what the nodes would be.

    Attributes:
        final_ops_values: The values in the shape of `final_ops`; None until the session ended, and if it did not end
            cleanly or was of no pass.

    Raises:
        UnknownNameError: When the session is created: a node does not exist.
        ValueError: When the session is created: a placeholder has no default, and is not in `final_ops_feed_dict`.

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
        self._first_step = session.global_step
        fed = [session.graph[session.graph.name_of(node)].name for node in self._feed_dict or ()]
        # What will be published is not there yet.
        with contextlib.suppress(NotPublishedError):
            session.plan((session.compile(self._final_ops),), fed)

    def end(self, session: th.Session) -> None:
        """Evaluate."""
        try:
            self.final_ops_values = session.run(self._final_ops, feed_dict=self._feed_dict)
        except NotPublishedError as error:
            if session.global_step != self._first_step:
                raise
            _log.warning("there are no final values, since the loop made no pass: %s", str(error))
