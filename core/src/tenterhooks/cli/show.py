"""`tenterhooks show`: the options of one hook, and the stages that it implements."""

import argparse
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from tenterhooks.cli.output import FINE, FailureError, reserved, say, say_json
from tenterhooks.cli.parsing import EXIT_CODES, Parser, add_json
from tenterhooks.cli.stages import class_of, stages_of
from tenterhooks.entry_points import groups
from tenterhooks.hooks import SessionRunHook
from tenterhooks.options import REQUIRED, Option, options_of
from tenterhooks.plugins import HOOKS_GROUP, Plugin, find, installed

__all__ = ["NAME", "add_to"]

NAME = "show"
_DESCRIPTION = """\
Show a hook that is installed: its options with their types, defaults and help, the stages that it implements, and where
it comes from. This imports the plugin."""


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="show the options and the stages of a hook", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    parser.add_argument("installed", metavar="NAME", help="the hook's short name, as `tenterhooks plugins` lists it")
    add_json(parser)
    parser.set_defaults(carry_out=_carry_out)


def _carry_out(arguments: argparse.Namespace) -> int:
    plugin = _plugin(arguments.installed)
    with reserved():
        factory: Callable[..., object] = plugin.load()
    options = options_of(factory, f"hook {plugin}")
    cls = class_of(factory)
    stages = None if cls is None else stages_of(cls)
    description = (_doc(factory) or "").partition("\nArgs:\n")[0].strip()
    if arguments.json:
        say_json(
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "target": plugin.target,
                "description": description,
                "options": [_as_json(option) for option in options],
                "stages": stages,
            }
        )
        return FINE
    say(f"{plugin.name} ({plugin.target}, from {plugin.distribution} {plugin.version})")
    for line in ["", *description.splitlines()] if description else []:
        say(line)
    say()
    say("options:" if options else "no options")
    for option in options:
        for line in _lines(option):
            say(line)
    say()
    say("stages: " + ("not known before it is made" if stages is None else ", ".join(stages) or "none"))
    return FINE


def _doc(factory: object) -> str | None:
    """What is said of the hook, which of one without a docstring is nothing, and not what its base class says."""
    doc = inspect.getdoc(factory)
    return None if doc == inspect.getdoc(SessionRunHook) else doc


def _plugin(name: str) -> Plugin:
    """The plugin of a short name, which is that of a hook."""
    if not any(plugin.name == name for plugin in installed()):
        elsewhere = [group for group in groups() if any(plugin.name == name for plugin in installed(group))]
        if elsewhere and elsewhere != [HOOKS_GROUP]:
            raise FailureError(f"{name!r} is installed and no hook: it is in the group {', '.join(elsewhere)}")
    return find(name)


def _default(option: Option) -> str | None:
    if option.default is REQUIRED:
        return None
    if inspect.isroutine(option.default):
        return f"{option.default.__module__}.{option.default.__qualname__}"
    return repr(option.default)


def _as_json(option: Option) -> dict[str, Any]:
    default = _default(option)
    return {
        "name": option.name,
        "type": option.type or None,
        "default": default,
        "required": default is None,
        "outside_of_code": option.allowed,
        "help": option.help,
    }


def _lines(option: Option) -> Iterator[str]:
    default = _default(option)
    yield f"  {option.name}: {option.type or 'any type'}, {'required' if default is None else f'default {default}'}"
    for line in textwrap.wrap(option.help, 100):
        yield f"      {line}"
    if option.allowed != option.type:
        yield f"      outside of code: {option.allowed or 'cannot be given'}"
