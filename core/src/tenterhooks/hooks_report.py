"""What `session.hooks_report` says: which hooks are there, from where, and what became of each."""

import contextlib
import functools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tenterhooks.errors import ConfigurationError, HookError, note
from tenterhooks.names import fold, name_of
from tenterhooks.plugins import Plugin, installed, plugin_of

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter

__all__ = ["Entry", "HookReport", "HooksReport", "attach_report", "log_report", "report_of", "reported"]

_log = logging.getLogger(__name__)

State = Literal["active", "disabled", "failed", "installed but not used"]


@dataclass(frozen=True, slots=True)
class HookReport:
    """What is known of one hook.

    Attributes:
        name: Its name in the session, or its short name where it is not in it.
        distribution: The distribution that brings it; None if it is of none.
        version: The version of that.
        origin: Who named it: "code train.py:12", "pyproject.toml:3", "environment TENTERHOOKS_HOOKS", "command line
            --hook nan"; "installed" if nobody did.
        options: What it was made with, by its short name; empty for an object that code has made otherwise.
        state: "active", "disabled", "failed" or "installed but not used".
        note: What else is to be said, such as where an option comes from, what switched it off, or what a hook with a
            method `report_on(name)` says of it.
    """

    name: str
    distribution: str | None
    version: str | None
    origin: str
    options: Mapping[str, object]
    state: State
    note: str = ""

    def __str__(self) -> str:
        of = f" ({self.distribution} {self.version})" if self.distribution else ""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        parts = [f"{self.name}{of}: {self.state}", self.origin, options, self.note]
        return "; ".join(part for part in parts if part)


