"""`tenterhooks check`: whether a hook keeps the contract, rule by rule."""

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenterhooks.cli.output import FAILED, FINE, FailureError, UsageError, reserved, say, say_json
from tenterhooks.cli.parsing import EXIT_CODES, Parser, add_json
from tenterhooks.errors import nearest
from tenterhooks.options import option_named, options_of, parsed
from tenterhooks.plugins import find

__all__ = ["NAME", "add_to"]

NAME = "check"
_DESCRIPTION = """\
Check a hook against the contract: the rules that any hook has to keep, so that it works in any loop and beside any
other hook. It is made, and called in sessions of its own, in this process and in others."""


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="check a hook against the contract", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    parser.add_argument(
        "checked",
        metavar="NAME|MODULE:CLASS",
        help="the short name of a hook that is installed, or where its class is; modules are looked for here, too",
    )
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="an option to make the hook with"
    )
    add_json(parser)
    parser.set_defaults(carry_out=_carry_out)


def _carry_out(arguments: argparse.Namespace) -> int:
    with reserved():
        factory = _factory(arguments.checked)
        options = _options(arguments.checked, factory, arguments.option)
    # Imported late: it takes its time, and nothing else here needs it.
    from tenterhooks.testing import check_hook

    results = check_hook(factory if ":" in arguments.checked else arguments.checked, **options)
    count = Counter(result.state for result in results)
    if arguments.json:
        rules = [{"rule": result.rule, "state": result.state, "message": result.message} for result in results]
        say_json({"hook": arguments.checked, "rules": rules})
    else:
        for result in results:
            say(f"{result.state.ljust(len('not checked'))}  {result.rule}")
            for line in result.message.splitlines():
                say(f"{' ' * len('not checked')}    {line}")
        say(
            ", ".join(
                f"{number} {state}" for state, number in sorted(count.items(), key=lambda entry: entry[0] != "ok")
            )
        )
    return FAILED if count["failed"] else FINE


def _factory(name: str) -> Any:
    """What makes the hook: an entry point's, or what MODULE:CLASS names."""
    if ":" not in name:
        return find(name).load()
    module_name, _, attribute = name.partition(":")
    if not (module_name and attribute):
        raise UsageError(f"check {name}: write MODULE:CLASS, or the short name of a hook that is installed")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise FailureError(
            f"check {name}: {module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"check {name}: {module_name} has no {part!r}{nearest(part, _public(found))}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"check {name}: it is no class and no function, but {found!r:.60}")
    return found


def _public(of: object) -> list[str]:
    return [name for name, value in vars(of).items() if callable(value) and not name.startswith("_")]


def _options(name: str, factory: Callable[..., Any], given: list[str]) -> dict[str, Any]:
    known = options_of(factory, f"hook {name!r}")
    options: dict[str, Any] = {}
    for text in given:
        option_name, equals, value = text.partition("=")
        where = f"--option {text}"
        if not equals:
            raise UsageError(f"{where}: write NAME=VALUE")
        option = option_named(known, option_name.strip(), where, f"hook {name!r}")
        if option.name in options:
            raise UsageError(f"{where}: the option {option.name!r} is given twice")
        options[option.name] = parsed(option, value, where, f"hook {name!r}")
    return options
