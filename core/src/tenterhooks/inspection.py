"""Sessions that are shown and not run: what would be called in them, without any of it being called."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenterhooks.lifecycle import Lifecycle
    from tenterhooks.registry import HookRegistry

__all__ = ["NotRun", "instead_of_running", "show"]

Inspector = Callable[["Lifecycle", "HookRegistry"], object]

_inspectors: list[Inspector] = []


class NotRun(BaseException):
    """Leaves the block of a session that is only shown, when something is wanted of it. The block swallows it."""


@contextlib.contextmanager
def instead_of_running(inspector: Inspector) -> Iterator[None]:
    """A block in which every monitored session that is opened is shown to a function, and is over at once.

    No stage of a hook is called, nothing is restored or saved, and no graph is finalized. A loop that asks
    `should_stop()` makes no run; whatever else wants something of the session leaves its block.

    Args:
        inspector: Gets each session and its hooks.
    """
    _inspectors.append(inspector)
    try:
        yield
    finally:
        _inspectors.remove(inspector)


def show(session: "Lifecycle", registry: "HookRegistry") -> bool:
    """Show a session that is being opened, and say whether it is to be over at once."""
    for inspector in _inspectors:
        inspector(session, registry)
    return bool(_inspectors)