class HooksReport(tuple[HookReport, ...]):
    """What is known of all hooks: those of the session in the order in which they are called, and the others."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))


@dataclass(slots=True, eq=False)
class Entry:
    """A hook that was to join.

    Attributes:
        name: The name by which it was given; None for an object.
        hook: The hook; None where it was not made.
        origin: Who named it.
        options: What it was made with, as far as that is known.
        state: What became of it: "active", "disabled", "failed".
        notes: What else is to be said of it.
    """

    name: str | None
    hook: object
    origin: str
    options: Mapping[str, object] = field(default_factory=dict)
    state: Literal["active", "disabled", "failed"] = "active"
    notes: list[str] = field(default_factory=list)

    @property
    def by_code(self) -> bool:
        """Whether code has named it."""
        return self.origin.startswith("code ")

    @property
    def plugin(self) -> Plugin | None:
        """Its plugin, if it is of one that is installed just once."""
        if self.hook is not None:
            return plugin_of(self.hook)
        plugins = [plugin for plugin in installed() if plugin.name == self.name]
        return plugins[0] if len(plugins) == 1 else None

    @property
    def names(self) -> set[str]:
        """What it is called, in the form in which names are compared."""
        plugin = self.plugin
        names = [self.name] if self.name else [name_of(self.hook, plugin)]
        return {fold(name) for name in (*names, *([plugin.name] if plugin else []))}


def report_of(
    entries: Sequence[Entry], adapters: "Sequence[Adapter]" = (), failed: "Adapter | None" = None
) -> HooksReport:
    """Report on the hooks of a session.

    Args:
        entries: All that were to join.
        adapters: Those that did.
        failed: The one because of which the session was not opened.
    """
    rows = _rows_of_named(entries, adapters, failed)
    return HooksReport(
        [
            *rows,
            *(
                HookReport(plugin.name, plugin.distribution, plugin.version, "installed", {}, "installed but not used")
                for plugin in _unused(entries)
            ),
        ]
    )


def _rows_of_named(
    entries: Sequence[Entry], adapters: "Sequence[Adapter]", failed: "Adapter | None" = None
) -> list[HookReport]:
    of_hook = {id(entry.hook): entry for entry in entries if entry.hook is not None}
    called = [(of_hook[id(adapter.hook)], adapter) for adapter in adapters]
    rows = [
        _row(entry, adapter.name, "failed" if adapter is failed else "active", _told_of(adapter.name, adapters))
        for entry, adapter in called
    ]
    done = {id(entry) for entry, _ in called}
    rest = [entry for entry in entries if id(entry) not in done]
    return rows + [_row(entry, entry.name or name_of(entry.hook, entry.plugin), entry.state) for entry in rest]


def _unused(entries: Sequence[Entry]) -> list[Plugin]:
    used = {entry.plugin for entry in entries}
    return [plugin for plugin in installed() if plugin not in used]


def _told_of(name: str, adapters: "Sequence[Adapter]") -> list[str]:
    """What hooks have to say of one, by a method `report_on`: of what it costs, say."""
    tell = [getattr(adapter.hook, "report_on", None) for adapter in adapters]
    return [text for report_on in tell if callable(report_on) and (text := report_on(name))]


def _row(entry: Entry, name: str, state: State, told: Sequence[str] = ()) -> HookReport:
    plugin = entry.plugin
    distribution, version = (plugin.distribution, plugin.version) if plugin else (None, None)
    note = "; ".join([*entry.notes, *told])
    return HookReport(name, distribution, version, _shown(entry.origin), entry.options, state, note)


def _shown(origin: str) -> str:
    """Where code is: relative to the working directory if it is in it."""
    kind, _, place = origin.partition(" ")
    if kind == "code":
        with contextlib.suppress(ValueError, OSError):
            return f"code {Path(place).relative_to(Path.cwd())}"
    return origin


def attach_report(
    error: BaseException,
    entries: Sequence[Entry],
    adapters: "Sequence[Adapter]" = (),
    failed: "Adapter | None" = None,
) -> None:
    """Give an error that keeps a session from being opened the attribute `hooks_report`, if it takes one.

    Where it is blamed on a hook that code does not name, a note says who does.
    """
    if not isinstance(error, Exception):
        return  # An interrupt does not wait for it.
    for entry in entries:
        if failed is not None and entry.hook is failed.hook and not entry.by_code:
            note(error, f"hook {failed.name!r} is named by {entry.origin}")
    # Whatever cannot be read or set: the error itself matters more.
    with contextlib.suppress(Exception):
        error.hooks_report = report_of(entries, adapters, failed)  # type: ignore[attr-defined]


@contextlib.contextmanager
def reported(entries: Sequence[Entry]) -> Iterator[None]:
    """Have an error of the block report on the hooks, and say who outside of code names one that is no hook.

    Args:
        entries: All that are to join.

    Raises:
        ConfigurationError: One that is named outside of code is no hook, or its stages are not as specified.
    """
    try:
        yield
    except HookError as error:
        for entry in [entry for entry in entries if entry.hook is not None and entry.hook is error.hook][:1]:
            entry.state = "failed"
            if not entry.by_code:
                # All that is said of a configuration stands in one line.
                message = "; ".join(str(error).split("\n  ")).replace(":; ", ": ")
                refused = ConfigurationError(f"{entry.origin}: {message}", entry.origin)
                attach_report(refused, entries)
                raise refused from error
        attach_report(error, entries)
        raise
    except ConfigurationError as error:
        attach_report(error, entries)
        raise


def log_report(entries: Sequence[Entry], adapters: "Sequence[Adapter]") -> None:
    """Log in up to three lines which hooks are active, which are switched off, and which are not used."""
    if not _log.isEnabledFor(logging.INFO):
        return  # It takes a while to read what is installed.
    report = _rows_of_named(entries, adapters)
    active = [_brief(row, row.origin) for row in report if row.state == "active"]
    disabled = [_brief(row, row.note) for row in report if row.state == "disabled"]
    if active:
        _log.info("hooks: %s", ", ".join(active))
    if disabled:
        _log.info("hooks that do not join: %s", ", ".join(disabled))
    # Their names alone: of many it takes a while to read which distributions bring them.
    unused = tuple(plugin.name for plugin in _unused(entries))
    if unused:
        _log_unused(unused)


@functools.cache
def _log_unused(names: tuple[str, ...]) -> None:
    """Say it once per process for the same ones."""
    _log.info("hooks that are installed and not used here: %s", ", ".join(names))


def _brief(row: HookReport, what: str) -> str:
    of = f"{row.distribution} {row.version}, " if row.distribution else ""
    return f"{row.name} ({of}{what})"
