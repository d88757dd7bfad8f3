"""The calls of one stage, in their order: they know which of them is being made, without being told each time."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter

__all__ = ["Calls"]


class Calls:
    """The stage of each hook that implements it, called with all arguments.

    Args:
        adapters: Whose they are.
        functions: The hooks' methods.

    Attributes:
        left: An iterator over a list, with an entry for each that is still to be called. A loop over a stage sets it,
            and goes through it.
    """

    __slots__ = ("adapters", "functions", "left")

    def __init__(self, adapters: "Sequence[Adapter]", functions: Sequence[Callable[..., Any]]) -> None:
        self.adapters = list(adapters)
        self.functions = list(functions)
        self.left: Iterator[Any] = iter(self.functions)

    @property
    def place(self) -> int:
        """The place of the call that is being made; -1 before the first."""
        # What an iterator over a list has left tells, so that a loop need not count.
        return len(self.functions) - self.left.__length_hint__() - 1  # type: ignore[attr-defined,no-any-return]

    @property
    def current(self) -> "Adapter | None":
        """Whose call is being made."""
        place = self.place
        return self.adapters[place] if 0 <= place < len(self.adapters) else None
