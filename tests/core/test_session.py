"""The raw session: runs, feeds, training, and what is seen before and after an update."""

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenterhooks as th

Array = np.ndarray[Any, Any]


class Pair(NamedTuple):
    first: Any
    second: Any


def trained(initial: Any, step: Callable[..., Any], **tensors: Callable[..., Any]) -> th.Session:
    """A session of a variable `w`, a training op `train` that takes it, and tensors."""
    graph = th.Graph()
    graph.variable("w", initial)
    graph.train_op(step, name="train", inputs=["w"])
    for name, function in tensors.items():
        graph.tensor(function, name=name)
    return th.Session(graph)


def add_one(w: Array) -> None:
    w += 1


# Runs and feeds


def test_any_node_may_be_fed() -> None:
    graph = th.Graph()
    graph.variable("v", 1)
    graph.placeholder("p", default=1)
    graph.source("s", lambda: [1])
    graph.tensor(lambda: 1, name="t")
    graph.train_op(lambda: 1, name="train")
    session = th.Session(graph)
    for name in graph:
        assert session.run(name, {name: "fed"}) == "fed"
    assert session.global_step == 0
    assert session.run("s") == 1
    assert session.state == {"v": 1}


def test_a_feed_may_be_given_by_node() -> None:
    graph = th.Graph()
    node = graph.placeholder("x")
    assert th.Session(graph).run("x", {node: 3}) == 3


def test_what_takes_a_node_sees_what_is_fed_for_it() -> None:
    graph = th.Graph()
    graph.variable("w", 2)
    graph.tensor(lambda w: 10 * w, name="y")
    session = th.Session(graph)
    assert session.run("y", {"w": 5}) == 50
    assert session.run("y") == 20


def test_a_feed_of_one_run_is_not_of_the_next() -> None:
    graph = th.Graph()
    graph.placeholder("rate", default=0.1)
    session = th.Session(graph)
    session.run("rate", {"rate": 0.5})
    assert session.run("rate") == 0.1


@pytest.mark.parametrize("fed", [None, 0, False, ""])
def test_a_feed_that_is_nothing_or_false_is_a_feed(fed: Any) -> None:
    graph = th.Graph()
    graph.placeholder("x", default=1)
    assert th.Session(graph).run("x", {"x": fed}) is fed


def test_none_is_a_default_too() -> None:
    graph = th.Graph()
    graph.placeholder("mask", default=None)
    assert th.Session(graph).run("mask") is None


def test_a_placeholder_without_default_has_to_be_fed() -> None:
    graph = th.Graph()
    graph.placeholder("x")
    with pytest.raises(ValueError, match="placeholder 'x' has no default and nobody feeds it: pass feed_dict="):
        th.Session(graph).run("x")


def test_a_feed_of_a_name_that_does_not_exist_is_an_error_with_the_nearest() -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate", default=0.1)
    with pytest.raises(th.UnknownNameError, match="'learning_rte'; the nearest: 'learning_rate'"):
        th.Session(graph).run([], {"learning_rte": 1})


def test_a_feed_of_a_node_of_another_graph_is_an_error() -> None:
    stranger = th.Graph().placeholder("x")
    graph = th.Graph()
    graph.placeholder("x")
    with pytest.raises(ValueError, match="node 'x' belongs to another graph"):
        th.Session(graph).run("x", {stranger: 1})


def test_two_feeds_of_one_node_are_an_error() -> None:
    graph = th.Graph()
    node = graph.placeholder("x")
    with pytest.raises(RuntimeError, match="'x' is fed twice in one run, by name and as a node"):
        th.Session(graph).run("x", {"x": 1, node: 2})


def test_values_pass_through_untouched() -> None:
    value = object()
    graph = th.Graph()
    graph.variable("v", lambda: value)
    graph.placeholder("p")
    graph.tensor(lambda p: p, name="same")
    session = th.Session(graph)
    assert all(given is value for given in session.run(["v", "p", "same"], {"p": value}))


def test_each_run_computes_anew() -> None:
    calls: list[int] = []
    graph = th.Graph()
    graph.tensor(lambda: calls.append(0), name="t")
    session = th.Session(graph)
    session.run("t")
    session.run("t")
    assert len(calls) == 2


# Training


def test_an_update_in_place_is_seen_by_the_next_run() -> None:
    session = trained(lambda: np.zeros(2), add_one)
    session.run("train")
    assert session.run("w").tolist() == [1, 1]


