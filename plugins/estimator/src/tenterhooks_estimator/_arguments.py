"""What the program gives: functions, which are called with what they name, as in TensorFlow; numbers, and lists."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from tenterhooks import SessionRunHook
from tenterhooks.errors import nearest
from tenterhooks.timer import check_steps

__all__ = ["call", "check_seconds", "check_whole", "listed", "named"]


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


def listed(what: str, value: object) -> list[Any]:
    """What is in a list, or in another iterable, as a list of its own.

    Raises:
        TypeError: It is no list, but one thing that belongs into one, say.
    """
    if isinstance(value, str | Mapping | SessionRunHook) or not isinstance(value, Iterable):
        advice = "leave it out" if value is None else f"pass [{value!r:.60}]"
        raise TypeError(f"{what} is a list, not {value!r:.60} of type {type(value).__name__}: {advice}")
    return list(value)


def check_whole(least: int, **numbers: object) -> None:
    """See that numbers by name are whole and at least so much, where they are given.

    Raises:
        TypeError: One is not whole.
        ValueError: One is less.
    """
    for name, number in numbers.items():
        check_steps(name, number, least)


def check_seconds(**numbers: object) -> None:
    """See that seconds by name are 0 or more, where they are given.

    Raises:
        TypeError: One is no number.
        ValueError: One is less.
    """
    for name, number in numbers.items():
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, Real):
            raise TypeError(f"{name} is a number of seconds, not {number!r:.60} of type {type(number).__name__}")
        if not float(number) >= 0:
            raise ValueError(f"{name} is 0 or more, not {number}")
