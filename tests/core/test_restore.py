"""A fresh session becomes the one that was saved, and says what of it does not."""

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

import tenterhooks as th

Array = np.ndarray[Any, Any]


def session_of(**variables: Any) -> th.Session:
    graph = th.Graph()
    for name, initial in variables.items():
        graph.variable(name, initial)
    return th.Session(graph)


def restored(session: th.Session, saved: dict[str, Any]) -> th.Restored:
    session.load_state_dict(copy.deepcopy(saved), checkpoint="runs/a/step-3")
    assert session.restored is not None
    return session.restored


def test_a_fresh_session_is_not_restored() -> None:
    assert session_of(w=1).restored is None


def test_a_session_says_what_it_was_restored_from() -> None:
    first = session_of(w=1)
    first.state.global_step = 3
    assert restored(session_of(w=0), first.state_dict()) == th.Restored(
        checkpoint="runs/a/step-3", global_step=3, not_restored=(), not_used=(), wound_forward={}
    )


def test_what_is_said_cannot_be_changed() -> None:
    report = restored(session_of(), session_of().state_dict())
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.global_step = 4  # type: ignore[misc]


def test_variables_and_step_are_those_of_the_checkpoint() -> None:
    first = session_of(w=lambda: np.ones(2), rate=0.5)
    first.state.global_step = 3
    second = session_of(w=lambda: np.zeros(2), rate=0.1)
    restored(second, first.state_dict())
    assert second.state["w"].tolist() == [1, 1]
    assert second.state["rate"] == 0.5
    assert second.global_step == second.run("global_step") == 3


def test_values_are_loaded_into_the_objects_that_exist() -> None:
    first = session_of(w=lambda: np.ones(2), rng=lambda: np.random.default_rng(1))
    second = session_of(w=lambda: np.zeros(2), rng=lambda: np.random.default_rng(0))
    objects = dict(second.state)
    restored(second, first.state_dict())
    assert all(second.state[name] is value for name, value in objects.items())
    assert second.state["rng"].random() == first.state["rng"].random()


def test_what_the_session_has_and_the_checkpoint_has_not_is_named_and_stays_fresh() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.variable("bias", 7)
    graph.source("batch", lambda: [1])
    session = th.Session(graph)
    assert restored(session, session_of(w=2).state_dict()).not_restored == ("variables/bias", "sources/batch")
    assert session.state == {"w": 2, "bias": 7}
    assert session.run("batch") == 1


def test_what_the_checkpoint_has_and_the_session_has_not_is_named() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.variable("bias", 7)
    graph.source("batch", lambda: [1])
    session = session_of(w=2)
    assert restored(session, th.Session(graph).state_dict()).not_used == ("variables/bias", "sources/batch")
    assert session.state == {"w": 1}


def test_sources_that_were_wound_forward_are_named_with_their_items() -> None:
    graph = th.Graph()
    graph.source("batch", lambda: range(10))
    graph.source("not_begun", lambda: range(10))
    session = th.Session(graph)
    session.run("batch")
    session.run("batch")
    assert restored(th.Session(graph), session.state_dict()).wound_forward == {"batch": 2}


def test_all_that_does_not_fit_is_in_one_error_that_says_what_to_do() -> None:
    saved = session_of(w=lambda: np.zeros((2, 3)), b=lambda: np.zeros(3, "f4"), fine=1, s=[1]).state_dict()
    with pytest.raises(th.CheckpointError) as caught:
        session_of(w=lambda: np.zeros((2, 4)), b=lambda: np.zeros(3), fine=2, s={}).load_state_dict(
            saved, checkpoint="runs/a/step-3"
        )
    assert str(caught.value) == (
        "the checkpoint runs/a/step-3 does not fit this graph, nothing was restored:\n"
        "  w: float64 of shape (2, 4) here, float64 of shape (2, 3) in the checkpoint\n"
        "  b: float64 of shape (3,) here, float32 of shape (3,) in the checkpoint\n"
        "  s: a dict here, a list in the checkpoint\n"
        "use the program that wrote it, or another checkpoint_dir"
    )


def test_nothing_is_restored_where_something_does_not_fit() -> None:
    begun: list[int] = []

    def graph(size: int) -> th.Graph:
        def batches(rng: np.random.Generator) -> Any:
            begun.append(0)
            return iter(rng.permutation(9))

        graph = th.Graph()
        graph.variable("rng", lambda: np.random.default_rng(0))
        graph.variable("w", lambda: np.zeros(size))
        graph.variable("v", lambda: np.zeros(1))
        graph.source("batch", batches)
        return graph

    first = th.Session(graph(2))
    first.run("batch")
    first.state["v"] += 1
    first.state.global_step = 3
    second = th.Session(graph(3))
    rng = copy.deepcopy(second.state["rng"].bit_generator.state)
    with pytest.raises(th.CheckpointError):
        restored(second, first.state_dict())
    assert second.global_step == 0
    assert second.state["v"].tolist() == [0]
    assert second.state["rng"].bit_generator.state == rng
    assert second.restored is None
    assert len(begun) == 1


def training_graph() -> th.Graph:
    """Weights, momentum in a dict, noise, and a shuffled input, all of it different in each step."""
    graph = th.Graph()
    graph.variable("rng", lambda: np.random.default_rng(1))
    graph.variable("order", lambda: np.random.default_rng(2))
    graph.variable("w", lambda rng: rng.normal(size=3))
    graph.variable("optimizer", lambda: {"count": 0, "slots": {}})
    graph.variable("history", list)

    def batches(order: np.random.Generator) -> Any:
        while True:
            yield from order.permutation(np.arange(12.0).reshape(4, 3))

    graph.source("batch", batches)
    graph.tensor(lambda w, batch, rng: batch - w + rng.normal(size=3), name="gradient")

    @graph.train_op
    def train(w: Array, gradient: Array, optimizer: dict[str, Any], history: list[float], global_step: int) -> None:
        velocity = optimizer["slots"].setdefault("velocity", np.zeros(3))
        velocity *= 0.9
        velocity += gradient
        optimizer["count"] += 1
        w += 0.01 * velocity
        history.append(float(w.sum()) + global_step)

    return graph


@pytest.mark.parametrize("interrupted_at", range(12))
def test_interrupted_equals_uninterrupted_bit_for_bit(interrupted_at: int) -> None:
    whole = th.Session(training_graph())
    for _ in range(12):
        whole.run("train")
    first = th.Session(training_graph())
    for _ in range(interrupted_at):
        first.run("train")
    saved = copy.deepcopy(first.state_dict())
    first.run("train")
    second = th.Session(training_graph())
    restored(second, saved)
    for _ in range(12 - interrupted_at):
        second.run("train")
    assert repr(second.state_dict()) == repr(whole.state_dict())
    assert second.state["w"].tobytes() == whole.state["w"].tobytes()
    assert second.global_step == 12


def test_a_session_that_runs_goes_back_to_what_it_saved() -> None:
    session = th.Session(training_graph())
    for _ in range(5):
        session.run("train")
    saved = copy.deepcopy(session.state_dict())

    def go_on() -> str:
        for _ in range(4):
            session.run("train")
        return repr(session.state_dict())

    first = go_on()
    session.load_state_dict(copy.deepcopy(saved), checkpoint="runs/a/step-5")
    assert go_on() == first
