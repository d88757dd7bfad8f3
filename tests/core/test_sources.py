"""Input: one item per run that draws, and the same items after a resume."""

import contextlib
import copy
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.generators import all_states, get_state, same, set_state
from tenterhooks.nodes import Source
from tenterhooks.positions import Wound
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


# Random generators of other kinds, the global ones among them


def shuffled_by(rng: Any) -> Iterator[Any]:
    """A new order each epoch of ten items, with noise on each item, by any kind of generator."""
    while True:
        order = list(range(10))
        rng.shuffle(order)
        for item in order:
            yield item, rng.uniform(0, 1)


@pytest.fixture
def _global_generators_kept() -> Iterator[None]:
    before = random.getstate(), np.random.get_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])


@pytest.mark.parametrize("make", [np.random.RandomState, random.Random, np.random.default_rng])
@pytest.mark.parametrize("before", [0, 1, 7, 23])
def test_a_source_of_any_kind_of_generator_gives_the_same_items(make: Any, before: int) -> None:
    graph = graph_of(shuffled_by, rng=lambda: make(5))
    whole = drawn(th.Session(graph), 30)
    session = th.Session(graph)
    first = drawn(session, before)
    again = resumed(session)
    assert first + drawn(again, 30 - before) == whole
    assert again.restored is not None
    assert again.restored.not_exact == ()


GLOBAL_MODULES = pytest.mark.parametrize("module", [random, np.random])


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
@pytest.mark.parametrize("before", [1, 7, 10, 23])
def test_a_source_of_the_global_generator_gives_the_same_items(module: Any, before: int) -> None:
    module.seed(5)
    graph = graph_of(lambda: shuffled_by(module))
    session = th.Session(graph)
    module.random()
    first = drawn(session, before)
    saved = copy.deepcopy(session.state_dict())
    at_the_save = get_state(module)
    rest = drawn(session, 12)
    module.seed(99)
    again = th.Session(graph)
    again.load_state_dict(saved, checkpoint="checkpoint")
    assert again.restored is not None
    assert again.restored.wound_forward == {"batch": before}
    assert again.restored.not_exact == ()
    set_state(module, at_the_save)
    assert first
    assert drawn(again, 12) == rest


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
@pytest.mark.parametrize("fails", [False, True])
def test_a_restore_leaves_the_global_generators_as_they_were(module: Any, fails: bool) -> None:
    graph = graph_of(lambda: shuffled_by(module))
    session = th.Session(graph)
    drawn(session, 7)
    module.seed(99)
    before = all_states({})
    if fails:
        graph = graph_of(lambda: iter([module.random()]))
    other = th.Session(graph)
    try:
        other.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    except th.CheckpointError:
        assert fails
    else:
        assert not fails
    assert same(all_states({}), before)


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
def test_a_sources_state_tells_of_the_global_generators_that_moved(module: Any) -> None:
    session = th.Session(graph_of(lambda: range(9)))
    assert session.state_dict()["sources"]["batch"] == {"drawn": 0, "begun_with": {}}
    name = "<random>" if module is random else "<numpy.random>"
    begun_with = get_state(module)
    drawn(session, 2)
    assert session.state_dict()["sources"]["batch"] == {"drawn": 2, "begun_with": {}}
    module.random()
    state = session.state_dict()["sources"]["batch"]
    assert same(state, {"drawn": 2, "begun_with": {name: begun_with}, "left_with": {name: get_state(module)}})


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
def test_a_sources_state_after_a_look_tells_of_the_global_generators_that_moved(module: Any) -> None:
    name = "<random>" if module is random else "<numpy.random>"
    place = reader(lambda: (module.random() for _ in range(9)))
    begun_with = get_state(module)
    place.look()
    state = place.state_dict()
    moved = {name: begun_with}
    expected = {"drawn": 0, "begun_with": moved, "left_with": {name: get_state(module)}, "looked_with": moved}
    assert same(state, expected)
    place = reader(lambda: range(9))
    place.look()
    assert place.state_dict() == {"drawn": 0, "begun_with": {}, "looked_with": {}}


