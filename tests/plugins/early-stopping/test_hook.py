"""When `early-stopping` stops a session, and what it leaves."""

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, MemorySaver
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_early_stopping import EarlyStoppingHook
from tenterhooks_nan import NanTensorHook

INF, NAN = math.inf, math.nan


def stopped_at(values: list[float], **options: Any) -> int | None:
    """The step at which a session with one value per step stops; both kinds of session, and one in which it is kept."""
    found = []
    for loop in ("graph", "own"):
        hook = EarlyStoppingHook("x", **options)
        with FakeSession([hook], loop=loop, values=[{"x": value} for value in values]) as session:
            session.go_to()
            found.append(session.session.stop[0].global_step if session.session.stop else None)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("values", "options", "step"),
    [
        # As Keras and Lightning: the stop comes at the check number `patience` after the best.
        ([1, 2], {"patience": 1}, 2),
        ([1, 2], {"patience": 2}, None),
        ([1, 2, 3], {"patience": 2}, 3),
        ([1, 1, 1, 1], {"patience": 3}, 4),
        ([5, 4, 3, 2], {"patience": 1}, None),
        ([5, 6, 4, 6, 6, 1], {"patience": 2}, 5),
        ([5, 6, 4, 6, 3, 6, 6], {"patience": 2}, 7),
        ([5, 6, 7, 1], {"patience": 3}, None),
        ([5, 6, 7, 8, 1], {"patience": 3}, 4),
        # 0.0 is a value.
        ([0.0, 0.0], {"patience": 1}, 2),
        ([0.0, 1.0, -1.0, 0.0], {"patience": 2}, None),
        # Higher is better.
        ([1, 2, 3, 2, 2], {"patience": 2, "mode": "max"}, 5),
        ([3, 2, 1], {"patience": 2, "mode": "max"}, 3),
        # NaN is no improvement, and anything is one on it.
        ([NAN, NAN, NAN], {"patience": 3}, 3),
        ([NAN, NAN, 5, NAN, NAN], {"patience": 3}, None),
        ([5, NAN, NAN], {"patience": 2}, 3),
        ([5, NAN, 4, NAN, 3], {"patience": 2}, None),
        ([NAN, 5, 6], {"patience": 1}, 1),
        # Infinity is a value as any other.
        ([INF, 5, INF], {"patience": 2}, None),
        ([INF, INF, INF], {"patience": 2}, 3),
        # By more than min_delta.
        ([5.0, 4.5, 4.0], {"patience": 1, "min_delta": 0.5}, 2),
        ([5.0, 4.25, 3.5], {"patience": 1, "min_delta": 0.5}, None),
        ([8.0, 5.0, 4.0], {"patience": 1, "min_delta": 0.25, "relative": True}, 3),
        # A slow improvement adds up: it is compared with the best, not with the last.
        ([5.0, 4.75, 4.5, 4.25], {"patience": 3, "min_delta": 0.5}, None),
        ([5.0, 4.75, 4.5, 4.25, 4.0], {"patience": 3, "min_delta": 0.25}, None),
        # What does not beat the baseline restarts nothing.
        ([5, 4, 3], {"patience": 3, "baseline": 2}, 3),
        ([5, 1, 4, 4], {"patience": 3, "baseline": 2}, None),
        ([5, 1, 4, 4, 4], {"patience": 3, "baseline": 2}, 5),
        # Values before start_from_step do not count, nor are they the best.
        ([1, 2, 3, 4, 5], {"patience": 2, "start_from_step": 3}, 5),
        ([1, 5, 5, 4, 3], {"patience": 2, "start_from_step": 2}, None),
        # In steps, as TensorFlow: at the first check so many steps after the best.
        ([1, 2, 3, 4], {"patience_steps": 3}, 4),
        ([1, 2, 0, 4, 5, 6], {"patience_steps": 3}, 6),
        ([1, 2, 3, 4, 5, 6], {"patience_steps": 4, "every_n_steps": 3}, None),
        ([1, 2, 3, 4, 5, 6, 7], {"patience_steps": 4, "every_n_steps": 3}, 7),
        ([1, 2, 3, 4, 5, 6, 7], {"patience": 2, "every_n_steps": 3}, 7),
        ([NAN, NAN, NAN, NAN], {"patience_steps": 3}, 4),
        # At once.
        ([1, NAN], {"patience": 9, "check_finite": True}, 2),
        ([1, -INF], {"patience": 9, "check_finite": True}, 2),
        ([INF], {"patience": 9, "check_finite": True}, 1),
        ([1, 2, 3], {"patience": 9, "check_finite": True}, None),
    ],
    ids=repr,
)
def test_the_step_of_the_stop_is_exact(values: list[float], options: dict[str, Any], step: int | None) -> None:
    assert stopped_at(values, **options) == step


