"""Input: one item per run that draws, and the same items after a resume."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.nodes import Source
from tenterhooks.sources import SourceReader


def graph_of(factory: Callable[..., Iterable[Any]], **variables: Any) -> th.Graph:
    graph = th.Graph()
    for name, initial in variables.items():
        graph.variable(name, initial)
    graph.source("batch", factory)
    return graph


def resumed(session: th.Session) -> th.Session:
    """A session of the same graph, restored from what another one saves."""
    other = th.Session(session.graph)
    other.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    return other


def drawn(session: th.Session, count: int) -> list[Any]:
    return [session.run("batch") for _ in range(count)]


class Numbers:
    """An iterable that restores its position itself, and notes how often it was asked for items."""

    def __init__(self, count: int = 10) -> None:
        self.count = count
        self.position = 0
        self.given = 0

    def __iter__(self) -> Iterator[int]:
        while self.position < self.count:
            self.position += 1
            self.given += 1
            yield self.position

    def state_dict(self) -> dict[str, int]:
        return {"position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.position = state["position"]


# One item per run


def test_each_run_that_needs_an_item_draws_one() -> None:
    session = th.Session(graph_of(lambda: "abc"))
    assert drawn(session, 3) == ["a", "b", "c"]


def test_all_that_need_it_in_one_run_see_the_same_item() -> None:
    graph = graph_of(lambda: [1, 2])
    graph.tensor(lambda batch: -batch, name="x")
    graph.train_op(lambda batch: batch, name="train")
    assert th.Session(graph).run(["batch", "x", "train", "batch"]) == [1, -1, 1, 1]


def test_a_run_that_needs_none_draws_none() -> None:
    graph = graph_of(lambda: [1, 2])
    graph.placeholder("other", default=0)
    session = th.Session(graph)
    session.run("other")
    session.run([])
    assert session.run("batch") == 1


def test_a_run_in_which_it_is_fed_draws_none() -> None:
    session = th.Session(graph_of(lambda: [1, 2]))
    assert session.run("batch", {"batch": 100}) == 100
    assert session.run("batch") == 1


def test_a_run_that_lacks_a_feed_draws_none() -> None:
    graph = graph_of(lambda: [1, 2])
    graph.placeholder("rate")
    session = th.Session(graph)
    with pytest.raises(ValueError, match="placeholder 'rate'"):
        session.run(["batch", "rate"])
    assert session.run("batch") == 1


def test_a_source_is_begun_when_its_first_item_is_needed_and_once() -> None:
    begun: list[int] = []

    def factory() -> list[int]:
        begun.append(0)
        return [1, 2]

    session = th.Session(graph_of(factory))
    assert begun == []
    drawn(session, 2)
    assert begun == [0]


def test_each_session_begins_a_source_anew() -> None:
    graph = graph_of(lambda: [1, 2])
    th.Session(graph).run("batch")
    assert th.Session(graph).run("batch") == 1


def test_an_item_may_be_none() -> None:
    session = th.Session(graph_of(lambda: [None, 2]))
    assert drawn(session, 2) == [None, 2]


def test_a_source_may_name_variables() -> None:
    session = th.Session(graph_of(lambda first, last: iter([first, last]), first=3, last=4))
    assert drawn(session, 2) == [3, 4]


def test_an_iterator_is_an_iterable_too() -> None:
    assert th.Session(graph_of(lambda: iter([1]))).run("batch") == 1


# The end


def test_the_end_raises_out_of_range_with_name_and_count() -> None:
    session = th.Session(graph_of(lambda: [1, 2]))
    drawn(session, 2)
    with pytest.raises(th.OutOfRangeError, match="source 'batch' has no more items after 2"):
        session.run("batch")


def test_a_source_stays_at_its_end() -> None:
    session = th.Session(graph_of(lambda: [1]))
    session.run("batch")
    for _ in range(2):
        with pytest.raises(th.OutOfRangeError):
            session.run("batch")
    assert session.state_dict()["sources"]["batch"]["drawn"] == 1


def test_the_run_that_meets_the_end_does_not_train() -> None:
    graph = graph_of(list)
    graph.train_op(lambda batch: None, name="train")
    session = th.Session(graph)
    with pytest.raises(th.OutOfRangeError):
        session.run("train")
    assert session.global_step == 0


def test_the_end_ends_a_monitored_session_cleanly() -> None:
    graph = graph_of(lambda: [1, 2, 3])
    graph.train_op(lambda batch: None, name="train")
    steps = []
    with th.MonitoredSession(graph=graph) as session:
        while not session.should_stop():
            session.run("train")
            steps.append(session.global_step)
    assert steps == [1, 2, 3]


def test_an_error_of_the_iterable_comes_as_it_is() -> None:
    def factory() -> Iterator[float]:
        for divisor in range(3):
            yield 1 / divisor

    with pytest.raises(ZeroDivisionError, match="division by zero"):
        th.Session(graph_of(factory)).run("batch")


# A resume: a source with a state of its own


@pytest.mark.parametrize("before", [0, 1, 4])
def test_a_source_with_a_state_continues_where_it_was(before: int) -> None:
    session = th.Session(graph_of(Numbers))
    drawn(session, before)
    again = resumed(session)
    assert drawn(again, 3) == [before + 1, before + 2, before + 3]


def test_a_source_with_a_state_is_not_wound_forward() -> None:
    made: list[Numbers] = []

    def factory() -> Numbers:
        made.append(Numbers())
        return made[-1]

    session = th.Session(graph_of(factory))
    drawn(session, 5)
    again = resumed(session)
    again.run("batch")
    assert made[1].given == 1
    assert again.restored is not None
    assert again.restored.wound_forward == {}


def test_the_state_of_an_iterator_is_used_where_the_iterable_has_none() -> None:
    class Iterates(Numbers):
        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            if self.position == self.count:
                raise StopIteration
            self.position += 1
            return self.position

    class Loader:
        def __iter__(self) -> Iterator[int]:
            return iter(Iterates())

    session = th.Session(graph_of(Loader))
    drawn(session, 2)
    assert session.state_dict()["sources"]["batch"]["position"] == {"position": 2}
    assert drawn(resumed(session), 2) == [3, 4]


def test_a_source_with_a_state_counts_the_items_of_the_time_before() -> None:
    session = th.Session(graph_of(lambda: Numbers(3)))
    drawn(session, 2)
    again = resumed(session)
    again.run("batch")
    with pytest.raises(th.OutOfRangeError, match="no more items after 3"):
        again.run("batch")


def test_a_state_of_a_source_that_cannot_be_saved_is_an_error_that_names_it() -> None:
    class Bad(Numbers):
        def state_dict(self) -> dict[str, Any]:
            return {"file": object()}

    session = th.Session(graph_of(Bad))
    session.run("batch")
    with pytest.raises(th.CheckpointError, match=r"^sources/batch \(state_dict\)/file is a builtins.object"):
        session.state_dict()


def test_a_source_that_came_by_a_state_after_the_checkpoint_is_wound_forward() -> None:
    session = th.Session(graph_of(lambda: range(1, 11)))
    drawn(session, 3)
    again = th.Session(graph_of(Numbers))
    again.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    assert again.run("batch") == 4


def test_a_source_that_lost_its_state_after_the_checkpoint_is_wound_forward() -> None:
    session = th.Session(graph_of(Numbers))
    drawn(session, 3)
    again = th.Session(graph_of(lambda: range(1, 11)))
    again.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    assert again.run("batch") == 4
    assert again.restored is not None
    assert again.restored.wound_forward == {"batch": 3}


# A resume: winding forward


def shuffled(rng: np.random.Generator) -> Iterator[Any]:
    """A new order each epoch of ten items, with noise on each item."""
    while True:
        for item in rng.permutation(10):
            yield int(item), float(rng.normal())


def begun_at_once(rng: np.random.Generator) -> Iterator[Any]:
    """All items, drawn when the source is begun."""
    return iter(rng.random(40).tolist())


def nested_generator(rngs: dict[str, np.random.Generator]) -> Iterator[Any]:
    return shuffled(rngs["data"])


@pytest.mark.parametrize("before", [0, 1, 7, 10, 23])
def test_a_source_without_a_state_is_wound_forward_by_as_many_items(before: int) -> None:
    session = th.Session(graph_of(lambda: range(100)))
    drawn(session, before)
    again = resumed(session)
    assert drawn(again, 2) == [before, before + 1]
    assert again.restored is not None
    assert again.restored.wound_forward == ({"batch": before} if before else {})


@pytest.mark.parametrize(
    ("factory", "variable", "initial"),
    [
        (shuffled, "rng", lambda: np.random.default_rng(5)),
        (shuffled, "rng", lambda: np.random.Generator(np.random.MT19937(5))),
        (begun_at_once, "rng", lambda: np.random.default_rng(5)),
        (nested_generator, "rngs", lambda: {"data": np.random.default_rng(5)}),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 7, 10, 23])
def test_a_source_of_a_generator_gives_the_same_items_bit_for_bit(
    factory: Any, variable: str, initial: Any, before: int
) -> None:
    graph = graph_of(factory, **{variable: initial})
    whole = drawn(th.Session(graph), 30)
    session = th.Session(graph)
    first = drawn(session, before)
    again = resumed(session)
    drawn(session, 5)
    assert first + drawn(again, 30 - before) == whole


@pytest.mark.parametrize("nested", [False, True])
def test_a_source_is_begun_with_the_generator_as_it_was_when_it_was_begun(nested: bool) -> None:
    if nested:
        graph = graph_of(lambda rngs: begun_at_once(rngs[0]["data"]), rngs=lambda: [{"data": np.random.default_rng(5)}])
        graph.tensor(lambda rngs: rngs[0]["data"].random(), name="noise")
    else:
        graph = graph_of(begun_at_once, rng=lambda: np.random.default_rng(5))
        graph.tensor(lambda rng: rng.random(), name="noise")

    def play(session: th.Session, steps: range) -> list[Any]:
        return [session.run("noise" if step % 3 == 0 else "batch") for step in steps]

    whole = play(th.Session(graph), range(20))
    session = th.Session(graph)
    first = play(session, range(8))
    assert first + play(resumed(session), range(8, 20)) == whole


def test_two_sources_of_one_generator_are_each_begun_as_they_were() -> None:
    graph = graph_of(begun_at_once, rng=lambda: np.random.default_rng(5))
    graph.source("other", begun_at_once)
    session = th.Session(graph)
    session.run("other")
    first = [session.run(["batch", "other"]) for _ in range(3)]
    again = resumed(session)
    rest = [[session.run("batch"), session.run("other")] for _ in range(3)]
    assert first
    assert [[again.run("batch"), again.run("other")] for _ in range(3)] == rest


def test_winding_forward_leaves_the_generators_as_the_checkpoint_has_them() -> None:
    graph = graph_of(shuffled, rng=lambda: np.random.default_rng(5))
    session = th.Session(graph)
    drawn(session, 3)
    session.state["rng"].random(100)
    again = resumed(session)
    assert again.state["rng"].bit_generator.state == session.state["rng"].bit_generator.state


def test_a_resume_of_a_resume_gives_the_same_items() -> None:
    graph = graph_of(shuffled, rng=lambda: np.random.default_rng(5))
    whole = drawn(th.Session(graph), 25)
    session, items = th.Session(graph), []
    for _ in range(5):
        items += drawn(session, 5)
        session = resumed(session)
    assert items == whole


def test_a_resume_with_less_input_is_an_error_that_says_how_much() -> None:
    session = th.Session(graph_of(lambda: range(10)))
    drawn(session, 7)
    shorter = th.Session(graph_of(lambda: range(5)))
    with pytest.raises(
        th.CheckpointError,
        match="source 'batch' has 5 items, but the checkpoint was saved after 7: resume with the same",
    ):
        shorter.load_state_dict(session.state_dict(), checkpoint="checkpoint")


@pytest.mark.parametrize("factory", [Numbers, lambda: range(1, 11)])
def test_a_session_that_has_drawn_already_goes_back_to_what_was_saved(factory: Any) -> None:
    session = th.Session(graph_of(factory))
    drawn(session, 2)
    saved = session.state_dict()
    drawn(session, 4)
    session.load_state_dict(saved, checkpoint="checkpoint")
    assert drawn(session, 2) == [3, 4]


def test_a_session_that_has_drawn_already_goes_back_to_the_beginning() -> None:
    session = th.Session(graph_of(lambda: range(1, 11)))
    saved = session.state_dict()
    drawn(session, 4)
    session.load_state_dict(saved, checkpoint="checkpoint")
    assert session.run("batch") == 1


# Looking at an item without drawing it, as raw runs in a monitored session do


def reader(factory: Callable[..., Iterable[Any]], **variables: Any) -> SourceReader:
    source = graph_of(factory)["batch"]
    assert isinstance(source, Source)
    return SourceReader(source, variables)


def test_a_look_sees_the_first_item_and_then_the_last_one() -> None:
    place = reader(lambda: "abc")
    assert [place.look(), place.look(), place.draw(), place.look(), place.draw(), place.look()] == list("aaaabb")


def test_a_look_is_not_counted() -> None:
    place = reader(lambda: "abc")
    place.look()
    assert place.drawn == 0
    place.draw()
    assert place.drawn == 1


def test_a_look_at_an_empty_source_meets_its_end() -> None:
    with pytest.raises(th.OutOfRangeError, match="no more items after 0"):
        reader(list).look()


def test_an_item_that_was_looked_at_is_not_drawn_in_what_is_saved() -> None:
    place = reader(Numbers)
    place.look()
    assert place.state_dict()["drawn"] == 0
    again = reader(Numbers)
    again.load_state_dict(place.state_dict())
    assert again.draw() == place.draw() == 1


def test_a_look_keeps_the_position_though_the_source_gives_one_that_it_changes_itself() -> None:
    class Live:
        def __init__(self) -> None:
            self.state = {"next": 1}

        def __iter__(self) -> Iterator[int]:
            while True:
                self.state["next"] += 1
                yield self.state["next"] - 1

        def state_dict(self) -> dict[str, Any]:
            return self.state

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.state.update(state)

    place = reader(Live)
    assert place.look() == 1
    again = reader(Live)
    again.load_state_dict(place.state_dict())
    assert again.draw() == place.draw() == 1


def test_an_item_that_was_looked_at_after_a_resume_is_not_lost_in_the_next() -> None:
    first = reader(Numbers)
    first.draw()
    second, third = reader(Numbers), reader(Numbers)
    second.load_state_dict(first.state_dict())
    assert second.look() == 2
    third.load_state_dict(second.state_dict())
    assert third.draw() == 2


@pytest.mark.parametrize("factory", [shuffled, begun_at_once])
def test_a_checkpoint_after_a_first_look_resumes_bit_for_bit(factory: Any) -> None:
    def variables() -> dict[str, Any]:
        return {"rng": np.random.default_rng(5)}

    here = variables()
    place = reader(factory, **here)
    place.look()
    saved = place.state_dict()
    there = variables()
    again = reader(factory, **there)
    again.load_state_dict(saved)
    there["rng"].bit_generator.state = here["rng"].bit_generator.state
    assert [again.draw() for _ in range(15)] == [place.draw() for _ in range(15)]


def test_a_source_with_a_state_that_uses_a_generator_resumes_bit_for_bit_after_a_look() -> None:
    class Noisy(Numbers):
        def __init__(self, rng: np.random.Generator) -> None:
            super().__init__()
            self.rng = rng

        def __iter__(self) -> Iterator[Any]:
            for number in super().__iter__():
                yield number, self.rng.random()

    def session_at(saved: dict[str, Any], rng: np.random.Generator) -> SourceReader:
        place = reader(Noisy, rng=rng)
        place.load_state_dict(saved)
        return place

    rng = np.random.default_rng(5)
    first = reader(Noisy, rng=rng)
    first.draw()
    second_rng = np.random.default_rng(0)
    second = session_at(first.state_dict(), second_rng)
    second_rng.bit_generator.state = rng.bit_generator.state
    second.look()
    third_rng = np.random.default_rng(0)
    third = session_at(second.state_dict(), third_rng)
    third_rng.bit_generator.state = second_rng.bit_generator.state
    assert [third.draw() for _ in range(4)] == [first.draw() for _ in range(4)]
