"""Which hooks join a session: those that code or somebody outside of it names, less those that are switched off."""

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from tenterhooks.configuration import PREFIX, Named, Setting, read_configuration, stray_variables
from tenterhooks.errors import ConfigurationError, nearest
from tenterhooks.graph import Graph
from tenterhooks.hooks import SessionRunHook
from tenterhooks.hooks_report import Entry, attach_report
from tenterhooks.names import fold, name_of, titles
from tenterhooks.plugins import Plugin, caller, find, installed, made

__all__ = ["Lineup"]

_log = logging.getLogger(__name__)

_NOTHING: Mapping[str, Mapping[str, object]] = {}


class Lineup:
    """The hooks of one session that is about to be opened.

    Args:
        configured: Whether hooks and options that are named outside of code count. What is switched off always does.

    Raises:
        ConfigurationError: What is said outside of code cannot be read.
    """

    def __init__(self, *, configured: bool = False) -> None:
        self.entries: list[Entry] = []
        self._configured = configured
        self._configuration = read_configuration()
        self._origin = f"code {caller()}"

    def __iter__(self) -> Iterator[object]:
        return (entry.hook for entry in self.entries if entry.state == "active")

    @classmethod
    def of(cls, hooks: Iterable[object]) -> "Lineup":
        """The lineup of a session that was given these hooks."""
        if isinstance(hooks, cls):
            return hooks
        lineup = cls()
        lineup.add(hooks)
        return lineup

    def add(self, hooks: Iterable[object]) -> None:
        """Add hooks of the program's: objects and short names.

        Raises:
            TypeError: It is one string or one hook, or no list of hooks at all.
            PluginError: A named plugin is missing, claimed twice or broken, or needs options.
        """
        _check_list(hooks)
        for hook in hooks:
            if isinstance(hook, str):
                self.add_by_name(hook, {})
                continue
            known = made(hook)
            _, options, place = known or (None, {}, None)
            entry = Entry(None, hook, f"code {place}" if place else self._origin, options)
            self.entries.append(entry)
            for setting in self._settings_of(entry.names) if self._configuration.settings else ():
                entry.notes.append(f"{setting.where} has no effect on an object that code has made")

    def add_by_name(self, name: str, given: Mapping[str, object], decided: Iterable[str] = ()) -> None:
        """Add a hook that code names; options that code does not give it may be given outside of code.

        Args:
            name: The short name.
            given: The options that code gives.
            decided: Those that code leaves at their defaults, whatever is said outside of it.

        Raises:
            PluginError: The plugin is missing, claimed twice or broken, or does not take these options.
        """
        self._add(Entry(name, None, self._origin), given, decided, functools.partial(find, name))

    def add_configured(
        self,
        refused: Mapping[str, str],
        given: Mapping[str, Mapping[str, object]] = _NOTHING,
        decided: Iterable[str] = (),
    ) -> None:
        """Add the hooks that are named outside of code, unless they are there already.

        Args:
            refused: By name why a hook does not join.
            given: By name the options that code gives a hook if it joins.
            decided: Those that code leaves at their defaults, of such a hook.

        Raises:
            ConfigurationError: A plugin is missing, claimed twice or broken, or does not take the options.
        """
        for named in self._configuration.hooks:
            # Imported late: most sessions have no such hooks.
            from tenterhooks.configured_hooks import plugin_named

            try:
                plugin = plugin_named(named)
            except ConfigurationError as error:
                self.entries.append(Entry(named.name, None, named.where, state="failed"))
                attach_report(error, self.entries)
                raise
            there = [entry for entry in self.entries if fold(plugin.name) in entry.names]
            if there:
                there[0].notes.append(f"named by {named.where} too")
                continue
            entry = Entry(plugin.name, None, named.where)
            if plugin.name in refused:
                self._leave_out(entry, refused[plugin.name])
                continue
            by_code = given.get(plugin.name)
            left = () if by_code is None else decided
            self._add(entry, by_code or {}, left, functools.partial(find, plugin.name), named.where)

    def leave_out(self, is_meant: Callable[[object], bool], why: str) -> None:
        """Have those that were named outside of code not join if they are meant."""
        for entry in self.entries:
            if entry.state == "active" and not entry.by_code and is_meant(entry.hook):
                entry.state = "disabled"
                entry.notes.append(why)

    def lacks(self, name: str) -> bool:
        """Whether a hook of this short name was given, and does not join."""
        return any(entry.name == name and entry.state != "active" for entry in self.entries)

    def is_configured(self, name: str, *options: str) -> bool:
        """Whether one of these options of a hook is given outside of code."""
        wanted = {fold(option) for option in options}
        return any(fold(setting.option) in wanted for setting in self._settings_of({fold(name)}))

    def joined(self) -> tuple[list[object], list[tuple[str, str]] | None]:
        """The hooks that join, less those that are switched off by name, which holds for all that code says.

        Returns:
            The hooks, and their names and titles where these must be known already.

        Raises:
            ConfigurationError: What is said outside of code is of a hook that there is not.
        """
        names = None
        hooks = list(self)
        known: set[str] = set()
        if self._configuration.disabled:
            hooks.sort(key=lambda hook: bool(getattr(hook, "saves_state", False)))
            # Of all, since those that are left keep theirs.
            names = titles(hooks)
            entries = {id(entry.hook): entry for entry in self.entries}
            known = {fold(name) for name, _ in names}.union(*(entry.names for entry in self.entries))
            for hook, (name, _) in zip(hooks, names, strict=True):
                entry = entries[id(hook)]
                where = self._configuration.off(name, *entry.names)
                if where:
                    self._leave_out(entry, f"switched off by {where}", name)
            left = set(map(id, self))
            names = [name for hook, name in zip(hooks, names, strict=True) if id(hook) in left]
            hooks = [hook for hook in hooks if id(hook) in left]
        if self._configured:
            self._check(known)
        return hooks, names

    def _settings_of(self, names: set[str]) -> list[Setting]:
        return [setting for setting in self._configuration.settings if self._configured and fold(setting.hook) in names]

    def _leave_out(self, entry: Entry, why: str, name: str | None = None) -> None:
        entry.state, entry.name = "disabled", name or entry.name
        entry.notes.append(why)
        if entry not in self.entries:
            self.entries.append(entry)

    def _add(
        self,
        entry: Entry,
        given: Mapping[str, object],
        decided: Iterable[str],
        plugin: Callable[[], Plugin],
        where: str | None = None,
    ) -> None:
        """Make the hook of an entry, unless it is switched off."""
        # Imported late: it brings all that is known of types.
        from tenterhooks.configured_hooks import make_configured

        assert entry.name is not None
        off = self._configuration.off(entry.name)
        if off:
            self._leave_out(entry, f"switched off by {off}")
            return
        self.entries.append(entry)
        try:
            found = plugin()
            settings = self._settings_of({fold(found.name)})
            entry.hook, entry.options, notes = make_configured(found, given, decided, settings, where)
        except Exception as error:
            entry.state = "failed"
            attach_report(error, self.entries)
            raise
        entry.notes += notes

    def _check(self, known: set[str]) -> None:
        """See that what is named outside of code exists, and say which options are of hooks that are not active."""
        for named in self._configuration.disabled:
            if fold(named.name) not in known | {fold(plugin.name) for plugin in installed()}:
                names = {entry.name or name_of(entry.hook, entry.plugin) for entry in self.entries}
                near = nearest(named.name, names | {plugin.name for plugin in installed()})
                raise ConfigurationError(
                    f"{named.where}: no hook named {named.name!r} is in this session, and none is installed{near}",
                    named.where,
                )
        for hook in dict.fromkeys(fold(setting.hook) for setting in self._configuration.settings):
            from tenterhooks.configured_hooks import plugin_named

            settings = self._configuration.settings_of(hook)
            plugin = plugin_named(Named(settings[-1].hook, settings[-1].where))
            if not any(fold(plugin.name) in entry.names for entry in self.entries):
                _log.warning(
                    "%s: option %r has no effect, since hook %r is not active: name it in hooks, TENTERHOOKS_HOOKS or "
                    "--hook",
                    settings[-1].where,
                    settings[-1].option,
                    plugin.name,
                )
        for variable in stray_variables():
            rest = fold(variable.removeprefix(PREFIX))
            for plugin in installed():
                if rest.startswith(f"{fold(plugin.name)}-"):
                    _log.warning(
                        "environment %s has no effect: between the name of a hook, such as %r, and its option two "
                        "underscores are needed",
                        variable,
                        plugin.name,
                    )


def _check_list(hooks: Iterable[object]) -> None:
    if isinstance(hooks, str):
        raise TypeError(f"hooks is a list of hooks and short names, not one string: pass [{hooks!r}]")
    if isinstance(hooks, Graph):
        raise TypeError(f"hooks is a list of hooks and short names, not {hooks!r}: pass the graph by name, graph=...")
    if isinstance(hooks, Mapping):
        raise TypeError("hooks is a list of hooks and short names, not a mapping: for options, make_hook(name, ...)")
    if isinstance(hooks, SessionRunHook) or not isinstance(hooks, Iterable):
        raise TypeError(f"hooks is a list of hooks and short names, not {hooks!r}: pass a list, as [hook] for one")
