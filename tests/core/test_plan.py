"""What a run computes and in which order: what was asked for, each once, training ops last."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.plan import make_plan


class Recorded:
    """A graph whose functions note that they were called."""

    def __init__(self) -> None:
        self.graph = th.Graph()
        self.called: list[str] = []

    def _function(self, name: str) -> Callable[..., str]:
        def function(*inputs: str) -> str:
            self.called.append(name)
            return name

        return function

    def tensor(self, name: str, *inputs: str) -> None:
        self.graph.tensor(self._function(name), name=name, inputs=inputs)

    def train_op(self, name: str, *inputs: str) -> None:
        self.graph.train_op(self._function(name), name=name, inputs=inputs)

    def run(self, *fetches: str, feed: tuple[str, ...] = ()) -> list[str]:
        """What was called, in order."""
        self.called.clear()
        th.Session(self.graph).run(fetches, dict.fromkeys(feed, "fed"))
        return self.called


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def test_only_what_is_asked_for_is_computed(recorded: Recorded) -> None:
    recorded.tensor("asked")
    recorded.tensor("not_asked")
    recorded.tensor("on_top", "asked")
    assert recorded.run("asked") == ["asked"]


def test_nothing_is_computed_for_nothing(recorded: Recorded) -> None:
    recorded.tensor("a")
    recorded.train_op("train")
    assert recorded.run() == []


def test_a_node_that_several_take_is_computed_once(recorded: Recorded) -> None:
    recorded.tensor("shared")
    recorded.tensor("left", "shared")
    recorded.tensor("right", "shared")
    recorded.tensor("both", "left", "right", "shared")
    assert sorted(recorded.run("both", "left", "shared")) == ["both", "left", "right", "shared"]


def test_a_node_that_is_taken_twice_by_one_is_computed_once(recorded: Recorded) -> None:
    recorded.tensor("a")
    recorded.tensor("square", "a", "a")
    assert recorded.run("square") == ["a", "square"]


def test_inputs_are_computed_before_what_takes_them(recorded: Recorded) -> None:
    recorded.tensor("third", "second")
    recorded.tensor("second", "first")
    recorded.tensor("first")
    assert recorded.run("third") == ["first", "second", "third"]


def test_what_is_fed_is_not_computed_nor_what_only_it_needs(recorded: Recorded) -> None:
    recorded.tensor("costly")
    recorded.tensor("middle", "costly")
    recorded.tensor("top", "middle")
    assert recorded.run("top", feed=("middle",)) == ["top"]


def test_what_something_else_needs_is_computed_beside_a_feed(recorded: Recorded) -> None:
    recorded.tensor("shared")
    recorded.tensor("middle", "shared")
    recorded.tensor("other", "shared")
    assert recorded.run("middle", "other", feed=("middle",)) == ["shared", "other"]


def test_a_training_op_comes_after_all_that_does_not_depend_on_it(recorded: Recorded) -> None:
    recorded.train_op("train")
    recorded.tensor("a")
    recorded.tensor("b", "a")
    assert recorded.run("train", "b") == ["a", "b", "train"]


def test_what_depends_on_a_training_op_comes_after_it(recorded: Recorded) -> None:
    recorded.tensor("before")
    recorded.tensor("after", "train", "before")
    recorded.tensor("long_after", "after")
    recorded.train_op("train")
    assert recorded.run("long_after", "before") == ["before", "train", "after", "long_after"]


def test_a_training_op_that_nobody_asked_for_does_not_run(recorded: Recorded) -> None:
    recorded.tensor("loss")
    recorded.train_op("train", "loss")
    assert recorded.run("loss") == ["loss"]


def test_a_training_op_runs_where_a_fetched_node_depends_on_it(recorded: Recorded) -> None:
    recorded.train_op("train")
    recorded.tensor("after", "train")
    assert recorded.run("after") == ["train", "after"]


def test_several_training_ops_run_in_the_order_of_their_addition(recorded: Recorded) -> None:
    for name in ("z", "a", "m"):
        recorded.train_op(name)
    assert recorded.run("m", "a", "z") == ["z", "a", "m"]


def test_a_training_op_that_takes_another_comes_after_it_whatever_the_order(recorded: Recorded) -> None:
    recorded.train_op("second", "between")
    recorded.tensor("between", "first")
    recorded.train_op("first")
    assert recorded.run("second") == ["first", "between", "second"]


def test_a_training_op_that_is_fed_does_not_run(recorded: Recorded) -> None:
    recorded.train_op("train")
    recorded.tensor("after", "train")
    assert recorded.run("after", feed=("train",)) == ["after"]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("trains", [False, True])
def test_a_chain_of_5000_nodes_is_computed_in_order(order: int, trains: bool) -> None:
    graph = th.Graph()
    graph.train_op(lambda: 0, name="0") if trains else graph.tensor(lambda: 0, name="0")
    for number in range(1, 5_000)[::order]:
        graph.tensor(lambda below: below + 1, name=str(number), inputs=[str(number - 1)])
    assert th.Session(graph).run("4999") == 4_999


def test_of_a_large_graph_only_the_three_nodes_that_are_needed_are_computed(recorded: Recorded) -> None:
    recorded.tensor("n0")
    for number in range(1, 5_000):
        recorded.tensor(f"n{number}", f"n{number - 1}")
    assert recorded.run("n2") == ["n0", "n1", "n2"]


def test_a_plan_lists_what_its_run_reads() -> None:
    graph = th.Graph()
    graph.variable("w", 0)
    graph.variable("unread", 0)
    graph.placeholder("rate", default=0.5)
    graph.source("batch", list)
    graph.tensor(lambda w, batch: None, name="loss")
    graph.train_op(lambda w, loss, rate: None, name="train")
    graph.tensor(lambda train: None, name="report")
    plan = make_plan(graph, ["report", "loss", "w"], [])
    assert plan.variables == ["w"]
    assert plan.defaults == [("rate", 0.5)]
    assert plan.sources == ["batch"]
    assert [node.name for node in plan.before] == ["loss"]
    assert [node.name for node in plan.update] == ["train"]
    assert [node.name for node in plan.after] == ["report"]
    assert plan.kept == ("loss", "w")
    assert plan.advance


def test_a_run_that_does_not_train_keeps_and_advances_nothing() -> None:
    graph = th.Graph()
    graph.variable("w", 0)
    plan = make_plan(graph, ["w", "global_step"], [])
    assert plan.kept == ()
    assert not plan.advance


@pytest.mark.parametrize(("advances", "expected"), [((True, False), True), ((False, False), False)])
def test_a_run_advances_where_one_of_its_training_ops_does(advances: tuple[bool, ...], expected: bool) -> None:
    graph = th.Graph()
    for number, advance in enumerate(advances):
        graph.train_op(lambda: None, name=f"train{number}", advance=advance)
    assert make_plan(graph, ["train0", "train1"], []).advance is expected


def test_a_placeholder_that_nobody_feeds_is_an_error_that_says_who_needs_it() -> None:
    graph = th.Graph()
    graph.placeholder("rate")
    graph.tensor(lambda rate: rate, name="loss")
    graph.train_op(lambda rate: rate, name="train")
    with pytest.raises(
        ValueError,
        match=r"placeholder 'rate' has no default and nobody feeds it; it is needed by 'loss', 'train': "
        r"pass feed_dict=\{'rate': ...\}, have a hook feed it, or give it a default",
    ):
        make_plan(graph, ["loss", "train"], [])


def test_a_placeholder_that_is_not_needed_needs_no_value() -> None:
    graph = th.Graph()
    graph.placeholder("rate")
    graph.tensor(lambda rate: rate, name="loss")
    assert make_plan(graph, ["loss"], ["loss"]).before == []
    assert make_plan(graph, ["loss"], ["rate"]).defaults == []


def test_a_cycle_in_a_graph_that_grew_after_its_session_was_opened_is_an_error_that_shows_it() -> None:
    graph = th.Graph()
    session = th.Session(graph)
    graph.tensor(lambda b: b, name="a")
    graph.tensor(lambda a: a, name="b")
    with pytest.raises(ValueError, match=r"nodes depend on each other in a circle: (a -> b -> a|b -> a -> b)"):
        session.run("a")


def test_an_input_missing_in_a_graph_that_grew_is_an_error_with_the_nearest() -> None:
    graph = th.Graph()
    graph.placeholder("images", default=0)
    session = th.Session(graph)
    graph.tensor(lambda image: image, name="features")
    with pytest.raises(th.UnknownNameError, match="'image'; the nearest: 'images'"):
        session.run("features")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[str, bool, list[str]]], list[str], list[str]]:
    """Nodes in an order of addition of their own, as (name, is a training op, inputs); fetches; feeds."""
    size = draw(st.integers(1, 12))
    names = [f"n{number}" for number in range(size)]
    nodes = [
        (name, draw(st.booleans()), draw(st.lists(st.sampled_from(names[:number]), max_size=3)) if number else [])
        for number, name in enumerate(names)
    ]
    some = st.lists(st.sampled_from(names), unique=True)
    return draw(st.permutations(nodes)), draw(some), draw(some)


@given(graphs())
def test_any_graph_is_computed_once_in_order_and_as_far_as_needed(
    case: tuple[list[tuple[str, bool, list[str]]], list[str], list[str]],
) -> None:
    nodes, fetches, feeds = case
    recorded = Recorded()
    for name, trains, inputs in nodes:
        (recorded.train_op if trains else recorded.tensor)(name, *inputs)
    order = recorded.run(*fetches, feed=tuple(feeds))

    inputs_of = {name: [] if name in feeds else inputs for name, _, inputs in nodes}
    training = {name for name, trains, _ in nodes if trains and name not in feeds}

    def ancestors(name: str) -> set[str]:
        return {name}.union(*(ancestors(entry) for entry in inputs_of[name]))

    needed = set().union(*(ancestors(name) for name in fetches)) - set(feeds)
    assert len(order) == len(set(order))
    assert set(order) == needed
    place = {name: index for index, name in enumerate(order)}
    for name in order:
        assert all(place[entry] < place[name] for entry in inputs_of[name] if entry in place)
        if not ancestors(name) & training:
            assert all(place[name] < place[op] for op in training & needed)


@given(graphs(), st.randoms())
def test_what_is_asked_for_besides_does_not_change_the_order_of_the_rest(
    case: tuple[list[tuple[str, bool, list[str]]], list[str], list[str]], random: Random
) -> None:
    nodes, fetches, feeds = case
    recorded = Recorded()
    for name, trains, inputs in nodes:
        (recorded.train_op if trains else recorded.tensor)(name, *inputs)
    alone = list(recorded.run(*fetches, feed=tuple(feeds)))
    more = [*fetches, *(name for name, _, _ in nodes if random.random() < 0.5)]
    random.shuffle(more)
    beside = recorded.run(*more, feed=tuple(feeds))
    assert [name for name in beside if name in alone] == alone


def test_sources_are_drawn_from_in_the_order_of_their_addition() -> None:
    graph = th.Graph()
    graph.tensor(lambda b, a: None, name="t")
    graph.source("a", list)
    graph.source("b", list)
    assert make_plan(graph, ["t"], []).sources == make_plan(graph, ["b", "a"], []).sources == ["a", "b"]


def test_nodes_that_are_added_after_a_run_can_be_asked_for() -> None:
    graph = th.Graph()
    graph.placeholder("x", default=1)
    session = th.Session(graph)
    assert session.run("x") == 1
    graph.tensor(lambda x: x + 1, name="y")
    assert session.run(["x", "y"]) == [1, 2]


def test_a_training_op_comes_after_a_node_that_depends_on_another_one() -> None:
    graph = th.Graph()
    graph.variable("w", 1.0)
    graph.train_op(lambda w: {"w": w + 1.0}, name="first")
    graph.train_op(lambda w: {"w": w * 10.0}, name="second")
    graph.tensor(lambda first, w: w, name="between", inputs=["first", "w"])
    with th.Session(graph) as session:
        assert session.run(["between", "second", "first"]) == [2.0, None, None]
        assert session.state["w"] == 20.0
