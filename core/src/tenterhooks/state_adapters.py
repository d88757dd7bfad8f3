"""What a plugin implements so that values of another framework are part of the state.

An adapter is an entry point of the group `tenterhooks.state`, named after the top-level module of the types that it is
for. It is made, without arguments, when a value is met whose class or a base of it comes from that module, and gives a
handler for each type that it knows. There are four kinds of handlers. Whatever else is of that module is saved as if
there were no adapter. Once it is in use, it is asked for classes of the program's own, too, which may be registered
with the framework.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

__all__ = ["GeneratorHandler", "Handler", "ObjectHandler", "StateAdapter", "TreeHandler", "ValueHandler"]


class ValueHandler(ABC):
    """Saves what is to a framework what an array is to NumPy.

    What it gives is found again wherever it lies in a state, and made the same value again.

    Attributes:
        adapter: The name of the adapter's entry point, by which a checkpoint says who restores the value.
    """

    adapter: str

    @abstractmethod
    def capture(self, value: Any, path: str, shared: dict[Any, Any]) -> dict[str, Any]:
        """The value as a new dict of strings to what a checkpoint can hold. Memory need not be copied.

        Args:
            value: The value.
            path: Where it stands, for messages.
            shared: Empty at first, and the same for all values that are captured together: to tell which of them share
                memory.

        Raises:
            CheckpointError: It cannot be saved.
        """

    @abstractmethod
    def restored(self, saved: Mapping[str, Any], shared: dict[Any, Any]) -> Any:
        """The value that `capture` was given, with memory of its own.

        Args:
            saved: What `capture` gave; a checkpoint may hold anything.
            shared: Empty at first, and the same for all values that are restored together, in the order of `capture`.

        Raises:
            CheckpointError: It is none.
        """

    @abstractmethod
    def form(self, value: Any) -> str | None:
        """What a value that is restored into this one must have in common with it, in words; None: nothing."""

    @abstractmethod
    def saved_form(self, saved: Mapping[str, Any]) -> str:
        """The form of the value of which `capture` gave this; of what it cannot have given, words that say so."""

    @abstractmethod
    def outline(self, value: Any) -> Any:
        """A value of the same form without memory."""

    @abstractmethod
    def load(self, current: Any, value: Any, *, in_place: bool) -> Any:
        """What stands for a restored value from now on.

        Args:
            current: The value of the fresh session, of the same form.
            value: The restored one.
            in_place: Whether `current` shall hold what the other does, where it can take it. Else another one had taken
                its place, and now does: the restored one, on the device of `current`.
        """

    @abstractmethod
    def fetched(self, value: Any, *, copy: bool) -> Any:
        """The value as who fetched it gets it.

        Args:
            value: The value.
            copy: Whether a training op may change its memory thereafter.
        """

    def immutable(self, value: Any) -> bool:
        """Whether a value cannot change in place, so that a loop assigns new ones.

        Of dicts and lists in which such values lie, the keys and the lengths have to be those of the fresh ones.
        """
        return False

    def alike(self, known: Any, value: Any) -> bool:
        """Whether two values are sure to be of one form; what is quicker than `form` may stand for it."""
        return self.form(known) in (None, self.form(value))


class TreeHandler(ABC):
    """Saves values of a class that a framework takes apart and puts together again, by their parts.

    A part is anything that can be saved; of what is fixed, as configuration is, there are none.
    """

    @abstractmethod
    def parts(self, value: Any) -> dict[str, Any]:
        """The parts by name."""

    @abstractmethod
    def with_parts(self, value: Any, parts: Mapping[str, Any]) -> Any:
        """A value like another one, of other parts. These may be outlines."""

    @abstractmethod
    def load(self, current: Any, parts: Mapping[str, Any]) -> Any:
        """What stands for a value from now on: itself with other parts, where it can change, or another one."""

    @abstractmethod
    def immutable(self, value: Any) -> bool:
        """Whether it cannot change in place, its parts apart."""

    def alike(self, known: Any, value: Any) -> bool:
        """Whether two values of one class are sure to fit each other; False where that is not quick to tell."""
        return False


class ObjectHandler(ABC):
    """Saves objects by a state that they take back."""

    @abstractmethod
    def state(self, current: Any) -> Any:
        """What an object is saved by, made of what a checkpoint can hold and of values that have a handler."""

    @abstractmethod
    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Say what of a saved state does not fit the object, as `tenterhooks.state.mismatches` does."""

    @abstractmethod
    def load(self, current: Any, state: Any) -> None:
        """Have the object take a state for which `mismatches` said nothing, with all values in it restored."""


class GeneratorHandler(ABC):
    """Saves random generators. All its states are dicts of "kind", as "a torch.Generator on cpu", and "state"."""

    @abstractmethod
    def get_state(self, generator: Any) -> dict[str, Any]:
        """The state of a generator, which does not move on with it."""

    @abstractmethod
    def set_state(self, generator: Any, state: Mapping[str, Any]) -> None:
        """Set a generator to a state of its kind.

        Raises:
            Exception: One of Python's own for wrong values, or RuntimeError: it is broken.
        """

    @abstractmethod
    def seeded(self, generator: Any) -> dict[str, Any]:
        """The state that it was in when it was seeded last."""

    @abstractmethod
    def copied(self, generator: Any) -> Any:
        """A generator of its own that gives the same numbers."""


Handler = ValueHandler | ObjectHandler | GeneratorHandler | TreeHandler


class StateAdapter(Protocol):
    """Knows the types of a framework."""

    def handler(self, cls: type) -> Handler | None:
        """What handles values of a type; None where these are saved as any others."""
        ...

    def values(self) -> ValueHandler | None:
        """What restores values of the checkpoints that this adapter's handler of values captured."""
        ...

    def global_generators(self) -> Mapping[str, Any]:
        """The generators of the process, by names in angle brackets that begin with that of the adapter."""
        ...