def test_a_dict_that_a_training_op_returns_is_its_update() -> None:
    session = trained(1, lambda w: {"w": w + 1})
    assert session.run("train") is None
    assert session.state == {"w": 2}


@pytest.mark.parametrize("value", [None, 0.5, [1], ("w",)])
def test_anything_else_that_a_training_op_returns_is_its_value(value: Any) -> None:
    session = trained(1, lambda w: value)
    assert session.run("train") == value
    assert session.state == {"w": 1}


def test_a_dict_that_a_tensor_returns_is_a_value_even_between_training_ops() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.train_op(lambda w: {"w": w + 1}, name="first")
    graph.tensor(lambda first: {"w": 50}, name="between")
    graph.train_op(lambda between: between["w"], name="second")
    session = th.Session(graph)
    assert session.run(["between", "second"]) == [{"w": 50}, 50]
    assert session.state == {"w": 2}


def test_an_update_of_what_is_no_variable_is_an_error_with_the_nearest_and_updates_nothing() -> None:
    graph = th.Graph()
    graph.variable("weights", 1)
    graph.train_op(lambda weights: {"weights": 2, "weight": 2}, name="train")
    session = th.Session(graph)
    with pytest.raises(
        th.UnknownNameError,
        match=r"'train'> returned new values for \['weight'\], .* no variables; the nearest: 'weights'",
    ):
        session.run("train")
    assert session.state == {"weights": 1}
    assert session.global_step == 0


def test_a_run_that_trains_adds_one_to_the_global_step() -> None:
    session = trained(0, lambda w: None)
    for step in range(1, 4):
        session.run("train")
        assert session.global_step == session.run("global_step") == step


def test_a_run_that_does_not_train_leaves_the_global_step() -> None:
    session = trained(0, lambda w: None)
    session.run(["w", "global_step"])
    assert session.global_step == 0


def test_several_training_ops_in_a_run_add_one() -> None:
    graph = th.Graph()
    for name in ("generator", "discriminator"):
        graph.train_op(lambda: None, name=name)
    session = th.Session(graph)
    session.run(["generator", "discriminator"])
    assert session.global_step == 1


def test_a_training_op_may_leave_the_global_step() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.train_op(lambda w: {"w": w + 1}, name="warm_up", advance=False)
    session = th.Session(graph)
    session.run("warm_up")
    assert session.global_step == 0
    assert session.state == {"w": 2}


def test_several_training_ops_see_the_variables_as_the_one_before_left_them() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.train_op(lambda w: {"w": w + 1}, name="add")
    graph.train_op(lambda w: {"w": w * 10}, name="scale")
    session = th.Session(graph)
    session.run(["scale", "add"])
    assert session.state == {"w": 20}


def test_training_ops_see_the_step_before_the_update() -> None:
    graph = th.Graph()
    for name in ("first", "second"):
        graph.train_op(lambda global_step: global_step, name=name)
    session = th.Session(graph)
    session.run("first")
    assert session.run(["first", "second", "global_step"]) == [1, 1, 1]


def test_what_depends_on_a_training_op_sees_the_new_variables_and_the_new_step() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.variable("v", lambda: np.zeros(1))

    def train(w: int, v: Array) -> dict[str, int]:
        v += 5
        return {"w": w + 1}

    graph.train_op(train)
    graph.tensor(lambda train, w, v, global_step: (w, v.item(), global_step), name="after")
    assert th.Session(graph).run(["after", "w", "v", "global_step"]) == [(2, 5.0, 1), 1, np.zeros(1), 0]


def test_a_fed_step_is_seen_throughout_the_run() -> None:
    graph = th.Graph()
    graph.train_op(lambda global_step: global_step, name="train")
    graph.tensor(lambda train, global_step: global_step, name="after")
    session = th.Session(graph)
    assert session.run(["global_step", "train", "after"], {"global_step": 70}) == [70, 70, 70]
    assert session.global_step == 1


def test_an_update_of_a_variable_that_is_fed_reaches_the_variable_and_not_the_run() -> None:
    graph = th.Graph()
    graph.variable("w", 1)
    graph.train_op(lambda w: {"w": w + 1}, name="train")
    graph.tensor(lambda train, w: w, name="after")
    session = th.Session(graph)
    assert session.run(["w", "after"], {"w": 5}) == [5, 5]
    assert session.state == {"w": 6}


# What is fetched beside a training op is what was there before the update


