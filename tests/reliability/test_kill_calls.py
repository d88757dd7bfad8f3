"""Killed before any call that a save makes, and in the midst of any write, a program loses nothing that was saved."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_checkpoint import Saver

from .calls import Call, read_record
from .forks import Forks
from .saving import state
from .setting import CHECKPOINTS, leftovers

STEPS = [1, 2, 3, 4, 5]


def save(watched: Forks, base: Path, keep: int, faults: dict[str, Any]) -> bool:
    """Whether the program was killed."""
    return watched.run("save", base, keep=keep, steps=STEPS, watched_from=STEPS[0], faults=faults).killed


def train(watched: Forks, base: Path, *, life: int, faults: dict[str, Any]) -> Any:
    """What the program returned; None if it was killed."""
    return watched.run("train", base, life=life, last_step=9, every=2, keep=1, faults=faults).result


def points(calls: list[Call]) -> Iterator[tuple[int, bool]]:
    """The points between which the disk changes: the number of a call, and whether it is in the midst of it."""
    for number, call in enumerate(calls, 1):
        if call.changes:
            yield number, False
        if len(call.data) > 1:
            yield number, True


def recorded(path: Path) -> list[Call]:
    return [call for call in read_record(path) if call.name != "mark"]


def saved(base: Path, name: str) -> int:
    """The last step whose save is known to be over; -1 if there is none."""
    path = Path(f"{base}.{name}")
    return int(path.read_text().splitlines()[-1].split()[0]) if path.exists() else -1


def faults_of(base: Path, known: int) -> Iterator[str]:
    saver = Saver(base / CHECKPOINTS)
    listed = saver.list() if saver.directory.exists() else []
    for found in listed:
        fault = saver.verify(found)
        if fault:
            yield f"{found.path.name} is listed and not whole: {fault}"
    newest = listed[-1].step if listed else -1
    if newest < known:
        yield f"the newest is step {newest}, and {known} was saved"


def clear(folder: Path) -> None:
    for path in folder.glob("trial*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("keep", [1, 2])
def test_killed_at_each_call_of_several_saves(watched: Forks, tmp_path: Path, keep: int) -> None:
    (tmp_path / "whole").mkdir()
    assert not save(watched, tmp_path / "whole", keep, {"record": str(tmp_path / "record")})
    calls = recorded(tmp_path / "record")
    base = tmp_path / "trial"
    faults, alive, seen = [], [], 0
    for number, midst in points(calls):
        base.mkdir()
        if not save(watched, base, keep, {"kill": {"at": number, "midst": midst}}):
            alive.append(number)
        found = list(faults_of(base, saved(base, "saved")))
        # A later process goes on, and cleans up.
        (later,) = watched.run("save", base, keep=keep, steps=[9], faults={}).result
        if later["error"] or later["listed"][-1] != [9, None] or len(later["listed"]) > keep:
            found.append(f"a later save ends so: {later}")
        if later["leftovers"]:
            found.append(f"a later save leaves {later['leftovers']}")
        restored = Saver(base / CHECKPOINTS).restore()
        if restored is None or restored[1]["text"] != state(9)["text"]:
            found.append("what it saved is not restored")
        faults += [f"{'in the midst of' if midst else 'before'} call {number}, {calls[number - 1]}: {f}" for f in found]
        seen += 1
        clear(tmp_path)
    assert faults == []
    assert alive == []
    assert seen > 100


def test_killed_at_each_call_of_a_training(watched: Forks, tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = train(watched, tmp_path / "whole", life=0, faults={"record": str(tmp_path / "record")})
    calls = recorded(tmp_path / "record")
    base = tmp_path / "trial"
    faults, killed = [], 0
    for number, midst in points(calls):
        base.mkdir()
        killed += train(watched, base, life=0, faults={"kill": {"at": number, "midst": midst}}) is None
        found = list(faults_of(base, saved(base, "saved-0")))
        resumed = train(watched, base, life=1, faults={})
        if resumed["same"] != whole["same"]:
            found.append("the resumed run ends otherwise")
        if saved(base, "saved-1") > 0 and leftovers(base / CHECKPOINTS):
            found.append(f"the resumed run leaves {leftovers(base / CHECKPOINTS)}")
        faults += [f"{'in the midst of' if midst else 'before'} call {number}, {calls[number - 1]}: {f}" for f in found]
        clear(tmp_path)
    assert faults == []
    assert killed > 100
