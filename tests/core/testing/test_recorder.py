"""What a recorder notes, and how it tells it."""

import pytest

import tenterhooks as th
from tenterhooks.testing import Recorder, raising, run_hooks


def test_it_tells_runs_in_short() -> None:
    recorder = Recorder()
    run_hooks([recorder], steps=3)
    assert recorder.story == ["begin", "after_create_session", "3 runs", "end"]
    assert recorder.stages == [
        "begin",
        "after_create_session",
        *["before_run", "after_run"] * 3,
        "end",
    ]


def test_a_run_that_failed_is_no_run() -> None:
    recorder = Recorder()
    run_hooks([recorder], steps=3, fail_at={2: ValueError("here")})
    recorder.assert_stages("begin", "after_create_session", "1 run", "before_run", "on_exception")


@pytest.mark.parametrize("expected", [["begin"], ["begin", "after_create_session", "2 runs", "end"], []])
def test_a_failing_assertion_says_what_was_called(expected: list[str]) -> None:
    recorder = Recorder("watch")
    run_hooks([recorder], steps=1)
    with pytest.raises(AssertionError) as raised:
        recorder.assert_stages(*expected)
    story = ["begin", "after_create_session", "1 run", "end"]
    assert str(raised.value) == f"hook 'watch' was called in {story}, not in {expected}"


def test_it_keeps_the_arguments_and_the_step_of_each_call() -> None:
    error = ValueError("here")
    recorder = Recorder()
    run_hooks([recorder], steps=2, fail_at={2: error})
    names = {call.stage: list(call.arguments) for call in recorder.recorded}
    assert names == {
        "begin": ["graph"],
        "after_create_session": ["session", "coord"],
        "before_run": ["run_context"],
        "after_run": ["run_context", "run_values"],
        "on_exception": ["session", "exception"],
    }
    assert [call.step for call in recorder.recorded] == [None, 0, 0, 1, 1, 1]
    assert recorder.recorded[-1].arguments["exception"] is error


def test_what_it_is_told_to_ask_for_is_what_it_gets() -> None:
    recorder = Recorder(before_run=lambda run_context: th.SessionRunArgs("loss"))
    run_hooks([recorder], [{"loss": 3.0}, {"loss": 2.0}])
    assert recorder.results == [3.0, 2.0]


def test_several_share_a_list_of_calls() -> None:
    calls: list[tuple[str, str]] = []
    run_hooks([Recorder("a", calls), Recorder("b", calls)], steps=0)
    assert calls == [(name, stage) for stage in ("begin", "after_create_session", "end") for name in "ab"]


def test_a_calm_one_does_nothing_but_note() -> None:
    recorder = Recorder(begin=raising(ValueError("here")))
    recorder.calm()
    run_hooks([recorder], steps=0)
    recorder.assert_stages("begin", "after_create_session", "end")


def test_raising_raises_one_after_the_other() -> None:
    act = raising(None, ValueError("first"), None, KeyError("second"))
    act()
    with pytest.raises(ValueError, match="first"):
        act()
    act("any", "arguments")
    with pytest.raises(KeyError, match="second"):
        act()
    act()
