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


@pytest.mark.parametrize(
    ("nan", "where"),
    [
        (float("nan"), "'loss' is NaN"),
        (np.float32("nan"), "'loss' is NaN"),
        (np.float64("nan"), "'loss' is NaN"),
        (np.array([1.0, np.nan]), r"'loss' is NaN at \[1\]"),
        ([1.0, float("nan")], r"'loss/\[1\]' is NaN"),
        ({"a": 1.0, "b": (np.ones((2, 2)), np.array([[1.0], [np.nan]]))}, r"'loss/b/\[1\]' is NaN at \[1, 0\]"),
    ],
)
def test_nan_is_an_error_that_names_tensor_place_and_step(nan: Any, where: str) -> None:
    session = th.MonitoredSession(graph=graph_of(1.0, nan), hooks=[NanTensorHook("loss")])
    message = where + " in the run that led to global step 2"
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


@pytest.mark.parametrize("value", [None, "nan", {"loss": "1.0"}, [None], object()])
@pytest.mark.parametrize("options", [{}, {"deferred": True}, {"check": "non-finite"}])
def test_what_is_no_number_cannot_be_watched(value: Any, options: dict[str, Any]) -> None:
    session = th.MonitoredSession(graph=graph_of(value), hooks=[NanTensorHook(**options)])
    with pytest.raises(TypeError, match=r"'loss' is .*: watch a number or an array of numbers, or a struc"), session:
        session.run("train")


