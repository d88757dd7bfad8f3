"""What is said of hooks outside of code: in a file, in the environment, on the command line."""

import contextlib
import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tenterhooks.errors import ConfigurationError
from tenterhooks.names import fold

__all__ = [
    "PREFIX",
    "CommandLine",
    "Configuration",
    "Named",
    "Setting",
    "Source",
    "read_configuration",
    "stray_variables",
    "use_command_line",
]

PREFIX = "TENTERHOOKS_"
_LISTS = ("HOOKS", "DISABLE")


@dataclass(frozen=True, slots=True)
class Named:
    """A hook that is named outside of code.

    Attributes:
        name: The name as it was given.
        where: Where: a file and line, an environment variable, or a flag.
    """

    name: str
    where: str


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that is given outside of code.

    Attributes:
        hook: The name of the hook as it was given.
        option: The name of the option as it was given.
        value: What it is to be: as TOML has it, or a text.
        is_text: Whether it is a text of the environment or the command line.
        where: Where: a file and line, an environment variable, or a flag.
    """

    hook: str
    option: str
    value: object
    is_text: bool
    where: str


@dataclass(frozen=True, slots=True)
class Source:
    """What one place says.

    Attributes:
        hooks: The hooks that are to be active.
        settings: Their options.
        disabled: The hooks that are switched off.
    """

    hooks: tuple[Named, ...] = ()
    settings: tuple[Setting, ...] = ()
    disabled: tuple[Named, ...] = ()


@dataclass(slots=True)
class CommandLine:
    """What flags say; all of it as text.

    Attributes:
        hooks: The hooks that are to be active, each with options: `--hook nan:fail_on_nan_loss=false`.
        options: Options by hook: `--set nan.fail_on_nan_loss=false`. They go before those of `hooks`.
        disabled: The hooks that are switched off: `--no-hook nan`.
    """

    hooks: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What all places say.

    Attributes:
        hooks: The hooks that are to be active: the file's, the environment's, the command line's.
        settings: Their options; a later one goes before an earlier one.
        disabled: The hooks that are switched off.
    """

    hooks: tuple[Named, ...] = ()
    settings: tuple[Setting, ...] = ()
    disabled: tuple[Named, ...] = ()

    def off(self, *names: str) -> str | None:
        """Where one of these names is switched off; None if none is."""
        wanted = {fold(name) for name in names}
        return next((named.where for named in self.disabled if fold(named.name) in wanted), None)

    def settings_of(self, hook: str) -> tuple[Setting, ...]:
        """The options of a hook, a later one before an earlier one."""
        return tuple(setting for setting in self.settings if fold(setting.hook) == fold(hook))


# The innermost one is that of now.
_command_lines: list[CommandLine] = []


@contextlib.contextmanager
def use_command_line(command_line: CommandLine) -> Iterator[None]:
    """Have the sessions that this process opens within the block do as a command line says."""
    _command_lines.append(command_line)
    try:
        yield
    finally:
        _command_lines.pop()


def read_configuration() -> Configuration:
    """Read the file, the environment and the command line as they are now.

    Raises:
        ConfigurationError: The file cannot be read, or is not as it should be; or a variable is named almost as one
            that there is.
    """
    # Imported late: it is of use where a session is opened, and nowhere else.
    from tenterhooks.configuration_file import read_file

    sources = [read_file(), _environment(os.environ)]
    if _command_lines:
        sources.append(_flags(_command_lines[-1]))
    return Configuration(
        tuple(named for source in sources for named in source.hooks),
        tuple(setting for source in sources for setting in source.settings),
        tuple(named for source in sources for named in source.disabled),
    )


def stray_variables() -> list[str]:
    """The environment's variables that begin as this package's do, and are none of them."""
    return [v for v in sorted(os.environ) if v.startswith(PREFIX) and "__" not in v and v[len(PREFIX) :] not in _LISTS]


def _environment(variables: Mapping[str, str]) -> Source:
    settings = []
    for variable in sorted(variables):
        name = variable.removeprefix(PREFIX)
        if name == variable:
            continue
        hook, separator, option = name.partition("__")
        if separator and hook and option:
            settings.append(Setting(fold(hook), option.lower(), variables[variable], True, f"environment {variable}"))
        elif name not in _LISTS and (near := difflib.get_close_matches(name, _LISTS, 1, 0.8)):
            where = f"environment {variable}"
            raise ConfigurationError(
                f"{where}: there is no such variable; the nearest: {PREFIX + near[0]!r}; "
                f"options are given as {PREFIX}<HOOK>__<OPTION>",
                where,
            )
    return Source(_listed(variables, "HOOKS"), tuple(settings), _listed(variables, "DISABLE"))


def _listed(variables: Mapping[str, str], name: str) -> tuple[Named, ...]:
    names = (each.strip() for each in variables.get(PREFIX + name, "").split(","))
    return tuple(Named(each, f"environment {PREFIX}{name}") for each in names if each)


def _flags(command_line: CommandLine) -> Source:
    settings = [
        Setting(hook, option, text, True, f"command line --hook {hook}:{option}={text}")
        for hook, options in command_line.hooks
        for option, text in options.items()
    ]
    settings += [
        Setting(hook, option, text, True, f"command line --set {hook}.{option}={text}")
        for hook, options in command_line.options.items()
        for option, text in options.items()
    ]
    return Source(
        tuple(Named(hook, f"command line --hook {hook}") for hook, _ in command_line.hooks),
        tuple(settings),
        tuple(Named(hook, f"command line --no-hook {hook}") for hook in command_line.disabled),
    )
