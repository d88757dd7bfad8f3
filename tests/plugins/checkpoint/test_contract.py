"""CheckpointSaverHook keeps the contract of all hooks."""

import logging
from pathlib import Path

from tenterhooks.testing import HookContract
from tenterhooks_checkpoint import CheckpointSaverHook, Saver


class TestEachStep(HookContract):
    hook_class = CheckpointSaverHook
    options = {"save_steps": 1, "asynchronous": False}
    values = {"loss": 1.0}
    steps = 3

    def written(self, folder: Path) -> list[int]:
        """Which steps it has saved; one that a session begins with is saved by that, too."""
        return sorted({checkpoint.step for checkpoint in Saver(folder).list()})


class TestSteps(HookContract):
    hook_class = CheckpointSaverHook
    options = {"save_steps": 2, "asynchronous": False}
    steps = 4
    counts_from_start = True


class TestSeconds(HookContract):
    hook_class = CheckpointSaverHook
    options = {"save_secs": 2.0, "asynchronous": False}
    steps = 3
    counts_from_start = True


class TestBesideTheTraining(HookContract):
    hook_class = CheckpointSaverHook
    options = {"save_steps": 1, "best": "loss"}
    values = [{"loss": loss} for loss in (3.0, 1.0, 2.0)]
    steps = 3

    def logged(self, record: logging.LogRecord) -> None:
        """When a thread has saved, and so when that is logged, is no decision."""
