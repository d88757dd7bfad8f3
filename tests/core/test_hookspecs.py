"""The stages: their specifications, and the order in which a session calls them."""

import inspect

import pytest

import tenterhooks as th
from tenterhooks import hookspecs

from .recorders import Recorder, counting_graph, raising, training


def test_each_stage_is_a_specification_of_the_project() -> None:
    assert all(
        isinstance(getattr(getattr(hookspecs, stage), "tenterhooks_spec", None), dict) for stage in hookspecs.STAGES
    )


def test_nothing_else_is_a_specification() -> None:
    assert [n for n, value in vars(hookspecs).items() if hasattr(value, "tenterhooks_spec")] == list(hookspecs.STAGES)


@pytest.mark.parametrize("stage", hookspecs.STAGES)
def test_the_base_class_has_the_arguments_of_the_specification(stage: str) -> None:
    specified = list(inspect.signature(getattr(hookspecs, stage)).parameters)
    assert list(inspect.signature(getattr(th.SessionRunHook, stage)).parameters) == ["self", *specified]


@pytest.mark.parametrize("stage", hookspecs.STAGES)
def test_arguments_of_a_specification_are_plain(stage: str) -> None:
    # pluggy overlooks keyword-only ones, and defaults of specifications differ between its versions.
    parameters = inspect.signature(getattr(hookspecs, stage)).parameters.values()
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)


def test_hookimpl_marks_a_method_for_the_project() -> None:
    @th.hookimpl(tryfirst=True)
    def end() -> None: ...

    assert end.tenterhooks_impl["tryfirst"]  # type: ignore[attr-defined]


def test_a_session_calls_each_stage_for_all_hooks_in_order() -> None:
    calls: list[tuple[str, str]] = []
    with training(Recorder("a", calls), Recorder("b", calls)) as session:
        session.run("train")
        session.run("train")
    stages = ["begin", "after_create_session", "before_run", "after_run", "before_run", "after_run", "end"]
    assert calls == [(name, stage) for stage in stages for name in "ab"]


def test_an_exception_takes_the_place_of_end() -> None:
    calls: list[tuple[str, str]] = []
    with pytest.raises(ValueError, match="body"), training(Recorder("a", calls), Recorder("b", calls)):
        raise ValueError("body")
    stages = ["begin", "after_create_session", "on_exception"]
    assert calls == [(name, stage) for stage in stages for name in "ab"]


def test_a_recovery_creates_the_session_and_makes_the_run_again() -> None:
    calls: list[tuple[str, str]] = []
    losing = Recorder("a", calls, after_run=raising(th.AbortedError("lost")))
    with training(losing, Recorder("b", calls)) as session:
        session.run("train")
    lost = [("a", "before_run"), ("b", "before_run"), ("a", "after_run")]
    stages = ["after_create_session", "before_run", "after_run", "end"]
    assert calls[4:] == lost + [(name, stage) for stage in stages for name in "ab"]


def test_begin_may_add_to_the_graph() -> None:
    seen = []
    hook = Recorder(
        "a",
        begin=lambda graph: graph.tensor(lambda w: w + 0.5, name="more") and None,
        before_run=lambda context: th.SessionRunArgs("more"),
        after_run=lambda context, values: seen.append(values.results),
    )
    with training(hook) as session:
        session.run("train")
    assert seen == [0.5]


def test_begin_gets_the_graph_of_the_session() -> None:
    seen: list[th.Graph] = []
    graph = counting_graph()
    th.MonitoredSession(graph=graph, hooks=[Recorder("a", begin=seen.append)]).close()
    assert seen == [graph]
