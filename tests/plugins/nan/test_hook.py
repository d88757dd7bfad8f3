"""What `nan` promises."""

import logging
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks import hookspec
from tenterhooks_nan import NanLossDuringTrainingError, NanTensorHook


def graph_of(*losses: Any) -> th.Graph:
    graph = th.Graph()
    graph.source("loss", lambda: iter(losses))
    graph.train_op(lambda loss: None, name="train")
    return graph


def test_a_number_passes() -> None:
    with th.MonitoredSession(graph=graph_of(1.0, 0.0, -2.0, np.inf), hooks=[NanTensorHook()]) as session:
        for _ in range(4):
            session.run("train")
        assert not session.should_stop()


@pytest.mark.parametrize("nan", [float("nan"), np.float32("nan"), np.array([1.0, np.nan]), [1.0, float("nan")]])
def test_nan_is_an_error_that_names_tensor_and_step(nan: Any) -> None:
    session = th.MonitoredSession(graph=graph_of(1.0, nan), hooks=[NanTensorHook("loss")])
    message = "'loss' is NaN in the run that led to global step 2"
    with pytest.raises(NanLossDuringTrainingError, match=message) as caught, session:
        while True:
            session.run("train")
    assert any("in after_run of hook 'nan' (tenterhooks-nan" in note for note in caught.value.__notes__)


def test_it_asks_for_the_same_in_each_run() -> None:
    hook, asked = NanTensorHook(), []

    class Listens(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            asked.append(hook.before_run(run_context))

    with th.MonitoredSession(graph=graph_of(1.0, 2.0), hooks=[hook, Listens()]) as session:
        for _ in range(2):
            session.run("train")
    assert asked[0] is asked[1]


@pytest.mark.parametrize("value", [None, "nan", {"loss": 1.0}])
def test_what_is_no_number_cannot_be_watched(value: Any) -> None:
    session = th.MonitoredSession(graph=graph_of(value), hooks=[NanTensorHook()])
    with pytest.raises(TypeError, match=r"'loss' is .*: watch a number or an array of numbers"), session:
        session.run("train")


def test_an_array_is_compared_where_it_lies() -> None:
    class OnDevice:
        """An array that must not be turned into NumPy's."""

        dtype = "float32"

        def __init__(self, nan: bool) -> None:
            self.nan = nan

        def __ne__(self, other: object) -> "OnDevice":  # type: ignore[override]
            return self

        def any(self) -> bool:
            return self.nan

        def __array__(self) -> None:
            raise AssertionError("moved to the host")

    session = th.MonitoredSession(graph=graph_of(OnDevice(False), OnDevice(True)), hooks=[NanTensorHook()])
    with pytest.raises(NanLossDuringTrainingError, match="global step 2"), session:
        while True:
            session.run("train")


def test_the_error_is_a_runtime_error_as_in_tensorflow() -> None:
    assert issubclass(NanLossDuringTrainingError, RuntimeError)


def test_without_failing_it_warns_and_stops(caplog: pytest.LogCaptureFixture) -> None:
    hook = NanTensorHook(fail_on_nan_loss=False)
    with th.MonitoredSession(graph=graph_of(1.0, float("nan"), 1.0), hooks=[hook]) as session:
        session.run("train")
        session.run("train")
        assert session.should_stop()
        (request,) = session.stop
    assert request.reason == "'loss' is NaN in the run that led to global step 2"
    assert [record.levelno for record in caplog.records if record.name.startswith("tenterhooks_nan")] == [
        logging.WARNING
    ]


def test_an_unknown_name_is_an_error_at_the_start_with_the_nearest() -> None:
    with pytest.raises(th.UnknownNameError, match="no node of the graph is named 'los'; the nearest: 'loss'"):
        th.MonitoredSession(graph=graph_of(1.0), hooks=[NanTensorHook("los")])


def test_a_node_can_be_watched() -> None:
    graph = graph_of(float("nan"))
    session = th.MonitoredSession(graph=graph, hooks=[NanTensorHook(graph["loss"])])
    with pytest.raises(NanLossDuringTrainingError), session:
        session.run("train")


class Saves(th.SessionRunHook):
    """Asks before it would save, as a saver does."""

    class hookspecs:  # noqa: N801
        @staticmethod
        @hookspec
        def before_save(session: Any, step: int) -> None:
            """Called before a save."""

    saves_state = True

    def __init__(self) -> None:
        self.answers: list[list[str]] = []

    def after_run(self, run_context: th.SessionRunContext) -> None:  # type: ignore[override]
        self.answers.append(run_context.session.hook.before_save(session=run_context.session, step=1))


def test_a_condemned_state_is_not_to_be_saved() -> None:
    saves = Saves()
    hooks = [NanTensorHook(fail_on_nan_loss=False), saves]
    with th.MonitoredSession(graph=graph_of(1.0, float("nan")), hooks=hooks) as session:
        session.run("train")
        session.run("train")
    assert saves.answers == [[], ["'loss' is NaN in the run that led to global step 2"]]


def ruining_graph(**variables: Any) -> th.Graph:
    """A graph whose second step makes the weights NaN, which its loss shows in the third."""
    graph = th.Graph()
    graph.variable("w", lambda: np.ones(3, np.float32))
    for name, value in variables.items():
        graph.variable(name, value)
    graph.tensor(lambda w: float(w.sum()), name="loss")

    @graph.train_op
    def train(w: Any, global_step: int) -> None:
        w[1] = np.nan if global_step == 1 else 2.0

    return graph


def test_a_ruined_state_is_not_to_be_saved_before_the_loss_shows_it() -> None:
    saves = Saves()
    with th.MonitoredSession(graph=ruining_graph(), hooks=[NanTensorHook(), saves]) as session:
        session.run("train")
        session.run("train")
    assert saves.answers == [[], ["NaN in 'w'"]]


def test_the_state_is_not_looked_at_if_it_is_said() -> None:
    saves = Saves()
    with th.MonitoredSession(graph=ruining_graph(), hooks=[NanTensorHook(check_state=False), saves]) as session:
        session.run("train")
        session.run("train")
    assert saves.answers == [[], []]


def test_what_was_nan_from_the_start_may_be() -> None:
    saves = Saves()
    graph = ruining_graph(last_score=float("nan"), table={"seen": [1, np.array([np.nan])]})
    with th.MonitoredSession(graph=graph, hooks=[NanTensorHook(), saves]) as session:
        session.run("train")
        session.run("train")
    assert saves.answers == [[], ["NaN in 'w'"]]


def test_a_second_session_begins_without_the_verdict_of_the_first() -> None:
    hook = NanTensorHook(fail_on_nan_loss=False)
    with th.MonitoredSession(graph=graph_of(float("nan")), hooks=[hook]) as session:
        session.run("train")
    saves = Saves()
    with th.MonitoredSession(graph=graph_of(1.0), hooks=[hook, saves]) as session:
        session.run("train")
    assert saves.answers == [[]]
