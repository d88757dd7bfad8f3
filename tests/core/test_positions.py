"""What a checkpoint says of a source is looked at before it is used, and compared with what comes of it."""

import random
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.generators import get_state
from tenterhooks.positions import is_exact, mismatches
from tenterhooks.sources import SourceReader


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        (None, "sources/batch: no number of items in the checkpoint"),
        ({}, "sources/batch: no number of items in the checkpoint"),
        ({"drawn": -1, "begun_with": {}}, "sources/batch: no number of items in the checkpoint"),
        ({"drawn": "3", "begun_with": {}}, "sources/batch: no number of items in the checkpoint"),
        ({"drawn": 3}, "sources/batch: no states of generators in the checkpoint (begun_with)"),
        (
            {"drawn": 3, "begun_with": {}, "left_with": 3},
            "sources/batch: no states of generators in the checkpoint (left_with)",
        ),
        (
            {"drawn": 3, "begun_with": {"rng": get_state(np.random.RandomState(1))}},
            "sources/batch: rng is a generator of PCG64 here, a RandomState of MT19937 in the checkpoint (begun_with)",
        ),
        (
            {"drawn": 3, "begun_with": {}, "looked_with": {"<random>": 3}},
            "sources/batch: <random> is a random.Random here, a int in the checkpoint (looked_with)",
        ),
    ],
)
def test_what_is_no_state_of_a_source_is_said(state: Any, problem: str) -> None:
    assert list(mismatches("batch", {"rng": np.random.default_rng(5)}, state)) == [problem]


def test_the_state_of_a_reader_is_one_of_its_source() -> None:
    source = th.Graph().source("batch", lambda rng: iter([rng.random()]))
    variables = {"rng": np.random.default_rng(5)}
    place = SourceReader(source, variables)
    random.random()
    place.look()
    random.random()
    assert place.state_dict().keys() == {"drawn", "begun_with", "looked_with", "left_with"}
    assert list(mismatches("batch", variables, place.state_dict())) == []


def test_all_parts_that_are_wrong_are_said() -> None:
    problems = mismatches("batch", {}, {"drawn": 1, "begun_with": 3, "left_with": {"<random>": 3}})
    assert [problem.rpartition(" ")[2] for problem in problems] == ["(begun_with)", "(left_with)"]


def test_all_that_is_wrong_is_said_and_generators_that_are_no_more_do_not_count() -> None:
    states = {"gone": 1, "<random>": 2, "rng": 3}
    problems = mismatches("batch", {"rng": np.random.default_rng(5)}, {"drawn": 1, "begun_with": states})
    assert [problem.split()[1] for problem in problems] == ["<random>", "rng"]


def state(number: int) -> dict[str, Any]:
    return {"state": np.full(2, number)}


@pytest.mark.parametrize(
    ("places", "known", "left_with", "exact"),
    [
        # Of each place: how it is when the source is begun, after its first item, and at the end.
        ({"a": (1, 1, 1)}, {"a": 1}, {"a": 1}, True),
        ({"a": (1, 1, 1)}, {"a": 1}, {"a": 9}, True),
        ({"a": (1, 2, 2)}, {"a": 1}, {"a": 9}, True),
        ({"a": (1, 2, 3)}, {"a": 1}, {"a": 3}, True),
        ({"a": (1, 1, 3)}, {"a": 1}, {"a": 9}, False),
        ({"a": (1, 2, 3)}, {"a": 1}, {}, False),
        ({"a": (1, 1, 1)}, {}, {}, True),
        ({"a": (1, 2, 2)}, {}, {}, False),
        ({"a": (1, 2, 2)}, {}, {"a": 2}, False),
        ({"a": (1, 2, 3), "b": (1, 2, 3)}, {"a": 1, "b": 1}, {"a": 3, "b": 9}, False),
        ({}, {}, {}, True),
    ],
)
def test_it_was_met_exactly_where_no_other_drew_between(
    places: dict[str, tuple[int, int, int]], known: dict[str, int], left_with: dict[str, int], exact: bool
) -> None:
    begun_with, after_first, at_end = ({name: state(at[i]) for name, at in places.items()} for i in range(3))
    assert (
        is_exact(
            begun_with,
            after_first,
            at_end,
            {name: state(at) for name, at in known.items()},
            {name: state(at) for name, at in left_with.items()},
        )
        is exact
    )


def test_of_a_source_that_gave_no_item_nothing_is_compared() -> None:
    assert is_exact({"a": state(1)}, {}, {"a": state(2)}, {"a": state(1)}, {"a": state(9)})
