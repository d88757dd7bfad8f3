"""A saver keeps the best by what is evaluated in the very step that it saves, and a resumed run keeps the same."""

import logging
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_evaluator import EvaluatorHook

# By the global step.
ACCURACY = {2: 0.5, 4: 0.9, 6: 0.7, 8: 0.6, 9: 0.95}


def evaluate(session: th.Session) -> dict[str, float]:
    return {"accuracy": ACCURACY[session.global_step]}


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.train_op(lambda w: {"w": w + 1}, name="train")
    return graph


def train(folder: Path, steps: int, *, own: bool, save_steps: int = 2) -> dict[int, float | None]:
    """Train up to a step, from where the folder has it, and give the accuracies of the checkpoints that are kept."""
    saver = CheckpointSaverHook(
        folder, save_steps=save_steps, max_to_keep=1, best="eval/accuracy", mode="max", asynchronous=False
    )
    # The saver stands first, and acts last.
    hooks = [saver, EvaluatorHook(evaluate, every_n_steps=2, metrics=["accuracy"])]
    graph, state = (None, {"w": 0.0}) if own else (make_graph(), None)
    with th.SingularMonitoredSession(hooks, checkpoint_dir=folder, graph=graph, state=state) as session:
        while session.global_step < steps:
            if own:
                with session.step():
                    session.state["w"] += 1
            else:
                session.run("train")
            if session.global_step == FAILS_AT.get(folder):
                del FAILS_AT[folder]
                raise KeyboardInterrupt
    return {found.step: found.metrics.get("eval/accuracy") for found in Saver(folder).list()}


# Where the process is interrupted, once.
FAILS_AT: dict[Path, int] = {}

both_loops = pytest.mark.parametrize("own", [False, True], ids=["graph", "own"])


@both_loops
def test_the_best_is_that_of_the_step_with_the_best_evaluation(tmp_path: Path, own: bool) -> None:
    assert train(tmp_path, 8, own=own) == {4: 0.9, 8: 0.6}


@both_loops
def test_the_evaluation_at_the_end_is_that_of_the_last_checkpoint(tmp_path: Path, own: bool) -> None:
    # Step 9 is due, so it is saved first with what step 8 had, and at the end once more.
    assert train(tmp_path, 9, own=own, save_steps=3) == {9: 0.95}


@both_loops
@pytest.mark.parametrize("at", range(1, 9))
def test_an_interrupted_run_keeps_the_same(tmp_path: Path, own: bool, at: int) -> None:
    FAILS_AT[tmp_path] = at
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, 8, own=own)
    assert train(tmp_path, 8, own=own) == {4: 0.9, 8: 0.6}


@both_loops
def test_a_program_that_is_started_again_at_its_end_evaluates_and_saves_no_more(
    tmp_path: Path, own: bool, caplog: pytest.LogCaptureFixture
) -> None:
    first = train(tmp_path, 9, own=own)
    written = sorted(tmp_path.iterdir())
    caplog.clear()
    caplog.set_level(logging.INFO, "tenterhooks_evaluator")
    assert train(tmp_path, 9, own=own) == first
    assert sorted(tmp_path.iterdir()) == written
    assert [record for record in caplog.records if record.name == "tenterhooks_evaluator"] == []
