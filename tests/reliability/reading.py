"""Reads a folder of checkpoints over and over while somebody writes. As a program: until its input ends."""

import json
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import Saver

__all__ = ["Reading", "state"]


def state(step: int) -> dict[str, Any]:
    """A state all of whose parts tell the step."""
    return {
        "global_step": step,
        "variables": {"large": np.full(1 << 15, step), "small": np.full(3, step, np.float32), "number": step},
        "hooks": {"count": {"text": str(step), "array": np.array(step)}},
    }


class Reading:
    """What one reader saw.

    Args:
        saver: Reads the folder.
    """

    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self.sequences: set[int] = set()
        self.newest = 0
        self.restores = 0
        self.wrong: list[str] = []

    def go_on_until(self, stopped: Callable[[], bool]) -> None:
        """Read until then, and once more after it."""
        last = False
        while not last and not self.wrong:
            last = stopped()
            try:
                self.read()
            except Exception:
                self.wrong.append(traceback.format_exc())

    def read(self) -> None:
        """List and restore once, and note what is wrong with that."""
        listed = self._saver.list()
        self._take("listed", listed[-1] if listed else None)
        self._take("latest", self._saver.latest())
        found = self._saver.restore()
        if found is None:
            self.wrong.append("nothing was restored")
            return
        checkpoint, restored = found
        self._take("restored", checkpoint)
        self.restores += 1
        self.sequences.add(checkpoint.sequence)
        steps = _steps(restored)
        if steps != {checkpoint.step}:
            self.wrong.append(f"{checkpoint} holds the steps {steps}")

    def _take(self, what: str, newest: Checkpoint | None) -> None:
        if newest is None:
            self.wrong.append(f"nothing was {what} after {self.newest}")
        elif newest.sequence < self.newest:
            self.wrong.append(f"{newest.sequence} was {what} after {self.newest}")
        else:
            self.newest = newest.sequence

    def report(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "wrong": self.wrong,
            "newest": self.newest,
            "restores": self.restores,
            "sequences": sorted(self.sequences),
        }


def _steps(restored: Any) -> set[int]:
    """The steps that the parts of a state tell, -1 for one that is not as it was saved."""
    step = restored["global_step"]
    expected, found = _bits(state(step)), _bits(restored)
    return {step} if found == expected else {step, -1}


def _bits(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bits(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value


def main() -> None:
    """Read the folder that is named, say when it was read once, and what was seen when the input has ended."""
    reading = Reading(Saver(Path(sys.argv[1])))
    reading.read()
    print("ready", flush=True)
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    reading.go_on_until(ended.is_set)
    print(json.dumps(reading.report()), flush=True)


if __name__ == "__main__":
    main()
