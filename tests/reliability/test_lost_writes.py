"""Whatever a crash of the machine loses of what was not yet on the disk, what was saved is restored."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from tenterhooks import CheckpointError
from tenterhooks_checkpoint import Saver

from .calls import Call, read_record
from .disk import Disk, Tree
from .forks import Forks
from .saving import state
from .setting import CHECKPOINTS


def record(watched: Forks, folder: Path, keep: int, steps: list[int]) -> list[Call]:
    """The calls of several saves, with a mark of the step's number where a save returned."""
    base = folder / "whole"
    base.mkdir()
    faults = {"record": str(folder / "record")}
    watched.run("save", base, keep=keep, steps=steps, watched_from=steps[0], faults=faults)
    calls = read_record(folder / "record")
    disk = Disk()
    for call in calls:
        disk.apply(call)
    assert disk.now() == found(base), "the shim missed a call"
    assert [call.argument for call in calls if call.name == "mark"] == steps
    return calls


def found(base: Path) -> Tree:
    paths = sorted(base.rglob("*"))
    return {path.relative_to(base).as_posix(): None if path.is_dir() else path.read_bytes() for path in paths}


@dataclass(frozen=True, slots=True)
class Crash:
    """What may be there after a crash.

    Attributes:
        after: The last call before it.
        returned: The last step whose save had returned by then; -1 if none had.
        tree: The files.
    """

    after: str
    returned: int
    tree: Tree

    def fault(self, base: Path) -> str | None:
        """What goes wrong when that is restored."""
        fault = fault_of(self.tree, base, self.returned)
        if fault is None:
            return None
        sizes = [f"{path} ({len(content)} bytes)" for path, content in sorted(self.tree.items()) if content is not None]
        return f"after {self.after}, step {self.returned} being saved: {fault}; there is {', '.join(sizes)}"


def crashes(calls: list[Call], begin: int = 0) -> Iterator[Crash]:
    """All crashes after any of some calls, from one of them on, each once."""
    disk = Disk()
    returned = -1
    seen = set()
    for number, call in enumerate(calls):
        disk.apply(call)
        if call.name == "mark":
            returned = call.argument
        for tree in disk.after_a_crash(seed=number) if number >= begin else ():
            key = hash((returned, frozenset(tree.items())))
            if key not in seen:
                seen.add(key)
                yield Crash(f"call {number}, {call}", returned, tree)


def is_safe(calls: list[Call], base: Path, begin: int = 0) -> bool:
    return all(crash.fault(base) is None for crash in crashes(calls, begin))


def fault_of(tree: Tree, base: Path, returned: int) -> str | None:
    base.mkdir()
    try:
        for path, content in sorted(tree.items()):
            if content is None:
                (base / path).mkdir()
            else:
                (base / path).write_bytes(content)
        return fault_in(Saver(base / CHECKPOINTS), returned)
    finally:
        shutil.rmtree(base)


def fault_in(saver: Saver, returned: int) -> str | None:
    try:
        restored = saver.restore()
        broken = [listed.path.name for listed in saver.list() if saver.verify(listed)] if restored else []
    except CheckpointError as error:
        return str(error)
    if broken:
        return f"{broken} are listed and not whole"
    step = -1 if restored is None else restored[0].step
    if step < returned:
        return f"step {step} is restored"
    if restored is not None and (not np.array_equal(restored[1]["w"], state(step)["w"]) or restored[1]["n"] != step):
        return f"what is restored is not what was saved at step {step}"
    return None


def kind_of(call: Call) -> str:
    """Which of the fsync calls of a save it is."""
    name = PurePosixPath(call.path).name
    return ".tmp-*" if name.startswith(".tmp-") else name or "."


@pytest.mark.parametrize(("keep", "steps"), [(1, [1, 2, 3]), (2, [1, 2, 3, 4])])
def test_what_was_saved_outlives_a_crash_at_any_point(
    watched: Forks, tmp_path: Path, keep: int, steps: list[int]
) -> None:
    faults = [crash.fault(tmp_path / "crashed") for crash in crashes(record(watched, tmp_path, keep, steps))]
    assert len(faults) > 1000
    assert [fault for fault in faults if fault] == []


def test_without_the_fsync_calls_of_one_kind_something_would_be_lost(watched: Forks, tmp_path: Path) -> None:
    calls = record(watched, tmp_path, 2, [1, 2, 3])
    kinds = sorted({kind_of(call) for call in calls if call.name == "fsync"})
    assert {".", ".tmp-*", CHECKPOINTS, "manifest.json"} < set(kinds)
    for kind in kinds:
        fewer = [call for call in calls if call.name != "fsync" or kind_of(call) != kind]
        assert not is_safe(fewer, tmp_path / "crashed"), f"nothing shows that {kind} needs an fsync"


def test_each_single_fsync_call_is_needed(watched: Forks, tmp_path: Path) -> None:
    calls = record(watched, tmp_path, 1, [1, 2])
    numbers = [number for number, call in enumerate(calls) if call.name == "fsync"]
    assert len(numbers) > 8
    for number in numbers:
        fewer = calls[:number] + calls[number + 1 :]
        assert not is_safe(fewer, tmp_path / "crashed", begin=number), f"nothing shows the need of {calls[number]}"