@dataclass
class Model:
    weights: Array

    def state_dict(self) -> dict[str, Array]:
        return {"weights": self.weights}

    def load_state_dict(self, state: dict[str, Array]) -> None:
        self.weights = state["weights"]


def nested(w: Array) -> dict[str, Any]:
    return {"a": [w, (w[1:], 7)], "sum": w.sum()}


@pytest.mark.parametrize(
    ("function", "before"),
    [
        (lambda w: w, [1.0, 2.0]),
        (lambda w: w[1:], [2.0]),
        (lambda w: w.reshape(2, 1).T, [[1.0, 2.0]]),
        (lambda w: w[::-1], [2.0, 1.0]),
        (lambda w: w.sum(), 3.0),
        (lambda w: w * 2, [2.0, 4.0]),
        (lambda w: [w], [[1.0, 2.0]]),
        (lambda w: (w[:1], "x"), ([1.0], "x")),
        (lambda w: {"a": {"b": w}}, {"a": {"b": [1.0, 2.0]}}),
        (lambda w: Pair(w, w[0]), Pair([1.0, 2.0], 1.0)),
        (lambda w: OrderedDict(a=w), {"a": [1.0, 2.0]}),
        (nested, {"a": [[1.0, 2.0], ([2.0], 7)], "sum": 3.0}),
    ],
)
def test_a_value_that_shares_memory_with_a_variable_is_what_it_was_before(function: Any, before: Any) -> None:
    session = trained(lambda: np.array([1.0, 2.0]), add_one, value=function)
    value = session.run({"value": "value", "train": "train"})["value"]
    session.run("train")

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [plain(entry) for entry in value]
        if isinstance(value, Pair):
            return Pair(*map(plain, value))
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    assert plain(value) == before
    assert type(value) is type(function(np.array([1.0, 2.0])))


def test_a_fetched_array_is_what_it_was_before() -> None:
    session = trained(lambda: np.zeros(2), add_one)
    fetched = session.run(["w", "train"])[0]
    assert fetched.tolist() == [0, 0]
    assert session.state["w"].tolist() == [1, 1]


def test_a_variable_that_is_replaced_is_what_it_was_before() -> None:
    session = trained(1, lambda w: {"w": w + 1}, double=lambda w: 2 * w)
    assert session.run(["w", "double", "train", "global_step"]) == [1, 2, None, 0]


def test_the_session_keeps_the_object_that_it_trains() -> None:
    session = trained(lambda: np.zeros(2), add_one)
    w = session.state["w"]
    assert session.run(["w", "train"])[0] is not w
    assert session.state["w"] is w


@pytest.mark.parametrize(
    ("initial", "update", "before"),
    [
        (lambda: {"a": np.zeros(1)}, lambda w: w["a"].__iadd__(1) and None, {"a": np.zeros(1)}),
        (lambda: {"a": {"n": 0}}, lambda w: w["a"].update(n=1), {"a": {"n": 0}}),
        (lambda: [1], lambda w: w.append(2), [1]),
        (lambda: {1}, lambda w: w.add(2), {1}),
        (lambda: Counter("a"), lambda w: w.update("ab"), Counter("a")),
        (lambda: bytearray(b"a"), lambda w: w.extend(b"b"), bytearray(b"a")),
    ],
)
def test_a_variable_of_any_kind_that_is_changed_in_place_is_what_it_was_before(
    initial: Any, update: Any, before: Any
) -> None:
    session = trained(initial, update)
    fetched = session.run(["w", "train"])[0]
    assert fetched == before
    assert type(fetched) is type(before)
    assert session.state["w"] != before


@pytest.mark.parametrize(
    ("initial", "update", "part"),
    [
        (lambda: {"a": {"n": 0}}, lambda w: w["a"].update(n=1), lambda w: w["a"]),
        (lambda: {"a": {1}}, lambda w: w["a"].add(2), lambda w: [w["a"]]),
        (lambda: [[1]], lambda w: w[0].append(2), lambda w: Pair(w[0], 0)),
        (lambda: {"m": Model(np.zeros(1))}, lambda w: add_one(w["m"].weights), lambda w: w["m"]),
    ],
)
def test_a_part_of_a_variable_is_what_it_was_before(initial: Any, update: Any, part: Any) -> None:
    session = trained(initial, update, part=part)
    fetched = session.run(["part", "train"])[0]
    assert repr(fetched) == repr(part(initial()))
    assert repr(part(session.state["w"])) != repr(fetched)


