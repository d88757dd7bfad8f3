"""`run_step_fn`: a step that is a function, with any number of runs in it."""

from collections.abc import Callable
from typing import Any

import pytest

import tenterhooks as th

from .recorders import MemorySaver, Recorder, SaveEveryStep, counting_graph, first, raising, training

AnySession = th.MonitoredSession | th.SingularMonitoredSession


@pytest.fixture(params=["MonitoredSession", "SingularMonitoredSession"])
def opened(request: pytest.FixtureRequest) -> Callable[..., AnySession]:
    """Opens a session of either kind with hooks."""

    def monitored(*hooks: object) -> AnySession:
        return th.MonitoredSession(graph=counting_graph(), hooks=hooks, sleep=lambda seconds: None)

    def singular(*hooks: object) -> AnySession:
        return th.SingularMonitoredSession(hooks, graph=counting_graph())

    return monitored if request.param == "MonitoredSession" else singular


def step(step_context: th.StepContext) -> Any:
    return step_context.run_with_hooks(["w", "train"])


def test_it_gives_what_the_function_returns(opened: Callable[..., AnySession]) -> None:
    with opened() as session:
        assert session.run_step_fn(lambda step_context: {"anything": 3}) == {"anything": 3}


def test_run_with_hooks_is_a_run_of_the_monitored_session(opened: Callable[..., AnySession]) -> None:
    hook = Recorder("a")
    with opened(hook) as session:
        assert session.run_step_fn(step) == [0.0, None]
    assert hook.stages[2:4] == ["before_run", "after_run"]


def test_run_with_hooks_takes_feeds_options_and_metadata(opened: Callable[..., AnySession]) -> None:
    metadata = th.RunMetadata()

    def traced(step_context: th.StepContext) -> Any:
        return step_context.run_with_hooks("x_times_y", {"x": 5.0}, {"trace": True}, metadata)

    with opened() as session:
        assert session.run_step_fn(traced) == 10.0
    assert metadata.node_seconds.keys() == {"x_times_y"}


def test_its_session_is_the_raw_one(opened: Callable[..., AnySession]) -> None:
    with opened() as session:
        assert session.run_step_fn(lambda step_context: step_context.session) is session.raw_session()


def test_a_run_of_its_session_calls_no_hooks(opened: Callable[..., AnySession]) -> None:
    hook = Recorder("a")
    with opened(hook) as session:
        assert session.run_step_fn(lambda step_context: step_context.session.run("w")) == 0.0
        assert hook.stages == ["begin", "after_create_session"]


def test_there_may_be_several_runs_in_a_step(opened: Callable[..., AnySession]) -> None:
    with opened() as session:
        session.run_step_fn(lambda step_context: [step(step_context), step(step_context)])
        assert session.global_step == 2


def test_a_stop_that_a_hook_requests_in_the_first_run_of_a_step_makes_the_second_an_error(
    opened: Callable[..., AnySession],
) -> None:
    hook = Recorder("a", before_run=lambda context: context.request_stop())
    session = opened(hook)
    with pytest.raises(RuntimeError, match="asked to stop"):
        session.run_step_fn(lambda step_context: [step(step_context), step(step_context)])
    assert session.global_step == 1
    session.close()


def test_request_stop_leaves_the_function_and_ends_the_block_cleanly(opened: Callable[..., AnySession]) -> None:
    reached: list[str] = []
    hook = Recorder("a")

    def stopping(step_context: th.StepContext) -> None:
        reached.append("before")
        step_context.request_stop()

    with opened(hook) as session:
        session.run_step_fn(stopping)
        reached.append("after")
    assert reached == ["before"]
    assert hook.stages == ["begin", "after_create_session", "end"]


def test_request_stop_outside_of_a_block_raises_stop_iteration(opened: Callable[..., AnySession]) -> None:
    session = opened()
    with pytest.raises(StopIteration):
        session.run_step_fn(lambda step_context: step_context.request_stop())
    assert not session.should_stop()
    session.close()


def test_a_method_will_do(opened: Callable[..., AnySession]) -> None:
    class Trainer:
        def step(self, step_context: th.StepContext) -> Any:
            return step(step_context)

    with opened() as session:
        assert session.run_step_fn(Trainer().step) == [0.0, None]


