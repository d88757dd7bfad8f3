"""What is installed: hooks and other parts that distributions offer through entry points.

Discovery reads metadata only. Nothing is imported before it is wanted, and what is installed is not active: a hook
joins a session when it is named.
"""

import contextlib
import difflib
import functools
import logging
import re
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from tenterhooks.entry_points import by_group, is_distribution
from tenterhooks.errors import PluginError, nearest, note

if TYPE_CHECKING:
    import importlib_metadata

__all__ = [
    "HOOKS_GROUP",
    "Plugin",
    "caller",
    "find",
    "installed",
    "load_default",
    "made",
    "make_hook",
    "plugin_of",
    "refresh",
]

_log = logging.getLogger(__name__)

HOOKS_GROUP = "tenterhooks.hooks"
# What stands where the metadata of a distribution cannot be read.
_NAMELESS = "an unknown distribution"


@dataclass(frozen=True, eq=False)
class Plugin:
    """One entry point.

    Attributes:
        name: The short name under which it is used.
        target: What it points to, as "module:attribute".
    """

    name: str
    target: str
    _entry_point: "importlib_metadata.EntryPoint" = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name!r} ({self.distribution} {self.version})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plugin) or self._entry_point != other._entry_point:
            return False
        return self._brought_by == other._brought_by

    def __hash__(self) -> int:
        return hash(self._entry_point)

    @property
    def distribution(self) -> str:
        """The name of the distribution that brings it."""
        return self._brought_by[0]

    @property
    def version(self) -> str:
        """The version of that distribution."""
        return self._brought_by[1]

    @functools.cached_property
    def _brought_by(self) -> tuple[str, str]:
        # Read when it is wanted: of all plugins that are installed together it takes longer than to find them.
        try:
            if self._entry_point.dist is not None:
                return self._entry_point.dist.name, self._entry_point.dist.version
        except Exception as error:
            # What an installation left half done is no reason to stop a program that does not use it.
            _log.warning("the metadata of the plugin %r cannot be read: %r", self.name, error)
        return _NAMELESS, "of unknown version"

    @property
    def is_nameless(self) -> bool:
        """Whether the metadata of its distribution cannot be read."""
        return self.distribution == _NAMELESS

    def load(self) -> Any:
        """Import what it points to.

        Raises:
            PluginError: That fails; the cause is chained.
        """
        try:
            return self._entry_point.load()
        # A module that ends the program where it lacks something is as broken as one that raises an error.
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"plugin {self} cannot be imported from {self.target!r}: {type(error).__name__}: {error}; "
                f"reinstall or remove it (pip install --force-reinstall {self.distribution})"
            ) from error


# How a hook was made, by its id: where an entry point is a function, the hook's class does not tell the plugin.
_made: dict[int, tuple[weakref.ref[Any], Plugin, Mapping[str, object], str]] = {}


def _forget(identity: int, _: object) -> None:
    _made.pop(identity, None)


def installed(group: str = HOOKS_GROUP) -> tuple[Plugin, ...]:
    """All plugins of a group, sorted by name; read once per process, see `refresh`."""
    return _installed(group)


@functools.cache
def _installed(group: str) -> tuple[Plugin, ...]:
    found = [Plugin(entry_point.name, entry_point.value, entry_point) for entry_point in by_group().get(group, ())]
    claims = Counter(plugin.name for plugin in found)
    # The distribution, which takes a while to read, counts where several claim a name.
    return tuple(sorted(set(found), key=lambda p: (p.name, p.distribution if claims[p.name] > 1 else "")))


def refresh() -> None:
    """Have the installed plugins read again, after an installation within this process."""
    # Imported late: it looks for plugins itself.
    from tenterhooks.adapted import forget

    _installed.cache_clear()
    by_group.cache_clear()
    forget()


def find(name: str, group: str = HOOKS_GROUP) -> Plugin:
    """The plugin of a short name.

    Raises:
        PluginError: None is installed, or several distributions claim the name.
    """
    plugins = [plugin for plugin in installed(group) if plugin.name == name]
    if not plugins:
        known = {plugin.name for plugin in installed(group)}
        message = f"no plugin named {name!r} is installed{nearest(name, known)}"
        if is_distribution(f"tenterhooks-{name}"):
            message += f"; tenterhooks-{name} is installed, and offers none of this kind: its README says how to use it"
        # What is a slip of the pen most likely, or no name at all, nobody is to install.
        elif re.fullmatch(r"[\w.-]+", name) and not difflib.get_close_matches(name, known, 1, 0.8):
            message += f"; if it is one of tenterhooks' own or named after them: pip install tenterhooks-{name}"
        raise PluginError(message)
    if len(plugins) > 1:
        claims = " and ".join(f"{plugin.distribution} {plugin.version}" for plugin in plugins)
        raise PluginError(
            f"the name {name!r} is claimed by {claims}: uninstall all but one, "
            "or pass an object of the class that you mean"
        )
    return plugins[0]


def make_hook(name: str, **options: Any) -> Any:
    """Make a hook from its short name.

    Args:
        name: The short name, as in `hooks=["nan"]`.
        options: What the constructor takes.

    Raises:
        PluginError: The plugin is missing, claimed twice or broken, or does not take these options.
    """
    # Imported late: it brings all that is known of types.
    from tenterhooks.options import check_options

    plugin = find(name)
    factory: Callable[..., Any] = plugin.load()
    check_options(f"hook {plugin}", factory, options, example=f"make_hook({plugin.name!r}, {{}})")
    try:
        hook = factory(**options)
    except Exception as error:
        note(error, f"while making hook {plugin} with {options}")
        raise
    with contextlib.suppress(TypeError):  # Not every object can be referred to weakly.
        reference = weakref.ref(hook, functools.partial(_forget, id(hook)))
        _made[id(hook)] = reference, plugin, {name: _plain(value) for name, value in options.items()}, caller()
    return hook


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str | Path):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return f"<{type(value).__name__}>"


def made(hook: object) -> tuple[Plugin, Mapping[str, object], str] | None:
    """How a hook was made, if by its short name.

    Returns:
        Its plugin; its options, plain values as they are and of others the name of their type, since a hook that such a
        value holds could else never be dropped; and where in the program it was made, as "file:line".
    """
    return _made[id(hook)][1:] if id(hook) in _made else None


def caller() -> str:
    """Where the program has called this package, as "file:line"."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "tenterhooks":
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def load_default(group: str, *, distribution: str, purpose: str) -> Any:
    """Load the part that is named `default` in a group.

    Args:
        group: The entry-point group.
        distribution: The distribution of tenterhooks that brings it.
        purpose: What it is needed for, for the message.

    Raises:
        PluginError: None is installed, several are, or the one that is cannot be imported.
    """
    if not any(plugin.name == "default" for plugin in installed(group)):
        raise PluginError(f"nothing is installed {purpose} (group {group}): pip install {distribution}")
    return find("default", group).load()


def plugin_of(hook: object, plugins: Iterable[Plugin] | None = None) -> Plugin | None:
    """The plugin that made this hook, or whose entry point is the hook's class; None if it is of none."""
    known = made(hook) if plugins is None else None
    if known is not None:
        return known[0]
    cls = type(hook)
    package = cls.__module__.partition(".")[0]
    if package == "__main__":
        return None  # It takes a while to read what is installed.
    for plugin in installed() if plugins is None else plugins:
        module, _, attribute = plugin.target.partition(":")
        # The class may be defined in another module of the package than the one that exports it.
        if attribute.strip() == cls.__qualname__ and module.partition(".")[0] == package:
            return plugin
    return None
