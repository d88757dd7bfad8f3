"""What the command prints, and the exit codes with which it ends."""

import atexit
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

from tenterhooks.errors import PluginError

__all__ = [
    "FAILED",
    "FINE",
    "INTERRUPTED",
    "UNREAD",
    "USAGE",
    "FailureError",
    "UsageError",
    "columns",
    "guarded",
    "nothing_after",
    "reserved",
    "say",
    "say_json",
]

_T = TypeVar("_T")

FINE = 0
"""Exit code: all went well."""

FAILED = 1
"""Exit code: a check failed, or the command could not do what it was to do."""

USAGE = 2
"""Exit code: the arguments are wrong, or there is no such script."""

INTERRUPTED = 130
"""Exit code: somebody pressed Ctrl-C."""

UNREAD = 141
"""Exit code: whoever read the output went away, as `head` does."""


class FailureError(PluginError):
    """The command cannot do what it was to do; the message is all that is said of it."""

    code = FAILED


class UsageError(FailureError):
    """The arguments are wrong; the message names the one that is, and what is allowed."""

    code = USAGE


def guarded(step: Callable[[], _T]) -> _T | int:
    """Do a part of what the command does, and give what that gives, or the exit code for what kept it from that."""
    try:
        result = step()
        sys.stdout.flush()
    except PluginError as error:
        say(f"tenterhooks: error: {error}", sys.stderr)
        return error.code if isinstance(error, FailureError) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    return result


@contextlib.contextmanager
def reserved() -> Iterator[None]:
    """Keep the standard output for what the command says: what is printed in the block goes to the standard error.

    That is so for what Python prints, and for what its child processes and libraries in C do.
    """
    with contextlib.ExitStack() as undone:
        # A process that lacks one of the two has nothing to keep apart.
        with contextlib.suppress(OSError):
            kept = os.dup(1)
            undone.callback(os.close, kept)
            _flush()
            os.dup2(2, 1)
            undone.callback(os.dup2, kept, 1)
            undone.callback(_flush)
        undone.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield


def nothing_after() -> None:
    """Have what a script prints at the end of the process go to the standard error, too."""

    @atexit.register
    def _() -> None:
        with contextlib.suppress(OSError):
            _flush()
            os.dup2(2, 1)


def _flush() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        if stream is not None and not stream.closed:
            stream.flush()


def say(line: str = "", stream: TextIO | None = None) -> None:
    """Print a line, by default to the standard output, with what cannot be printed as escapes.

    Metadata of distributions, and names of files or in a checkpoint, may hold anything: line ends, or what a terminal
    takes for a command.
    """
    stream = sys.stdout if stream is None else stream
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
    encoding = stream.encoding or "utf-8"
    stream.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def say_json(content: Any) -> None:
    """Print JSON."""
    # Piece by piece: of a large content the whole text would take much memory.
    json.dump(content, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> Iterator[str]:
    """The rows with their cells below each other, at the left, or at the right in the columns of these numbers."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
