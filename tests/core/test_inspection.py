"""A session that is only shown calls nothing, trains nothing, and lets its program go on."""

from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks.inspection import NotRun, instead_of_running
from tenterhooks.lifecycle import Lifecycle
from tenterhooks.registry import HookRegistry

from .recorders import Calls, MemorySaver, Recorder, counting_graph

Seen = list[tuple[Lifecycle, HookRegistry]]


def shown(seen: Seen, *hooks: object, graph: th.Graph | None = None) -> th.MonitoredSession:
    with instead_of_running(lambda session, registry: seen.append((session, registry))):
        return th.MonitoredSession(graph=graph or counting_graph(), hooks=hooks)


def test_a_session_is_shown_with_its_hooks_before_any_is_called() -> None:
    seen: Seen = []
    calls: Calls = []
    hooks = [Recorder("a", calls), Recorder("b", calls)]
    session = shown(seen, *hooks)
    ((it, registry),) = seen
    assert it is session
    assert [adapter.hook for adapter in registry.adapters] == hooks
    session.close()
    assert calls == []


def test_a_loop_that_asks_makes_no_run_and_the_program_goes_on() -> None:
    reached = []
    with shown([]) as session:
        while not session.should_stop():
            reached.append("body")
        reached.append("behind the loop")
    assert reached == ["behind the loop"]


@pytest.mark.parametrize(
    "use",
    [
        lambda session: session.run("train"),
        lambda session: session.steps(range(3)),
        lambda session: session.epochs(2),
        lambda session: session.step(),
        lambda session: session.publish(loss=1.0),
        lambda session: session.global_step,
        lambda session: session.state["w"],
        lambda session: session.run_step_fn(lambda step_context: step_context.session),
        lambda session: session.request_stop("enough"),
    ],
)
def test_whatever_else_wants_something_of_it_leaves_its_block(use: object) -> None:
    assert callable(use)
    reached = []
    with shown([]) as session:
        use(session)
        reached.append("behind it")
    assert reached == []


def test_outside_of_a_block_it_leaves_the_program() -> None:
    with pytest.raises(NotRun):
        shown([]).run("train")


def test_an_error_of_the_block_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError), shown([]):
        1 / 0  # noqa: B018


def test_nothing_is_restored_or_made(tmp_path: Path) -> None:
    saver = MemorySaver()
    creator = th.ChiefSessionCreator(counting_graph(), tmp_path / "runs", saver=saver)
    with instead_of_running(lambda *_: None):
        th.MonitoredSession(creator)
        th.SingularMonitoredSession(graph=counting_graph(), checkpoint_dir=tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


def test_hooks_and_graph_are_free_afterwards() -> None:
    calls: Calls = []
    graph, hook = counting_graph(), Recorder("a", calls)
    shown([], hook, graph=graph)
    assert not graph.finalized
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        session.run("train")
    assert ("a", "after_run") in calls


def test_wrong_hooks_are_an_error_as_ever() -> None:
    with pytest.raises(th.HookError, match="is a class"):
        shown([], Recorder)


def test_sessions_run_when_nobody_looks_any_more() -> None:
    with instead_of_running(lambda *_: None):
        pass
    with th.MonitoredSession(graph=counting_graph()) as session:
        session.run("train")
        assert session.global_step == 1
