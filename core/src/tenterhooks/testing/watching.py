"""What hooks ask for, in a form that can be compared."""

import math
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from tenterhooks.hooks import OptionalFetches, SessionRunArgs
from tenterhooks.hookspecs import hookimpl
from tenterhooks.nodes import Node

__all__ = ["Watcher", "plain"]


class Watcher:
    """Sees what the hooks ask for, as pluggy hands it to a wrapper."""

    name = "watcher"

    def __init__(self) -> None:
        self._asked: list[Any] = []

    @hookimpl(wrapper=True)
    def before_run(self) -> Generator[None, list[SessionRunArgs], list[SessionRunArgs]]:
        """Note it."""
        asked = yield
        self._asked = [
            {"fetches": plain(args.fetches), "feeds": plain(args.feed_dict or {}), "options": plain(args.options or {})}
            for args in asked
        ]
        return asked

    def take(self) -> list[Any]:
        """What they asked for since this was called last: fetches, feeds and options of each."""
        asked, self._asked = self._asked, []
        return asked


def plain(value: Any) -> Any:
    """A structure in which nodes stand as their names and arrays as lists, so that two can be compared."""
    if isinstance(value, Mapping):
        return {plain(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, Node):
        return value.name
    if isinstance(value, OptionalFetches):
        return plain(value.fetches)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and math.isnan(value):
        # It differs from itself, and is the same all the same.
        return "nan"
    if isinstance(value, str | bytes | bool | int | float | None):
        return value
    return type(value).__qualname__