def test_in_a_structure_there_may_be_other_things_and_nothing_at_all() -> None:
    with th.MonitoredSession(graph=graph_of({"a": 1.0, "b": None, "c": "nan"}, {}, []), hooks=[NanTensorHook()]) as s:
        for _ in range(3):
            s.run("train")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check": "inf"}, r"check='inf' is no check; .*'non-finite'"),
        ({"check": None}, r"check=None is no check; .*'nan'"),
        ({"every_n_steps": 0}, "every_n_steps is 1 or more, not 0"),
        ({"every_n_steps": -2}, "every_n_steps is 1 or more, not -2"),
        ({"every_n_steps": "2"}, "every_n_steps is a whole number, not '2' of type str"),
        ({"loss_tensor": []}, "there is nothing to watch: pass a name, or several"),
        ({"loss_tensor": {}}, "there is nothing to watch: pass a name, or several"),
        ({"loss_tensor": ""}, "there is nothing to watch: pass a name, or several"),
        ({"loss_tensor": None}, "loss_tensor is a name or a node, or several of them, not None of type NoneType"),
        ({"loss_tensor": 1.5}, "loss_tensor is a name or a node, or several of them, not 1.5 of type float"),
    ],
)
def test_wrong_options_are_an_error_that_says_what_is_right(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        NanTensorHook(**options)


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


def ended_by(session: th.MonitoredSession, name: str = "train") -> str:
    """Run until it has had enough, and say what that was of."""
    with pytest.raises(NanLossDuringTrainingError) as caught, session:
        for _ in range(100):
            session.run(name)
    return str(caught.value).partition(":")[0]


def graph_of_two(**losses: list[Any]) -> th.Graph:
    graph = th.Graph()
    for name, values in losses.items():
        graph.source(name, lambda values=values: iter(values))
    graph.train_op(lambda: None, name="train")
    return graph


@pytest.mark.parametrize(
    ("watched", "name"),
    [(["loss", "norm"], "norm"), (("norm",), "norm"), ({"the norm": "norm", "l": "loss"}, "the norm")],
)
def test_several_values_are_watched(watched: Any, name: str) -> None:
    graph = graph_of_two(loss=[1.0, 2.0, 3.0], norm=[np.ones(2), np.array([1.0, np.nan]), 1.0])
    said = ended_by(th.MonitoredSession(graph=graph, hooks=[NanTensorHook(watched)]))
    assert said == f"'{name}' is NaN at [1] in the run that led to global step 2"


def test_of_several_each_must_be_a_number() -> None:
    session = th.MonitoredSession(graph=graph_of_two(loss=[1.0], norm=["x"]), hooks=[NanTensorHook(["loss", "norm"])])
    with pytest.raises(TypeError, match="'norm' is 'x': watch a number"), session:
        session.run("train")


def test_of_several_an_unknown_one_is_an_error_at_the_start() -> None:
    with pytest.raises(th.UnknownNameError, match="'nrm'; the nearest: 'norm'"):
        th.MonitoredSession(graph=graph_of_two(loss=[], norm=[]), hooks=[NanTensorHook(["loss", "nrm"])])


def test_all_that_a_loop_publishes_can_be_watched() -> None:
    session = th.MonitoredSession(state={}, hooks=[NanTensorHook("*")])
    with (
        pytest.raises(NanLossDuringTrainingError, match=r"^'grads/w' is NaN at \[0\] in the .* global step 3:"),
        session,
    ):
        for step in session.steps(range(5)):
            if step:
                session.publish(loss=1.0, note="fine", grads={"w": np.array([np.nan if step == 2 else 1.0])})


def test_infinity_passes_unless_it_is_asked_for() -> None:
    losses = [1.0, np.float32("inf"), np.array([[0.0, -np.inf]]), 2.0]
    with th.MonitoredSession(graph=graph_of(*losses), hooks=[NanTensorHook()]) as session:
        for _ in losses:
            session.run("train")
    session = th.MonitoredSession(graph=graph_of(*losses), hooks=[NanTensorHook(check="non-finite")])
    assert ended_by(session) == "'loss' is not finite in the run that led to global step 2"
    session = th.MonitoredSession(graph=graph_of(*losses[2:]), hooks=[NanTensorHook(check="non-finite")])
    assert ended_by(session) == "'loss' is not finite at [0, 1] in the run that led to global step 1"


def test_variables_that_are_not_finite_are_not_to_be_saved_where_that_is_checked() -> None:
    graph = th.Graph()
    graph.variable("w", lambda: np.ones(2))
    graph.variable("best", np.inf)
    graph.tensor(lambda: 1.0, name="loss")

    @graph.train_op
    def train(w: Any) -> None:
        w[1] = np.inf

    saves = Saves()
    with th.MonitoredSession(graph=graph, hooks=[NanTensorHook(check="non-finite"), saves]) as session:
        session.run("train")
    assert saves.answers == [["numbers that are not finite in 'w'"]]


class TestEveryNSteps:
    @pytest.mark.parametrize("deferred", [False, True])
    def test_only_multiples_of_the_step_are_computed_and_looked_at(self, deferred: bool) -> None:
        looked: list[int] = []
        graph = th.Graph()

        @graph.tensor
        def loss(global_step: int) -> float:
            looked.append(global_step + 1)
            return 1.0

        graph.train_op(lambda: None, name="train")
        with th.MonitoredSession(graph=graph, hooks=[NanTensorHook(every_n_steps=3, deferred=deferred)]) as session:
            for _ in range(10):
                session.run("train")
        assert looked == [3, 6, 9]

    def test_in_other_runs_it_is_neither_called_nor_asked(self) -> None:
        hook = NanTensorHook(every_n_steps=4)
        assert hook.timer is not None
        asked: list[int] = []
        is_due = hook.timer.should_trigger_for_step

        def noting(step: int) -> bool:
            asked.append(step)
            return is_due(step)

        hook.timer.should_trigger_for_step = noting  # type: ignore[method-assign]
        with th.MonitoredSession(graph=graph_of(*[1.0] * 12), hooks=[hook]) as session:
            for _ in range(12):
                session.run("train")
        # In the run after one that was due, too, to know when the next one is.
        assert asked == [1, 4, 5, 8, 9, 12]

    @pytest.mark.parametrize("deferred", [False, True])
    def test_a_nan_is_found_at_the_next_multiple(self, deferred: bool) -> None:
        """A source that nobody asks for gives no item: these are the values of steps 2 and 4."""
        hook = NanTensorHook(every_n_steps=2, deferred=deferred)
        graph = th.Graph()
        graph.tensor(lambda global_step: np.nan if global_step >= 2 else 1.0, name="loss", inputs=["global_step"])
        graph.train_op(lambda: None, name="train")
        session = th.MonitoredSession(graph=graph, hooks=[hook])
        assert ended_by(session) == "'loss' is NaN in the run that led to global step 4"
        assert session._raw is not None
        assert session._raw.global_step == (5 if deferred else 4)

    def test_after_a_recovery_it_looks_again(self) -> None:
        class Aborts(th.SessionRunHook):
            left = 1

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                if run_context.session.global_step == 5 and self.left:
                    self.left = 0
                    raise th.AbortedError("worker lost")

        looked: list[int] = []
        graph = th.Graph()
        graph.tensor(lambda global_step: looked.append(global_step + 1) or 1.0, name="loss", inputs=["global_step"])  # type: ignore[func-returns-value]
        graph.train_op(lambda: None, name="train")
        hooks = [NanTensorHook(every_n_steps=2), Aborts()]
        with th.MonitoredSession(graph=graph, hooks=hooks, sleep=lambda secs: None) as session:
            while session.global_step < 6:
                session.run("train")
        assert looked == [2, 4, 2, 4, 6]


class TestDeferred:
    def test_the_error_comes_one_run_later_and_names_the_right_step(self) -> None:
        session = th.MonitoredSession(
            graph=graph_of(1.0, np.array([1.0, np.nan]), 1.0, 1.0), hooks=[NanTensorHook(deferred=True)]
        )
        assert ended_by(session) == "'loss' is NaN at [1] in the run that led to global step 2"
        assert session._raw is not None
        assert session._raw.global_step == 3

    def test_the_stop_comes_one_run_later_and_names_the_right_step(self, caplog: pytest.LogCaptureFixture) -> None:
        hook = NanTensorHook(deferred=True, fail_on_nan_loss=False)
        with th.MonitoredSession(graph=graph_of(1.0, np.nan, 1.0, 1.0), hooks=[hook]) as session:
            while not session.should_stop():
                session.run("train")
            (request,) = session.stop
            assert session.global_step == 3
        assert (request.reason, request.global_step) == ("'loss' is NaN in the run that led to global step 2", 3)
        assert [record.levelname for record in caplog.records if record.name.startswith("tenterhooks_nan")] == [
            "WARNING"
        ]

    @pytest.mark.parametrize("fail", [True, False])
    def test_what_the_last_run_had_is_said_at_the_end(self, fail: bool) -> None:
        hook = NanTensorHook(deferred=True, fail_on_nan_loss=fail)
        session = th.MonitoredSession(graph=graph_of(1.0, np.nan), hooks=[hook])
        raw = session.raw_session()
        assert raw is not None
        session.run("train")
        session.run("train")
        if fail:
            with pytest.raises(NanLossDuringTrainingError, match="'loss' is NaN in the run that led to global step 2"):
                session.close()
        else:
            session.close()
            assert [request.reason for request in raw.stop] == ["'loss' is NaN in the run that led to global step 2"]

    def test_it_is_asked_for_before_a_save(self) -> None:
        saves = Saves()
        hooks = [NanTensorHook(deferred=True), saves]
        session = th.MonitoredSession(graph=graph_of(1.0, np.nan, 1.0), hooks=hooks)
        assert ended_by(session) == "'loss' is NaN in the run that led to global step 2"
        assert saves.answers == [[], ["'loss' is NaN in the run that led to global step 2"]]

    def test_it_is_said_though_a_save_has_asked_and_the_steps_are_few(self) -> None:
        hooks = [NanTensorHook(deferred=True, every_n_steps=2), Saves()]
        graph = th.Graph()
        graph.tensor(lambda: np.nan, name="loss")
        graph.train_op(lambda: None, name="train")
        session = th.MonitoredSession(graph=graph, hooks=hooks)
        assert ended_by(session) == "'loss' is NaN in the run that led to global step 2"
        assert session._raw is not None
        assert session._raw.global_step == 3

    def test_nothing_is_asked_of_an_array_in_its_own_run(self) -> None:
        order: list[str] = []

        class Later:
            dtype = "float32"
            shape = ()

            def __init__(self, name: str) -> None:
                self.name = name

            def __ne__(self, other: object) -> "Later":  # type: ignore[override]
                return self

            __hash__ = None  # type: ignore[assignment]

            def any(self) -> "Later":
                return self

            def __bool__(self) -> bool:
                order.append(f"{self.name} is asked")
                return False

        class Says(th.SessionRunHook):
            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                order.append("run over")

        graph = graph_of(Later("a"), Later("b"))
        with th.MonitoredSession(graph=graph, hooks=[NanTensorHook(deferred=True), Says()]) as session:
            for _ in range(2):
                session.run("train")
        assert order == ["run over", "a is asked", "run over", "b is asked"]

    def test_a_run_that_a_recovery_repeats_is_judged_by_its_own_value(self) -> None:
        losses = iter([np.nan, 1.0, 1.0, 1.0])

        class Aborts(th.SessionRunHook):
            left = 1

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                if self.left:
                    self.left = 0
                    raise th.AbortedError("worker lost")

        graph = th.Graph()
        graph.tensor(lambda: next(losses), name="loss")
        graph.train_op(lambda: None, name="train")
        hooks = [NanTensorHook(deferred=True), Aborts()]
        with th.MonitoredSession(graph=graph, hooks=hooks, sleep=lambda secs: None) as session:
            for _ in range(3):
                session.run("train")
        assert session.stop == ()
