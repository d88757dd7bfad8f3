"""How hooks are called: each by a name that is unique in its session, under which its state is saved."""

import logging
from collections.abc import Sequence
from types import ModuleType

from tenterhooks.errors import HookError
from tenterhooks.plugins import Plugin, plugin_of

__all__ = ["fold", "name_of", "titles"]

_log = logging.getLogger(__name__)


def titles(hooks: Sequence[object]) -> list[tuple[str, str]]:
    """The unique name of each hook, and its name with its distribution."""
    used: set[str] = set()
    result = []
    for hook in hooks:
        plugin = plugin_of(hook)
        wanted = name_of(hook, plugin)
        name, number = wanted, 1
        while name in used:
            number += 1
            name = f"{wanted}-{number}"
        used.add(name)
        if name != wanted:
            _log.warning(
                "several hooks are named %r; this one is called %r: "
                "name them (hook.name = ...), since saved state goes by the name",
                wanted,
                name,
            )
        origin = (
            f"{plugin.distribution} {plugin.version}"
            if plugin
            else f"{type(hook).__module__}.{type(hook).__qualname__}"
        )
        result.append((name, f"{name!r} ({origin})"))
    return result


def fold(name: str) -> str:
    """A name in the one form in which names are compared that may be written with `-` or `_`, small or large."""
    return name.lower().replace("_", "-")


def name_of(hook: object, plugin: Plugin | None) -> str:
    """The name that a hook would have if no other had it.

    Args:
        hook: The hook.
        plugin: Its plugin.

    Raises:
        HookError: It has a name that is no string.
    """
    wanted = getattr(hook, "name", None)
    if not wanted:
        wanted = plugin.name if plugin else hook.__name__ if isinstance(hook, ModuleType) else type(hook).__name__
    if not isinstance(wanted, str):
        raise HookError(f"the name of {hook!r} is a string, not {wanted!r}", hook)
    return wanted
