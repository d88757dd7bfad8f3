"""What the programs that are killed, and whose calls fail, have in common."""

import logging
import os
from pathlib import Path
from typing import Any

from .calls import Shim

__all__ = ["CHECKPOINTS", "Warnings", "append", "leftovers", "watch"]

# The folder that is watched holds that of the checkpoints, so that the calls that make it are seen too.
CHECKPOINTS = "checkpoints"


def leftovers(directory: Path) -> list[str]:
    """The unfinished checkpoints that lie in a folder."""
    return sorted(path.name for path in directory.glob(".tmp-*"))


class Warnings(logging.Handler):
    """Keeps what is logged as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def watch(base: Path, faults: dict[str, Any] | None) -> Shim | None:
    """Have the shim watch a folder.

    Args:
        base: The folder.
        faults: `record`: the file to record into; `kill` or `fail`: the arguments of the shim's functions. None where
            there is no shim.
    """
    if faults is None:
        return None
    shim = Shim()
    shim.watch(base, faults.get("record"))
    if "kill" in faults:
        shim.kill(**faults["kill"])
    if "fail" in faults:
        shim.fail(**faults["fail"])
    return shim


def append(path: Path, line: str) -> None:
    """Add a line at one stroke: it is there as a whole, or not at all, if the process is killed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
