"""The state of a loop of the program's own: saved and restored, read and assigned."""

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tenterhooks as th

from .own_loops import Opened, each_kind, raw_of
from .recorders import MemorySaver, SaveEveryStep


def resumable(saver: MemorySaver, state: dict[str, Any], *hooks: object) -> th.MonitoredSession:
    return th.MonitoredSession(th.ChiefSessionCreator(saver=saver), [*hooks, SaveEveryStep(saver)], state=state)


class Model:
    def __init__(self) -> None:
        self.weights = [0.0]

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.weights = state["weights"]


class TestSavedAndRestored:
    def test_the_session_works_on_the_objects_that_are_given(self) -> None:
        state = {"w": np.zeros(2), "model": Model(), "function": SimpleNamespace()}
        with th.MonitoredSession(state=state) as session:
            assert all(session.state[name] is value for name, value in state.items())
            assert list(session.state) == list(raw_of(session).state) == list(state)

    def test_they_are_restored_in_place(self) -> None:
        saver = MemorySaver()
        for steps in (0, 2):
            w, model, rng = np.zeros(2), Model(), np.random.default_rng(1)
            with resumable(saver, {"w": w, "model": model, "rng": rng}) as session:
                assert (w[0], model.weights, session.global_step) == (steps, [steps], steps)
                numbers = np.random.default_rng(1).normal(size=4)[steps:].tolist()
                for number in session.steps(range(steps + 2)):
                    assert rng.normal() == numbers[number - steps]
                    w += 1
                    model.weights[0] += 1

    def test_callable_objects_are_entries_too(self) -> None:
        class Callable(Model):
            def __call__(self) -> None:
                raise AssertionError("a model is no initial value")

        model = Callable()
        with th.MonitoredSession(state={"model": model}) as session:
            assert session.state["model"] is model

    @each_kind
    def test_it_is_no_state_beside_a_graph(self, opened: Opened) -> None:
        with pytest.raises(ValueError, match="give either state= or a graph"):
            opened(graph=th.Graph(), state={})

    def test_nor_beside_a_creator_with_a_graph(self) -> None:
        with pytest.raises(ValueError, match="give either state= or a graph"):
            th.MonitoredSession(th.ChiefSessionCreator(th.Graph()), state={})

    def test_it_is_its_own_graph_also_where_there_is_a_default_one(self) -> None:
        graph = th.Graph()
        with graph.as_default(), th.MonitoredSession(state={"w": 1}) as session:
            assert session.graph is not graph

    @pytest.mark.parametrize("state", [{"global_step": 1}, {"*": 1}])
    def test_names_of_the_session_are_no_entries(self, state: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="no entry of state can be named"):
            th.MonitoredSession(state=state)

    def test_it_is_a_mapping(self) -> None:
        with pytest.raises(TypeError, match=r"state is a dict of values by name, not \[1\] of type list"):
            th.MonitoredSession(state=[1])  # type: ignore[arg-type]


class TestAssigning:
    def test_a_new_value_is_saved(self) -> None:
        saver = MemorySaver()
        with resumable(saver, {"x": 1.0}) as session:
            state = session.state
            for _ in session.steps([1, 2]):
                state["x"] = state["x"] * 3
        assert saver.saved[-1][1]["variables"] == {"x": 9.0}

    def test_a_restored_entry_that_was_never_read_is_not_assigned(self) -> None:
        saver = MemorySaver()
        for resumed in (False, True):
            with resumable(saver, {"x": 1.0, "y": 2.0}) as session:
                if resumed:
                    with pytest.raises(RuntimeError, match=r"session.state\['x'\] was restored .* and never read"):
                        session.state["x"] = 5.0
                    assert "x" in session.state
                    with pytest.raises(RuntimeError, match="never read"):
                        session.state["x"] = 5.0
                    assert session.state["x"] == 3.0
                for _ in session.steps([1]):
                    session.state["x"] = 3.0

    def test_one_that_was_not_in_the_checkpoint_is(self) -> None:
        saver = MemorySaver()
        for state in ({"x": 1.0}, {"x": 1.0, "new": 2.0}):
            with resumable(saver, state) as session:
                if "new" in state:
                    session.state["new"] = 3.0
                list(session.steps([1]))

    def test_a_value_that_no_checkpoint_could_be_restored_with_is_an_error(self) -> None:
        with th.MonitoredSession(state={"w": np.zeros(2), "n": None}) as session:
            with pytest.raises(ValueError, match=r"w: .* \(2,\) here, float64 of shape \(3,\) from the loop"):
                session.state["w"] = np.zeros(3)
            session.state["w"] = np.ones(2)
            session.state["n"] = "anything"

    def test_an_unknown_entry_is_an_error_with_the_nearest(self) -> None:
        with th.MonitoredSession(state={"weights": 1}) as session:
            with pytest.raises(th.UnknownNameError, match="no state entry 'weight'; the nearest: 'weights'"):
                session.state["weight"] = 2
            with pytest.raises(th.UnknownNameError, match="no state entry 'weight'"):
                session.state["weight"]

    def test_an_entry_is_not_deleted(self) -> None:
        with th.MonitoredSession(state={"w": 1}) as session, pytest.raises(TypeError, match="cannot be deleted"):
            del session.state["w"]

    def test_it_is_saved_where_the_session_was_created_twice(self) -> None:
        class LostOnce(th.SessionRunHook):
            lost = False

            def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
                if not self.lost:
                    self.lost = True
                    raise th.AbortedError("lost")

        with th.MonitoredSession(hooks=[LostOnce()], state={"p": 1.0}) as session:
            session.state["p"] = 2.0
            assert raw_of(session).state_dict()["variables"] == {"p": 2.0}


class TestNeverAssigned:
    def warnings(
        self, caplog: pytest.LogCaptureFixture, state: dict[str, Any], steps: int, **assigned: Any
    ) -> list[str]:
        caplog.set_level(logging.WARNING)
        with resumable(MemorySaver(), state) as session:
            for _ in session.steps(range(steps)):
                session.state.update(assigned)
        return [record.message for record in caplog.records if "never assigned" in record.message]

    def test_what_cannot_change_is_warned_of_at_the_second_save(self, caplog: pytest.LogCaptureFixture) -> None:
        fixed = np.zeros(2)
        fixed.flags.writeable = False
        state = {"x": 1.0, "pair": (1, "a"), "fixed": fixed}
        assert self.warnings(caplog, state, steps=1) == []
        (warning,) = self.warnings(caplog, state, steps=5)
        assert warning.startswith(
            "state entry 'x' and state entry 'pair' and state entry 'fixed' cannot change in place"
        )

    def test_what_can_change_in_place_or_was_assigned_is_not(self, caplog: pytest.LogCaptureFixture) -> None:
        state = {"w": np.zeros(2), "list": [], "dict": {}, "model": Model(), "rng": np.random.default_rng(), "x": 1.0}
        state["pair"] = ([], 1)
        assert self.warnings(caplog, state, steps=5, x=2.0) == []
