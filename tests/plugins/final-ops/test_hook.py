"""FinalOpsHook in real sessions."""

from collections.abc import Callable

import pytest

import tenterhooks as th
from tenterhooks_final_ops import FinalOpsHook


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.placeholder("x", default=3.0)
    graph.source("batch", lambda: [1.0, 2.0, 5.0])
    graph.variable("w", 0.0)
    graph.tensor(lambda x, w: x + w, name="sum")
    graph.tensor(lambda batch: 10 * batch, name="ten_batches")
    graph.train_op(lambda w, batch: {"w": w + batch}, name="train")
    return graph


def run(hook: FinalOpsHook, runs: int = 2, then: Callable[[], None] = lambda: None) -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for _ in range(runs):
            session.run("train")
        assert hook.final_ops_values is None
        then()


def test_the_values_are_those_at_the_end() -> None:
    hook = FinalOpsHook("sum")
    run(hook)
    assert hook.final_ops_values == 6.0


def test_the_values_have_the_shape_of_the_fetches() -> None:
    hook = FinalOpsHook({"a": ["sum", "w"], "b": ("global_step",)})
    run(hook)
    assert hook.final_ops_values == {"a": [6.0, 3.0], "b": (2,)}


def test_the_feed_is_used() -> None:
    hook = FinalOpsHook("sum", final_ops_feed_dict={"x": 100.0})
    run(hook)
    assert hook.final_ops_values == 103.0


def test_no_input_is_drawn() -> None:
    hook = FinalOpsHook("ten_batches")
    run(hook)
    assert hook.final_ops_values == 20.0


def test_it_is_there_when_the_input_has_run_out() -> None:
    hook = FinalOpsHook("ten_batches")
    run(hook, runs=100)
    assert hook.final_ops_values == 50.0


def test_no_hook_is_called_for_it() -> None:
    class Counts(th.SessionRunHook):
        runs = 0

        def before_run(self, run_context: th.SessionRunContext) -> None:
            self.runs += 1

    counts = Counts()
    with th.MonitoredSession(graph=make_graph(), hooks=[FinalOpsHook("sum"), counts]) as session:
        session.run("train")
    assert counts.runs == 1


def test_there_are_no_values_after_an_error() -> None:
    def fail() -> None:
        raise RuntimeError("no")

    hook = FinalOpsHook("sum")
    with pytest.raises(RuntimeError, match="no"):
        run(hook, then=fail)
    assert hook.final_ops_values is None


def test_a_loop_that_made_no_pass_has_no_values_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    hook = FinalOpsHook("accuracy")
    with th.MonitoredSession(hooks=[hook], state={}):
        pass
    assert hook.final_ops_values is None
    (record,) = [record for record in caplog.records if record.name.startswith("tenterhooks_final_ops")]
    assert "no pass" in record.getMessage()
    assert "'accuracy'" in record.getMessage()


def test_what_a_loop_that_made_passes_did_not_publish_is_an_error() -> None:
    hook = FinalOpsHook("accuracy")
    session = th.MonitoredSession(hooks=[hook], state={})
    with session.step():
        session.publish(loss=1.0)
    with pytest.raises(th.UnknownNameError, match="'accuracy'"):
        session.close()


def test_the_values_of_the_session_before_are_forgotten() -> None:
    hook = FinalOpsHook("sum")
    run(hook)
    run(hook, runs=0)
    assert hook.final_ops_values == 3.0


@pytest.mark.parametrize("hook", [FinalOpsHook(["summ"]), FinalOpsHook("sum", final_ops_feed_dict={"summ": 1.0})])
def test_an_unknown_name_is_an_error_before_any_run(hook: FinalOpsHook) -> None:
    with pytest.raises(KeyError, match=r"'summ'.*nearest.*'sum'"):
        th.MonitoredSession(graph=make_graph(), hooks=[hook])


def test_a_placeholder_that_would_not_be_fed_is_an_error_before_any_run() -> None:
    graph = make_graph()
    graph.placeholder("y")
    graph.tensor(lambda y: 2 * y, name="double")
    with pytest.raises(
        ValueError, match=r"placeholder 'y' has no default and nobody feeds it; it is needed by 'double'"
    ):
        th.MonitoredSession(graph=graph, hooks=[FinalOpsHook("double")])
    hook = FinalOpsHook("double", final_ops_feed_dict={graph["y"]: 4})
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        session.run("train")
    assert hook.final_ops_values == 8


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("final-ops", final_ops="sum"), FinalOpsHook)
