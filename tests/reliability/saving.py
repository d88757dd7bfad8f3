"""A program that saves, and does nothing else."""

import logging
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks_checkpoint import Saver

from .setting import CHECKPOINTS, Warnings, append, leftovers, watch

__all__ = ["save", "state"]


def state(step: int) -> dict[str, Any]:
    """What `save` saves: some of everything, and different at each step."""
    return {"w": np.full(40, step, np.float32), "b": np.arange(step, step + 3), "text": f"step {step}", "n": step}


def save(
    base: str, *, keep: int | None, steps: list[int], watched_from: int = 0, faults: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Save some steps with one saver, and go on when one of them fails.

    Args:
        base: The folder that holds that of the checkpoints.
        keep: The number of checkpoints to keep.
        steps: The steps.
        watched_from: At which of them the shim begins to watch.
        faults: See `watch`; Each step's end is a mark.

    Returns:
        Of each step, the error's type and text ("" if there was none), what was logged, the steps that are listed after
        it, and the left-overs. The file `saved` in the folder has the steps that were saved.
    """
    directory = Path(base) / CHECKPOINTS
    saver = Saver(directory, max_to_keep=keep)
    outcomes = []
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    shim = watch(Path(base), None if faults is None else {})
    for step in steps:
        if step == watched_from:
            shim = watch(Path(base), faults)
        kind = text = ""
        try:
            saver.save(state(step), step=step)
        except Exception as error:
            kind, text = type(error).__name__, str(error)
        if shim is not None:
            shim.mark(step)
        if not kind:
            append(Path(f"{base}.saved"), f"{step}\n")
        with shim.paused() if shim is not None else nullcontext():
            listed = [(found.step, saver.verify(found)) for found in saver.list()]
        outcomes.append(
            {
                "step": step,
                "error": kind,
                "text": text,
                "warnings": warnings.messages,
                "listed": listed,
                "leftovers": leftovers(directory),
            }
        )
        warnings.messages = []
    return outcomes
