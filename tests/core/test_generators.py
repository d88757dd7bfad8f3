"""Random generators of all kinds give their states as plain values, and take them back."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tenterhooks.generators import (
    all_generators,
    all_states,
    copied,
    generators_in,
    get_state,
    global_generators,
    is_generator,
    kind,
    misfit,
    same,
    set_all,
    set_state,
)


class Subclass(random.Random):
    """Of a kind of its own, with the state of its base class."""


class OwnState(random.Random):
    def getstate(self) -> tuple[Any, ...]:
        return ("mine", super().getstate())


def of_bits(kind: Callable[[int], Any]) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return lambda: np.random.Generator(kind(7)), lambda generator: (generator.random(), generator.integers(9))


# Each with a function that draws, so that all of the state counts: what is kept of a pair of normal numbers too.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "PCG64": of_bits(np.random.PCG64),
    "PCG64DXSM": of_bits(np.random.PCG64DXSM),
    "MT19937": of_bits(np.random.MT19937),
    "Philox": of_bits(np.random.Philox),
    "SFC64": of_bits(np.random.SFC64),
    "RandomState": (lambda: np.random.RandomState(7), lambda g: (g.normal(), g.randint(1000))),
    "RandomState of PCG64": (
        lambda: np.random.RandomState(np.random.PCG64(7)),
        lambda g: (g.normal(), g.randint(1000)),
    ),
    "Random": (lambda: random.Random(7), lambda g: (g.gauss(0, 1), g.random())),
    "Subclass": (lambda: Subclass(7), lambda g: (g.gauss(0, 1), g.random())),
    "random": (lambda: random, lambda g: (g.gauss(0, 1), g.random())),
    "numpy.random": (lambda: np.random, lambda g: (g.normal(), g.randint(1000))),
}


@pytest.fixture(autouse=True)
def _global_generators_kept() -> Iterator[None]:
    before = random.getstate(), np.random.get_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest) -> tuple[Any, Callable[[], Any]]:
    make, draw = KINDS[request.param]
    generator = make()
    return generator, lambda: draw(generator)


Case = tuple[Any, Callable[[], Any]]


def test_a_generator_gives_the_same_numbers_after_it_was_set_back(case: Case) -> None:
    generator, draw = case
    draw()
    state = copy.deepcopy(get_state(generator))
    numbers = [draw() for _ in range(700)]
    assert misfit(generator, state) is None
    set_state(generator, state)
    assert [draw() for _ in range(700)] == numbers


def test_a_state_does_not_move_on_with_its_generator(case: Case) -> None:
    generator, draw = case
    state = get_state(generator)
    before = copy.deepcopy(state)
    for _ in range(700):
        draw()
    assert same(state, before)
    assert not same(state, get_state(generator))


def test_a_state_is_made_of_what_a_checkpoint_holds(case: Case) -> None:
    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(type(key) is str and plain(entry) for key, entry in value.items())
        return isinstance(value, np.ndarray) or type(value) in (int, float, str, type(None))

    assert plain(get_state(case[0]))


def test_a_copy_gives_the_same_numbers_and_leaves_the_generator(case: Case) -> None:
    generator, draw = case
    draw()
    state = get_state(generator)
    twin = copied(generator)
    taken = get_state(twin)
    assert same(taken, state)
    (twin.random if hasattr(twin, "random") else twin.random_sample)()
    assert same(get_state(generator), state)
    assert not same(get_state(twin), state)


def test_all_kinds_are_generators(case: Case) -> None:
    assert is_generator(case[0])


@pytest.mark.parametrize(
    "value", [random.SystemRandom(), OwnState(1), None, np.zeros(1), copy, {"a": 1}, random.Random]
)
def test_nothing_else_is_one(value: Any) -> None:
    assert not is_generator(value)


def test_states_of_one_kind_fit_another_generator_of_it(case: Case) -> None:
    generator, draw = case
    other = copied(generator)
    draw()
    assert misfit(other, get_state(generator)) is None


def test_kinds_are_told_apart() -> None:
    made = {name: make() for name, (make, _) in KINDS.items()}
    kinds = {name: kind(generator) for name, generator in made.items()}
    assert kinds == {
        "PCG64": "a generator of PCG64",
        "PCG64DXSM": "a generator of PCG64DXSM",
        "MT19937": "a generator of MT19937",
        "Philox": "a generator of Philox",
        "SFC64": "a generator of SFC64",
        "RandomState": "a RandomState of MT19937",
        "RandomState of PCG64": "a RandomState of PCG64",
        "Random": "a random.Random",
        "Subclass": "a random.Random",
        "random": "a random.Random",
        "numpy.random": "a RandomState of MT19937",
    }
    for name, generator in made.items():
        for other, state in ((n, get_state(g)) for n, g in made.items()):
            assert misfit(generator, state) == (None if kinds[name] == kinds[other] else kinds[other])


@pytest.mark.parametrize(
    ("state", "what"),
    [(None, "a NoneType"), (3, "a int"), ({}, "a dict"), ({"bit_generator": 3}, "a dict"), ({"state": 3}, "a dict")],
)
def test_what_is_no_state_at_all_is_said(case: Case, state: Any, what: str) -> None:
    assert misfit(case[0], state) == what


def broken(state: dict[str, Any], *path: str, value: Any) -> dict[str, Any]:
    state = copy.deepcopy(state)
    inner = state
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return state


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("PCG64", ("state",), {}),
        ("PCG64", ("state",), None),
        ("PCG64", ("state", "inc"), "x"),
        ("PCG64", ("state", "state"), 1 << 200),
        ("PCG64", ("has_uint32",), None),
        ("MT19937", ("state", "key"), np.zeros(3, np.uint32)),
        ("MT19937", ("state", "key"), np.zeros(625, np.uint32)),
        ("MT19937", ("state", "pos"), 625),
        ("MT19937", ("state", "pos"), -1),
        ("MT19937", ("state", "pos"), 100_000),
        ("Philox", ("buffer_pos",), 5),
        ("Philox", ("buffer_pos",), -1),
        ("Philox", ("buffer",), np.zeros(2, np.uint64)),
        ("SFC64", ("state", "state"), np.zeros(1, np.uint64)),
        ("RandomState", ("state", "pos"), 10**6),
        ("RandomState", ("gauss",), "x"),
        ("numpy.random", ("state",), 5),
        ("Random", ("version",), 99),
        ("Random", ("state",), np.zeros(624, np.uint32)),
        ("Random", ("state",), [1, 2]),
        ("Random", ("state",), np.full(625, 2**32 - 1, np.uint32)),
        ("Random", ("gauss_next",), []),
        ("random", ("state",), np.full(625, 0.5)),
    ],
)
def test_a_broken_state_is_said_and_changes_nothing(name: str, path: tuple[str, ...], value: Any) -> None:
    generator = KINDS[name][0]()
    before = get_state(generator)
    fault = misfit(generator, broken(before, *path, value=value))
    assert fault is not None
    assert fault.startswith(f"{kind(generator)} with a broken state")
    assert same(get_state(generator), before)


def test_generators_are_found_in_structures_with_the_keys_to_them() -> None:
    rng, old, python = np.random.default_rng(1), np.random.RandomState(1), random.Random(1)
    structure = {"a": rng, 3: [old, {"b": (1, python)}], "c": random, "d": np.zeros(2), "e": "x"}
    assert list(generators_in(structure)) == [
        (("a",), rng),
        ((3, 0), old),
        ((3, 1, "b", 1), python),
        (("c",), random),
    ]


def test_all_generators_are_those_of_the_variables_and_those_of_the_process() -> None:
    rng = np.random.default_rng(1)
    found = dict(all_generators({"rngs": {"data": rng}, "w": 1}))
    assert found == {"rngs/data": rng, **global_generators()}
    assert found["<random>"] is random
    assert found["<numpy.random>"] is np.random


def test_those_are_set_for_which_there_is_a_state() -> None:
    variables = {"a": np.random.default_rng(1), "b": np.random.default_rng(2)}
    before = all_states(variables)
    random.random()
    np.random.random()
    for rng in variables.values():
        rng.random()
    moved = all_states(variables)
    set_all(variables, {name: before[name] for name in ("a", "<random>")})
    now = all_states(variables)
    assert {name: same(now[name], before[name]) for name in ("a", "b", "<random>", "<numpy.random>")} == {
        "a": True,
        "b": False,
        "<random>": True,
        "<numpy.random>": False,
    }
    assert same(now["b"], moved["b"])


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"a": np.ones(2)}, {"a": np.ones(2)}, True),
        ({"a": np.ones(2)}, {"a": np.zeros(2)}, False),
        ({"a": np.ones(2)}, {"a": np.ones(2, int)}, False),
        ({"a": np.ones(2)}, {"a": [1, 1]}, False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({"a": 1}, None, False),
        (1, 1, True),
        (None, 0, False),
    ],
)
def test_states_are_compared_with_all_that_is_in_them(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal


def test_generators_are_found_in_what_contains_itself() -> None:
    rng = np.random.default_rng(1)
    looped: list[Any] = [rng]
    looped.append({"me": looped})
    assert list(generators_in({"a": looped, "b": looped})) == [(("a", 0), rng), (("b", 0), rng)]
