"""Which open session a hook belongs to. An object of two sessions would mix what it notes of them."""

import gc
import weakref
from collections.abc import Sequence

from tenterhooks.errors import HookError

__all__ = ["claim", "release"]

# By the hook's id. Weakly: a session that was dropped unclosed holds nothing.
_owners: dict[int, weakref.ref[object]] = {}


def claim(hooks: Sequence[object], session: object) -> None:
    """Take hooks for a session.

    Raises:
        HookError: One of them belongs to another open session; none is taken.
    """
    for hook in hooks:
        if id(hook) in _owners:
            # A session that was dropped may still be waiting for the collector.
            gc.collect()
        owner = _owners[id(hook)]() if id(hook) in _owners else None
        if owner is not None:
            who = repr(owner)
            # The traceback of this error, which an interactive program keeps, must not keep that session.
            del owner
            raise HookError(
                f"hook {hook!r} belongs to another open session, {who}: close() that one first, or make another hook",
                hook,
            )
    for hook in hooks:
        _owners[id(hook)] = weakref.ref(session)


def release(hooks: Sequence[object]) -> None:
    """Let hooks be taken by another session."""
    for hook in hooks:
        _owners.pop(id(hook), None)
