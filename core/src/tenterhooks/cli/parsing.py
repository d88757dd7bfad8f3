"""The parser of the command: each fault of its arguments is one line, with the nearest right word."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tenterhooks.cli.output import USAGE, say
from tenterhooks.errors import nearest

__all__ = ["EXIT_CODES", "Parser", "add_json"]

EXIT_CODES = "exit codes: 0 all went well, 1 a check failed or the command could not do its work, 2 wrong usage"


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    # What is said where there are arguments that nothing takes.
    advice = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        command = self.prog.partition(" ")[2]
        say(f"tenterhooks: error: {command + ': ' if command else ''}{message}; see {self.prog} --help", sys.stderr)
        sys.exit(USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments, all of which have to be known."""
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"nothing takes {' '.join(left)!r}{self._meant(left)}{self.advice}")
        return parsed, left

    def _meant(self, left: Sequence[str]) -> str:
        flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
        return nearest(left[0].partition("=")[0], flags) if left[0].startswith("-") else ""


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the flag `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")
