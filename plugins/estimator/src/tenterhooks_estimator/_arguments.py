"""What the program gives: functions, which are called with what they name, as in TensorFlow; and numbers."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tenterhooks.errors import nearest

__all__ = ["call", "check_least", "named"]


def named(function: Callable[..., Any], what: str, known: Iterable[str]) -> list[str]:
    """The arguments that a function names, of those that it can have.

    Args:
        function: The function.
        what: What it is, for messages.
        known: The arguments that it can have.

    Raises:
        TypeError: It cannot be called, or takes arguments only by position.
        ValueError: It needs another argument.
    """
    known = list(known)
    if not callable(function):
        raise TypeError(f"{what} is a function, not {function!r:.60} of type {type(function).__name__}")
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:
        raise TypeError(f"the parameters of {what} {function!r} cannot be read: wrap it in a function") from error
    names = [p.name for p in parameters if p.name in known and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for p in parameters:
        needed = p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        if needed and p.name not in names:
            raise ValueError(
                f"{what} {function!r} needs the argument {str(p)!r}, and can have {', '.join(known)}"
                f"{nearest(p.name, known)}"
            )
    return names


def call(function: Callable[..., Any], what: str, arguments: Mapping[str, Any]) -> Any:
    """Call a function with those of the arguments that it names."""
    return function(**{name: arguments[name] for name in named(function, what, arguments)})


def check_least(least: int, **numbers: float | None) -> None:
    """See that numbers by name are at least so much, where they are given.

    Raises:
        ValueError: One is not.
    """
    for name, number in numbers.items():
        if number is not None and not number >= least:
            raise ValueError(f"{name} is {least} or more, not {number}")
