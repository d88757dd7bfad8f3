"""All built-in hooks in one session: however it was interrupted, and in whatever order they stand, it ends the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

import tenterhooks as th

from .all_hooks import Kind, Loop, train

How = Literal["body", "hook", "stop"]
LOOPS: tuple[Loop, ...] = ("graph", "own")
KINDS: tuple[Kind, ...] = ("schedule", "plateau", "stopped")
PROGRAM = Path(__file__).with_name("all_hooks.py")
LONGEST_SECS = 60.0

loops = pytest.mark.parametrize("loop", LOOPS)
kinds = pytest.mark.parametrize("kind", KINDS)


class BrokenOffError(Exception):
    """Stands for what ends a session."""


class Interrupt(th.SessionRunHook):
    """Ends a session after the run that leads to a step: by an error, or cleanly."""

    def __init__(self, step: int, how: How) -> None:
        self._step, self._how = step, how

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step != self._step:
            return
        if self._how == "hook":
            raise BrokenOffError
        run_context.request_stop("preempted")


def interrupted(folder: Path, loop: Loop, kind: Kind, how: How, step: int) -> None:
    """Train up to a step, with the hooks in some order."""

    def watch(made: int) -> None:
        if how == "body" and made == step:
            raise BrokenOffError

    between: list[object] = [] if how == "body" else [Interrupt(step, how)]
    if how == "stop":
        train(folder, loop, kind, order=step, between=between)
        return
    with pytest.raises(BrokenOffError):
        train(folder, loop, kind, watch, order=step, between=between)


def differences(found: dict[str, Any], wanted: dict[str, Any], *but: str) -> dict[str, Any]:
    return {name: (found[name], wanted[name]) for name in wanted if name not in but and found[name] != wanted[name]}


@loops
@kinds
def test_the_training_has_what_its_hooks_are_for(loop: Loop, kind: Kind, tmp_path: Path) -> None:
    ended = train(tmp_path, loop, kind)
    [(who, _, step)] = ended["stop"]
    assert (who, step) == ("stop-at-step" if kind == "stopped" else "early-stopping", ended["step"])
    assert ended["best"][1] < ended["step"] == len(ended["fed"])
    assert len({line.split()[1] for line in ended["fed"]}) > 2
    # The best was put back, and the last checkpoint is of it; where that step had no evaluation, with one of its own.
    error = ended["results"]["error"] if kind == "stopped" else ended["best"][0]
    assert ended["kept"][-1] == [ended["step"], {"eval/error": error}]
    assert error == pytest.approx(ended["best"][0], abs=0.03)
    assert [line["step"] for line in ended["jsonl"]] == [*range(1, ended["step"] + 1), ended["step"]]
    assert ended["csv"][0] == ["step", "loss", "learning_rate", "eval/error"]
    assert [row[-1] for row in ended["csv"][1:]] == [""] + [str(line["eval/error"]) for line in ended["jsonl"][1:-1]]


@kinds
def test_both_loops_end_alike(kind: Kind, tmp_path: Path) -> None:
    in_graph, own = (train(tmp_path / loop, loop, kind) for loop in LOOPS)
    # What all values are in a loop of the program's own does not hold what was fed.
    assert differences(own, in_graph, "jsonl", "next") == {}


@loops
@kinds
def test_the_order_of_the_hooks_does_not_matter(loop: Loop, kind: Kind, tmp_path: Path) -> None:
    wanted = train(tmp_path / "as written", loop, kind)
    for order in range(8):
        assert differences(train(tmp_path / str(order), loop, kind, order=order), wanted) == {}, order


@loops
@kinds
@pytest.mark.parametrize("how", ["body", "hook"])
def test_interrupted_by_an_error_in_any_step_it_ends_as_if_it_had_not_been(
    loop: Loop, kind: Kind, how: How, tmp_path: Path
) -> None:
    unbroken = train(tmp_path / "unbroken", loop, kind)
    for step in range(1, unbroken["step"] + 1):
        folder = tmp_path / str(step)
        interrupted(folder, loop, kind, how, step)
        # State goes by the hooks' names, and not by their order.
        assert differences(train(folder, loop, kind, order=step + 100), unbroken) == {}, f"in step {step}"


@loops
@kinds
def test_stopped_in_any_step_and_gone_on_with_it_ends_as_if_it_had_not_been(
    loop: Loop, kind: Kind, tmp_path: Path
) -> None:
    unbroken = train(tmp_path / "unbroken", loop, kind)
    for step in range(1, unbroken["step"]):
        folder = tmp_path / str(step)
        interrupted(folder, loop, kind, "stop", step)
        # The stop was a save of its own.
        assert differences(train(folder, loop, kind, order=step + 100), unbroken, "kept") == {}, f"after step {step}"


@loops
def test_what_has_stopped_makes_no_step_and_ends_with_the_same(loop: Loop, tmp_path: Path) -> None:
    ended = train(tmp_path, loop, "plateau")
    assert differences(train(tmp_path, loop, "plateau", order=1), ended) == {}


@loops
@pytest.mark.parametrize("kind", ["schedule", "plateau"])
def test_gone_on_with_more_patience_it_ends_as_if_it_had_had_that_from_the_start(
    loop: Loop, kind: Kind, tmp_path: Path
) -> None:
    patient = train(tmp_path / "patient", loop, kind, patience=7)
    stopped = train(tmp_path / "stopped", loop, kind)
    assert stopped["step"] < patient["step"]
    # The best was put back, and saved.
    assert differences(train(tmp_path / "stopped", loop, kind, patience=7), patient, "kept") == {}


def run(folder: Path, loop: Loop, kind: Kind, *killed_in: int) -> Any:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), loop, kind, *map(str, killed_in)],
        capture_output=True,
        text=True,
        timeout=LONGEST_SECS,
        check=False,
    )
    assert done.returncode == (-9 if killed_in else 0), done.stderr
    return None if killed_in else json.loads(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("loop", "kind"), [("graph", "schedule"), ("own", "plateau")])
def test_a_process_that_was_killed_twice_ends_as_one_that_was_not(loop: Loop, kind: Kind, tmp_path: Path) -> None:
    unbroken = run(tmp_path / "unbroken", loop, kind)
    for step in (5, 8):
        run(tmp_path / "killed", loop, kind, step)
    assert differences(run(tmp_path / "killed", loop, kind), unbroken) == {}
