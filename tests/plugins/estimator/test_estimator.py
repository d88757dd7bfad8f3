"""What an Estimator is made of."""

from pathlib import Path
from typing import Any

import pytest

from tenterhooks_estimator import Estimator, EstimatorSpec, ModeKeys, RunConfig

from .models import few, make, model_fn


def test_its_folder_is_the_one_that_is_given_or_the_configurations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Estimator(model_fn, tmp_path / "a").model_dir == tmp_path / "a"
    assert Estimator(model_fn, config=RunConfig(model_dir=str(tmp_path / "b"))).model_dir == tmp_path / "b"
    monkeypatch.chdir(tmp_path)
    estimator = Estimator(model_fn, "c", config=RunConfig(model_dir=tmp_path / "c"))
    monkeypatch.chdir("/")
    assert estimator.model_dir == tmp_path / "c"
    with pytest.raises(ValueError, match=r"model_dir is '.*a', and the configuration's is '.*b': give just one"):
        Estimator(model_fn, tmp_path / "a", config=RunConfig(model_dir=tmp_path / "b"))


def test_without_a_folder_it_makes_one_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = Estimator(model_fn).model_dir
    assert folder.parent == tmp_path
    assert f"no model_dir is given: the checkpoints go into the new folder {folder}" in caplog.messages


def test_making_one_with_a_folder_makes_none(tmp_path: Path) -> None:
    make(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_its_params_are_a_copy_for_each_call(tmp_path: Path) -> None:
    seen: list[Any] = []

    def model(mode: ModeKeys, params: dict[str, Any], features: Any, labels: Any) -> EstimatorSpec:
        seen.append(list(params["sizes"]))
        params["sizes"].append(0)
        return model_fn(features, labels, mode, {})

    given = {"sizes": [1]}
    estimator = Estimator(model, tmp_path, params=given)
    given["sizes"].append(2)
    estimator.params["sizes"].append(3)
    estimator.train(few(1))
    estimator.evaluate(few(1))
    assert seen == [[1], [1]]
    assert estimator.params == {"sizes": [1]}


def test_a_subclass_may_bring_its_model_as_a_method(tmp_path: Path) -> None:
    class Classifier(Estimator):
        def __init__(self, model_dir: Path) -> None:
            super().__init__(self.network, model_dir)

        def network(self, features: Any, labels: Any, mode: ModeKeys) -> EstimatorSpec:
            return model_fn(features, labels, mode, {})

    classifier = Classifier(tmp_path)
    assert classifier.train(few(2)).evaluate(few(2))["global_step"] == 2
    assert repr(classifier) == f"<Classifier in {str(tmp_path)!r}>"


def test_the_newest_checkpoint(tmp_path: Path) -> None:
    estimator = make(tmp_path)
    assert estimator.latest_checkpoint() is None
    newest = estimator.train(few(2)).latest_checkpoint()
    assert newest is not None
    assert newest.parent == tmp_path
    assert newest.name.endswith("step-2")


def test_it_seeds_nothing_and_hands_the_seed_on(tmp_path: Path) -> None:
    import random

    seeds: list[int | None] = []

    def model(mode: ModeKeys, config: RunConfig, features: Any, labels: Any) -> EstimatorSpec:
        seeds.append(config.seed)
        return model_fn(features, labels, mode, {})

    before = random.getstate()
    Estimator(model, tmp_path, config=RunConfig(seed=3)).train(few(1))
    assert random.getstate() == before
    assert seeds == [3]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"model_fn": None}, TypeError, "model_fn is a function, not None"),
        ({"model_fn": lambda x: x}, ValueError, "model_fn .* needs the argument 'x', and can have features, labels, "),
        ({"model_fn": lambda feature: 1}, ValueError, "the nearest: 'features'"),
        ({"model_fn": lambda features: 1, "params": {}}, ValueError, "takes none: give it an argument params"),
        ({"params": [1]}, TypeError, r"params is a dict, not \[1\] of type list"),
        ({"config": {"seed": 1}}, TypeError, r"config is a RunConfig, not \{'seed': 1\} of type dict"),
    ],
)
def test_what_is_wrong_is_said_at_once(
    tmp_path: Path, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Estimator(**{"model_fn": model_fn, "model_dir": tmp_path, **given})
