"""What is checked: how to make the hook, and what it needs of a session."""

import copy
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenterhooks.plugins import find, make_hook
from tenterhooks.testing.sessions import Loop, Values
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["HEAVY", "Subject", "with_clock"]

# What takes long to import, and is no matter of a program that does not use it.
HEAVY = frozenset(
    {
        "IPython",
        "cupy",
        "dask",
        "flax",
        "jax",
        "keras",
        "lightning",
        "matplotlib",
        "mlflow",
        "pandas",
        "polars",
        "pyarrow",
        "requests",
        "scipy",
        "seaborn",
        "sklearn",
        "sympy",
        "tensorboard",
        "tensorboardX",
        "tensorflow",
        "torch",
        "transformers",
        "wandb",
    }
)


def _message(record: logging.LogRecord) -> object:
    return record.getMessage()


def _nothing(folder: Path) -> object:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A kind of hook that is checked, and what it needs.

    Attributes:
        factory: The hook's class, or a function that makes it.
        options: What the factory is given; a copy for each hook.
        make: Makes the hook in place of that, given a folder for what it writes and the clock of its session.
        values: The values of each step by name, a list of dicts; or one dict for all steps.
        feeds: What the hook feeds, by name, with its default.
        steps: The number of steps that its sessions make, 3 or more.
        loops: The kinds of sessions that it is for.
        counts_from_start: Whether its periods count from the session's start and are no state, so that a resumed
            session decides as a fresh one does. None: either will do, and it is said.
        heavy: The packages that its module is not to import.
        module: The module that brings it; by default the factory's.
        logged: What of a log record is compared; None: nothing of it. By default its text.
        written: What it wrote into its folder, to be compared; by default nothing is.
    """

    factory: Callable[..., object]
    options: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[[Path, ManualClock], object] | None = None
    values: Values = field(default_factory=dict)
    feeds: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 5
    loops: tuple[Loop, ...] = ("graph", "own")
    counts_from_start: bool | None = False
    heavy: frozenset[str] = HEAVY
    module: str | None = None
    logged: Callable[[logging.LogRecord], object] = _message
    written: Callable[[Path], object] = _nothing

    @classmethod
    def named(cls, name: str, **attributes: Any) -> "Subject":
        """The hook of an installed plugin.

        Args:
            name: Its short name.
            attributes: The other attributes.

        Raises:
            PluginError: The plugin is missing, claimed twice or broken.
        """
        factory = find(name).load()
        options = attributes.get("options", {})

        def make(folder: Path, clock: ManualClock) -> object:
            return make_hook(name, **with_clock(factory, copy.deepcopy(options), clock))

        return cls(factory=factory, make=make, module=find(name).target.partition(":")[0].strip(), **attributes)

    def hook(self, folder: Path, clock: ManualClock | None = None) -> object:
        """Make one.

        Args:
            folder: For what it writes; it is made.
            clock: The clock of its session. A hook with an option `clock` gets it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        clock = clock or ManualClock()
        if self.make is not None:
            return self.make(folder, clock)
        return self.factory(**with_clock(self.factory, copy.deepcopy(dict(self.options)), clock))

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return getattr(self.factory, "__qualname__", repr(self.factory))

    def places(self) -> Iterator[tuple[Loop, str]]:
        """The kinds of sessions, each with the words for it."""
        for loop in self.loops:
            yield loop, "a graph session" if loop == "graph" else "a loop of the program's own"


def with_clock(factory: Callable[..., object], options: Mapping[str, Any], clock: ManualClock) -> dict[str, Any]:
    """Options with the clock of a session, for a factory that takes one and was given none."""
    takes = "clock" in inspect.signature(factory).parameters
    return {**({"clock": clock} if takes else {}), **options}
