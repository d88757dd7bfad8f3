"""FeedFnHook in real sessions."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_feed_fn import FeedFnHook


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.placeholder("x", default=1.0)
    graph.tensor(lambda x: 2 * x, name="double")
    graph.train_op(lambda: None, name="train")
    return graph


def test_the_dict_is_fed() -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[FeedFnHook(lambda: {"x": 5.0})]) as session:
        assert session.run("double") == 10.0


def test_a_node_can_be_fed() -> None:
    graph = make_graph()
    with th.MonitoredSession(graph=graph, hooks=[FeedFnHook(lambda: {graph["x"]: 5.0})]) as session:
        assert session.run("double") == 10.0


def test_the_function_is_called_before_each_run() -> None:
    values = iter([1.0, 2.0, 3.0])
    with th.MonitoredSession(graph=make_graph(), hooks=[FeedFnHook(lambda: {"x": next(values)})]) as session:
        assert [session.run("double") for _ in range(3)] == [2.0, 4.0, 6.0]


def test_an_empty_dict_feeds_nothing() -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[FeedFnHook(dict)]) as session:
        assert session.run("double") == 2.0


@pytest.mark.parametrize("error", [StopIteration, th.OutOfRangeError])
def test_a_function_that_has_no_more_ends_the_session_cleanly(error: type[Exception]) -> None:
    ended = []

    class Ends(th.SessionRunHook):
        def end(self, session: th.Session) -> None:
            ended.append(session.global_step)

    calls = iter(range(3))

    def feed() -> dict[str, float]:
        if next(calls, None) is None:
            raise error
        return {"x": 0.0}

    with th.MonitoredSession(graph=make_graph(), hooks=[FeedFnHook(feed), Ends()]) as session:
        while not session.should_stop():
            session.run("train")
    assert ended == [3]


def test_feeding_what_the_caller_feeds_is_an_error() -> None:
    hooks = [FeedFnHook(lambda: {"x": 5.0})]
    with (
        pytest.raises(RuntimeError, match="'x'"),
        th.MonitoredSession(graph=make_graph(), hooks=hooks) as session,
    ):
        session.run("double", feed_dict={"x": 1.0})


@pytest.mark.parametrize("returned", [None, ["x"], 3.0])
def test_a_function_that_returns_no_dict_is_an_error_that_says_what_to_return(returned: Any) -> None:
    with (
        pytest.raises(TypeError, match="return a dict of values by node or name"),
        th.MonitoredSession(graph=make_graph(), hooks=[FeedFnHook(lambda: returned)]) as session,
    ):
        session.run("double")


def test_what_is_no_function_is_an_error() -> None:
    values: Any = {"x": 1.0}
    with pytest.raises(TypeError, match="feed_fn is a function"):
        FeedFnHook(values)


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("feed-fn", feed_fn=dict), FeedFnHook)
