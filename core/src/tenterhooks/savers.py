"""What keeps checkpoints: the protocol that a saver implements, and how the default one is found."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol, cast

from tenterhooks.plugins import load_default

__all__ = ["Checkpoint", "Saver", "default_saver", "folder_of"]

_NO_METRICS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint that is whole.

    Attributes:
        path: Its folder.
        step: The global step that it holds.
        sequence: Its place in the order in which the checkpoints of a folder were committed. The newest has the
            highest, whatever its step.
        metrics: What was measured when it was saved, by name.
    """

    path: Path
    step: int
    sequence: int
    metrics: Mapping[str, float] = field(default_factory=dict, compare=False)


class Saver(Protocol):
    """Keeps the checkpoints of one folder."""

    def save(self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float] = _NO_METRICS) -> Checkpoint:
        """Write a checkpoint, make it the newest, and delete what is to be kept no longer.

        It may be called from another thread than the one that made the saver, by one at a time.

        Args:
            state: What it shall hold.
            step: Its global step.
            metrics: What was measured at this step, by name; `best` goes by it.

        Raises:
            CheckpointError: It cannot be written; those before it are as they were.
        """
        ...

    def restore(self, checkpoint: Checkpoint | None = None) -> tuple[Checkpoint, dict[str, Any]] | None:
        """Read a checkpoint, by default the newest that is whole.

        Returns:
            The checkpoint and what was saved in it; None if the folder has no checkpoint.

        Raises:
            CheckpointError: The one that is asked for is not whole, or there are some and none is.
        """
        ...

    def verify(self, checkpoint: Checkpoint) -> str | None:
        """Read all of a checkpoint, and say what is wrong with it.

        Returns:
            All faults in one line; None if it is whole, so that `restore` can read it.
        """
        ...

    def list(self) -> "list[Checkpoint]":
        """All checkpoints that are whole, in the order in which they were committed."""
        ...

    def latest(self) -> Checkpoint | None:
        """The one committed last; None if there is none."""
        ...

    def best(self, metric: str | None = None, mode: Literal["min", "max"] | None = None) -> Checkpoint | None:
        """The whole one with the least or the greatest value of a metric, of several the one committed first.

        Args:
            metric: Its name; by default the one that the saver was made with.
            mode: "min" or "max", which is better; by default the one that the saver was made with.

        Returns:
            The checkpoint; None if there is none with that metric. NaN is no value.
        """
        ...

    def open(self) -> None:
        """Take what saving needs, such as hold of the folder, so that what is wrong shows before the first save.

        Opening twice is harmless; a save opens a closed one.

        Raises:
            CheckpointError: Nothing can be saved there.
        """
        ...

    def close(self) -> None:
        """Give back what it holds. Closing twice is harmless."""
        ...


def default_saver(directory: str | Path, *, max_to_keep: int | None = 5) -> Saver:
    """The saver that is installed: the entry point `default` of the group `tenterhooks.savers`.

    Raises:
        PluginError: None is installed.
    """
    factory = cast(
        Callable[..., Saver],
        load_default(
            "tenterhooks.savers", distribution="tenterhooks-checkpoint", purpose="to save and restore checkpoints"
        ),
    )
    return factory(directory, max_to_keep=max_to_keep)


def folder_of(given: str | os.PathLike[str], option: str = "checkpoint_dir") -> Path:
    """The folder that an option gives.

    Raises:
        ValueError: It is an empty text, which would be the working directory.
    """
    if given == "":
        raise ValueError(f"{option} is an empty text: give None where there is none, '.' for the working directory")
    return Path(given)
