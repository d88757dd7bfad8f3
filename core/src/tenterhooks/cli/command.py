"""The command as a whole: its subcommands, those that plugins add, and what becomes of errors."""

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence

from tenterhooks.cli import check, completion, lifecycle, new, plugin_commands, plugins, run, show
from tenterhooks.cli.output import FailureError, guarded, say
from tenterhooks.cli.parsing import EXIT_CODES, Parser

__all__ = ["build_parser", "main"]

_DESCRIPTION = "Switch hooks on for a script, look at those that are installed, and write new ones."
_SUBCOMMANDS = (run, plugins, show, lifecycle, new, check, completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: What stands after the command's name; by default the program's arguments.

    Returns:
        The exit code.

    Raises:
        SystemExit: The arguments are wrong, or ask for help; or a script that is run ends so.
        BaseException: What a script that is run raises.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    script = guarded(lambda: _carry_out(given))
    if isinstance(script, int):
        return script
    try:
        # What a script raises is its own, but for one error that it cannot raise.
        return script()
    except FailureError as error:
        say(f"tenterhooks: error: {error}", sys.stderr)
        return error.code


def _carry_out(given: list[str]) -> "int | run.Ready":
    """Do what is asked for; a script is made ready, and run by the caller."""
    parser = build_parser()
    if given[:1] == [completion.FLAG]:
        return completion.complete(parser, given[1:])
    if given and not given[0].startswith("-") and given[0] not in plugin_commands.BUILT_IN:
        return plugin_commands.run(given[0], given[1:])
    behind: list[str] = []
    if given[:1] in ([run.NAME], [lifecycle.NAME]) and "--" in given:
        place = given.index("--")
        given, behind = given[:place], given[place + 1 :]
    if given in (["--help"], ["-h"]):
        parser.epilog = f"{plugin_commands.listing()}{EXIT_CODES}; a script that is run has its own"
    parsed = parser.parse_args(given)
    if parsed.subcommand is None:
        parser.error(f"a subcommand is missing: {', '.join(plugin_commands.BUILT_IN)}")
    parsed.behind = behind
    outcome: int | run.Ready = parsed.carry_out(parsed)
    return outcome


def build_parser() -> Parser:
    """The parser of all subcommands but those that plugins add."""
    parser = Parser("tenterhooks", description=_DESCRIPTION, epilog=EXIT_CODES)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    subparsers: argparse._SubParsersAction[Parser] = parser.add_subparsers(
        dest="subcommand", metavar="SUBCOMMAND", title="subcommands"
    )
    for module in _SUBCOMMANDS:
        module.add_to(subparsers)
    return parser


class _Version(argparse.Action):
    """Prints the version, which takes a look at what is installed, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say(f"tenterhooks {importlib.metadata.version('tenterhooks')}")
        parser.exit()