class NoisyNumbers(Numbers):
    """Restores its position itself, and draws from a generator for each item."""

    def __init__(self, rng: Any) -> None:
        super().__init__()
        self.rng = rng

    def __iter__(self) -> Iterator[Any]:
        for number in super().__iter__():
            yield number, self.rng.random()


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
def test_an_item_that_was_looked_at_after_a_resume_is_the_same_after_the_next(module: Any) -> None:
    def next_one(saved: dict[str, Any], at_the_save: dict[str, Any]) -> SourceReader:
        module.seed(99)
        place = reader(lambda: NoisyNumbers(module))
        place.load_state_dict(saved)
        set_state(module, at_the_save)
        return place

    first = reader(lambda: NoisyNumbers(module))
    # Nothing was drawn from the global generator so far, so what it was like is not saved.
    second = next_one(first.state_dict() | {"position": {"position": 3}, "drawn": 3}, get_state(module))
    item = second.look()
    third = next_one(second.state_dict(), get_state(module))
    assert third.draw() == second.draw() == item
    assert third.draw()[0] == 5


def test_an_item_that_was_looked_at_is_the_next_one_where_the_source_lost_its_state() -> None:
    first = reader(NoisyNumbers, rng=np.random.default_rng(5))
    first.draw()
    first.draw()
    second = reader(NoisyNumbers, rng=np.random.default_rng(0))
    second.load_state_dict(first.state_dict())
    set_state(second.variables["rng"], get_state(first.variables["rng"]))
    second.look()
    third = reader(lambda rng: ((number, rng.random()) for number in range(1, 10)), rng=np.random.default_rng(0))
    left_with = all_states(second.variables)
    assert third.load_state_dict(second.state_dict(), left_with) == Wound(2, True)
    set_state(third.variables["rng"], left_with["rng"])
    assert [third.draw() for _ in range(3)] == [second.draw() for _ in range(3)]


def test_how_a_source_was_wound_tells_whether_it_was_exact() -> None:
    first = reader(shuffled, rng=np.random.default_rng(5))
    first.draw()
    first.draw()
    left_with = all_states(first.variables)
    again = reader(shuffled, rng=np.random.default_rng(0))
    assert again.load_state_dict(first.state_dict(), left_with) == Wound(2, True)
    assert again.load_state_dict(first.state_dict(), {"rng": first.state_dict()["begun_with"]["rng"]}) == Wound(
        2, False
    )


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
@pytest.mark.parametrize("looks", [False, True])
def test_a_source_that_has_not_drawn_from_a_global_generator_takes_it_as_it_finds_it(module: Any, looks: bool) -> None:
    first = reader(lambda: range(9))
    first.draw()
    second = reader(lambda: range(9))
    second.load_state_dict(first.state_dict())
    # Whoever moves it before the next item does not count.
    module.seed(7)
    assert second.state_dict() == {"drawn": 1, "begun_with": {}}
    begun_with = get_state(module)
    (second.look if looks else second.draw)()
    if looks:
        second.draw()
    module.random()
    name = "<random>" if module is random else "<numpy.random>"
    assert same(second.state_dict()["begun_with"], {name: begun_with})


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
def test_a_resume_of_a_resume_knows_how_the_source_was_begun_first(module: Any) -> None:
    def late() -> Iterator[Any]:
        yield from range(4)
        yield from shuffled_by(module)

    session = th.Session(graph_of(late))
    drawn(session, 2)
    for more in (4, 4, 4):
        saved, at_the_save = copy.deepcopy(session.state_dict()), get_state(module)
        items = drawn(session, more)
        module.seed(99)
        session = th.Session(session.graph)
        session.load_state_dict(saved, checkpoint="checkpoint")
        # As a saver does, once for the whole process.
        set_state(module, at_the_save)
        assert session.restored is not None
        assert session.restored.not_exact == ()
        assert drawn(session, more) == items


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
def test_a_checkpoint_after_a_first_look_resumes_with_the_global_generator_too(module: Any) -> None:
    place = reader(lambda: shuffled_by(module))
    place.look()
    saved = copy.deepcopy(place.state_dict())
    at_the_save = get_state(module)
    items = [place.draw() for _ in range(15)]
    module.seed(99)
    again = reader(lambda: shuffled_by(module))
    again.load_state_dict(saved)
    set_state(module, at_the_save)
    assert [again.draw() for _ in range(15)] == items