def test_a_method_of_no_object_is_an_error_that_says_what_to_pass() -> None:
    class Trainer:
        def step(self, step_context: th.StepContext) -> Any:
            return step(step_context)

    with training() as session, pytest.raises(ValueError, match=r"\(self, step_context.*\): pass the method of an obj"):
        session.run_step_fn(Trainer.step)  # type: ignore[arg-type]


def test_a_parameter_by_position_only_will_do(opened: Callable[..., AnySession]) -> None:
    def by_position(step_context: th.StepContext, /) -> Any:
        return step(step_context)

    with opened() as session:
        assert session.run_step_fn(by_position) == [0.0, None]


@pytest.mark.parametrize(
    "function",
    [
        lambda: None,
        lambda context: None,
        lambda step_context, more: None,
        lambda step_context, more=1: None,
        lambda step_context, *more: None,
        lambda self, step_context: None,
        lambda *step_context: None,
        lambda **step_context: None,
        lambda *, step_context: None,
    ],
    ids=[
        "none",
        "another name",
        "one more",
        "one more with a default",
        "any number more",
        "a method of no object",
        "all by position",
        "all by name",
        "by name only",
    ],
)
def test_a_function_with_other_parameters_is_an_error(
    opened: Callable[..., AnySession], function: Callable[..., Any]
) -> None:
    session = opened()
    with pytest.raises(ValueError, match="exactly one parameter, named step_context"):
        session.run_step_fn(function)
    session.close()


def test_an_error_of_the_function_reaches_the_caller(opened: Callable[..., AnySession]) -> None:
    session = opened()
    with pytest.raises(ValueError, match="step"):
        session.run_step_fn(lambda step_context: raising(ValueError("step"))())
    assert session.run("w") == 0.0
    session.close()


def test_it_is_an_error_after_close(opened: Callable[..., AnySession]) -> None:
    session = opened()
    session.close()
    with pytest.raises(RuntimeError, match="the session is closed"):
        session.run_step_fn(step)


class TestRecovery:
    def test_the_function_is_repeated_as_a_whole(self) -> None:
        calls: list[str] = []
        fail = raising(th.AbortedError("lost"))

        def losing(step_context: th.StepContext) -> Any:
            calls.append("step")
            result = step(step_context)
            fail()
            return result

        with training() as session:
            assert session.run_step_fn(losing) == [0.0, None]
        assert calls == ["step", "step"]

    def test_what_a_hook_lost_repeats_the_function_too(self) -> None:
        calls: list[str] = []

        def counted(step_context: th.StepContext) -> Any:
            calls.append("step")
            return step(step_context)

        with training(Recorder("a", before_run=raising(th.AbortedError("lost")))) as session:
            session.run_step_fn(counted)
        assert calls == ["step", "step"]

    def test_the_repeated_function_gets_the_new_raw_session(self) -> None:
        seen: list[th.Session] = []
        fail = raising(th.AbortedError("lost"))

        def losing(step_context: th.StepContext) -> Any:
            seen.append(step_context.session)
            fail()
            return step_context.session.run("w")

        with training() as session:
            assert session.run_step_fn(losing) == 0.0
            assert seen[1] is session.raw_session()
        assert seen[0] is not seen[1]

    def test_it_goes_on_from_the_newest_checkpoint(self) -> None:
        saver = MemorySaver()
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        fail = first(1, raising(th.AbortedError("lost")))

        def losing(step_context: th.StepContext) -> Any:
            result = step(step_context)
            if step_context.session.global_step == 2:
                fail()
            return result

        with th.MonitoredSession(creator, [SaveEveryStep(saver)]) as session:
            session.run_step_fn(losing)
            session.run_step_fn(losing)
            assert session.global_step == 3

    def test_a_singular_session_does_not_recover(self) -> None:
        hook = Recorder("a", before_run=raising(th.AbortedError("lost")))
        session = th.SingularMonitoredSession([hook], graph=counting_graph())
        with pytest.raises(th.AbortedError, match="lost"):
            session.run_step_fn(step)
        session.close()

    def test_a_function_with_other_parameters_is_found_before_any_run(self) -> None:
        hook = Recorder("a")
        with training(hook) as session:
            with pytest.raises(ValueError, match="step_context"):
                session.run_step_fn(lambda context: context.run_with_hooks("w"))
            assert "before_run" not in hook.stages
