"""`tenterhooks completion`: scripts by which a shell completes what is typed, and what they ask for."""

import argparse
import sys
from importlib.resources import files
from typing import TYPE_CHECKING

from tenterhooks.cli.output import FINE, say
from tenterhooks.cli.parsing import EXIT_CODES, Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FLAG", "NAME", "SHELLS", "add_to", "complete"]

NAME = "completion"
FLAG = "--complete"
"""What the scripts ask: the words that were typed behind it, of which the last is not yet whole."""
SHELLS = {
    "bash": "source <(tenterhooks completion bash)",
    "zsh": "source <(tenterhooks completion zsh)",
    "fish": "tenterhooks completion fish | source",
}
"""The line that belongs into the file with which each shell starts."""

_DESCRIPTION = """\
Print a script by which a shell completes subcommands, flags, the names of hooks and their options. A line for the file
with which the shell starts:

""" + "\n".join(f"  {shell}: {line}" for shell, line in SHELLS.items())


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="print a script for a shell's tab completion", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    parser.add_argument("shell", metavar="SHELL", choices=list(SHELLS), help=", ".join(SHELLS))
    parser.set_defaults(carry_out=_carry_out)


def complete(parser: Parser, words: "Sequence[str]") -> int:
    """Print what the last word may become: a candidate on each line, with its meaning behind a tab.

    A line `:files` stands for all names of files.
    """
    # Imported late: no other command needs it.
    from tenterhooks.cli.candidates import candidates

    for candidate, meaning in candidates(parser, [*words] or [""]):
        sys.stdout.write(f"{candidate}\t{meaning}\n" if meaning else f"{candidate}\n")
    return FINE


def _carry_out(arguments: argparse.Namespace) -> int:
    script = files("tenterhooks.cli").joinpath(f"shells/{arguments.shell}.txt").read_text(encoding="utf-8")
    for line in script.splitlines():
        say(line)
    return FINE
