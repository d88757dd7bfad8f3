"""Accuracy, mean, precision and recall are scikit-learn's, however the data comes in."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhooks_estimator.metrics import Accuracy, Mean, Precision, Recall

sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")

FLAGS = st.integers(0, 1)
# Weights whose sum is exact, so that only the ratio is looked at.
WEIGHTS = st.integers(0, 8).map(lambda weight: weight / 4)


def weighted(labels: Any) -> Any:
    """Rows of a label, a prediction and a weight, not all of them 0, which scikit-learn refuses."""
    rows = st.lists(st.tuples(labels, labels, WEIGHTS), min_size=1, max_size=40)
    return rows.filter(lambda rows: any(weight for _, _, weight in rows))


ROWS = weighted(FLAGS)
CUTS = st.lists(st.integers(0, 40), max_size=4).map(sorted)
NEAR: Any = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}


def parts(columns: list[Any], cuts: list[int]) -> list[list[Any]]:
    """Columns as batches, some of them empty."""
    return [list(batch) for batch in zip(*(np.split(column, cuts) for column in columns), strict=True)]


def columns(rows: list[tuple[int, int, float]]) -> list[Any]:
    labels, predictions, weights = map(np.array, zip(*rows, strict=True))
    return [labels, predictions, weights]


@pytest.mark.parametrize(
    ("kind", "reference"),
    [
        (Precision, lambda *pair, **w: sklearn.precision_score(*pair, **w, zero_division=0.0)),
        (Recall, lambda *pair, **w: sklearn.recall_score(*pair, **w, zero_division=0.0)),
    ],
)
@given(rows=ROWS, cuts=CUTS)
def test_precision_and_recall_are_scikit_learns(kind: Any, reference: Any, rows: Any, cuts: list[int]) -> None:
    metric = kind()
    for labels, predictions, weights in parts(columns(rows), cuts):
        metric.update(labels, predictions, weights)
    labels, predictions, weights = columns(rows)
    assert metric.result() == pytest.approx(reference(labels, predictions, sample_weight=weights), **NEAR)


@given(rows=weighted(st.integers(0, 3)), cuts=CUTS)
def test_accuracy_is_scikit_learns(rows: Any, cuts: list[int]) -> None:
    metric = Accuracy()
    for labels, predictions, weights in parts(columns(rows), cuts):
        metric.update(labels, predictions, weights)
    labels, predictions, weights = columns(rows)
    wanted = sklearn.accuracy_score(labels, predictions, sample_weight=weights)
    assert metric.result() == pytest.approx(wanted, **NEAR)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), cuts=CUTS)
def test_the_mean_is_numpys(values: list[float], cuts: list[int]) -> None:
    metric = Mean()
    weights = np.arange(1.0, len(values) + 1)
    for part, weight in parts([np.array(values), weights], cuts):
        metric.update(part, weight)
    assert metric.result() == pytest.approx(np.average(values, weights=weights), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("kind", [Accuracy, Precision, Recall])
@given(rows=ROWS, cuts=CUTS)
def test_merged_parts_are_the_whole_in_any_order(kind: Any, rows: Any, cuts: list[int]) -> None:
    whole, merged = kind(), kind()
    whole.update(*columns(rows))
    for batch in reversed(parts(columns(rows), cuts)):
        part = kind()
        part.update(*batch)
        merged.merge(part)
    assert merged.result() == pytest.approx(whole.result(), **NEAR)


@pytest.mark.parametrize("kind", [Accuracy, Precision, Recall])
def test_saved_half_way_it_ends_the_same(kind: Any) -> None:
    first, second = ([1, 0, 1], [1, 1, 1], [0.5, 2, 1]), ([0, 1], [1, 0])
    unbroken, before, after = kind(), kind(), kind()
    for batch in (first, second):
        unbroken.update(*batch)
    before.update(*first)
    after.load_state_dict(before.state_dict())
    after.update(*second)
    assert after.result() == unbroken.result()
    assert after.result() != before.result()


@pytest.mark.parametrize("kind", [Accuracy, Mean])
def test_of_nothing_it_is_nan(kind: Any) -> None:
    assert math.isnan(kind().result())


def test_where_nothing_is_positive_it_is_zero_as_in_scikit_learn_or_what_is_said() -> None:
    for kind in (Precision, Recall):
        for metric, wanted in [(kind(), 0.0), (kind(zero_division=1.0), 1.0)]:
            assert metric.result() == wanted
            metric.update([0, 0], [0, 0])
            assert metric.result() == wanted


def test_without_weights_each_entry_counts_once() -> None:
    metric = Accuracy()
    metric.update(["cat", "dog", "dog"], ["cat", "dog", "cat"])
    assert metric.result() == 2 / 3


def test_one_weight_is_that_of_a_whole_batch() -> None:
    metric = Mean()
    metric.update([1.0, 3.0], 3.0)
    metric.update(10.0)
    assert metric.result() == 22.0 / 7.0


def test_a_nan_is_not_hidden() -> None:
    metric = Mean()
    metric.update([1.0, math.nan])
    metric.update([1.0])
    assert math.isnan(metric.result())


@pytest.mark.parametrize(
    ("kind", "batch", "message"),
    [
        (Accuracy, ([1, 2], [1]), r"labels have the shape \(2,\) and predictions \(1,\)"),
        (Accuracy, ([1, 2], [[1], [2]]), "a metric compares arrays of one shape"),
        (Accuracy, ([1, 2], [1, 2], [1, 2, 3]), r"weights have the shape \(3,\): they are one number, or of .*\(2,\)"),
        (Mean, ([[1.0], [2.0]], [1.0, 2.0]), r"weights have the shape \(2,\)"),
        (Mean, ([1.0], -1.0), "weights are finite and at least 0"),
        (Mean, ([1.0], [math.nan]), "weights are finite and at least 0"),
        (Precision, ([1, 0], [0.9, 0.0]), r"predictions are truth values, or 0 and 1, and .*0\.9.* a threshold first"),
        (Recall, ([2, 0], [1, 0]), "labels are truth values, or 0 and 1, and .*2"),
        (Recall, (["yes"], [1]), "labels are truth values, or 0 and 1, and .*yes"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_what(kind: Any, batch: Any, message: str) -> None:
    metric = kind()
    with pytest.raises(ValueError, match=message):
        metric.update(*batch)
    assert metric.state_dict() == kind().state_dict()


def test_another_kind_cannot_be_merged() -> None:
    metric: Any = Precision()
    with pytest.raises(TypeError, match="only another Precision can be merged into this one, not <Recall"):
        metric.merge(Recall())