# Whether the items are the same is said


def inexact(session: th.Session) -> tuple[str, ...]:
    restored = resumed(session).restored
    assert restored is not None
    return restored.not_exact


def shuffled_by_its_own(own: np.random.Generator) -> Iterator[Any]:
    return shuffled(own)


def noisy(factory: Any, **variables: Any) -> th.Graph:
    """A graph whose training draws from a generator that its source may draw from, too."""
    graph = graph_of(factory, **variables)
    graph.train_op(lambda batch, rng: rng.normal(), name="train")
    return graph


def test_a_source_that_shares_its_generator_with_the_training_is_named() -> None:
    session = th.Session(noisy(shuffled, rng=lambda: np.random.default_rng(5)))
    for _ in range(3):
        session.run("train")
    assert inexact(session) == ("sources/batch",)


def test_that_is_not_said_of_a_source_with_a_generator_of_its_own() -> None:
    graph = noisy(shuffled_by_its_own, rng=lambda: np.random.default_rng(5), own=lambda: np.random.default_rng(6))
    session = th.Session(graph)
    for _ in range(3):
        session.run("train")
    assert inexact(session) == ()


def test_that_is_not_said_of_a_source_that_draws_nothing() -> None:
    session = th.Session(noisy(lambda rng: range(9), rng=lambda: np.random.default_rng(5)))
    for _ in range(3):
        session.run("train")
    assert inexact(session) == ()


def test_that_is_not_said_of_a_source_that_draws_all_at_once_when_it_is_begun() -> None:
    graph = noisy(begun_at_once, rng=lambda: np.random.default_rng(5))
    session = th.Session(graph)
    for _ in range(3):
        session.run("train")
    again = resumed(session)
    assert again.restored is not None
    assert again.restored.not_exact == ()
    assert drawn(again, 5) == drawn(session, 5)


def test_that_is_not_said_of_a_source_that_restores_itself() -> None:
    session = th.Session(noisy(lambda rng: Numbers(), rng=lambda: np.random.default_rng(5)))
    for _ in range(3):
        session.run("train")
    assert inexact(session) == ()


def test_only_the_sources_that_share_are_named() -> None:
    graph = noisy(shuffled, rng=lambda: np.random.default_rng(5), own=lambda: np.random.default_rng(6))
    graph.source("other", shuffled_by_its_own)
    graph.source("plain", lambda: range(9))
    session = th.Session(graph)
    for _ in range(3):
        session.run(["train", "other", "plain"])
    assert inexact(session) == ("sources/batch",)


def test_two_sources_of_one_generator_that_both_draw_on_are_both_named() -> None:
    graph = graph_of(shuffled, rng=lambda: np.random.default_rng(5))
    graph.source("other", shuffled)
    session = th.Session(graph)
    for _ in range(3):
        session.run(["batch", "other"])
    assert inexact(session) == ("sources/batch", "sources/other")


@pytest.mark.usefixtures("_global_generators_kept")
@GLOBAL_MODULES
@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        (shuffled_by, ("sources/batch",)),
        (lambda module: range(9), ()),
        (lambda module: iter([module.random() for _ in range(9)]), ()),
    ],
)
def test_a_source_that_shares_a_global_generator_is_named(module: Any, factory: Any, expected: tuple[str, ...]) -> None:
    session = th.Session(graph_of(lambda: factory(module)))
    for _ in range(3):
        session.run("batch")
        module.random()
    assert inexact(session) == expected


def test_a_source_whose_generator_was_not_saved_is_named() -> None:
    session = th.Session(graph_of(lambda: range(9)))
    drawn(session, 3)
    again = th.Session(graph_of(shuffled, rng=lambda: np.random.default_rng(5)))
    again.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    assert again.restored is not None
    assert again.restored.not_exact == ("sources/batch",)


@pytest.mark.usefixtures("_global_generators_kept")
def test_a_source_that_came_to_draw_from_the_global_generator_is_named() -> None:
    session = th.Session(graph_of(lambda: range(9)))
    drawn(session, 3)
    again = th.Session(graph_of(lambda: shuffled_by(random)))
    again.load_state_dict(session.state_dict(), checkpoint="checkpoint")
    assert again.restored is not None
    assert again.restored.not_exact == ("sources/batch",)


