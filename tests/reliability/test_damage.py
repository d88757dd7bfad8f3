"""No damage to a file of a checkpoint goes unseen, and the checkpoint before the damaged one is restored.

The last test makes 500 flips, and reads 64 MiB twice for each. The environment's TENTERHOOKS_DAMAGE_FLIPS is another
number of flips.
"""

import logging
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import Saver

FILES = ["arrays.safetensors", "manifest.json", "state.json"]
FLIPS = int(os.environ.get("TENTERHOOKS_DAMAGE_FLIPS", "500"))


def state(step: int, size: int = 3) -> dict[str, Any]:
    return {"w": np.full(size, step, np.float32), "global_step": step}


class Judge:
    """Says whether damage to the newest of two checkpoints is found, by all who ought to find it."""

    def __init__(self, directory: Path, caplog: pytest.LogCaptureFixture, *, size: int = 3) -> None:
        self._saver = Saver(directory, max_to_keep=2)
        self._caplog = caplog
        self.before = self._saver.save(state(1), step=1)
        self.newest = self._saver.save(state(2, size), step=2)
        self._content = state(2, size)["w"].tobytes()
        assert self.finds_nothing()

    def finds(self) -> bool:
        """Whether `verify` finds the damage, and `restore` takes the one before and says why."""
        fault = self._saver.verify(self.newest)
        self._caplog.clear()
        restored = self._restored()
        records = [(record.levelno, record.getMessage()) for record in self._caplog.records]
        said = (logging.WARNING, f"passed over {self.newest.path}, which is not whole: {fault}")
        return bool(fault) and restored == (self.before, state(1)["w"].tobytes()) and records == [said]

    def finds_nothing(self) -> bool:
        """Whether the newest is whole, for `verify` and for `restore`."""
        return self._saver.verify(self.newest) is None and self._restored() == (self.newest, self._content)

    def lists_it(self) -> bool:
        return self.newest in self._saver.list()

    def _restored(self) -> tuple[Checkpoint, bytes]:
        found = self._saver.restore()
        assert found is not None
        checkpoint, restored = found
        assert restored["global_step"] == checkpoint.step
        return checkpoint, restored["w"].tobytes()


def flips(content: bytes) -> Iterator[tuple[str, bytes]]:
    for position, byte in enumerate(content):
        for bit in range(8):
            yield (
                f"bit {bit} of byte {position}",
                content[:position] + bytes([byte ^ 1 << bit]) + content[position + 1 :],
            )


def truncations(content: bytes) -> Iterator[tuple[str, bytes]]:
    for size in range(len(content)):
        yield f"cut to {size} bytes", content[:size]


def additions(content: bytes) -> Iterator[tuple[str, bytes]]:
    for byte in range(256):
        yield f"byte {byte} at the end", content + bytes([byte])
    for more in (bytes(4096), b"\r\n", content):
        yield f"{len(more)} bytes at the end", content + more


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", [flips, truncations, additions])
def test_all_damage_to_a_file_is_found(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, kind: Callable[[bytes], Iterator[tuple[str, bytes]]]
) -> None:
    judge = Judge(tmp_path, caplog)
    path = judge.newest.path / name
    content = path.read_bytes()
    assert content
    unseen, listed = [], []
    for what, damaged in kind(content):
        path.write_bytes(damaged)
        if not judge.finds():
            unseen.append(what)
        # What a list looks at: the manifest itself, and the sizes of the other files.
        if judge.lists_it() and (name == "manifest.json" or kind is not flips):
            listed.append(what)
    assert unseen == []
    assert listed == []
    path.write_bytes(content)
    assert judge.finds_nothing()


def test_random_flips_in_a_large_checkpoint_are_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    judge = Judge(tmp_path, caplog, size=16 << 20)
    sizes = {name: (judge.newest.path / name).stat().st_size for name in FILES}
    assert sum(sizes.values()) > 64 << 20
    chooser = random.Random(0)
    unseen = []
    for _ in range(FLIPS):
        place, bit = chooser.randrange(sum(sizes.values())), chooser.randrange(8)
        name, position = within(sizes, place)
        with (judge.newest.path / name).open("r+b") as file:
            flip(file, position, bit)
            if not judge.finds():
                unseen.append((name, position, bit))
            flip(file, position, bit)
    assert unseen == []
    assert judge.finds_nothing()


def within(sizes: dict[str, int], place: int) -> tuple[str, int]:
    """The file that a place in all files together lies in, and the position there."""
    for name, size in sizes.items():
        if place < size:
            return name, place
        place -= size
    raise ValueError("beyond the last file")


def flip(file: Any, position: int, bit: int) -> None:
    file.seek(position)
    (byte,) = file.read(1)
    file.seek(position)
    file.write(bytes([byte ^ 1 << bit]))
    file.flush()
