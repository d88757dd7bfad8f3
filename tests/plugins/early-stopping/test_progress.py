"""What counts as an improvement, and what is counted."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhooks_early_stopping._progress import Mode, Progress, Rule

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("options", "value", "than", "better"),
    [
        ({}, 1.0, None, True),
        ({}, NAN, None, False),
        ({}, INF, None, True),
        ({}, NAN, INF, False),
        ({}, 0.0, 1.0, True),
        ({}, 1.0, 1.0, False),
        ({}, 1.0, 0.0, False),
        ({}, -0.5, 0.0, True),
        ({}, 1e300, INF, True),
        ({}, -INF, -1e300, True),
        ({}, INF, INF, False),
        ({"mode": "max"}, 1.0, 0.0, True),
        ({"mode": "max"}, 0.0, 0.0, False),
        ({"mode": "max"}, NAN, -INF, False),
        ({"mode": "max"}, -1e300, -INF, True),
        ({"min_delta": 0.5}, 0.5, 1.0, False),
        ({"min_delta": 0.5}, 0.25, 1.0, True),
        ({"min_delta": 0.5}, 1e300, INF, True),
        ({"min_delta": 0.5, "mode": "max"}, 1.5, 1.0, False),
        ({"min_delta": 0.5, "mode": "max"}, 1.75, 1.0, True),
        ({"min_delta": 0.5, "relative": True}, 4.0, 8.0, False),
        ({"min_delta": 0.5, "relative": True}, 3.0, 8.0, True),
        ({"min_delta": 0.5, "relative": True}, -10.0, -8.0, False),
        ({"min_delta": 0.5, "relative": True}, -13.0, -8.0, True),
        ({"min_delta": 0.5, "relative": True, "mode": "max"}, -4.0, -8.0, False),
        ({"min_delta": 0.5, "relative": True, "mode": "max"}, -3.0, -8.0, True),
        ({"min_delta": 0.0, "relative": True}, 1.0, INF, True),
        ({"min_delta": 0.5, "relative": True}, -0.125, 0.0, True),
    ],
    ids=repr,
)
def test_what_is_better(options: dict[str, Any], value: float, than: float | None, better: bool) -> None:
    assert Rule(**options).is_better(value, than) is better


def counts(values: list[float], **rule: Any) -> list[int]:
    progress, found = Progress(Rule(**rule)), []
    for step, value in enumerate(values):
        progress.check(value, step)
        found.append(progress.checks)
    return found


def test_an_improvement_restarts_the_count() -> None:
    assert counts([3, 2, 2, 4, 1, 1]) == [0, 0, 1, 2, 0, 1]


def test_nan_is_a_check_and_no_improvement_and_anything_is_one_on_it() -> None:
    assert counts([NAN, NAN, 5, NAN, 4]) == [1, 2, 0, 1, 0]


def test_what_is_not_better_than_the_baseline_restarts_nothing() -> None:
    assert counts([9, 8, 4, 3, 2, 2], baseline=3) == [1, 2, 3, 4, 0, 1]


def test_it_is_the_best_all_the_same() -> None:
    progress = Progress(Rule(baseline=3))
    assert [progress.check(value, step) for step, value in enumerate([9.0, 8.0, 8.5])] == [True, True, False]
    assert (progress.best, progress.best_step, progress.since) == (8.0, 1, 0)


def test_zero_is_a_value_and_a_step() -> None:
    progress = Progress(Rule())
    progress.check(0.0, 0)
    progress.check(0.5, 1)
    assert (progress.best, progress.best_step, progress.since, progress.checks) == (0.0, 0, 0, 1)


numbers = st.one_of(st.sampled_from([0.0, -0.0, 1.0, INF, -INF, NAN]), st.floats(-4, 4, width=16))


@settings(database=None, deadline=None, max_examples=200)
@given(values=st.lists(numbers, max_size=12), mode=st.sampled_from(["min", "max"]), cut=st.integers(0, 12))
def test_the_best_is_the_first_least_that_is_no_nan_also_after_a_restart(
    values: list[float], mode: Mode, cut: int
) -> None:
    progress = Progress(Rule(mode))
    for step, value in enumerate(values):
        if step == cut:
            saved, progress = progress.state_dict(), Progress(Rule(mode))
            progress.load_state_dict(saved)
        progress.check(value, step)
    comparable = [value for value in values if not math.isnan(value)]
    assert progress.best == ((min if mode == "min" else max)(comparable) if comparable else None)
    assert progress.best_step == (values.index(progress.best) if progress.best is not None else None)
    assert progress.checks == len(values) - (0 if progress.best_step is None else progress.best_step + 1)
