"""The exceptions that the core raises, notes on any, and how a message names the nearest right word."""

import contextlib
import difflib
from collections.abc import Iterable

__all__ = [
    "AbortedError",
    "CheckpointError",
    "ConfigurationError",
    "DeadlineExceededError",
    "HookError",
    "NotPublishedError",
    "OutOfRangeError",
    "PluginError",
    "UnavailableError",
    "UnknownNameError",
]


class OutOfRangeError(Exception):
    """The input ran out. A monitored session that sees it ends cleanly."""


class AbortedError(Exception):
    """The run was aborted, as when a worker is lost. `MonitoredSession` recovers from it."""


class UnavailableError(Exception):
    """Something that the run needs is not there for now. `MonitoredSession` recovers from it."""


class DeadlineExceededError(Exception):
    """What was waited for did not come in time."""


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written, or none that is asked for can be restored."""


class HookError(TypeError):
    """An object is no hook, or one of its stages is not as the specification has it.

    Attributes:
        hook: The object.
    """

    def __init__(self, message: str, hook: object = None) -> None:
        super().__init__(message)
        self.hook = hook


class PluginError(RuntimeError):
    """A plugin is missing, broken, claimed by two distributions, or was given a wrong option."""


class ConfigurationError(PluginError):
    """What a file, the environment or the command line says of hooks is wrong.

    Attributes:
        where: Where it says so: a file and line, an environment variable, or a flag.
    """

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


class UnknownNameError(KeyError):
    """No node of the graph has this name; the message lists the nearest ones."""

    def __str__(self) -> str:
        """The message as it is: a `KeyError` would put it in quotes."""
        return Exception.__str__(self)


class NotPublishedError(UnknownNameError):
    """Somebody wants a value that a loop of the program's own did not publish.

    Attributes:
        name: The name of the value.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def note(error: BaseException, text: str) -> None:
    """Add a note to an error, unless it has it already, since the same object may be raised again.

    Never raises: an error that takes no notes in any way goes without.
    """
    with contextlib.suppress(Exception):
        notes = getattr(error, "__notes__", None) or ()
        if text in notes:
            return
        try:
            error.add_note(text)
        except Exception:
            # A frozen dataclass lets nothing be set on it but past its own `__setattr__`.
            object.__setattr__(error, "__notes__", [*notes, text])


def nearest(word: str, known: Iterable[str]) -> str:
    """A clause that says which of the known words are meant by one that is not known.

    Args:
        word: What was given.
        known: What would have been right.

    Returns:
        For instance "; the nearest: 'loss', 'logits'", or all known words where there are few and none is near.
    """
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=3, cutoff=0.5)
    if close:
        return "; the nearest: " + ", ".join(map(repr, close))
    if not words:
        return "; there are none"
    if len(words) <= 12:
        return "; there are: " + ", ".join(map(repr, words))
    return f"; there are {len(words)}, from {words[0]!r} to {words[-1]!r}"
