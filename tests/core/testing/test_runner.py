"""`run_hooks`, and what it tells of a session."""

import logging

import pytest

import tenterhooks as th
from tenterhooks.testing import MemorySaver, Recorder, raising, run_hooks
from tenterhooks.testing.sessions import Loop

VALUES = [{"loss": 3.0}, {"loss": 2.0}]

both = pytest.mark.parametrize("loop", ["graph", "own"])


def asking(fetches: object = None, **feeds: object) -> Recorder:
    return Recorder(before_run=lambda run_context: th.SessionRunArgs(fetches, feeds))


@both
def test_the_number_of_steps_can_be_given(loop: Loop) -> None:
    hook = asking("loss")
    run_hooks([hook], VALUES, steps=4, loop=loop)
    assert hook.results == [3.0, 2.0, 2.0, 2.0]


@both
def test_a_stop_ends_it_and_is_recorded(loop: Loop) -> None:
    hook = Recorder("stopper", after_run=lambda run_context, run_values: run_context.request_stop("enough"))
    outcome = run_hooks([hook], steps=5, loop=loop)
    assert [(request.hook, request.reason) for request in outcome.stop] == [("stopper", "enough")]
    assert outcome.runs[0].stop == outcome.stop
    assert outcome.global_step == 1
    assert outcome.error is None


@both
def test_a_stop_at_the_creation_leaves_no_step(loop: Loop) -> None:
    hook = Recorder(after_create_session=lambda session, coord: session.request_stop("at once"))
    outcome = run_hooks([hook], steps=5, loop=loop)
    assert (outcome.runs, len(outcome.stop)) == ((), 1)


@both
def test_an_error_that_nobody_asked_for_is_raised(loop: Loop) -> None:
    with pytest.raises(ValueError, match="a fault"):
        run_hooks([Recorder(after_run=raising(ValueError("a fault")))], loop=loop)


@both
def test_an_error_that_a_hook_is_to_raise_is_kept(loop: Loop) -> None:
    hook = Recorder(after_run=raising(None, ValueError("a fault")))
    outcome = run_hooks([hook], loop=loop, catch=ValueError)
    assert str(outcome.error) == "a fault"
    assert len(outcome.runs) == 1


@both
def test_a_second_call_with_the_same_saver_resumes(loop: Loop) -> None:
    saver, hook = MemorySaver(), asking("loss")
    run_hooks([Recorder()], VALUES[:1], loop=loop, saver=saver)
    outcome = run_hooks([hook], VALUES, loop=loop, saver=saver)
    assert hook.results == [2.0]
    assert [run.step for run in outcome.runs] == [2]
    _, state = saver.restore() or (None, {})
    assert float(state["variables"]["w"]) == 2.0


@both
def test_what_is_logged_is_recorded_by_the_step(loop: Loop) -> None:
    log = logging.getLogger("some.library")
    hook = Recorder(
        begin=lambda graph: log.info("begun"),
        after_run=lambda run_context, run_values: log.info("step %d", run_context.session.global_step),
        end=lambda session: log.warning("over"),
    )
    outcome = run_hooks([hook], loop=loop, steps=2, saver=MemorySaver())
    assert outcome.messages == ["begun", "step 1", "step 2", "over"]
    assert [[record.getMessage() for record in run.log] for run in outcome.runs] == [["step 1"], ["step 2"]]
