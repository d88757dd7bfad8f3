"""A training that is killed at any instant goes on from its last commit, and ends as if nothing had been.

The environment's TENTERHOOKS_KILLS is the number of instants. All of it:

    TENTERHOOKS_KILLS=1000 python -m pytest tests/reliability/test_kill_instants.py
"""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenterhooks_checkpoint import Saver

from .forks import Forks, Outcome
from .setting import CHECKPOINTS, leftovers

KILLS = int(os.environ.get("TENTERHOOKS_KILLS", "40"))
LAST_STEP = 41
EVERY = 2
# Of one training, and no more: what a killed life left is met by one that is killed, too.
KILLED_LIVES = 2


def train(forks: Forks, base: Path, *, keep: int, life: int, kill_after: float | None = None) -> Outcome:
    return forks.run("train", base, kill_after=kill_after, life=life, last_step=LAST_STEP, every=EVERY, keep=keep)


def lines(base: Path, name: str) -> list[str]:
    path = Path(f"{base}.{name}")
    return path.read_text().splitlines() if path.exists() else []


def with_life(batches: list[str], base: Path, life: int) -> list[str]:
    """The batches that count: those of a life, in place of what the one before did beyond its last commit."""
    new = lines(base, f"batches-{life}")
    begun = int(new[0].split(":")[0]) - 1 if new else len(batches)
    return batches[:begun] + new


def faults_of_life(base: Path, life: int, keep: int, *, killed: bool) -> Iterator[str]:
    """What is wrong with what a life left."""
    saver = Saver(base / CHECKPOINTS)
    listed = saver.list() if saver.directory.exists() else []
    for found in listed:
        fault = saver.verify(found)
        if fault:
            yield f"{found.path.name} is listed and not whole: {fault}"
    newest = listed[-1].step if listed else -1
    saved = [line.split() for earlier in range(life + 1) for line in lines(base, f"saved-{earlier}")]
    for step, *left in saved:
        if newest < int(step):
            yield f"step {step} was saved, and the newest is {newest}"
        if left:
            yield f"after the save of step {step} there was still {left}"
    # One that begins at the last step has nothing to save, and deletes nothing.
    if not killed and lines(base, f"saved-{life}"):
        if len(listed) > keep:
            yield f"more than {keep} are kept"
        if leftovers(saver.directory):
            yield f"it left {leftovers(saver.directory)}"


@pytest.mark.parametrize("keep", [1, 3])
def test_killed_at_any_instant_it_ends_as_if_it_had_not_been(forks: Forks, tmp_path: Path, keep: int) -> None:
    whole = train(forks, tmp_path / "whole", keep=keep, life=0)
    wanted = lines(tmp_path / "whole", "batches-0")
    assert len(wanted) == LAST_STEP
    chooser = random.Random(keep)
    base = tmp_path / "trial"
    faults: list[str] = []
    begun: set[int] = set()
    killed, tries, longest = 0, 0, whole.seconds
    # On a slow machine the first ones may all be killed near the same steps.
    while killed < KILLS // 2 or len(begun) <= min(3, KILLS // 10):
        tries += 1
        assert tries < 10 * KILLS, f"hardly any was killed before it ended, or all near the same steps: {begun}"
        instants: list[float | None] = [chooser.uniform(0.0, longest) for _ in range(KILLED_LIVES)]
        batches: list[str] = []
        found: list[str] = []
        for life, instant in enumerate([*instants, None]):
            outcome = train(forks, base, keep=keep, life=life, kill_after=instant)
            batches = with_life(batches, base, life)
            found += faults_of_life(base, life, keep, killed=outcome.killed)
            killed += outcome.killed
            if not outcome.killed:
                longest = min(longest, outcome.seconds) if life == 0 else longest
                begun.add(outcome.result["begun"])
                if outcome.result["same"] != whole.result["same"]:
                    found.append(f"resumed at step {outcome.result['begun']}, it ended otherwise")
                if batches != wanted:
                    found.append(f"resumed at step {outcome.result['begun']}, it was not given the same batches")
                break
        faults += [f"killed after {instants} s: {fault}" for fault in found]
        for path in tmp_path.glob("trial*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert faults == []
