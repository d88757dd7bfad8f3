"""The nodes `input`, `features` and `labels`."""

from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_estimator._input import add_input, check_input_fn

FETCHES = ["features", "labels"]


def session(batches: Any, **arguments: Any) -> th.Session:
    graph = th.Graph()
    features, labels = add_input(graph, batches if callable(batches) else lambda: batches, arguments)
    assert (features.name, labels.name) == ("features", "labels")
    return th.Session(graph)


def test_each_run_draws_one_batch_whatever_is_asked_for() -> None:
    raw = session([(1, 2), [3, 4], ({"x": 5}, {"y": 6})])
    assert raw.run(FETCHES) == [1, 2]
    assert raw.run("labels") == 4
    assert raw.run(["input", *FETCHES]) == [({"x": 5}, {"y": 6}), {"x": 5}, {"y": 6}]
    with pytest.raises(th.OutOfRangeError):
        raw.run("features")


def test_a_batch_may_be_features_alone() -> None:
    raw = session([{"x": 1}, np.ones(2)])
    assert raw.run("features") == {"x": 1}
    assert raw.run("features").tolist() == [1, 1]


def test_an_input_function_gets_what_it_names() -> None:
    raw = session(lambda mode, params: [(mode, params)], mode="eval", params={"a": 1}, config=None)
    assert raw.run(FETCHES) == ["eval", {"a": 1}]


def test_it_is_called_when_the_first_batch_is_wanted_and_once() -> None:
    calls = []
    raw = session(lambda: calls.append("called") or iter([1, 2]))  # type: ignore[func-returns-value]
    assert calls == []
    raw.run("features")
    raw.run("features")
    assert calls == ["called"]


class Positioned:
    """Numbers from where it stands."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> "Positioned":
        return self

    def __next__(self) -> int:
        self.at += 1
        return self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def test_one_that_knows_its_position_is_restored_with_it() -> None:
    first = session(Positioned)
    first.run("features")
    first.run("features")
    second = session(Positioned)
    second.load_state_dict(first.state_dict(), checkpoint="checkpoint")
    assert second.restored is not None
    assert second.restored.wound_forward == {}
    assert second.run("features") == 3


def test_labels_that_are_not_there_are_an_error_where_they_are_wanted() -> None:
    with pytest.raises(ValueError, match="the model needs labels, and input_fn gave features alone"):
        session([np.ones(2)]).run("labels")


@pytest.mark.parametrize("batch", [(1, 2, 3), (1,), []])
def test_a_batch_is_no_other_tuple(batch: Any) -> None:
    with pytest.raises(ValueError, match=f"a batch of input_fn has {len(batch)} parts: it is a pair"):
        session([batch]).run("features")


@pytest.mark.parametrize("batches", [(np.ones(2), np.ones(2)), {"x": 1}, np.ones((2, 2)), "text", 7, None])
def test_one_batch_is_not_taken_for_many(batches: Any) -> None:
    with pytest.raises(TypeError, match=r"it gives an iterable of batches, .* return \[\(features, labels\)\]"):
        session(lambda: batches).run("features")


def test_an_input_function_is_looked_at() -> None:
    check_input_fn(list)
    with pytest.raises(TypeError, match=r"input_fn is a function, not \[\] of type list"):
        check_input_fn([])
    with pytest.raises(
        ValueError, match=r"input_fn .* needs the argument 'batch_size', and can have mode, params, config"
    ):
        check_input_fn(lambda batch_size: [])
