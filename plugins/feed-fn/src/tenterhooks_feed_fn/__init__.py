"""Feeding what a function returns."""

from tenterhooks_feed_fn.hook import FeedFnHook

__all__ = ["FeedFnHook"]
