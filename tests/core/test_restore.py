"""A fresh session becomes the one that was saved, and says what of it does not."""

import copy
import dataclasses
import logging
import random
from pathlib import Path
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
        checkpoint=Path("runs/a/step-3"),
        global_step=3,
        not_restored=(),
        not_used=(),
        wound_forward={},
        not_exact=(),
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


def test_a_source_that_others_disturbed_is_named_and_logged_as_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    def graph() -> th.Graph:
        graph = th.Graph()
        graph.variable("rng", lambda: np.random.default_rng(1))
        graph.source("batch", lambda rng: (rng.random() for _ in range(100)))
        graph.train_op(lambda rng, batch: rng.random(), name="train")
        return graph

    class Once:
        def __init__(self, graph: th.Graph, saved: dict[str, Any]) -> None:
            self.graph = graph
            self._saved = saved

        def create_session(self) -> th.Session:
            session = th.Session(self.graph)
            session.load_state_dict(self._saved, checkpoint="runs/a/step-3")
            return session

    first = th.Session(graph())
    for _ in range(3):
        first.run("train")
    saved = copy.deepcopy(first.state_dict())
    with caplog.at_level(logging.INFO, "tenterhooks"), th.MonitoredSession(Once(graph(), saved)) as session:
        raw = session.raw_session()
        assert raw is not None
        assert raw.restored == th.Restored(
            Path("runs/a/step-3"), 3, wound_forward={"batch": 3}, not_exact=("sources/batch",)
        )
    (record,) = [record for record in caplog.records if "restored from" in record.getMessage()]
    assert record.levelno == logging.WARNING
    assert (
        "; sources/batch may give other items than it would have, since others draw from a random generator that it "
        "draws from too, or it takes a variable that has changed, or it had failed: give it a generator of its own, or "
        "state_dict and load_state_dict"
    ) in record.getMessage()


@pytest.mark.parametrize(
    ("saved", "wrong"),
    [
        ({}, "'global_step' is missing and 'variables' is missing and 'sources' is missing and 'hooks' is missing"),
        ({"global_step": 3, "variables": {}, "sources": {}}, "'hooks' is missing"),
        ({"global_step": 3, "variables": [], "sources": {}, "hooks": {}}, "'variables' is of another type"),
        ({"global_step": "3", "variables": {}, "sources": {}, "hooks": {}}, "'global_step' is of another type"),
    ],
)
def test_a_checkpoint_of_another_form_is_an_error_that_says_so(saved: dict[str, Any], wrong: str) -> None:
    session = session_of(w=1)
    with pytest.raises(th.CheckpointError) as caught:
        session.load_state_dict(saved, checkpoint="runs/a/step-3")
    assert str(caught.value) == (
        f"the checkpoint {Path('runs/a/step-3')} is not of a session, nothing was restored: {wrong}; "
        "use another checkpoint_dir"
    )
    assert session.restored is None


def test_a_step_that_is_a_number_of_numpy_is_one() -> None:
    session = session_of(w=1)
    session.load_state_dict({**session.state_dict(), "global_step": np.int64(7)}, checkpoint="runs/a/step-7")
    assert type(session.global_step) is int
    assert session.global_step == 7


def test_a_source_of_another_form_is_among_what_does_not_fit() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.source("batch", lambda: range(9))
    session = th.Session(graph)
    saved = {"global_step": 3, "variables": {"w": "x"}, "sources": {"batch": {"position": 3}}, "hooks": {}}
    with pytest.raises(th.CheckpointError) as caught:
        session.load_state_dict(saved, checkpoint="runs/a/step-3")
    assert "  w: a int here, a str in the checkpoint\n" in str(caught.value)
    assert "  sources/batch: no number of items in the checkpoint\n" in str(caught.value)


def test_an_error_of_an_object_that_is_restored_names_the_variable() -> None:
    class Bad:
        def state_dict(self) -> dict[str, Any]:
            return {"v": 1}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            raise KeyError("version")

    session = session_of(model=Bad)
    with pytest.raises(KeyError, match="version") as caught:
        session.load_state_dict(session.state_dict(), checkpoint="runs/a/step-3")
    assert caught.value.__notes__ == [f"when variable 'model' was restored from {Path('runs/a/step-3')}"]


def test_generators_of_all_kinds_and_complex_numbers_are_restored() -> None:
    def session() -> th.Session:
        return session_of(
            rng=lambda: np.random.default_rng(1),
            old=lambda: np.random.RandomState(1),
            python=lambda: random.Random(1),
            phase=1j,
            table={1: "a", None: 2},
        )

    first = session()

    def numbers(session: th.Session) -> list[Any]:
        state = session.state
        return [(state["rng"].random(), state["old"].normal(), state["python"].gauss(0, 1)) for _ in range(5)]

    numbers(first)
    first.state["phase"] *= 3
    first.state["table"][7] = "b"
    second = session()
    restored(second, first.state_dict())
    assert numbers(second) == numbers(first)
    assert second.state["phase"] == 3j
    assert type(second.state["phase"]) is complex
    assert second.state["table"] == {1: "a", None: 2, 7: "b"}


def test_the_modules_of_the_global_generators_may_be_variables() -> None:
    before = random.getstate(), np.random.get_state()
    try:
        first = session_of(python=random, numpy=np.random)
        random.random()
        np.random.random()
        saved = copy.deepcopy(first.state_dict())
        numbers = random.random(), np.random.random()
        random.seed(99)
        np.random.seed(99)
        restored(session_of(python=random, numpy=np.random), saved)
        assert (random.random(), np.random.random()) == numbers
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
