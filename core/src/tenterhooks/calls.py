"""The calls of one stage, in their order: how far a loop over them has come says which of them is being made."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter

__all__ = ["Calls", "made_by", "place_of"]

_T = TypeVar("_T")


class Calls(list[_T]):
    """The stage of each hook that implements it, or what a loop over them needs of each.

    Args:
        adapters: Whose they are.
        entries: The hooks' methods, or what a loop calls them by.
    """

    __slots__ = ("adapters",)

    def __init__(self, adapters: "Iterable[Adapter]", entries: Iterable[_T]) -> None:
        super().__init__(entries)
        self.adapters = list(adapters)


def made_by(calling: Iterator[Any]) -> "Adapter | None":
    """Whose call a loop over `Calls` makes, or has made last: between two of them, what a hook returned is looked at.

    It is None before the first call and at the end.

    Args:
        calling: What the loop goes through: `iter` of them.
    """
    calls, place = _state(calling)
    return None if place < 0 else calls.adapters[place]


def place_of(calling: Iterator[Any]) -> int:
    """The place of that call; -1 where none is being made."""
    _, place = _state(calling)
    return place


def _state(calling: Any) -> tuple[Any, int]:
    # As it is pickled, CPython's iterator over a list tells the list and how far it has come; and neither at its end.
    # So a loop need not say whom it calls.
    _, (calls,), *index = calling.__reduce__()
    return calls, index[0] - 1 if index else -1
