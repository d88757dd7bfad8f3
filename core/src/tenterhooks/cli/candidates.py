"""What the word that is being typed may become."""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tenterhooks.cli import plugin_commands
from tenterhooks.cli.output import reserved
from tenterhooks.cli.parsing import Parser
from tenterhooks.errors import PluginError
from tenterhooks.options import Option, options_of
from tenterhooks.plugins import find, installed

__all__ = ["FILES", "candidates"]

FILES = ":files"
"""A candidate that stands for all names of files."""

Found = Iterator[tuple[str, str]]


def candidates(parser: Parser, words: Sequence[str]) -> Found:
    """The candidates for the last of the words behind the command's name, each with what it means.

    Args:
        parser: The parser of the whole command.
        words: The words so far; the last one may be empty.
    """
    *before, current = words
    for candidate, meaning in _all(parser, before, current):
        if candidate == FILES or candidate.startswith(current):
            yield candidate, " ".join(meaning.split())


def _all(parser: Parser, before: list[str], current: str) -> Found:
    subparsers = _subparsers(parser)
    if not before:
        yield from ((action.dest, action.help or "") for action in subparsers._choices_actions)
        yield from ((plugin.name, f"from {plugin.distribution}") for plugin in plugin_commands.usable())
        yield from _flags(parser)
        return
    command: Parser | None = subparsers.choices.get(before[0])
    if command is None or "--" in before:
        # Of a plugin's subcommand, or the script's own.
        yield FILES, ""
        return
    flags = {flag: action for action in command._actions for flag in action.option_strings}
    last = flags.get(before[-1])
    if len(before) > 1 and last is not None and last.nargs != 0:
        yield from _values(last, before, current)
        return
    if current.startswith("-"):
        flag, equals, value = current.partition("=")
        if equals and flag in flags:
            yield from ((f"{flag}={found}", meaning) for found, meaning in _values(flags[flag], before, value))
            return
        yield from _flags(command)
        return
    positional = [action for action in command._actions if not action.option_strings]
    given = _given(before[1:], flags)
    if given < len(positional):
        yield from _values(positional[given], before, current)


def _subparsers(parser: Parser) -> "argparse._SubParsersAction[Parser]":
    (found,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return found


def _flags(parser: Parser) -> Found:
    for action in parser._actions:
        for flag in action.option_strings:
            yield flag, action.help or ""


def _given(words: Sequence[str], flags: dict[str, argparse.Action]) -> int:
    """How many words are no flags and no values of flags."""
    count, is_value = 0, False
    for word in words:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in flags and flags[word].nargs != 0
        else:
            count += 1
    return count


def _values(action: argparse.Action, before: list[str], current: str) -> Found:
    """What the value of a flag, or a positional argument, may be."""
    if action.choices is not None:
        yield from ((choice, "") for choice in action.choices)
    elif action.dest in _BY_ARGUMENT:
        yield from _BY_ARGUMENT[action.dest](before, current)


def _hooks(_: list[str], current: str) -> Found:
    return ((plugin.name, f"from {plugin.distribution}") for plugin in installed())


def _hook_with_options(before: list[str], current: str) -> Found:
    """NAME:OPTION=VALUE,...: a name, or the next option."""
    hook, colon, _ = current.partition(":")
    if not colon:
        for name, meaning in _hooks(before, current):
            yield name, meaning
            if name == current:
                yield f"{name}:", "with options"
        return
    begun = current[: max(current.rfind(":"), current.rfind(",")) + 1]
    if "=" in current[len(begun) :]:
        yield from _texts(hook, current, len(begun))
        return
    yield from ((f"{begun}{option.name}=", option.help) for option in _options(hook) if f"{option.name}=" not in begun)


def _hook_and_option(before: list[str], current: str) -> Found:
    """HOOK.OPTION=VALUE."""
    hook, dot, _ = current.partition(".")
    if not dot:
        yield from ((f"{name}.", meaning) for name, meaning in _hooks(before, current))
    elif "=" in current:
        yield from _texts(hook, current, len(hook) + 1)
    else:
        yield from ((f"{hook}.{option.name}=", option.help) for option in _options(hook))


def _option(before: list[str], current: str) -> Found:
    """NAME=VALUE, of the hook that was named before."""
    for hook in before[1:]:
        yield from ((f"{option.name}=", option.help) for option in _options(hook))


def _texts(hook: str, current: str, start: int) -> Found:
    """The values of an option that has few."""
    name, _, _ = current[start:].partition("=")
    for option in _options(hook):
        if option.name == name and option.annotation is bool:
            yield from ((f"{current[: start + len(name)]}={text}", "") for text in ("true", "false"))


def _options(hook: str) -> Sequence[Option]:
    """The options of a hook, of which this imports the plugin."""
    try:
        with reserved():
            factory = find(hook).load()
        return [option for option in options_of(factory) if option.allowed is not None]
    except PluginError:
        return []


def _modules(_: list[str], current: str) -> Found:
    for path in sorted(Path().glob("*")):
        if path.suffix == ".py" or (path / "__init__.py").exists():
            yield path.stem, os.fspath(path)


def _files(_: list[str], current: str) -> Found:
    yield FILES, ""


# By the name under which the parsers keep the argument.
_BY_ARGUMENT: dict[str, Callable[[list[str], str], Found]] = {
    "checked": _hooks,
    "directory": _files,
    "hook": _hook_with_options,
    "installed": _hooks,
    "module": _modules,
    "no_hook": _hooks,
    "option": _option,
    "script": _files,
    "set": _hook_and_option,
}
