"""The flags that switch hooks on and off for a script, and what they say."""

import argparse
import re
from typing import Any

from tenterhooks.cli.output import UsageError
from tenterhooks.configuration import CommandLine, Named
from tenterhooks.configured_hooks import options_named, plugin_named
from tenterhooks.names import fold
from tenterhooks.options import option_named, parsed

__all__ = ["add_hook_flags", "command_line", "hook_flag", "set_flag"]

# A comma before what is no option belongs to the value before it, such as a list's.
_BETWEEN_OPTIONS = re.compile(r",(?=\s*[A-Za-z_][\w-]*\s*=)")


def add_hook_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--hook`, `--set` and `--no-hook`; each may be given several times."""
    flags: dict[str, dict[str, Any]] = {
        "--hook": {
            "metavar": "NAME[:OPTION=VALUE,...]",
            "help": "have the sessions of the script use this hook, with these options",
        },
        "--set": {
            "metavar": "HOOK.OPTION=VALUE",
            "help": "set one option of a hook that is named anywhere; the value may hold commas",
        },
        "--no-hook": {"metavar": "NAME", "help": "switch this hook off, wherever it is named"},
    }
    for flag, options in flags.items():
        parser.add_argument(flag, action="append", default=[], **options)


def hook_flag(text: str) -> tuple[str, dict[str, str]]:
    """What `--hook` says: a name, and texts by option.

    >>> hook_flag("logging:tensors=loss,accuracy,every_n_iter=10")
    ('logging', {'tensors': 'loss,accuracy', 'every_n_iter': '10'})

    Raises:
        UsageError: It is not of that form.
    """
    name, colon, rest = text.partition(":")
    form = "write NAME or NAME:OPTION=VALUE,..."
    if not name.strip():
        raise UsageError(f"--hook {text}: the name of a hook is missing; {form}")
    options: dict[str, str] = {}
    for piece in _BETWEEN_OPTIONS.split(rest) if colon else []:
        option, equals, value = piece.partition("=")
        if not equals or not option.strip():
            raise UsageError(f"--hook {text}: {piece!r} is no option with a value; {form}")
        if option.strip() in options:
            raise UsageError(f"--hook {text}: the option {option.strip()!r} is given twice")
        options[option.strip()] = value
    return name.strip(), options


def set_flag(text: str) -> tuple[str, str, str]:
    """What `--set` says: a hook, an option and a text.

    >>> set_flag("nan.fail_on_nan_loss=false")
    ('nan', 'fail_on_nan_loss', 'false')

    Raises:
        UsageError: It is not of that form.
    """
    left, equals, value = text.partition("=")
    hook, _, option = (part.strip() for part in left.partition("."))
    if not (equals and hook and option):
        raise UsageError(f"--set {text}: write HOOK.OPTION=VALUE, as in --set nan.fail_on_nan_loss=false")
    return hook, option, value


def command_line(arguments: argparse.Namespace) -> CommandLine:
    """All that the flags say, once it is known that there are such hooks, and that they have these options.

    Raises:
        ConfigurationError: There is no such hook, it cannot be imported, or an option is unknown or of another type.
        UsageError: A flag is not of the form that it has.
    """
    hooks = [hook_flag(text) for text in arguments.hook]
    options: dict[str, dict[str, str]] = {}
    for text in arguments.set:
        hook, option, value = set_flag(text)
        options.setdefault(hook, {})[option] = value
    names = [fold(name) for name, _ in hooks]
    off = {fold(name): name for name in arguments.no_hook}
    for name, _ in hooks:
        if names.count(fold(name)) > 1:
            raise UsageError(f"--hook {name} is given twice: give all its options at once, separated by commas")
        if fold(name) in off:
            raise UsageError(f"--hook {name} and --no-hook {off[fold(name)]}: give one of the two")
    for name, given in hooks:
        _check(f"--hook {name}", name, {f"--hook {name}:{o}={text}": (o, text) for o, text in given.items()})
    for name, given in options.items():
        _check(f"--set {name}", name, {f"--set {name}.{o}={text}": (o, text) for o, text in given.items()})
    return CommandLine(hooks=hooks, options=options, disabled=list(arguments.no_hook))


def _check(flag: str, name: str, given: dict[str, tuple[str, str]]) -> None:
    """Check a name and texts by option, these by the flag that gives them."""
    plugin = plugin_named(Named(name, flag))
    options = options_named(plugin, flag)
    for where, (option, text) in given.items():
        title = f"hook {plugin}"
        parsed(option_named(options, option, where, title), text, where, title)