def test_an_array_within_an_object_is_what_it_was_before() -> None:
    session = trained(
        lambda: Model(np.zeros(2)),
        lambda w: add_one(w.weights),
        weights=lambda w: w.weights,
        view=lambda w: w.weights[1:],
    )
    weights, view, model, _ = session.run(["weights", "view", "w", "train"])
    assert weights.tolist() == model.weights.tolist() == [0, 0]
    assert view.tolist() == [0]
    assert session.state["w"].weights.tolist() == [1, 1]


def test_a_generator_is_what_it_was_before() -> None:
    session = trained(lambda: np.random.default_rng(3), lambda w: w.random())
    fetched, first = session.run(["w", "train"])
    assert fetched.random() == first


def test_an_array_that_no_variable_shares_is_not_copied() -> None:
    item = np.zeros(2)
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(2))
    graph.source("batch", lambda: [item])
    graph.train_op(add_one, name="train")
    assert th.Session(graph).run(["batch", "train"])[0] is item


def test_a_variable_is_not_copied_in_a_run_that_does_not_train() -> None:
    session = trained(lambda: np.zeros(2), add_one)
    assert session.run("w") is session.state["w"]


# Errors


def test_an_error_of_a_node_names_the_node_and_the_step() -> None:
    def fail(train: None) -> None:
        raise ZeroDivisionError("of the node")

    session = trained(0, lambda w: None, report=fail)
    session.run("train")
    with pytest.raises(ZeroDivisionError, match="of the node") as caught:
        session.run("report")
    assert caught.value.__notes__ == ["in <Tensor 'report'> of the graph, at global step 2"]


def test_a_run_that_failed_before_its_training_op_trained_nothing() -> None:
    session = trained(lambda: np.zeros(1), add_one, bad=lambda w: w["no"])
    with pytest.raises(IndexError):
        session.run(["bad", "train"])
    assert session.global_step == 0
    assert session.state["w"].tolist() == [0]


def test_a_session_can_be_used_after_a_run_that_failed() -> None:
    session = trained(1, lambda w: {"w": w + 1}, bad=lambda w: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        session.run("bad")
    assert session.run(["train", "w"]) == [None, 1]


def test_nothing_can_be_run_in_a_closed_session() -> None:
    with th.Session(th.Graph()) as session:
        session.run("global_step")
    assert session.closed
    with pytest.raises(RuntimeError, match="the session is closed; open another one to run anything"):
        session.run("global_step")


def test_closing_twice_is_harmless() -> None:
    session = th.Session(th.Graph())
    session.close()
    session.close()
    assert session.closed


def test_a_block_does_not_swallow_errors() -> None:
    with pytest.raises(th.OutOfRangeError), th.Session(th.Graph()):
        raise th.OutOfRangeError


# What belongs to a session


def test_a_fresh_session_starts_its_variables_anew() -> None:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1))
    graph.train_op(add_one, name="train")
    th.Session(graph).run("train")
    fresh = th.Session(graph)
    assert fresh.state["w"].tolist() == [0]
    assert fresh.global_step == 0


def test_a_session_can_work_on_the_variables_of_another() -> None:
    training = trained(lambda: np.zeros(1), add_one)
    evaluation = th.Graph()
    evaluation.variable("w", lambda: np.full(1, 100))
    evaluation.tensor(lambda w: w.item(), name="score")
    beside = th.Session(evaluation, state=training.state)
    training.run("train")
    assert beside.run(["score", "global_step"]) == [1, 1]
    training.run("train")
    assert beside.run("score") == 2


def test_a_session_on_the_variables_of_another_reads_its_own_input() -> None:
    graph = th.Graph()
    graph.source("batch", lambda: [1, 2])
    training = th.Session(graph)
    training.run("batch")
    assert th.Session(graph, state=training.state).run("batch") == 1


def test_a_session_on_variables_that_lack_some_is_an_error_that_names_them() -> None:
    graph = th.Graph()
    graph.variable("w", 0)
    graph.variable("bias", 0)
    with pytest.raises(th.UnknownNameError, match=r"lacks the variables \['bias'\] of the graph; there are: 'w'"):
        th.Session(graph, state=trained(0, add_one).state)


def test_a_variable_that_is_set_through_the_state_is_seen_by_the_next_run() -> None:
    session = trained(0, add_one)
    session.state["w"] = 7
    assert session.run("w") == 7