def test_a_generator_in_an_object_with_a_form_of_its_own_does_not_disturb() -> None:
    class Settings(dict[str, Any]):
        def state_dict(self) -> list[int]:
            return [1]

        def load_state_dict(self, state: Any) -> None:
            pass

    graph = graph_of(lambda: range(9), settings=lambda: Settings(rng=np.random.default_rng(5)))
    session = th.Session(graph)
    drawn(session, 3)
    assert drawn(resumed(session), 2) == [3, 4]


def test_the_state_of_a_generator_that_is_no_more_is_left() -> None:
    first = reader(shuffled, rng=np.random.default_rng(5))
    first.draw()
    place = reader(lambda: range(9))
    place.load_state_dict(first.state_dict())
    assert place.draw() == 1


# A source that fails


def failing(*errors: BaseException) -> Iterator[int]:
    """A generator function: it ends with its first error."""
    yield 1
    yield 2
    for error in errors:
        raise error
    yield 3


class GoesOn:
    """An iterator that goes on after an error."""

    def __init__(self) -> None:
        self.given = 0
        self.failed = False

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.given == 2 and not self.failed:
            self.failed = True
            raise OSError("no connection")
        if self.given == 4:
            raise StopIteration
        self.given += 1
        return self.given


@pytest.mark.parametrize("error", [OSError("no connection"), KeyboardInterrupt(), th.AbortedError("lost")])
def test_a_source_that_failed_does_not_pass_for_one_that_ended(error: BaseException) -> None:
    session = th.Session(graph_of(lambda: failing(error)))
    drawn(session, 2)
    with pytest.raises(type(error)):
        session.run("batch")
    said = f"source 'batch' failed earlier: {type(error).__name__}: {error}; it has given nothing since"
    for _ in range(2):
        with pytest.raises(RuntimeError, match=said):
            session.run("batch")


def test_a_session_whose_source_failed_does_not_end_cleanly() -> None:
    graph = graph_of(lambda: failing(OSError("no connection")))
    with (
        pytest.raises(RuntimeError, match="source 'batch' failed earlier"),
        th.MonitoredSession(graph=graph) as session,
    ):
        while not session.should_stop():
            with contextlib.suppress(OSError):
                session.run("batch")


def test_an_iterator_may_go_on_after_an_error_and_end() -> None:
    session = th.Session(graph_of(GoesOn))
    drawn(session, 2)
    with pytest.raises(OSError, match="no connection"):
        session.run("batch")
    assert drawn(session, 2) == [3, 4]
    with pytest.raises(th.OutOfRangeError, match="source 'batch' has no more items after 4"):
        session.run("batch")


def test_an_end_that_the_source_says_itself_is_no_failure() -> None:
    session = th.Session(graph_of(lambda: failing(th.OutOfRangeError("enough"))))
    drawn(session, 2)
    with pytest.raises(th.OutOfRangeError, match="enough"):
        session.run("batch")
    with pytest.raises(th.OutOfRangeError, match="no more items after 2"):
        session.run("batch")


def test_a_session_that_goes_back_to_what_was_saved_forgets_the_failure() -> None:
    errors = iter([OSError("no connection")])

    def factory() -> Iterator[int]:
        yield 1
        for error in errors:
            raise error
        yield 2

    session = th.Session(graph_of(factory))
    session.run("batch")
    saved = session.state_dict()
    with pytest.raises(OSError, match="no connection"):
        session.run("batch")
    session.load_state_dict(saved, checkpoint="checkpoint")
    assert session.run("batch") == 2
    with pytest.raises(th.OutOfRangeError):
        session.run("batch")


def test_a_session_that_goes_back_to_the_beginning_forgets_the_failure() -> None:
    errors = [OSError("no connection")]

    def factory() -> Iterator[int]:
        if errors:
            raise errors.pop()
        yield from ()

    session = th.Session(graph_of(factory))
    saved = session.state_dict()
    with pytest.raises(OSError, match="no connection"):
        session.run("batch")
    session.load_state_dict(saved, checkpoint="checkpoint")
    with pytest.raises(th.OutOfRangeError):
        session.run("batch")


