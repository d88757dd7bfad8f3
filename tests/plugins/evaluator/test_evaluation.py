"""An evaluation is a session of its own, on the variables of the training."""

import doctest
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tenterhooks as th
import tenterhooks_evaluator.evaluation
from tenterhooks.testing import Recorder
from tenterhooks_evaluator import Evaluation


def training(w: float = 0.0) -> th.Session:
    graph = th.Graph()
    graph.variable("w", w)
    return th.Session(graph)


def made(batches: Sequence[float] = (1.0, 2.0, 6.0)) -> th.Graph:
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.source("batch", lambda: batches)
    graph.tensor(lambda w, batch: batch - w, name="distance")
    graph.tensor(lambda batch: batch, name="size")
    return graph


def test_the_example_of_the_docstring_runs() -> None:
    result = doctest.testmod(tenterhooks_evaluator.evaluation)
    assert result.attempted > 0
    assert result.failed == 0


def test_it_works_on_the_variables_of_the_training() -> None:
    evaluation = Evaluation(made(), "distance")
    session = training()
    assert evaluation(session) == {"distance": 3.0}
    session.state["w"] = 1.0
    assert evaluation(session) == {"distance": 2.0}


def test_metrics_have_the_names_that_a_dict_gives() -> None:
    graph = made()
    evaluation = Evaluation(graph, {"mean": "distance", "size": graph["size"]})
    assert evaluation.metrics == ("mean", "size")
    assert evaluation(training()) == {"mean": 3.0, "size": 3.0}


def test_batches_may_have_weights() -> None:
    assert Evaluation(made((1.0, 3.0)), "distance", weight="size")(training()) == {"distance": 2.5}


def test_a_batch_without_weight_does_not_count() -> None:
    assert Evaluation(made((0.0, 3.0)), "distance", weight="size")(training()) == {"distance": 3.0}


def test_it_ends_after_so_many_steps() -> None:
    assert Evaluation(made(), "distance", steps=2)(training()) == {"distance": 1.5}
    assert Evaluation(made(), "distance", steps=20)(training()) == {"distance": 3.0}


def test_where_no_input_is_needed_one_run_is_all() -> None:
    graph = made()
    graph.tensor(lambda w: w + 5.0, name="error")
    recorder = Recorder()
    assert Evaluation(graph, "error", hooks=[recorder])(training()) == {"error": 5.0}
    recorder.assert_stages("begin", "after_create_session", "1 run", "end")


def test_nan_stays_nan() -> None:
    assert math.isnan(Evaluation(made((1.0, math.nan)), "distance")(training())["distance"])


def test_its_hooks_are_called_around_its_runs_each_time() -> None:
    recorder = Recorder()
    evaluation = Evaluation(made(), "distance", hooks=[recorder])
    for _ in range(2):
        evaluation(training())
    recorder.assert_stages(*(("begin", "after_create_session", "3 runs", "before_run", "end") * 2))


def test_a_stop_ends_it_early() -> None:
    class Stop(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            run_context.request_stop("seen enough")

    assert Evaluation(made(), "distance", hooks=[Stop()])(training()) == {"distance": 1.0}


def test_the_graph_of_the_training_will_do_while_that_is_open() -> None:
    graph = made()
    graph.train_op(lambda w, batch: {"w": w + batch}, name="train")
    with th.MonitoredSession(graph=graph) as session:
        session.run("train")
        raw = session.raw_session()
        assert raw is not None
        assert Evaluation(graph, "distance")(raw) == {"distance": 2.0}
        # The input of the training has not moved.
        session.run("train")
        assert session.state["w"] == 3.0
    assert not graph.finalized


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Evaluation(made(), "distanc"), KeyError, "'distanc'; the nearest: 'distance'"),
        (lambda: Evaluation(made(), "distance", weight="sizes"), KeyError, "'sizes'; the nearest: 'size'"),
        (lambda: Evaluation(made(), []), ValueError, "an evaluation without metrics finds nothing"),
        (lambda: Evaluation(made(), "distance", steps=0), ValueError, "steps is 1 or more, not 0"),
        (lambda: Evaluation(made(), th.Graph().placeholder("distance")), ValueError, "belongs to another graph"),
    ],
)
def test_wrong_options_are_errors(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def lists(batch: float) -> list[float]:
    return [batch]


@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (made(()), {}, ValueError, "of 'distance'> has no means: its input is empty"),
        (made((0.0,)), {"weight": "size"}, ValueError, "has no means: no batch has a weight"),
        (made((-1.0,)), {"weight": "size"}, ValueError, "the weight 'size' of a batch is -1: it is 0 or more"),
        (made((math.nan,)), {"weight": "size"}, ValueError, "the weight 'size' of a batch is nan: it is 0 or more"),
        (made(), {"weight": "lists"}, TypeError, "the weight 'lists' of a batch is one number"),
        (made(), {"metrics": "lists"}, TypeError, "the metric 'lists' of a batch is one number"),
        (made(), {"metrics": "v"}, KeyError, r"the given state lacks the variables \['v'\]"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error(
    graph: th.Graph, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    graph.tensor(lists)
    if options.get("metrics") == "v":
        graph.variable("v", 0.0)
    with pytest.raises(error, match=message):
        Evaluation(graph, **{"metrics": "distance", **options})(training())