def test_a_graph_may_grow_while_a_raw_session_is_open() -> None:
    graph = th.Graph()
    session = th.Session(graph)
    graph.variable("w", lambda: 3)
    graph.source("batch", lambda w: [w + 1])
    graph.tensor(lambda w, batch: w * batch, name="y")
    assert session.run("y") == 12
    assert session.state == {"w": 3}


def test_a_raw_session_alone_is_the_chief_and_has_no_folders() -> None:
    session = th.Session(th.Graph())
    assert session.is_chief
    assert session.checkpoint_dir is None
    assert session.summary_dir is None
    assert session.restored is None


def test_a_raw_session_alone_has_no_hooks() -> None:
    with pytest.raises(RuntimeError, match="this session has no hooks: it is no part of a monitored session"):
        th.Session(th.Graph()).hook  # noqa: B018


def test_a_request_to_stop_is_noted_with_its_reason_and_step() -> None:
    session = trained(0, lambda w: None)
    session.run("train")
    assert not session.stop
    session.request_stop("enough")
    assert session.stop == (th.StopRequest(hook=None, reason="enough", global_step=1),)


def test_a_checkpoint_can_be_asked_for() -> None:
    session = th.Session(th.Graph())
    assert not session.checkpoint_requested
    session.request_checkpoint()
    assert session.checkpoint_requested


def test_a_request_for_a_checkpoint_holds_until_a_monitored_run_has_ended() -> None:
    graph = th.Graph()
    with th.SingularMonitoredSession(graph=graph) as session:
        raw = session.raw_session()
        assert raw is not None
        raw.request_checkpoint()
        raw.run([])
        assert raw.checkpoint_requested
        session.run([])
        assert not raw.checkpoint_requested


# Tracing, and what is kept from run to run


def test_a_traced_run_tells_the_time_of_each_node_that_was_computed() -> None:
    session = trained(0, lambda w: None, asked=lambda w: w, unasked=lambda w: w, late=lambda train: 0)
    metadata = th.RunMetadata()
    session.run(["asked", "late"], options={"trace": True}, run_metadata=metadata)
    assert sorted(metadata.node_seconds) == ["asked", "late", "train"]
    assert all(seconds >= 0 for seconds in metadata.node_seconds.values())


@pytest.mark.parametrize("options", [None, {}, {"trace": False}])
def test_a_run_that_is_not_traced_measures_nothing(options: Any) -> None:
    session = trained(0, lambda w: None)
    metadata = th.RunMetadata()
    session.run("train", options=options, run_metadata=metadata)
    assert metadata.node_seconds == {}


@pytest.mark.parametrize("finalized", [True, False])
def test_what_a_set_of_fetches_needs_is_worked_out_once(finalized: bool) -> None:
    session = trained(0, lambda w: None)
    if finalized:
        session.graph.finalize()
    session.run(["w", {"x": "train"}])
    kept = dict(session._computation._plans)
    assert kept
    session.run(["w", {"x": "train"}])
    assert session._computation._plans == kept


def test_what_is_kept_for_runs_is_bounded() -> None:
    graph = th.Graph()
    for number in range(1_000):
        graph.placeholder(f"x{number}", default=number)
    graph.finalize()
    session = th.Session(graph)
    assert [session.run(f"x{number}") for number in range(1_000)] == list(range(1_000))
    assert len(session._computation._plans) <= 256
    assert len(session._computation._fetches) <= 256


# Within a monitored session