class TestReason:
    @pytest.mark.parametrize(
        ("values", "options", "reason"),
        [
            (
                [0.5, 0.25, 0.75, 0.5],
                {"patience": 2},
                (
                    "'x' has not improved for 2 checks and 2 steps (patience=2): it is 0.5 at global step 4,"
                    " the best was 0.25 at global step 2"
                ),
            ),
            (
                [0.0, 1.0],
                {"patience_steps": 1},
                (
                    "'x' has not improved for 1 check and 1 step (patience_steps=1): it is 1 at global step 2,"
                    " the best was 0 at global step 1"
                ),
            ),
            (
                [NAN],
                {"patience": 1},
                (
                    "'x' has not improved for 1 check and 0 steps (patience=1): it is nan at global step 1,"
                    " the best was none"
                ),
            ),
            ([INF], {"patience": 1, "check_finite": True}, "'x' is inf at global step 1"),
        ],
    )
    def test_it_says_what_was_the_best_when_and_which_patience(
        self, values: list[float], options: dict[str, Any], reason: str
    ) -> None:
        with FakeSession([EarlyStoppingHook("x", **options)], values=[{"x": value} for value in values]) as session:
            session.go_to()
        (stop,) = session.stop
        assert (stop.hook, stop.reason) == ("early-stopping", reason)

    def test_what_was_the_best_can_be_asked_for(self) -> None:
        hook = EarlyStoppingHook("x", patience=1)
        assert (hook.best, hook.best_step) == (None, None)
        with FakeSession([hook], values=[{"x": 0.0}, {"x": 1.0}]) as session:
            session.go_to()
        assert (hook.best, hook.best_step) == (0.0, 1)


class TestState:
    VALUES = ({"x": 5.0}, {"x": 1.0}, {"x": 2.0}, {"x": 3.0}, {"x": 4.0}, {"x": 5.0})

    def saved(self, step: int, **options: Any) -> MemorySaver:
        saver = MemorySaver()
        with FakeSession([EarlyStoppingHook("x", **options), KeepEachStep(saver)], values=self.VALUES) as session:
            session.go_to(step)
        return saver

    def resumed(self, saver: MemorySaver, **options: Any) -> tuple[int, int]:
        """The step at which a restored session begins, and that at which it ends."""
        with FakeSession([EarlyStoppingHook("x", **options)], values=self.VALUES, saver=saver) as session:
            begun = session.global_step
            session.go_to()
        return begun, session.global_step

    @pytest.mark.parametrize("step", range(1, 6))
    def test_a_restored_session_stops_at_the_same_step(self, step: int) -> None:
        assert self.resumed(self.saved(step, patience=3), patience=3) == (step, 5)

    def test_one_that_had_stopped_makes_no_run(self) -> None:
        assert self.resumed(self.saved(5, patience=3), patience=3) == (5, 5)

    def test_a_new_patience_holds(self) -> None:
        assert self.resumed(self.saved(5, patience=3), patience=4) == (5, 6)
        assert self.resumed(self.saved(3, patience=3), patience=2) == (3, 4)
        assert self.resumed(self.saved(3, patience=3), patience=1) == (3, 3)

    def test_the_configuration_is_not_in_it(self) -> None:
        states = [
            EarlyStoppingHook("x", patience=2).state_dict(),
            EarlyStoppingHook("y", patience_steps=9).state_dict(),
        ]
        assert states[0] == states[1]

    def test_a_stop_that_was_asked_for_in_a_run_that_failed_is_asked_for_again(self) -> None:
        class Fails(th.SessionRunHook):
            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                if run_context.session.global_step == 2:
                    raise ValueError("once")

        hook = EarlyStoppingHook("x", patience=1)
        with FakeSession([hook, Fails()], values=self.VALUES[1:]) as session:
            session.step()
            with pytest.raises(ValueError, match="once"):
                session.step()
            assert not session.session.should_stop()
            session.step()
            assert session.session.should_stop()
        assert session.global_step == 3


