"""How a hook is made with options that are given outside of code, and how an error says where they stand."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenterhooks.configuration import Named, Setting
from tenterhooks.errors import ConfigurationError, PluginError
from tenterhooks.names import fold
from tenterhooks.options import REQUIRED, Option, check_options, converted, option_named, options_of, parsed
from tenterhooks.plugins import Plugin, find, installed, make_hook

__all__ = ["make_configured", "options_named", "plugin_named"]


def plugin_named(named: Named) -> Plugin:
    """The plugin of a name that may be written with `_` in place of `-`, and in capitals.

    Raises:
        ConfigurationError: None is installed, or several are.
    """
    names = {plugin.name for plugin in installed()}
    alike = sorted(name for name in names if fold(name) == fold(named.name))
    if named.name not in names and len(alike) > 1:
        raise ConfigurationError(
            f"{named.where}: by {named.name!r} {' or '.join(map(repr, alike))} may be meant: write it as it is",
            named.where,
        )
    with _said_where(named.where):
        return find(alike[0] if named.name not in names and alike else named.name)


def options_named(plugin: Plugin, where: str) -> tuple[Option, ...]:
    """The options of a plugin, which is imported for that.

    Args:
        plugin: The plugin.
        where: Where it is named, for the message.

    Raises:
        ConfigurationError: It cannot be imported, which is chained; or it cannot be called.
    """
    with _said_where(where):
        return options_of(plugin.load(), f"hook {plugin}")


def make_configured(
    plugin: Plugin,
    given: Mapping[str, object],
    decided: Iterable[str],
    settings: Sequence[Setting],
    where: str | None,
) -> tuple[object, dict[str, object], list[str]]:
    """Make a hook.

    Args:
        plugin: Its plugin.
        given: The options that code gives, which go before all others.
        decided: Those that code leaves at their defaults.
        settings: Those that are given outside of code, a later one before an earlier one.
        where: Where outside of code the hook is named; None if code names it.

    Returns:
        The hook, all options that were given, and what is to be said of them.

    Raises:
        ConfigurationError: An option is unknown, missing or of a wrong type, or the constructor refuses it.
        PluginError: The same of a hook of which nothing is said outside of code.
    """
    if where is None and not settings:
        return make_hook(plugin.name, **given), dict(given), []
    title = f"hook {plugin}"
    options = options_named(plugin, where or settings[0].where)
    values, places, notes = dict(given), {}, []
    for setting in settings:
        option = option_named(options, setting.option, setting.where, title)
        convert = parsed if setting.is_text else converted
        value = convert(option, setting.value, setting.where, title)
        if option.name in given or option.name in decided:
            notes.append(f"{option.name} of {setting.where} has no effect, since code decides it")
        else:
            values[option.name], places[option.name] = value, setting.where
    notes += [f"{name} by {place}" for name, place in places.items()]
    blamed = " and ".join(dict.fromkeys([*([where] if where else []), *places.values()])) or settings[0].where
    name = plugin.name
    variable = f"TENTERHOOKS_{fold(name).upper().replace('-', '_')}__<OPTION>"
    example = f"give {{}} in the table [{name}] of the file, as {variable}, or by --set {name}.<OPTION>"
    by_code = [o.name for o in options if o.default is REQUIRED and o.allowed is None and o.name not in values]
    if by_code:
        example = f"{', '.join(by_code)} can be given in code only, so make it there: make_hook({name!r}, {{}})"
    with _said_where(blamed):
        check_options(title, plugin.load(), values, example=example)
        try:
            return make_hook(name, **values), values, notes
        # One that ends the program is as broken as one that raises an error.
        except (Exception, SystemExit) as error:
            listed = ", ".join(f"{name}={value!r}" for name, value in values.items()) or "no options"
            raise ConfigurationError(
                f"{blamed}: {title} cannot be made with {listed}: {type(error).__name__}: {error}", blamed
            ) from error


@contextlib.contextmanager
def _said_where(where: str) -> Iterator[None]:
    """Have an error say where what is wrong was named."""
    try:
        yield
    except ConfigurationError:
        raise
    except PluginError as error:
        raise ConfigurationError(f"{where}: {error}", where) from error.__cause__
