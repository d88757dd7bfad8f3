"""Saves beside the training: the training waits for a copy of the state alone."""

import threading
from collections.abc import Mapping
from typing import Any

from tenterhooks import Checkpoint, Coordinator, Saver
from tenterhooks.errors import note
from tenterhooks_checkpoint._snapshot import Snapshot

__all__ = ["BackgroundSaver"]


class BackgroundSaver:
    """Has a saver save in a thread, one checkpoint at a time.

    What fails there is reported to the coordinator, which raises it in the next run, or at the session's end.

    Args:
        saver: Writes the checkpoints.
    """

    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self._snapshot = Snapshot()
        self._thread: threading.Thread | None = None
        self._committed: list[Checkpoint] = []

    def save(self, state: Mapping[str, Any], *, step: int, metrics: Mapping[str, float], coord: Coordinator) -> None:
        """Wait for the save before, copy the state, and begin to save it.

        Args:
            state: What to save.
            step: Its global step.
            metrics: What was measured at this step.
            coord: Waits for the thread when the session ends or is created anew, and hears of what fails in it.
        """
        self.wait()
        copied = self._snapshot.take(state)
        # Not a daemon: a program that ends has its last checkpoint written.
        self._thread = threading.Thread(
            target=self._save, args=(copied, step, metrics, coord), name=f"tenterhooks-checkpoint-step-{step}"
        )
        coord.register_thread(self._thread)
        self._thread.start()

    def save_now(self, state: Mapping[str, Any], *, step: int, metrics: Mapping[str, float]) -> None:
        """Wait for the save before, and save in this thread.

        Raises:
            CheckpointError: It cannot be saved.
        """
        self.wait()
        self._committed.append(self._saver.save(state, step=step, metrics=metrics))

    def wait(self) -> None:
        """Wait until nothing is being saved."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def committed(self) -> list[Checkpoint]:
        """The checkpoints that were committed since this was last asked, the oldest first."""
        committed = []
        while self._committed:
            committed.append(self._committed.pop(0))
        return committed

    def _save(self, state: Mapping[str, Any], step: int, metrics: Mapping[str, float], coord: Coordinator) -> None:
        try:
            self._committed.append(self._saver.save(state, step=step, metrics=metrics))
        except BaseException as error:
            note(error, f"in the save of global step {step}, beside the training")
            coord.request_stop(error)