class Looks(th.SessionRunHook):
    """Makes raw runs in all stages, and notes what it saw."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.seen: list[Any] = []

    def look(self, session: th.Session) -> None:
        self.seen.append(session.run(self.names))

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self.look(session)

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self.look(run_context.session)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.look(run_context.session)

    def end(self, session: th.Session) -> None:
        self.look(session)


def test_a_raw_run_in_a_monitored_session_sees_the_last_batch_again_and_at_first_the_first() -> None:
    graph = th.Graph()
    graph.source("batch", lambda: ["first", "second"])
    hook = Looks("batch")
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        assert session.run("batch") == "first"
        assert session.run("batch") == "second"
    assert hook.seen == [[batch] for batch in ["first", "first", "first", "first", "second", "second"]]


def test_a_raw_run_in_a_monitored_session_sees_the_last_batch_after_the_end_of_the_input() -> None:
    graph = th.Graph()
    graph.source("batch", lambda: ["only"])
    hook = Looks("batch")
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        while True:
            session.run("batch")
    assert hook.seen[-1] == ["only"]


def test_a_raw_run_in_a_monitored_session_calls_no_hooks() -> None:
    hook = Looks()
    with th.SingularMonitoredSession(graph=th.Graph(), hooks=[hook]) as session:
        raw = session.raw_session()
        assert raw is not None
        calls = len(hook.seen)
        raw.run("global_step")
        assert len(hook.seen) == calls


def test_a_raw_session_in_a_monitored_one_relays_calls_to_its_hooks() -> None:
    hook = Looks("global_step")
    with th.SingularMonitoredSession(graph=th.Graph(), hooks=[hook]) as session:
        raw = session.raw_session()
        assert raw is not None
        hook.seen.clear()
        raw.hook.end(session=raw)
        assert hook.seen == [[0]]


def test_a_node_that_several_ask_for_in_a_monitored_run_is_computed_once() -> None:
    class Asks(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs(["loss"])

    calls: list[int] = []
    graph = th.Graph()
    graph.tensor(lambda: calls.append(0), name="loss")
    with th.MonitoredSession(graph=graph, hooks=[Asks(), Asks()]) as session:
        session.run("loss")
    assert len(calls) == 1


def test_a_hook_sees_the_variables_before_the_update_of_the_callers_run() -> None:
    class Asks(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs({"w": "w", "step": "global_step"})

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.seen = (run_values.results["w"].item(), run_values.results["step"], run_context.session.global_step)

    hook = Asks()
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1))
    graph.train_op(add_one, name="train")
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        session.run("train")
    assert hook.seen == (0.0, 0, 1)


# What a checkpoint holds


def test_a_state_dict_is_all_that_a_checkpoint_holds() -> None:
    class Counts(th.SessionRunHook):
        name = "counts"

        def __init__(self) -> None:
            self.runs = 0

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.runs += 1

        def state_dict(self) -> dict[str, int]:
            return {"runs": self.runs}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.runs = state["runs"]

    graph = th.Graph()
    graph.variable("w", 5)
    graph.source("batch", lambda: [1, 2, 3])
    graph.train_op(lambda w, batch: {"w": w + batch}, name="train")
    with th.SingularMonitoredSession(graph=graph, hooks=[Counts()]) as session:
        session.run("train")
        session.run("train")
        raw = session.raw_session()
        assert raw is not None
        assert raw.state_dict() == {
            "global_step": 2,
            "variables": {"w": 8},
            "in_place": [],
            "sources": {"batch": {"drawn": 2, "begun_with": {}}},
            "hooks": {"counts": {"runs": 2}},
        }


def test_a_state_dict_holds_the_sessions_own_arrays() -> None:
    session = trained(lambda: np.zeros(2), add_one)
    assert session.state_dict()["variables"]["w"] is session.state["w"]


def test_a_session_continues_from_a_state_dict() -> None:
    first = trained(1, lambda w: {"w": 3 * w})
    first.run("train")
    second = th.Session(first.graph)
    second.load_state_dict(first.state_dict(), checkpoint="somewhere")
    second.run("train")
    assert second.state == {"w": 9}
    assert second.global_step == 2
    assert second.restored == th.Restored(Path("somewhere"), 1)


def test_what_hooks_had_saved_is_kept_for_them() -> None:
    session = th.Session(th.Graph())
    session.load_state_dict(session.state_dict() | {"hooks": {"nan": {"seen": 1}}}, checkpoint="somewhere")
    assert session.hook_states == {"nan": {"seen": 1}}


def test_a_run_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        trained(0, lambda w: None).run("train")
    assert caplog.records == []


def test_structures_that_are_equal_and_not_the_same_give_each_its_own() -> None:
    class Two(NamedTuple):
        one: Any
        other: Any

    graph = th.Graph()
    graph.tensor(lambda: "X", name="x")
    graph.tensor(lambda: "Y", name="y")
    session = th.Session(graph)
    wanted: list[Any] = [
        *(["x", "y"], ("x", "y"), Pair("x", "y"), Two("x", "y"), {"x": "y"}, ["x", ["y"]], ["x", ("y",)], [], ()),
        *(["x", Pair("x", "y")], ["x", Two("x", "y")], {1: "x"}, {True: "x"}, {1.0: "x"}, {"1": "x"}, {"a": ["x"]}),
    ]
    for _ in range(2):
        for fetches in wanted:
            found = repr(session.run(fetches)).replace("X", "x").replace("Y", "y")
            assert found == repr(fetches)
