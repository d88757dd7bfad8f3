"""What is installed: hooks and other parts that distributions offer through entry points.

Discovery reads metadata only. Nothing is imported before it is wanted, and what is installed is not active: a hook
joins a session when it is named.
"""

import contextlib
import functools
import inspect
import logging
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenterhooks.errors import PluginError, nearest, note
from tenterhooks.graph import Graph
from tenterhooks.hooks import SessionRunHook

if TYPE_CHECKING:
    import importlib_metadata

__all__ = [
    "HOOKS_GROUP",
    "Plugin",
    "find",
    "installed",
    "load_default",
    "log_unused",
    "make_hook",
    "make_hooks",
    "plugin_of",
    "refresh",
]

_log = logging.getLogger(__name__)

HOOKS_GROUP = "tenterhooks.hooks"


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point.

    Attributes:
        name: The short name under which it is used.
        target: What it points to, as "module:attribute".
        distribution: The name of the distribution that brings it.
        version: The version of that distribution.
    """

    name: str
    target: str
    distribution: str
    version: str
    _entry_point: "importlib_metadata.EntryPoint" = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.name!r} ({self.distribution} {self.version})"

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


# Which plugin made a hook, by the hook's id: where an entry point is a function, the hook's class does not tell.
_made: dict[int, tuple[weakref.ref[Any], Plugin]] = {}


def _forget(identity: int, _: object) -> None:
    _made.pop(identity, None)


@functools.cache
def installed(group: str = HOOKS_GROUP) -> tuple[Plugin, ...]:
    """All plugins of a group, sorted by name; read once per process, see `refresh`."""
    # Imported late: it takes longer than everything else here together.
    import importlib_metadata

    found = []
    for entry_point in importlib_metadata.entry_points(group=group):
        distribution, version = "an unknown distribution", "of unknown version"
        try:
            if entry_point.dist is not None:
                distribution, version = entry_point.dist.name, entry_point.dist.version
        except Exception as error:
            # What an installation left half done is no reason to stop a program that does not use it.
            _log.warning("the metadata of the plugin %r cannot be read: %r", entry_point.name, error)
        found.append(
            Plugin(
                name=entry_point.name,
                target=entry_point.value,
                distribution=distribution,
                version=version,
                _entry_point=entry_point,
            )
        )
    return tuple(sorted(set(found), key=lambda plugin: (plugin.name, plugin.distribution)))


def refresh() -> None:
    """Have the installed plugins read again, after an installation within this process."""
    # Imported late: it looks for plugins itself.
    from tenterhooks.adapted import forget

    installed.cache_clear()
    forget()


def find(name: str, group: str = HOOKS_GROUP) -> Plugin:
    """The plugin of a short name.

    Raises:
        PluginError: None is installed, or several distributions claim the name.
    """
    plugins = [plugin for plugin in installed(group) if plugin.name == name]
    if not plugins:
        known = {plugin.name for plugin in installed(group)}
        raise PluginError(
            f"no plugin named {name!r} is installed{nearest(name, known)}; if it is one of tenterhooks' own or named "
            f"after them, bring it with: pip install tenterhooks-{name}"
        )
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
    plugin = find(name)
    factory: Callable[..., Any] = plugin.load()
    _check_options(plugin, factory, options)
    try:
        hook = factory(**options)
    except Exception as error:
        note(error, f"while making hook {plugin} with {options}")
        raise
    with contextlib.suppress(TypeError):  # Not every object can be referred to weakly.
        _made[id(hook)] = weakref.ref(hook, functools.partial(_forget, id(hook))), plugin
    return hook


def make_hooks(hooks: Iterable[object]) -> list[object]:
    """The hooks of a list in which some are given by their short names.

    Raises:
        TypeError: It is one string or one hook, or no list of hooks at all.
        PluginError: A named plugin is missing, claimed twice or broken, or needs options.
    """
    if isinstance(hooks, str):
        raise TypeError(f"hooks is a list of hooks and short names, not one string: pass [{hooks!r}]")
    if isinstance(hooks, Graph):
        raise TypeError(f"hooks is a list of hooks and short names, not {hooks!r}: pass the graph by name, graph=...")
    if isinstance(hooks, Mapping):
        raise TypeError("hooks is a list of hooks and short names, not a mapping: for options, make_hook(name, ...)")
    if isinstance(hooks, SessionRunHook) or not isinstance(hooks, Iterable):
        raise TypeError(f"hooks is a list of hooks and short names, not {hooks!r}: pass a list, as [hook] for one")
    return [make_hook(hook) if isinstance(hook, str) else hook for hook in hooks]


def _check_options(plugin: Plugin, factory: Callable[..., Any], options: dict[str, Any]) -> None:
    """Compare options with the constructor's signature, which is what a plugin's options are."""
    parameters = inspect.signature(factory).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    named = {p.name: p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for option in options:
        if option not in named:
            raise PluginError(f"hook {plugin} has no option {option!r}{nearest(option, named)}")
    missing = [name for name, p in named.items() if p.default is p.empty and name not in options]
    if missing:
        raise PluginError(
            f"hook {plugin} needs the options {', '.join(missing)}: make_hook({plugin.name!r}, "
            + ", ".join(f"{name}=..." for name in missing)
            + ")"
        )


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
    if plugins is None and id(hook) in _made:
        return _made[id(hook)][1]
    cls = type(hook)
    package = cls.__module__.partition(".")[0]
    for plugin in installed() if plugins is None else plugins:
        module, _, attribute = plugin.target.partition(":")
        # The class may be defined in another module of the package than the one that exports it.
        if attribute.strip() == cls.__qualname__ and module.partition(".")[0] == package:
            return plugin
    return None


@functools.cache
def _log_once(names: tuple[str, ...]) -> None:
    _log.info("hooks that are installed and not used here: %s", ", ".join(names))


def log_unused(hooks: Iterable[object]) -> None:
    """Say which installed hooks are not among these, once per process for the same ones."""
    used = {plugin.name for hook in hooks if (plugin := plugin_of(hook)) is not None}
    unused = tuple(plugin.name for plugin in installed() if plugin.name not in used)
    if unused:
        _log_once(unused)
