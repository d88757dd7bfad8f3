"""The command that looks at a folder of checkpoints: `ls`, `verify` and `show`."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint
from tenterhooks.cli.output import INTERRUPTED, UNREAD, columns, guarded, say, say_json
from tenterhooks_checkpoint import _files, _manifest, _outline
from tenterhooks_checkpoint._listing import items
from tenterhooks_checkpoint._manifest import STATE, NotWholeError
from tenterhooks_checkpoint._report import HEAD, Report, reports
from tenterhooks_checkpoint._text import byte_count, local_time
from tenterhooks_checkpoint.saver import Saver

__all__ = ["BROKEN", "FINE", "INTERRUPTED", "UNREAD", "USAGE", "main", "subcommand"]

FINE = 0
"""Exit code: all that was looked at is whole."""

BROKEN = 1
"""Exit code: something that was looked at is broken."""

USAGE = 2
"""Exit code: the arguments are wrong, or there is no such folder or checkpoint."""

_DESCRIPTION = "Look at a folder of checkpoints. Nothing in it is changed."
_EXIT_CODES = "exit codes: 0 all that was looked at is whole, 1 something is broken, 2 wrong usage or no such folder"


class _UsageError(Exception):
    """There is nothing to look at; the message says what to do."""


def main(arguments: Sequence[str] | None = None, *, prog: str = "python -m tenterhooks_checkpoint") -> int:
    """Run the command.

    Args:
        arguments: What stands after the command's name; by default the program's arguments.
        prog: The command's name, for its messages.

    Returns:
        The exit code.

    Raises:
        SystemExit: The arguments are wrong, or ask for help.
    """
    parser = argparse.ArgumentParser(prog, description=_DESCRIPTION, epilog=_EXIT_CODES)
    _add_commands(parser)
    parsed = parser.parse_args(arguments)
    code: int = guarded(lambda: parsed.run(parsed))
    return code


def subcommand(arguments: Sequence[str]) -> int:
    """Run the command as `tenterhooks checkpoints`, which the entry-point group `tenterhooks.commands` makes of it.

    Arguments, result and errors are those of `main`.
    """
    return main(arguments, prog="tenterhooks checkpoints")


def _add_commands(parser: argparse.ArgumentParser) -> None:
    """Add `ls`, `verify` and `show` to a parser; each sets `run`, which takes the arguments and gives the exit code."""
    commands = parser.add_subparsers(required=True, dest="checkpoint_command", metavar="{ls,verify,show}")
    _add(commands, "ls", _ls, "list the checkpoints in the order of their commits; reads their manifests alone")
    verify = _add(commands, "verify", _verify, "read the checkpoints, and say what is wrong with them")
    show = _add(commands, "show", _show, "show what a checkpoint holds; reads no large arrays")
    for command, default in ((verify, "all"), (show, "the newest that is whole")):
        command.add_argument(
            "checkpoint", metavar="CHECKPOINT", nargs="?", help=f"its folder's name, or its step (default: {default})"
        )


def _add(commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, epilog=_EXIT_CODES)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder")
    parser.add_argument("--json", action="store_true", help="print JSON")

    def run_or_say_why_not(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except _UsageError as error:
            say(f"{parser.prog}: {error}", sys.stderr)
            return USAGE

    parser.set_defaults(run=run_or_say_why_not)
    return parser


def _ls(arguments: argparse.Namespace) -> int:
    checkpoints, leftovers = _there(arguments.directory)
    found = list(reports(checkpoints, _visible_fault))
    if arguments.json:
        temporary = [{"name": left.path.name, "pid": left.pid, "in_use": left.in_use} for left in leftovers]
        say_json({"checkpoints": [report.as_json() for report in found], "temporary": temporary})
        return _code(found)
    if not found:
        say(f"no checkpoints in {arguments.directory}")
    for line in columns([HEAD, *map(Report.as_row, found)] if found else [], right=(0, 1, 2)):
        say(line)
    for left in leftovers:
        what = "works in it" if left.in_use else "left it and is no more; the next save removes it"
        say(f"{left.path.name}: process {left.pid} {what}")
    return _code(found)


def _verify(arguments: argparse.Namespace) -> int:
    chosen = _chosen(arguments.directory, arguments.checkpoint)
    found = []
    for report in reports(chosen, Saver(arguments.directory).verify):
        found.append(report)
        if not arguments.json:
            say(f"{report.checkpoint.path.name}: {report.state}")
            sys.stdout.flush()  # a large one takes its time
    if arguments.json:
        say_json({"checkpoints": [report.as_json() for report in found]})
    elif not found:
        say(f"no checkpoints in {arguments.directory}")
    return _code(found)


def _show(arguments: argparse.Namespace) -> int:
    chosen = _chosen(arguments.directory, arguments.checkpoint)
    if not chosen:
        raise _UsageError(f"no checkpoints in {arguments.directory}: give a folder that has some")
    state: dict[str, Any] = {}

    def fault(checkpoint: Checkpoint) -> str | None:
        try:
            _manifest.check(checkpoint, contents=(STATE,))
            state.update(_outline.read(checkpoint))
        except NotWholeError as error:
            return str(error)
        return None

    found = []
    for report in reports(reversed(chosen), fault):
        found.append(report)
        if report.fault is None:
            break
        say(f"{report.checkpoint.path.name}: {report.state}", sys.stderr)
    whole = [report for report in found if report.fault is None]
    entries = list(items(state)) if whole else []
    if arguments.json:
        content = {
            "checkpoint": whole[0].as_json() if whole else None,
            "passed_over": [report.as_json() for report in found if report.fault is not None],
            "entries": [entry.as_json() for entry in entries],
        }
        say_json(content)
    elif whole:
        say(f"{whole[0].checkpoint.path.name}, {byte_count(whole[0].size)}, {local_time(whole[0].time)}")
        for line in columns([entry.as_row() for entry in entries]):
            say(line)
    return _code(found)


def _visible_fault(checkpoint: Checkpoint) -> str | None:
    try:
        _manifest.check(checkpoint)
    except NotWholeError as error:
        return str(error)
    return None


def _there(directory: Path) -> tuple[list[Checkpoint], list[_files.Leftover]]:
    """The checkpoints of a folder, or the one that it is itself, and its temporary folders."""
    try:
        if not directory.is_dir():
            raise _UsageError(f"there is no folder {directory}: give the checkpoint_dir of a run")
        found = _manifest.committed(directory)
        itself = _manifest.named(directory)
        return found if found or itself is None else [itself], _files.leftovers(directory)
    except (OSError, ValueError) as error:
        raise _UsageError(f"cannot look into {directory}: {error}") from error


def _chosen(directory: Path, choice: str | None) -> list[Checkpoint]:
    """The checkpoints of a folder, or the one that is asked for.

    Raises:
        _UsageError: There is no such folder, or no such checkpoint.
    """
    found, _ = _there(directory)
    if choice is None:
        return found
    # Of several of one step the newest.
    for checkpoint in reversed(found):
        if choice == str(checkpoint.step) or checkpoint.path in (directory / choice, Path(choice)):
            return [checkpoint]
    there = ", ".join(checkpoint.path.name for checkpoint in found) or "none"
    raise _UsageError(f"no checkpoint {choice!r} in {directory}: give its folder's name or its step; there are {there}")


def _code(found: Iterable[Report]) -> int:
    return BROKEN if any(report.fault is not None for report in found) else FINE
