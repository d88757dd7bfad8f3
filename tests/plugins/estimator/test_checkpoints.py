"""Which checkpoint is read, and what a session takes of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver
from tenterhooks_estimator import EstimatorSpec, ModeKeys, RunConfig
from tenterhooks_estimator._checkpoints import RestoredSessionCreator, read
from tenterhooks_estimator._model import Model, build

from .models import Noting, default_graph, few, make, model_fn


def a_model(size: int = 3) -> Model:
    return build(model_fn, few(2), ModeKeys.EVAL, {"size": size}, RunConfig())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Checkpoints of the steps 0, 2 and 3."""
    make(tmp_path / "model", config=RunConfig(save_checkpoints_steps=2)).train(few(3))
    return tmp_path / "model"


def test_the_newest_one_is_read_or_the_one_that_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(folder, None)[0].step == 3
    first = Saver(folder).list()[0].path
    assert read(folder, first)[0].step == read(folder / "other", str(first))[1]["global_step"] == 0
    monkeypatch.chdir(folder)
    assert read(folder, first.name)[0].step == 0


def test_without_one_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(th.CheckpointError, match=r"no checkpoint in .*: train first, or pass checkpoint_path"):
        read(tmp_path / "nowhere", None)


def test_a_path_of_none_is_an_error_that_says_what_there_is(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        th.CheckpointError, match=r"no-such is no whole checkpoint: .*: checkpoint-1-step-0, .*, checkpoint-3-step-3"
    ):
        read(folder, folder / "no-such")
    with pytest.raises(th.CheckpointError, match=r"is no whole checkpoint: .*; there are in .*nowhere: none"):
        read(folder, tmp_path / "nowhere" / "checkpoint")
    # A model_dir is none, either.
    with pytest.raises(th.CheckpointError, match=r"model is no whole checkpoint"):
        read(folder, folder)


def test_a_damaged_one_is_not_taken(folder: Path) -> None:
    newest = Saver(folder).list()[-1].path
    (newest / "arrays.safetensors").write_bytes(b"")
    assert read(folder, None)[0].step == 2
    with pytest.raises(th.CheckpointError):
        read(folder, newest)


def test_a_session_has_the_variables_and_an_input_that_begins_anew(folder: Path, tmp_path: Path) -> None:
    checkpoint, state = read(folder, None)
    session = RestoredSessionCreator(a_model(), checkpoint, state, tmp_path).create_session()
    assert (session.state["w"] == state["variables"]["w"]).all()
    assert session.state["w"].any()
    assert session.global_step == 3
    assert session.run("input")[1].tolist() == next(few(1)())[1].tolist()
    assert session.summary_dir == tmp_path
    # Nothing that could be saved into it, and nothing to warn of.
    assert session.checkpoint_dir is None
    assert session.restored == th.Restored(checkpoint.path, 3)


def test_a_checkpoint_of_another_model_is_an_error_that_names_the_variables(folder: Path) -> None:
    def other(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        for name in ("hidden", "bias", "w"):
            graph.variable(name, np.zeros(3))
        return EstimatorSpec(mode, loss=graph.tensor(lambda w: w.sum(), name="loss"))

    model = build(other, few(1), ModeKeys.EVAL, {}, RunConfig())
    with pytest.raises(
        th.CheckpointError, match="is not of this model, since it lacks the variables 'bias', 'hidden': "
    ):
        RestoredSessionCreator(model, *read(folder, None))


def test_a_variable_of_another_shape_is_an_error_that_names_it(folder: Path) -> None:
    creator = RestoredSessionCreator(a_model(size=4), *read(folder, None))
    with pytest.raises(th.CheckpointError, match=r"does not fit this graph, nothing was restored:\n.*w.*\(4,\)"):
        creator.create_session()


def test_state_that_a_hook_had_in_the_training_stays_there(folder: Path) -> None:
    class Counting(th.SessionRunHook):
        name = "counting"
        runs = 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1

        def state_dict(self) -> dict[str, Any]:
            return {"runs": self.runs}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.runs = state["runs"]

    hook = Counting()
    make(folder).train(few(9), hooks=[hook], steps=4)
    assert hook.runs == 4
    other = Counting()
    make(folder).evaluate(few(2), hooks=[other, Noting()])
    assert other.runs == 2
