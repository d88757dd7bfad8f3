"""What a hook gets, through the adapter that stands between it and the session."""

import logging
from typing import Any

import pytest

import tenterhooks as th

from .recorders import Recorder, training


@pytest.mark.parametrize("stage", ["after_create_session", "end"])
def test_the_session_that_a_stage_gets_is_the_raw_one(stage: str) -> None:
    seen: list[th.Session] = []
    on: dict[str, Any] = {stage: lambda session, *others: seen.append(session)}
    with training(Recorder("a", **on)) as session:
        raw = session.raw_session()
    assert seen == [raw]


def test_on_exception_gets_the_raw_session_and_the_exception() -> None:
    seen: list[Any] = []
    error = ValueError("body")
    hook = Recorder("a", on_exception=lambda session, exception: seen.extend([session, exception]))
    with pytest.raises(ValueError, match="body"), training(hook) as session:
        raw = session.raw_session()
        raise error
    assert seen == [raw, error]


def test_each_hook_gets_just_what_it_asked_for() -> None:
    seen: dict[str, Any] = {}

    def asking(name: str) -> Recorder:
        return Recorder(
            name,
            before_run=lambda context: th.SessionRunArgs(name),
            after_run=lambda context, values: seen.update({name: values.results}),
        )

    with training(asking("x"), Recorder("nothing"), asking("y")) as session:
        session.run("train")
    assert seen == {"x": 1.0, "y": 2.0}


def test_a_hook_is_not_told_of_by_the_log_where_all_is_well(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), training(Recorder("a")) as session:
        session.run("train")
    assert caplog.text == ""
