"""Any call of a save may fail: it is said, what was saved before is whole, and the next save succeeds and cleans up."""

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_checkpoint import Saver

from .calls import Call, read_record
from .forks import Forks
from .setting import CHECKPOINTS, leftovers

ERRORS = [errno.ENOSPC, errno.EIO, errno.EDQUOT]
KEEP = 2
TRAINING = {"last_step": 2, "every": 2, "keep": 1}


def temporary_names(calls: list[Call]) -> set[str]:
    """The folders that become checkpoints."""
    return {call.path for call in calls if call.name == "rename" and Path(call.to).name.startswith("checkpoint-")}


def has_to_surface(call: Call, temporary: set[str]) -> bool:
    """Whether there is no checkpoint, or none that outlives a crash, without this call."""
    unfinished = call.path in temporary or str(Path(call.path).parent) in temporary
    makes_the_folder = call.name == "mkdir" and call.path == CHECKPOINTS
    return call.name == "fsync" or makes_the_folder or (unfinished and call.name not in ("chmod", "close"))


def reads(call: Call) -> bool:
    return not call.changes


def faults_of_error(outcome: dict[str, Any], base: Path, call: Call, *, surfaces: bool) -> Iterator[str]:
    """What is wrong with how a failure was told."""
    if outcome["error"]:
        if outcome["error"] != "CheckpointError" or str(base / CHECKPOINTS) not in outcome["text"]:
            yield f"the error is {outcome['error']}: {outcome['text']}"
    elif surfaces:
        yield "it did not surface"
    elif not outcome["warnings"] and not reads(call):
        yield "neither error nor warning tells of it"


def clear(folder: Path) -> None:
    for path in folder.glob("trial*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def save(watched: Forks, base: Path, steps: list[int], at: int, faults: dict[str, Any]) -> list[dict[str, Any]]:
    base.mkdir()
    outcomes: list[dict[str, Any]] = watched.run(
        "save", base, keep=KEEP, steps=steps, watched_from=at, faults=faults
    ).result
    return outcomes


def calls_of_step(watched: Forks, folder: Path, steps: list[int], at: int) -> list[Call]:
    """The calls of one save."""
    save(watched, folder / "whole", steps, at, {"record": str(folder / "record")})
    calls = read_record(folder / "record")
    return calls[: [call.name for call in calls].index("mark")]


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize(("steps", "at"), [([1, 2], 1), ([1, 2, 3, 4], 3)], ids=["first save", "save with pruning"])
def test_each_call_of_a_save_fails_once(watched: Forks, tmp_path: Path, error: int, steps: list[int], at: int) -> None:
    calls = calls_of_step(watched, tmp_path, steps, at)
    assert len(calls) > 20
    temporary = temporary_names(calls)
    base = tmp_path / "trial"
    faults = []
    for number, call in enumerate(calls, 1):
        outcomes = save(watched, base, steps, at, {"fail": {"at": number, "error": error}})
        *before, failed, later = [outcome for outcome in outcomes if outcome["step"] <= at + 1]
        found = list(faults_of_error(failed, base, call, surfaces=has_to_surface(call, temporary)))
        earlier = before[-1]["listed"] if before else []
        wanted = earlier if failed["error"] else [*earlier, [at, None]][-KEEP:]
        if [listed for listed in wanted if listed not in failed["listed"]]:
            found.append(f"after it {failed['listed']} are listed")
        if later["error"] or later["listed"][-1] != [at + 1, None] or len(later["listed"]) > KEEP:
            found.append(f"the next save ends so: {later}")
        if later["leftovers"]:
            found.append(f"the next save leaves {later['leftovers']}")
        faults += [f"call {number}, {call}: {fault}" for fault in found]
        clear(tmp_path)
    assert faults == []


@pytest.mark.parametrize("error", [0, errno.ENOSPC], ids=["", "then ENOSPC"])
def test_a_write_that_is_cut_short_is_completed_or_an_error(watched: Forks, tmp_path: Path, error: int) -> None:
    steps, at = [1, 2, 3], 2
    writes = [
        number for number, call in enumerate(calls_of_step(watched, tmp_path, steps, at), 1) if len(call.data) > 1
    ]
    assert len(writes) >= 3
    base = tmp_path / "trial"
    for number in writes:
        _, cut, later = save(watched, base, steps, at, {"fail": {"at": number, "error": error, "short": True}})
        saved = [at, None] in cut["listed"]
        assert saved == (cut["error"] == "") == (error == 0)
        assert cut["leftovers"] == later["leftovers"] == []
        assert (later["error"], later["listed"][-1]) == ("", [at + 1, None])
        clear(tmp_path)


@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
def test_each_call_of_a_training_fails_once(watched: Forks, tmp_path: Path, error: int) -> None:
    (tmp_path / "whole").mkdir()
    faults: dict[str, Any] = {"record": str(tmp_path / "record")}
    whole = watched.run("train", tmp_path / "whole", life=0, faults=faults, **TRAINING).result
    calls = read_record(tmp_path / "record")
    assert len(calls) > 40
    temporary = temporary_names(calls)
    base = tmp_path / "trial"
    told = []
    for number, call in enumerate(calls, 1):
        base.mkdir()
        faults = {"fail": {"at": number, "error": error}}
        failed = watched.run("attempt", base, life=0, faults=faults, **TRAINING).result
        found = list(faults_of_error(failed, base, call, surfaces=has_to_surface(call, temporary)))
        saver = Saver(base / CHECKPOINTS)
        listed = saver.list() if saver.directory.exists() else []
        found += [f"{checkpoint.path.name} is not whole" for checkpoint in listed if saver.verify(checkpoint)]
        if not listed and Path(f"{base}.saved-0").exists():
            found.append("what was saved before is gone")
        resumed = watched.run("attempt", base, life=1, faults={}, **TRAINING).result
        if resumed["error"] or resumed["result"]["same"] != whole["same"]:
            found.append(f"the next training ends so: {resumed}")
        if Path(f"{base}.saved-1").exists() and leftovers(base / CHECKPOINTS):
            found.append(f"the next training leaves {leftovers(base / CHECKPOINTS)}")
        told += [f"call {number}, {call}: {fault}" for fault in found]
        clear(tmp_path)
    assert told == []
