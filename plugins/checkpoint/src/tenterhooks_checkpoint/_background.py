"""Saves beside the training: the training waits for a copy of the state alone."""

import threading
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint, Saver
from tenterhooks.errors import note
from tenterhooks_checkpoint._snapshot import Snapshot

__all__ = ["BackgroundSaver", "wait_for"]

_all: "weakref.WeakSet[BackgroundSaver]" = weakref.WeakSet()


class BackgroundSaver:
    """Has a saver save in a thread, one checkpoint at a time.

    Args:
        saver: Writes the checkpoints.
    """

    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self._snapshot = Snapshot()
        self._committed: list[Checkpoint] = []
        self._failure: BaseException | None = None
        # Not the thread itself is waited for: Ctrl-C in a join has older Pythons believe that it has ended.
        self._idle = threading.Event()
        self._idle.set()
        self.directory: Path | None = getattr(saver, "directory", None)
        _all.add(self)

    def save(self, state: Mapping[str, Any], *, step: int, metrics: Mapping[str, float]) -> None:
        """Wait for the save before, copy the state, and begin to save it.

        Raises:
            BaseException: What the save before raised.
        """
        self.wait()
        self.raise_failure()
        copied = self._snapshot.take(state)
        # Not a daemon: a program that ends has its last checkpoint written.
        name = f"tenterhooks-checkpoint-step-{step}"
        thread = threading.Thread(target=self._save, args=(copied, step, metrics), name=name)
        self._idle.clear()
        try:
            thread.start()
        except BaseException:
            if thread.ident is None:
                self._idle.set()
            raise

    def save_now(self, state: Mapping[str, Any], *, step: int, metrics: Mapping[str, float]) -> None:
        """Wait for the save before, and save in this thread.

        Raises:
            BaseException: What this save raised, or the one before.
        """
        self.wait()
        failure, self._failure = self._failure, None
        try:
            self._committed.append(self._saver.save(state, step=step, metrics=metrics))
        except BaseException as error:
            if failure is None:
                raise
            note(failure, f"then: {type(error).__name__}: {error}")
            raise failure from None
        if failure is not None:
            raise failure

    def wait(self) -> None:
        """Wait until nothing is being saved."""
        self._idle.wait()

    def raise_failure(self) -> None:
        """Raise what a save raised, once, with its own traceback."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    @property
    def has_news(self) -> bool:
        """Whether there is something to tell of: a checkpoint that was committed, or a failure."""
        return bool(self._committed) or self._failure is not None

    def committed(self) -> Iterator[Checkpoint]:
        """The checkpoints that were committed since this was last asked, the oldest first."""
        while self._committed:
            yield self._committed.pop(0)

    def _save(self, state: Mapping[str, Any], step: int, metrics: Mapping[str, float]) -> None:
        try:
            self._committed.append(self._saver.save(state, step=step, metrics=metrics))
        except BaseException as error:
            note(error, f"in the save of global step {step}, beside the training")
            self._failure = error
        finally:
            self._idle.set()


def wait_for(directory: Path) -> None:
    """Wait until this process saves nothing into a folder: a session that is created anew shall find what was begun."""
    for background in list(_all):
        if background.directory == directory:
            background.wait()
