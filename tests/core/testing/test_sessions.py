"""The sessions of the kit, of both kinds, and what they record."""

import logging
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, ManualClock, MemorySaver, Recorder, raising, run_hooks
from tenterhooks.testing.sessions import Loop

VALUES = [{"loss": 3.0, "accuracy": 0.1}, {"loss": 2.0, "accuracy": 0.2}]

both = pytest.mark.parametrize("loop", ["graph", "own"])


def asking(fetches: object = None, **feeds: object) -> Recorder:
    return Recorder(before_run=lambda run_context: th.SessionRunArgs(fetches, feeds))


@both
def test_each_step_has_its_values(loop: Loop) -> None:
    hook = asking(["loss", "accuracy"])
    outcome = run_hooks([hook], VALUES, loop=loop)
    assert hook.results == [[3.0, 0.1], [2.0, 0.2]]
    assert [run.step for run in outcome.runs] == [1, 2]
    assert outcome.global_step == 2


@both
def test_one_dict_is_for_all_steps(loop: Loop) -> None:
    hook = asking("loss")
    assert run_hooks([hook], {"loss": 7.0}, loop=loop).global_step == 3
    assert hook.results == [7.0, 7.0, 7.0]


@both
def test_what_was_asked_for_is_recorded(loop: Loop) -> None:
    hook = Recorder(
        before_run=lambda context: th.SessionRunArgs("accuracy") if context.session.global_step == 1 else None
    )
    assert [run.computed for run in run_hooks([hook], VALUES, loop=loop).runs] == [(), ("accuracy",)]


@both
def test_a_value_that_can_be_called_is_called_where_it_is_asked_for(loop: Loop) -> None:
    calls: list[str] = []

    def loss() -> float:
        calls.append("loss")
        return 0.5

    run_hooks([Recorder()], {"loss": loss}, loop=loop)
    assert calls == []
    hook = asking("loss")
    run_hooks([hook], {"loss": loss}, steps=1, loop=loop)
    assert hook.results == [0.5]
    assert calls == ["loss"]


@both
def test_what_was_fed_is_recorded(loop: Loop) -> None:
    outcome = run_hooks([asking(rate=0.5)], {"loss": 1.0}, steps=1, feeds={"rate": 0.1, "other": 1.0}, loop=loop)
    assert [run.fed for run in outcome.runs] == [{"rate": 0.5}]


@both
def test_a_value_can_be_fed(loop: Loop) -> None:
    hook, other = asking(loss=9.0), asking("loss")
    run_hooks([hook, other], VALUES, loop=loop)
    assert other.results == [9.0, 9.0]


@both
@pytest.mark.parametrize("error", [ValueError("here"), KeyboardInterrupt(), SystemExit(3)])
def test_a_step_fails_where_it_is_told_to(loop: Loop, error: BaseException) -> None:
    hook = Recorder()
    outcome = run_hooks([hook], steps=5, loop=loop, fail_at={3: error})
    assert outcome.error is error
    assert outcome.global_step == 2
    hook.assert_stages("begin", "after_create_session", "2 runs", "before_run", "on_exception")


@both
def test_the_creation_fails_where_it_is_told_to(loop: Loop) -> None:
    hook, error = Recorder(), ValueError("here")
    outcome = run_hooks([hook], loop=loop, fail_at={"creation": error})
    assert outcome.error is error
    assert (outcome.global_step, outcome.stop) == (0, ())
    hook.assert_stages("begin", "on_exception")


@both
def test_a_lost_worker_at_the_creation_is_recovered_from(loop: Loop) -> None:
    hook = Recorder()
    outcome = run_hooks([hook], steps=1, loop=loop, fail_at={"creation": th.AbortedError("lost")})
    assert outcome.error is None
    hook.assert_stages("begin", "after_create_session", "1 run", "end")


def test_a_graph_session_recovers_from_a_lost_worker() -> None:
    hook, clock = Recorder(), ManualClock()
    lost = Recorder("other", after_create_session=raising(None, th.UnavailableError("again")))
    fail_at = {2: th.AbortedError("lost")}
    outcome = run_hooks([hook, lost], steps=2, fail_at=fail_at, saver=MemorySaver(), clock=clock)
    assert outcome.error is None
    # Tried a second time after a pause of one second, beside one second for each step.
    assert clock() == 3.0
    hook.assert_stages(
        *["begin", "after_create_session", "1 run", "before_run"],
        *["after_create_session", "after_create_session", "1 run", "end"],
    )


def test_a_loop_of_the_programs_own_does_not_recover() -> None:
    error = th.AbortedError("lost")
    assert run_hooks([Recorder()], loop="own", fail_at={2: error}).error is error


@both
def test_the_session_has_the_folder(loop: Loop, tmp_path: Path) -> None:
    seen = []
    hook = Recorder(after_create_session=lambda session, coord: seen.append(session.checkpoint_dir))
    run_hooks([hook], loop=loop, checkpoint_dir=tmp_path)
    assert seen == [tmp_path]


@both
def test_each_step_takes_a_second(loop: Loop) -> None:
    clock = ManualClock(5.0)
    times: list[float] = []
    run_hooks([Recorder(before_run=lambda run_context: times.append(clock()))], loop=loop, clock=clock)
    assert times == [5.0, 6.0, 7.0]


def test_numbers_are_summaries_of_the_graph() -> None:
    graphs: list[th.Graph] = []
    run_hooks([Recorder(begin=graphs.append)], {"loss": 1.0, "name": "a"}, steps=0)
    assert graphs[0].get_collection("summaries") == ["loss"]


@pytest.mark.parametrize("where", [0, -1, "create", "begin", 1.5, True])
def test_a_place_to_fail_at_that_does_not_exist_is_an_error(where: object) -> None:
    with pytest.raises(ValueError, match='fail_at has steps, which count from 1, and "creation"; not '):
        run_hooks([], fail_at={where: ValueError("here")})


def test_a_kind_of_loop_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="not 'owned'"):
        run_hooks([], loop="owned")  # type: ignore[arg-type]


def test_it_can_be_gone_through_by_hand() -> None:
    hook = Recorder()
    with FakeSession([hook], values=VALUES) as fake:
        fake.step()
        hook.assert_stages("begin", "after_create_session", "1 run")
        fake.go_to()
        assert fake.global_step == 2
    assert fake.session.should_stop()
    hook.assert_stages("begin", "after_create_session", "2 runs", "end")


def test_a_session_that_cannot_be_opened_hears_no_log_any_more() -> None:
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    run_hooks([], fail_at={"creation": ValueError("here")})
    assert (root.level, root.handlers) == before
