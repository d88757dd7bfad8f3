"""The hook that feeds what a function returns."""

from collections.abc import Callable, Mapping
from typing import Any

import tenterhooks as th

__all__ = ["FeedFnHook"]


class FeedFnHook(th.SessionRunHook):
    """Calls a function before each run, and feeds the run what it returns.

    Args:
        feed_fn: Takes nothing and gives a dict of values by node or name. If it raises `StopIteration` or
            `OutOfRangeError`, the session ends cleanly.

    Raises:
        TypeError: `feed_fn` cannot be called; or, in a run, returned something else than a dict.

    Example:
        >>> rates = iter([0.1, 0.01])
        >>> hook = FeedFnHook(lambda: {"learning_rate": next(rates)})
    """

    def __init__(self, feed_fn: Callable[[], Mapping[Any, Any]]) -> None:
        if not callable(feed_fn):
            raise TypeError(
                f"feed_fn is a function that gives a dict, not {feed_fn!r} of type {type(feed_fn).__name__}"
            )
        self._feed_fn = feed_fn

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        """Feed what the function returns."""
        feeds = self._feed_fn()
        if not isinstance(feeds, Mapping):
            raise TypeError(
                f"feed_fn returned {feeds!r:.60} of type {type(feeds).__name__}: return a dict of values by node or "
                "name, {} to feed nothing"
            )
        return th.SessionRunArgs(feed_dict=feeds)
