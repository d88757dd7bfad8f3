"""Predictions: lazy, an example at a time, and closed on every way out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver
from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys

from .models import Enough, Noting, batches, default_graph, few, make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "model").train(few(5))
    return tmp_path / "model"


def with_predictions(folder: Path, **functions: Any) -> Estimator:
    """An Estimator whose predictions are these functions of the features; of one named `alone` it is no dict."""

    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        graph = default_graph()
        graph.variable("w", np.zeros(3))
        nodes = {name: graph.tensor(function, name=name) for name, function in functions.items()}
        return EstimatorSpec(mode, predictions=nodes.get("alone", nodes))

    return Estimator(model_fn, folder)


def test_each_example_is_a_dict_of_its_own(folder: Path) -> None:
    w = Saver(folder).restore()[1]["variables"]["w"]  # type: ignore[index] # There is one.
    given = list(make(folder).predict(few(2)))
    wanted = np.concatenate([features["x"] @ w for features, _ in batches(2)])
    assert [example["logits"] for example in given] == wanted.tolist()
    assert [example["classes"] for example in given] == (wanted > 0).astype(int).tolist()
    assert all(set(example) == {"logits", "classes"} for example in given)


def test_predictions_may_be_one_node(folder: Path) -> None:
    given = list(with_predictions(folder, alone=lambda features: features["x"]).predict(few(1)))
    assert np.array(given).tolist() == next(batches(1))[0]["x"].tolist()


def test_batches_may_be_given_as_they_are(folder: Path) -> None:
    given = list(make(folder).predict(few(2), yield_single_examples=False))
    assert [batch["logits"].shape for batch in given] == [(8,), (8,)]
    assert list(with_predictions(folder, alone=lambda features: 7).predict(few(1), yield_single_examples=False)) == [7]


@pytest.mark.parametrize("wanted", [{"w": "w"}, {}])
def test_it_ends_with_an_input_that_the_predictions_do_not_look_at(folder: Path, wanted: Any) -> None:
    def model_fn(mode: ModeKeys) -> EstimatorSpec:
        default_graph().variable("w", np.zeros(3))
        return EstimatorSpec(mode, predictions=wanted)

    noting = Noting()
    examples = Estimator(model_fn, folder).predict(few(2), hooks=[noting, Enough(5)])
    assert len(list(examples)) == 2 * 3 * len(wanted)
    assert noting.calls == ["noting.begin", "noting.run5", "noting.run5", "noting.end"]


def test_just_what_is_wanted_is_computed(folder: Path) -> None:
    calls: list[str] = []
    estimator = with_predictions(
        folder,
        a=lambda features: features["x"],
        b=lambda features: calls.append("b") or features["x"],  # type: ignore[func-returns-value]
    )
    for keys in ("a", ["a"], iter(["a"])):
        assert all(set(example) == {"a"} for example in estimator.predict(few(1), predict_keys=keys))
    assert calls == []


def test_labels_are_not_looked_at(folder: Path) -> None:
    with_labels = list(make(folder).predict(few(1)))
    alone = list(make(folder).predict(lambda: (features for features, _ in batches(1))))
    assert str(with_labels) == str(alone)


def test_it_does_nothing_until_the_first_example_is_wanted(folder: Path) -> None:
    drawn: list[int] = []

    def counted() -> Iterator[Any]:
        for number, batch in enumerate(batches(3)):
            drawn.append(number)
            yield batch

    noting = Noting()
    examples = make(folder, hooks=[noting]).predict(counted)
    assert (noting.calls, drawn) == ([], [])
    next(examples)
    assert (noting.calls, drawn) == (["noting.begin", "noting.run5"], [0])
    for _ in range(8):
        next(examples)
    assert drawn == [0, 1]
    assert len(list(examples)) == 15
    assert noting.calls == ["noting.begin", "noting.run5", "noting.run5", "noting.run5", "noting.end"]


@pytest.mark.parametrize("way", ["closed", "dropped"])
def test_one_that_is_given_up_closes_its_session_without_end(folder: Path, way: str) -> None:
    noting = Noting()
    examples: Any = make(folder).predict(few(3), hooks=[noting])
    next(examples)
    if way == "closed":
        examples.close()
    del examples
    assert noting.calls == ["noting.begin", "noting.run5", "noting.GeneratorExit"]
    # It belongs to no open session any more.
    list(make(folder).predict(few(1), hooks=[noting]))
    assert noting.calls[-1] == "noting.end"


def test_between_two_examples_nothing_of_it_is_in_the_way(folder: Path) -> None:
    outer = th.Graph()
    with outer.as_default():
        examples = make(folder).predict(few(2))
        next(examples)
        assert th.get_default_graph() is outer
        # Another one beside it.
        assert len(list(make(folder).predict(few(1)))) == 8
    next(examples)
    assert th.get_default_graph() is None
    assert len(list(examples)) == 14


def test_hooks_of_the_call_come_before_those_of_the_model(folder: Path) -> None:
    calls: list[str] = []
    list(make(folder, hooks=[Noting("model", calls)]).predict(few(1), hooks=[Noting("a", calls)]))
    assert calls == [f"{name}.{call}" for call in ("begin", "run5", "end") for name in ("a", "model")]


def test_it_is_of_the_checkpoint_that_is_named(folder: Path) -> None:
    first = Saver(folder).list()[0].path
    assert {example["logits"] for example in make(folder).predict(few(1), checkpoint_path=first)} == {0.0}


def test_without_a_checkpoint_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(th.CheckpointError, match=r"no checkpoint in .*: train first, or pass checkpoint_path"):
        next(make(tmp_path).predict(few(1)))


def test_an_input_function_is_looked_at_at_once(folder: Path) -> None:
    wrong: Any = [1]
    with pytest.raises(TypeError, match=r"input_fn is a function, not \[1\]"):
        make(folder).predict(wrong)


def test_hooks_are_looked_at_at_once(folder: Path) -> None:
    with pytest.raises(TypeError, match=r"hooks is a list, not 'nan' of type str: pass \['nan'\]"):
        make(folder).predict(few(1), hooks="nan")


def test_an_unknown_prediction_is_an_error_with_the_nearest_one(folder: Path) -> None:
    with pytest.raises(ValueError, match="the model has no prediction 'clases'; the nearest: 'classes'"):
        next(make(folder).predict(few(1), predict_keys=["clases"]))


def test_keys_of_predictions_without_names_are_an_error(folder: Path) -> None:
    estimator = with_predictions(folder, alone=lambda features: features["x"])
    with pytest.raises(ValueError, match=r"predict_keys chooses from a dict, and the model's predictions are <Tensor"):
        next(estimator.predict(few(1), predict_keys=["a"]))


def test_what_has_no_first_axis_is_an_error_that_says_what_to_do(folder: Path) -> None:
    estimator = with_predictions(folder, a=lambda features: features["x"], b=lambda features: np.float64(3))
    with pytest.raises(ValueError, match=r"the prediction 'b' cannot be split .*yield_single_examples=False"):
        next(estimator.predict(few(1)))
    alone = with_predictions(folder, alone=lambda features: 3)
    with pytest.raises(ValueError, match=r"predictions cannot be split into examples, since it has no first axis"):
        next(alone.predict(few(1)))


def test_predictions_of_different_numbers_of_examples_are_an_error(folder: Path) -> None:
    estimator = with_predictions(folder, a=lambda features: features["x"], b=lambda features: [1, 2])
    with pytest.raises(ValueError, match=r"of different numbers of examples: \{'a': 8, 'b': 2\}"):
        next(estimator.predict(few(1)))
