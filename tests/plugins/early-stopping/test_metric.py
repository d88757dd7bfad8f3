"""Which values are checks, and at which step."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, ManualClock, MemorySaver
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks_early_stopping import EarlyStoppingHook
from tenterhooks_early_stopping._metric import MetricHook


class Noting(MetricHook):
    """Notes the checks, and stops at a value below 0."""

    def __init__(self, metric: Any = "x", **options: Any) -> None:
        self.checks: list[tuple[int, float]] = []
        super().__init__(metric, **{"start_from_step": 0, "every_n_steps": None, "every_n_secs": None, **options})

    def check(self, session: th.Session, value: float, step: int) -> None:
        self.checks.append((step, value))

    def reason(self) -> str | None:
        return "enough" if self.checks and self.checks[-1][1] < 0 else None


class Evaluate(th.SessionRunHook):
    """Publishes the step as a metric, every so many steps."""

    def __init__(self, every: int = 2) -> None:
        self._every = every

    def begin(self, graph: th.Graph) -> None:
        # A loop of the program's own publishes any name.
        if type(graph) is th.Graph:
            graph.placeholder("x")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        step = run_context.session.global_step
        if step % self._every == 0:
            run_context.session.publish(x=float(step))


def train_graph() -> th.Graph:
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    return graph


class TestValuesOfRuns:
    @pytest.mark.parametrize("loop", ["graph", "own"])
    def test_each_run_is_a_check_at_the_step_that_it_leads_to(self, loop: Any) -> None:
        hook = Noting()
        with FakeSession([hook], loop=loop, values=[{"x": 0.0}, {"x": 5}, {"x": np.float32(2)}]) as session:
            session.go_to()
        assert hook.checks == [(1, 0.0), (2, 5.0), (3, 2.0)]

    def test_a_pass_that_publishes_none_is_no_check(self) -> None:
        hook = Noting()
        with FakeSession([hook], loop="own", values=[{}, {"x": 1.0}, {}, {"x": 2.0}]) as session:
            session.go_to()
        assert hook.checks == [(2, 1.0), (4, 2.0)]

    def test_a_run_that_does_not_train_is_a_check_of_a_step_that_has_none(self) -> None:
        hook = Noting()
        graph = train_graph()
        graph.tensor(lambda global_step: 1.0 * global_step, name="x")
        with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
            session.run([])
            session.run([])
            session.run("train")
            session.run([])
        assert hook.checks == [(0, 0.0), (1, 0.0)]

    def test_a_callable_is_called(self) -> None:
        hook = Noting()
        with th.MonitoredSession(hooks=[hook]) as session:
            for _ in session.steps(range(1)):
                session.publish(x=lambda: 4)
        assert hook.checks == [(1, 4.0)]

    def test_a_node_is_a_metric(self) -> None:
        graph = train_graph()
        hook = Noting(graph.tensor(lambda: 3, name="x"))
        with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
            session.run("train")
        assert hook.checks == [(1, 3.0)]

    def test_it_asks_for_the_same_in_each_run(self) -> None:
        hook, asked = Noting(), []

        class Listens(th.SessionRunHook):
            def before_run(self, run_context: th.SessionRunContext) -> None:
                asked.append(hook.before_run(run_context))

        with th.MonitoredSession(hooks=[hook, Listens()]) as session:
            list(session.steps(range(2)))
        assert asked[0] is asked[1]


class TestValuesThatAreKept:
    def test_one_from_between_passes_is_of_the_step_before(self) -> None:
        hook = Noting()
        with th.MonitoredSession(hooks=[hook]) as session:
            session.publish(x=7)
            for epoch in session.epochs(2):
                list(session.steps(range(3)))
                session.publish(x=epoch)
        assert hook.checks == [(0, 7.0), (3, 0.0), (6, 1.0)]

    @pytest.mark.parametrize("own", [False, True])
    @pytest.mark.parametrize("first", [False, True])
    def test_one_of_a_hook_is_of_the_step_wherever_that_hook_stands(self, own: bool, first: bool) -> None:
        hook = Noting()
        hooks: list[th.SessionRunHook] = [Evaluate(), hook] if first else [hook, Evaluate()]
        with th.MonitoredSession(graph=None if own else train_graph(), hooks=hooks) as session:
            if own:
                list(session.steps(range(5)))
            else:
                for _ in range(5):
                    session.run("train")
        assert hook.checks == [(2, 2.0), (4, 4.0)]

    def test_the_session_stops_in_the_step_of_the_evaluation_wherever_that_stands(self) -> None:
        class Bad(Evaluate):
            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                if run_context.session.global_step == 2:
                    run_context.session.publish(x=-1)

        steps = {}
        for place in (0, 1):
            hooks: list[th.SessionRunHook] = [Noting()]
            hooks.insert(place, Bad())
            with th.MonitoredSession(hooks=hooks) as session:
                list(session.steps(range(9)))
                steps[place] = session.global_step
        assert steps == {0: 2, 1: 2}

    def test_the_same_value_published_again_is_a_check(self) -> None:
        hook = Noting()
        with th.MonitoredSession(hooks=[hook]) as session:
            for _ in session.epochs(3):
                list(session.steps(range(1)))
                session.publish(x=5)
        assert hook.checks == [(1, 5.0), (2, 5.0), (3, 5.0)]

    def test_one_that_is_published_again_at_a_step_that_was_checked_is_none(self) -> None:
        hook = Noting()
        with th.MonitoredSession(hooks=[hook]) as session:
            session.publish(x=5)
            list(session.steps(range(1)))
            for value in (1, 2):
                session.publish(x=value)
                with session.step():
                    pass
        assert hook.checks == [(0, 5.0), (1, 1.0), (2, 2.0)]


class TestPeriod:
    def test_it_looks_every_so_many_steps(self) -> None:
        hook = Noting(every_n_steps=3)
        with FakeSession([hook], values=[{"x": float(n)} for n in range(8)]) as session:
            session.go_to()
        assert hook.checks == [(1, 0.0), (4, 3.0), (7, 6.0)]
        assert [run.computed for run in session.runs] == [("x",), (), (), ("x",), (), (), ("x",), ()]

    def test_or_seconds(self) -> None:
        clock = ManualClock()
        hook = Noting(every_n_secs=2.0, clock=clock)
        with FakeSession([hook], values=[{"x": float(n)} for n in range(5)], clock=clock) as session:
            session.go_to()
        assert [step for step, _ in hook.checks] == [1, 3, 5]

    @pytest.mark.parametrize("cut", range(1, 8))
    def test_a_restored_session_goes_on_in_it(self, cut: int) -> None:
        values = [{"x": float(n)} for n in range(8)]
        saver, first, second = MemorySaver(), Noting(every_n_steps=3), Noting(every_n_steps=3)
        with FakeSession([first, KeepEachStep(saver)], values=values) as session:
            session.go_to(cut)
        with FakeSession([second], values=values, saver=saver) as session:
            session.go_to()
        assert first.checks + second.checks == [(1, 0.0), (4, 3.0), (7, 6.0)]


class TestStart:
    def test_values_before_it_are_none(self) -> None:
        hook = Noting(start_from_step=3)
        with FakeSession([hook], values=[{"x": float(n)} for n in range(4)]) as session:
            session.go_to()
        assert hook.checks == [(3, 2.0), (4, 3.0)]


class TestWrongValues:
    @pytest.mark.parametrize("value", [None, "0.5", b"1", np.zeros(2), [1.0], 1j, np.complex128(1), {}], ids=repr)
    def test_what_is_not_one_number_is_an_error_that_names_it(self, value: Any) -> None:
        # None from a run is no value; one that is published is.
        session = th.MonitoredSession(hooks=[Noting()])
        with pytest.raises(TypeError, match=r"'x' is .* of type .*: a metric is one number"), session:
            session.publish(x=value)
            list(session.steps(range(1)))

    @pytest.mark.parametrize("value", [np.float16(2), np.array(2), np.array([2.0]), 2, True + 1], ids=repr)
    def test_what_is_one_is_none(self, value: Any) -> None:
        hook = Noting()
        with FakeSession([hook], loop="own", values={"x": value}) as session:
            session.go_to(1)
        assert hook.checks == [(1, 2.0)]

    def test_a_name_that_a_graph_does_not_have_is_an_error_with_the_nearest(self) -> None:
        graph = train_graph()
        graph.tensor(lambda: 1.0, name="loss")
        with pytest.raises(th.UnknownNameError, match=r"'los'.*the nearest: 'loss'"):
            th.MonitoredSession(graph=graph, hooks=[Noting("los")])

    def test_a_name_that_nobody_publishes_is_said_at_the_end(self, caplog: pytest.LogCaptureFixture) -> None:
        with th.MonitoredSession(hooks=[Noting("eval/acuracy")]) as session:
            list(session.steps(range(1)))
            session.publish({"eval/accuracy": 0.5})
        (record,) = caplog.records
        assert record.getMessage() == (
            "no value of 'eval/acuracy' was seen in this session, so nothing could stop it: publish it, or have a hook "
            "publish it; the nearest: 'eval/accuracy'"
        )

    @pytest.mark.parametrize("given", [{"x": 1.0}, {}], ids=repr)
    def test_it_is_not_said_where_there_was_one_or_no_run(
        self, given: Mapping[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.WARNING)
        with FakeSession([Noting(start_from_step=9)], loop="own", values=given) as session:
            if given:
                session.go_to()
        assert caplog.records == []


def test_it_is_not_said_of_a_loop_that_is_over_at_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with th.MonitoredSession(hooks=[Noting()]) as session:
        assert list(session.steps([])) == []
    assert caplog.records == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": 3}, TypeError, "named by a string, or is a node, not 3 of type int"),
        ({"metric": object}, TypeError, "no estimator is passed"),
        ({"start_from_step": -1}, ValueError, "the step to start from is 0 or more, not -1"),
        ({"every_n_steps": 1, "every_n_secs": 1.0}, ValueError, "at most one period in steps and seconds"),
        ({"every_n_steps": -1}, ValueError, "a period is 0 or more, not -1"),
        ({"every_n_secs": float("nan")}, ValueError, "a period is 0 or more, not nan"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Noting(**options)
    with pytest.raises(error, match=message):
        EarlyStoppingHook(**{"metric": "x", "patience": 1, **options})