def train_graph(losses: list[float]) -> th.Graph:
    """The step's loss, and a variable that holds the number of steps."""
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1))
    graph.variable("scale", 1.0)
    graph.tensor(lambda global_step: losses[global_step], name="x")

    @graph.train_op
    def train(w: Any, scale: float) -> dict[str, float]:
        w += 1
        return {"scale": scale / 2}

    return graph


class Look(th.SessionRunHook):
    """Notes the variable at the end."""

    def end(self, session: th.Session) -> None:
        self.w = float(session.state["w"][0])


class TestRestoreBest:
    LOSSES = (5.0, 3.0, 4.0, 1.0, 2.0, 2.0, 2.0)

    @pytest.mark.parametrize("options", [{"patience": 2}, {"patience": 9}], ids=["its stop", "the end"])
    def test_the_variables_of_the_best_check_are_put_back(self, options: dict[str, Any]) -> None:
        graph, look = train_graph(list(self.LOSSES)), Look()
        with th.MonitoredSession(graph=graph, hooks=[EarlyStoppingHook("x", restore_best=True, **options), look]) as s:
            while not s.should_stop() and s.global_step < len(self.LOSSES):
                s.run("train")
            raw = s.raw_session()
            w = s.state["w"]
        assert raw is not None
        assert (look.w, raw.state["scale"]) == (4.0, 0.5**4)
        # Who holds the array sees it.
        assert w.tolist() == [4.0]

    def test_without_it_they_are_the_last(self) -> None:
        look = Look()
        with th.MonitoredSession(
            graph=train_graph([1.0, 2.0, 3.0]), hooks=[EarlyStoppingHook("x", patience=2), look]
        ) as s:
            while not s.should_stop():
                s.run("train")
        assert look.w == 3.0

    def test_they_are_those_of_the_evaluation_where_it_came_between_passes(self) -> None:
        state = {"w": np.zeros(1)}
        hook = EarlyStoppingHook("x", patience=2, restore_best=True)
        with th.MonitoredSession(state=state, hooks=[hook]) as session:
            for epoch in session.epochs(3):
                for _ in session.steps(range(4)):
                    session.state["w"] += 1
                session.publish(x=[3.0, 1.0, 2.0][epoch])
        assert state["w"].tolist() == [8.0]

    def test_so_they_are_where_the_best_came_last(self) -> None:
        state = {"w": np.zeros(1)}
        hook = EarlyStoppingHook("x", patience=2, restore_best=True)
        with th.MonitoredSession(state=state, hooks=[hook]) as session:
            for epoch in session.epochs(2):
                for _ in session.steps(range(4)):
                    session.state["w"] += 1
                session.publish(x=-epoch)
        assert state["w"].tolist() == [8.0]
        assert (hook.best, hook.best_step) == (-1.0, 8)

    def test_what_is_kept_is_the_value_of_these(self, tmp_path: Path) -> None:
        saver = Saver(tmp_path, best="x")
        hooks = [EarlyStoppingHook("x", patience=2, restore_best=True), CheckpointSaverHook(saver=saver, best="x")]
        with th.MonitoredSession(state={"w": np.zeros(1)}, hooks=hooks) as session:
            for epoch in session.epochs(4):
                for _ in session.steps(range(4)):
                    session.state["w"] += 1
                session.publish(x=[3.0, 1.0, 2.0, 4.0][epoch])
        newest = saver.latest()
        assert newest is not None
        assert (newest.step, newest.metrics) == (16, {"x": 1.0})

    def test_where_there_was_no_best_they_are_the_last(self) -> None:
        look = Look()
        hook = EarlyStoppingHook("x", patience=2, restore_best=True)
        with th.MonitoredSession(graph=train_graph([NAN, NAN]), hooks=[hook, look]) as session:
            while not session.should_stop():
                session.run("train")
        assert look.w == 2.0

    def test_an_error_puts_nothing_back(self) -> None:
        state = {"w": np.zeros(1)}
        with (
            pytest.raises(ValueError, match="body"),
            th.MonitoredSession(state=state, hooks=[EarlyStoppingHook("x", patience=2, restore_best=True)]) as session,
        ):
            for step in session.steps(range(4)):
                session.state["w"] += 1
                session.publish(x=step)
                if step == 2:
                    raise ValueError("body")
        assert state["w"].tolist() == [3.0]

    @pytest.mark.parametrize("steps", [1, 100])
    def test_what_is_saved_last_is_the_best(self, steps: int, tmp_path: Path) -> None:
        hooks = [CheckpointSaverHook(tmp_path, save_steps=steps), EarlyStoppingHook("x", patience=2, restore_best=True)]
        graph = train_graph(list(self.LOSSES))
        with th.MonitoredSession(graph=graph, hooks=hooks) as session:
            while not session.should_stop():
                session.run("train")
        with th.Session(graph) as fresh:
            found = th.ChiefSessionCreator(graph, tmp_path).create_session()
            fresh.close()
        assert found.global_step == 6
        assert found.state["w"].tolist() == [4.0]

    def test_a_session_that_goes_on_from_there_goes_on_from_the_last(self, tmp_path: Path) -> None:
        graph = train_graph(list(self.LOSSES))

        def go_to(step: int) -> tuple[list[float], float]:
            """The variable as the session begins, and as it ends."""
            look = Look()
            hook = EarlyStoppingHook("x", patience=9, restore_best=True)
            with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=tmp_path, hooks=[hook, look]) as session:
                begun = session.state["w"].tolist()
                while session.global_step < step:
                    session.run("train")
            return begun, look.w

        assert go_to(3) == ([0.0], 2.0)
        assert go_to(6) == ([3.0], 4.0)
        assert go_to(7) == ([6.0], 4.0)

    def test_one_that_had_stopped_is_left_as_it_is_and_not_saved_again(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        graph = train_graph(list(self.LOSSES))

        def run_all() -> float:
            look = Look()
            hook = EarlyStoppingHook("x", patience=2, restore_best=True)
            with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=tmp_path, hooks=[hook, look]) as session:
                while not session.should_stop():
                    session.run("train")
            return look.w

        assert run_all() == 4.0
        caplog.clear()
        assert run_all() == 4.0
        assert not [record for record in caplog.records if "saved global step" in record.getMessage()]

    def test_a_best_that_came_last_is_left_as_it_is_and_not_saved_again(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        hooks = [CheckpointSaverHook(tmp_path, save_steps=1), EarlyStoppingHook("x", patience=2, restore_best=True)]
        with th.MonitoredSession(graph=train_graph([2.0, 1.0]), hooks=hooks) as session:
            session.run("train")
            session.run("train")
        told = [record.getMessage() for record in caplog.records]
        assert len([message for message in told if message.startswith("saved global step 2 ")]) == 1
        assert not [message for message in told if message.startswith("put back")]

    def test_turned_on_late_it_says_that_the_best_is_not_there(self, caplog: pytest.LogCaptureFixture) -> None:
        saver = MemorySaver()
        values = [{"x": 1.0}, {"x": 2.0}]
        with FakeSession([EarlyStoppingHook("x", patience=9), KeepEachStep(saver)], values=values) as session:
            session.go_to()
        hook = EarlyStoppingHook("x", patience=9, restore_best=True)
        with FakeSession([hook], values=values, saver=saver):
            pass
        assert "holds the best 'x', 1.0 at global step 1, and not its variables" in caplog.text

    def test_turned_off_the_copies_are_dropped(self) -> None:
        saver = MemorySaver()
        with FakeSession(
            [EarlyStoppingHook("x", patience=9, restore_best=True), KeepEachStep(saver)], values={"x": 1.0}
        ) as s:
            s.go_to(2)
        hook = EarlyStoppingHook("x", patience=9)
        with FakeSession([hook], values={"x": 1.0}, saver=saver) as s:
            s.go_to(3)
        assert hook.state_dict()["best_variables"] is None

    def test_a_value_that_a_period_has_let_grow_old_is_an_error(self) -> None:
        hook = EarlyStoppingHook("x", patience=2, restore_best=True, every_n_steps=3)
        session = th.MonitoredSession(hooks=[hook])
        message = (
            "published at global step 2, and is looked at when the variables are those of step 3: leave out the per"
        )
        with pytest.raises(RuntimeError, match=message), session:
            for epoch in session.epochs(4):
                list(session.steps(range(2)))
                session.publish(x=epoch)


class TestCondemned:
    @pytest.mark.parametrize("restore_best", [False, True])
    def test_a_state_that_gave_nan_is_not_saved(self, restore_best: bool, tmp_path: Path) -> None:
        hook = EarlyStoppingHook("x", patience=9, check_finite=True, restore_best=restore_best)
        graph = train_graph([2.0, 1.0, NAN])
        hooks = [CheckpointSaverHook(tmp_path, save_steps=1), hook]
        with th.MonitoredSession(graph=graph, hooks=hooks) as session:
            while not session.should_stop():
                session.run("train")
        found = th.ChiefSessionCreator(graph, tmp_path).create_session()
        # The best was put back, and can be saved.
        assert found.state["w"].tolist() == [2.0]
        assert found.global_step == (3 if restore_best else 2)

    def test_a_session_that_goes_on_goes_on_from_the_best(self) -> None:
        saver = MemorySaver()
        options: dict[str, Any] = {"patience": 9, "check_finite": True, "restore_best": True}
        values = [{"x": 2.0}, {"x": NAN}, {"x": 1.0}]

        class SaveAtEnd(KeepEachStep):
            def end(self, session: th.Session) -> None:
                saver.save(session.state_dict(), step=session.global_step)

        with FakeSession([EarlyStoppingHook("x", **options), SaveAtEnd(saver)], values=values) as session:
            session.go_to()
        assert session.global_step == 2
        options["check_finite"] = False
        with FakeSession([EarlyStoppingHook("x", **options)], values=values, saver=saver) as session:
            assert session.session.state["w"] == 1.0

    @pytest.mark.parametrize("first", [False, True])
    def test_nor_is_one_that_another_hook_condemned(self, first: bool, tmp_path: Path) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: np.zeros(1))
        graph.tensor(lambda w: float(w[0]), name="loss")
        graph.tensor(lambda global_step: -float(global_step), name="x")

        @graph.train_op
        def train(w: Any, global_step: int) -> None:
            w += 1.0 if global_step < 2 else NAN

        hooks: list[th.SessionRunHook] = [EarlyStoppingHook("x", patience=2, restore_best=True)]
        hooks.insert(0 if first else 1, NanTensorHook("loss", fail_on_nan_loss=False))
        with th.MonitoredTrainingSession(
            graph=graph, checkpoint_dir=tmp_path, save_checkpoint_steps=1, hooks=hooks
        ) as session:
            while not session.should_stop():
                session.run("train")
        assert session.stop[0].hook == "nan"
        assert th.ChiefSessionCreator(graph, tmp_path).create_session().state["w"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "exactly one of patience .* not patience=None and patience_steps=None"),
        ({"patience": 1, "patience_steps": 1}, ValueError, "exactly one of patience"),
        ({"patience": 0}, ValueError, "patience is 1 or more, not 0: 1 stops at the first check without improvement"),
        ({"patience": -3}, ValueError, "patience is 1 or more, not -3"),
        ({"patience_steps": 0}, ValueError, "patience_steps is 1 or more, not 0"),
        ({"patience": NAN}, TypeError, "patience is a whole number, not nan of type float"),
        ({"patience": "2"}, TypeError, "patience is a whole number, not '2' of type str"),
        ({"patience_steps": True}, TypeError, "patience_steps is a whole number, not True of type bool"),
        ({"patience": 1, "mode": "auto"}, ValueError, 'mode is "min" or "max", not \'auto\''),
        ({"patience": 1, "min_delta": -1}, ValueError, "min_delta is a finite number, 0 or more, not -1"),
        ({"patience": 1, "min_delta": INF}, ValueError, "min_delta is a finite number, 0 or more, not inf"),
        ({"patience": 1, "baseline": NAN}, ValueError, "baseline is a number, not NaN"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        EarlyStoppingHook("x", **options)