def test_an_error_of_the_iteration_names_the_source_and_the_place() -> None:
    session = th.Session(graph_of(lambda: failing(OSError("no connection"))))
    drawn(session, 2)
    with pytest.raises(OSError, match="no connection") as caught:
        session.run("batch")
    assert caught.value.__notes__ == ["in <Source 'batch'>, after 2 items"]


def test_an_error_of_the_factory_names_the_source_and_it_is_begun_anew() -> None:
    errors = [OSError("no file")]

    def factory() -> list[int]:
        if errors:
            raise errors.pop()
        return [1]

    session = th.Session(graph_of(factory))
    with pytest.raises(OSError, match="no file") as caught:
        session.run("batch")
    assert caught.value.__notes__ == ["when <Source 'batch'> was begun"]
    assert session.state_dict()["sources"]["batch"] == {"drawn": 0, "begun_with": {}}
    assert session.run("batch") == 1


def test_a_factory_that_gives_no_iterable_is_an_error_that_names_the_source() -> None:
    factory: Any = lambda: 3  # noqa: E731
    with pytest.raises(TypeError) as caught:
        th.Session(graph_of(factory)).run("batch")
    assert caught.value.__notes__ == ["when <Source 'batch'> was begun"]


def test_a_stop_iteration_of_the_factory_is_no_end() -> None:
    empty: Iterator[Any] = iter(())
    with pytest.raises(RuntimeError, match=r"<Source 'batch'> raised StopIteration when it was begun") as caught:
        th.Session(graph_of(lambda: [next(empty)])).run("batch")
    assert isinstance(caught.value.__cause__, StopIteration)


def resumed_with(make: Callable[[], th.Graph], steps: int, *, skipping: type[Exception] = ValueError) -> th.Session:
    """A session that goes on from one that has trained so many steps, and has skipped some errors."""
    session = th.Session(make())
    while session.global_step < steps:
        with contextlib.suppress(skipping):
            session.run("train")
    saved = copy.deepcopy(session.state_dict())
    resumed = th.Session(make())
    resumed.load_state_dict(saved, checkpoint="memory")
    return resumed


@pytest.mark.parametrize(("change", "said"), [(1, ("sources/batch",)), (0, ())])
def test_one_that_takes_a_variable_that_has_changed_is_named(change: int, said: tuple[str, ...]) -> None:
    def make() -> th.Graph:
        graph = th.Graph()
        graph.variable("stride", lambda: np.array([1]))
        graph.source("batch", lambda stride: itertools.count(0, int(stride[0])))

        @graph.train_op
        def train(stride: Any, batch: int) -> None:
            stride += change

        return graph

    restored = resumed_with(make, 3).restored
    assert restored is not None
    assert restored.wound_forward == {"batch": 3}
    assert restored.not_exact == said


class Flaky:
    """Fails at its third item, once in a process or each time it is begun."""

    failed = False

    def __init__(self, always: bool) -> None:
        self.always, self.position = always, 0

    def __iter__(self) -> "Flaky":
        return self

    def __next__(self) -> int:
        self.position += 1
        if self.position == 3 and (self.always or not Flaky.failed):
            Flaky.failed = True
            raise OSError("corrupt record 2")
        return self.position


def flaky_graph(always: bool) -> th.Graph:
    graph = th.Graph()
    graph.source("batch", lambda: Flaky(always))
    graph.train_op(lambda batch: None, name="train")
    return graph


def test_one_that_had_failed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flaky, "failed", False)
    restored = resumed_with(lambda: flaky_graph(False), 4, skipping=OSError).restored
    assert restored is not None
    assert restored.not_exact == ("sources/batch",)


def test_one_that_fails_while_it_is_wound_forward_says_that_this_is_a_restore() -> None:
    with pytest.raises(OSError, match="corrupt record 2") as caught:
        resumed_with(lambda: flaky_graph(True), 4, skipping=OSError)
    said = "wound forward by 4 items, for a restore, after 2: give it state_dict"
    assert any(said in note for note in caught.value.__notes__)
