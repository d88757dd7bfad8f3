"""What `stop-at-step` promises."""

import logging
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_stop_at_step import StopAtStepHook


def counting_graph() -> th.Graph:
    graph = th.Graph()
    graph.train_op(lambda global_step: global_step + 1, name="train")
    graph.tensor(lambda: 7.0, name="seven")
    return graph


def run_all(session: Any) -> int:
    runs = 0
    while not session.should_stop():
        session.run("train")
        runs += 1
    return runs


@pytest.mark.parametrize("options", [{}, {"num_steps": 2, "last_step": 3}])
def test_exactly_one_of_the_two_must_be_given(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="exactly one of num_steps and last_step must be given, not num_steps="):
        StopAtStepHook(**options)


def test_last_step_is_absolute() -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[StopAtStepHook(last_step=3)]) as session:
        assert run_all(session) == 3


def test_num_steps_counts_from_where_the_session_starts() -> None:
    graph = counting_graph()
    creator = th.ChiefSessionCreator(graph, init_fn=lambda session: setattr(session.state, "global_step", 10))
    with th.MonitoredSession(creator, hooks=[StopAtStepHook(num_steps=4)]) as session:
        assert run_all(session) == 4
        assert session.global_step == 14


@pytest.mark.parametrize("start", [5, 8])
def test_a_session_that_starts_at_or_past_the_last_step_makes_no_run(
    start: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    graph = counting_graph()
    creator = th.ChiefSessionCreator(graph, init_fn=lambda session: setattr(session.state, "global_step", start))
    with th.MonitoredSession(creator, hooks=[StopAtStepHook(last_step=5)]) as session:
        assert run_all(session) == 0
    assert f"nothing to do: the session starts at global step {start}, and the last one is 5" in caplog.text


def test_runs_that_do_not_train_do_not_count() -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[StopAtStepHook(num_steps=1)]) as session:
        for _ in range(3):
            session.run("seven")
        assert not session.should_stop()


def test_the_request_says_who_why_and_when() -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[StopAtStepHook(last_step=2)]) as session:
        run_all(session)
        (request,) = session.stop
    assert (request.hook, request.reason, request.global_step) == ("stop-at-step", "the last global step is 2", 2)


def test_a_recovery_keeps_the_step_to_stop_at() -> None:
    class LoseWorkerOnce(th.SessionRunHook):
        lost = False

        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 2 and not self.lost:
                self.lost = True
                raise th.AbortedError

    class StartsAtZeroThenTwo(th.ChiefSessionCreator):
        start = 0

        def create_session(self) -> th.Session:
            session = super().create_session()
            session.state.global_step, self.start = self.start, 2
            return session

    hooks = [StopAtStepHook(num_steps=3), LoseWorkerOnce()]
    with th.MonitoredSession(StartsAtZeroThenTwo(counting_graph()), hooks=hooks) as session:
        assert run_all(session) == 3


def test_a_hook_that_is_used_again_counts_anew() -> None:
    hook = StopAtStepHook(num_steps=2)
    graph = counting_graph()
    starts = iter([0, 10])
    creator = th.ChiefSessionCreator(graph, init_fn=lambda session: setattr(session.state, "global_step", next(starts)))
    for _ in range(2):
        with th.MonitoredSession(creator, hooks=[hook]) as session:
            assert run_all(session) == 2


@pytest.mark.parametrize("name", ["num_steps", "last_step"])
@pytest.mark.parametrize("steps", ["10", 2.5, True])
def test_what_is_no_number_of_steps_is_an_error_at_once(name: str, steps: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} is a whole number, not {steps!r} of type"):
        StopAtStepHook(**{name: steps})
