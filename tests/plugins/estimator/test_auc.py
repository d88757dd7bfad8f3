"""The exact AUC is scikit-learn's; the bounded one is off by no more than it says."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhooks_estimator.metrics import AUC, BinnedAUC

sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")

# Few different scores: many are equal.
TIED = st.integers(0, 6).map(lambda score: score / 6)
SCORES = st.one_of(TIED, st.floats(0, 1))
WEIGHTS = st.floats(0.125, 4.0)
ROWS = st.lists(st.tuples(st.integers(0, 1), SCORES, WEIGHTS), min_size=1, max_size=60)
CUTS = st.lists(st.integers(0, 60), max_size=4).map(sorted)
KINDS = [AUC, lambda: BinnedAUC(num_thresholds=8)]


def columns(rows: Any) -> list[Any]:
    return [np.array(column) for column in zip(*rows, strict=True)]


def reference(labels: Any, scores: Any, weights: Any) -> float:
    with warnings.catch_warnings():
        # That there is one class only is told by the NaN.
        warnings.simplefilter("ignore")
        return float(sklearn.roc_auc_score(labels, scores, sample_weight=weights))


@given(rows=ROWS, cuts=CUTS)
def test_the_exact_one_is_scikit_learns_with_ties_weights_and_one_class_only(rows: Any, cuts: list[int]) -> None:
    metric = AUC()
    for batch in zip(*(np.split(column, cuts) for column in columns(rows)), strict=True):
        metric.update(*batch)
    assert metric.result() == pytest.approx(reference(*columns(rows)), rel=1e-9, abs=1e-9, nan_ok=True)


@given(rows=ROWS, thresholds=st.integers(2, 30))
def test_the_bounded_one_is_off_by_no_more_than_it_says(rows: Any, thresholds: int) -> None:
    exact, binned = AUC(), BinnedAUC(num_thresholds=thresholds)
    exact.update(*columns(rows))
    binned.update(*columns(rows))
    if math.isnan(exact.result()):
        assert math.isnan(binned.result())
        assert math.isnan(binned.error_bound())
    else:
        assert abs(binned.result() - exact.result()) <= binned.error_bound() + 1e-12


def test_the_bound_is_reached() -> None:
    exact, binned = AUC(), BinnedAUC(num_thresholds=2)
    for metric in (exact, binned):
        metric.update([0, 1], [0.25, 0.75])
    assert (exact.result(), binned.result(), binned.error_bound()) == (1.0, 0.5, 0.5)


def test_with_more_thresholds_than_scores_apart_there_is_no_error() -> None:
    rng = np.random.default_rng(0)
    scores = rng.permutation(1000) / 1000
    labels = rng.integers(0, 2, 1000)
    exact, binned = AUC(), BinnedAUC(num_thresholds=1_000_001)
    for metric in (exact, binned):
        metric.update(labels, scores)
    assert binned.error_bound() == 0.0
    assert binned.result() == pytest.approx(exact.result(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, cuts=CUTS)
def test_merged_parts_are_the_whole_in_any_order(kind: Any, rows: Any, cuts: list[int]) -> None:
    whole, merged = kind(), kind()
    whole.update(*columns(rows))
    for batch in reversed([*zip(*(np.split(column, cuts) for column in columns(rows)), strict=True)]):
        part = kind()
        part.update(*batch)
        merged.merge(part)
    assert merged.result() == pytest.approx(whole.result(), rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_half_way_it_ends_the_same(kind: Any) -> None:
    first, second = ([1, 0, 1], [0.5, 0.1, 0.3], [0.5, 2, 1]), ([0, 1], [0.4, 0.2])
    unbroken, before, after = kind(), kind(), kind()
    for batch in (first, second):
        unbroken.update(*batch)
    before.update(*first)
    after.load_state_dict(before.state_dict())
    after.update(*second)
    assert after.result() == unbroken.result()
    assert after.result() != before.result()


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_may_fill_the_same_arrays_again(kind: Any) -> None:
    metric = kind()
    labels, scores = np.array([True, False]), np.array([0.9, 0.1])
    metric.update(labels, scores)
    scores[:] = [0.1, 0.9]
    labels[:] = True
    assert metric.result() == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_it_is_nan(kind: Any) -> None:
    assert math.isnan(kind().result())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (([1, 0], [0.5]), r"labels have the shape \(2,\) and predictions \(1,\)"),
        (([3, 0], [0.5, 0.5]), "labels are truth values, or 0 and 1, and .*3"),
        (([1, 0], [0.5, math.nan]), "a score is nan: those of an AUC are finite"),
        (([1, 0], [0.5, math.inf]), "a score is inf: those of an AUC are finite"),
        (([1, 0], [0.5, 0.5], [1, -1]), "weights are finite and at least 0"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_what(kind: Any, batch: Any, message: str) -> None:
    metric = kind()
    with pytest.raises(ValueError, match=message):
        metric.update(*batch)
    assert math.isnan(metric.result())


def test_the_bounded_one_takes_scores_from_0_to_1() -> None:
    with pytest.raises(ValueError, match=r"a score is 1\.5, .* from 0 to 1: give it probabilities, or take AUC"):
        BinnedAUC().update([1, 0], [1.5, 0.5])


def test_bins_are_between_thresholds() -> None:
    with pytest.raises(ValueError, match="num_thresholds is 2 or more, since bins are between two, not 1"):
        BinnedAUC(num_thresholds=1)


def test_what_is_merged_or_restored_fits() -> None:
    metric: Any = BinnedAUC(num_thresholds=5)
    with pytest.raises(ValueError, match="num_thresholds is 5 here, and 9 in what is to be added"):
        metric.merge(BinnedAUC(num_thresholds=9))
    with pytest.raises(ValueError, match="num_thresholds is 5 here, and 9"):
        metric.load_state_dict(BinnedAUC(num_thresholds=9).state_dict())
    with pytest.raises(TypeError, match="only another BinnedAUC can be merged into this one, not <AUC of 0 scores>"):
        metric.merge(AUC())
