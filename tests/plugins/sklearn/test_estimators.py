"""An estimator that is saved, and restored into a fresh one, learns on as if it had never been saved."""

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches

Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver


def module(name: str) -> Any:
    return pytest.importorskip(f"sklearn.{name}", reason="scikit-learn is not installed: pip install scikit-learn")


cluster = module("cluster")
decomposition = module("decomposition")
ensemble = module("ensemble")
linear_model = module("linear_model")
naive_bayes = module("naive_bayes")
neural_network = module("neural_network")
StandardScaler = module("preprocessing").StandardScaler

# Of what scikit-learn gives up one day, and of small batches.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 17, (240, 12)).astype(float)
LABELS = (IMAGES[:, :4].sum(axis=1) // 17).astype(int)
CLASSES = np.unique(LABELS)

Make = Callable[[], Any]

ESTIMATORS: dict[str, Make] = {
    "SGDClassifier": lambda: linear_model.SGDClassifier(random_state=0),
    "SGDClassifier-average": lambda: linear_model.SGDClassifier(average=30, random_state=0),
    "SGDClassifier-own-generator": lambda: linear_model.SGDClassifier(random_state=np.random.RandomState(3)),
    "SGDRegressor": lambda: linear_model.SGDRegressor(random_state=0, eta0=1e-5, average=True),
    "PassiveAggressiveClassifier": lambda: linear_model.PassiveAggressiveClassifier(random_state=0),
    "Perceptron": lambda: linear_model.Perceptron(random_state=0),
    "GaussianNB": naive_bayes.GaussianNB,
    "MultinomialNB": naive_bayes.MultinomialNB,
    "MiniBatchKMeans": lambda: cluster.MiniBatchKMeans(5, random_state=0, reassignment_ratio=0.3),
    "MiniBatchKMeans-own-generator": lambda: cluster.MiniBatchKMeans(5, random_state=np.random.RandomState(3)),
    "IncrementalPCA": lambda: decomposition.IncrementalPCA(3),
    "LatentDirichletAllocation": lambda: decomposition.LatentDirichletAllocation(3, random_state=0),
    "StandardScaler": StandardScaler,
    "MLPClassifier": lambda: neural_network.MLPClassifier((8,), random_state=0),
    "MLPClassifier-sgd": lambda: neural_network.MLPClassifier((8,), solver="sgd", random_state=0),
    "MLPRegressor": lambda: neural_network.MLPRegressor(hidden_layer_sizes=(8,), random_state=0),
    "BernoulliRBM": lambda: neural_network.BernoulliRBM(4, random_state=0),
}

REFUSED: dict[str, tuple[Make, str]] = {
    "RandomForestClassifier": (
        lambda: ensemble.RandomForestClassifier(3),
        r"RandomForestClassifier cannot be saved without pickle, since its attribute estimator is a .*DecisionTree",
    ),
    "GradientBoostingClassifier": (
        lambda: ensemble.GradientBoostingClassifier(n_estimators=2).fit(IMAGES, LABELS),
        r"GradientBoostingClassifier cannot be saved without pickle, since its attribute \w+ is a ",
    ),
    "Birch": (
        lambda: cluster.Birch().partial_fit(IMAGES),
        r"Birch cannot be saved without pickle, since its attribute \w+ is a sklearn\.cluster\._birch\._CF",
    ),
    "MultiOutputClassifier": (
        lambda: module("multioutput").MultiOutputClassifier(linear_model.SGDClassifier()),
        r"MultiOutputClassifier cannot be saved without pickle, since its parameter estimator is a .*SGDClassifier",
    ),
    "Pipeline": (
        lambda: module("pipeline").make_pipeline(StandardScaler()),
        r"Pipeline cannot be saved without pickle, since its parameter steps/0/1 is a .*StandardScaler",
    ),
    "HashingVectorizer": (
        lambda: module("feature_extraction.text").HashingVectorizer(),
        r"HashingVectorizer cannot be saved without pickle, since its parameter dtype is a builtins\.type",
    ),
}


def learn(model: Any, first: int, last: int) -> None:
    """Take the batches from one to another, of 20 rows each."""
    known = inspect.signature(model.partial_fit).parameters
    for batch in range(first, last):
        rows = slice(20 * batch, 20 * batch + 20)
        named = {"classes": CLASSES} if "classes" in known else {}
        model.partial_fit(IMAGES[rows], LABELS[rows], **named)


def load(current: Any, saved: Any) -> None:
    assert list(mismatches(current, saved, "model")) == []
    Loader(None).load(current, decoded(saved), ("model",))


def through_a_file(model: Any, folder: Path) -> Any:
    saver = Saver(folder)
    saver.save(capture(model, "model"), step=1)
    saver.close()
    restored = Saver(folder).restore()
    assert restored is not None
    return restored[1]


def bits(value: Any) -> Any:
    """A state in a form that can be compared."""
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [type(value), *map(bits, value)]
    return (str(value.dtype), value.shape, value.tobytes()) if hasattr(value, "tobytes") else value


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_goes_on(name: str, tmp_path: Path) -> None:
    through, stopped, again = (ESTIMATORS[name]() for _ in range(3))
    learn(through, 0, 12)
    learn(stopped, 0, 5)
    saved = through_a_file(stopped, tmp_path)
    before = bits(saved)
    load(again, saved)
    learn(again, 5, 12)
    assert bits(capture(again, "model")) == bits(capture(through, "model"))
    assert bits(capture(again, "model")) != before
    assert bits(saved) == before
    assert vars(again).keys() == vars(through).keys()


def whole(name: str, cls: Any) -> str | None:
    """Kill and resume an estimator with what it takes by default; what it is refused for, if it is."""

    def made() -> Any:
        return cls(random_state=0) if "random_state" in inspect.signature(cls).parameters else cls()

    through, stopped, again = made(), made(), made()
    try:
        learn(stopped, 0, 3)
        saved = copy.deepcopy(capture(stopped, "model"))
    except th.CheckpointError as error:
        return str(error)
    learn(through, 0, 6)
    load(again, saved)
    learn(again, 3, 6)
    assert bits(capture(again, "model")) == bits(capture(through, "model")), name
    return None


def test_all_that_learn_in_parts_go_on_or_are_refused_by_name() -> None:
    refused = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = [(name, cls) for name, cls in module("utils").all_estimators() if hasattr(cls, "partial_fit")]
        for name, cls in known:
            if "estimator" not in inspect.signature(cls).parameters and name != "HashingVectorizer":
                refused[name] = whole(name, cls)
    assert len(refused) > 15
    assert {name for name, why in refused.items() if why} == {"Birch"}


@pytest.mark.parametrize("name", REFUSED)
def test_an_estimator_with_which_it_is_impossible_is_refused_by_name(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(th.CheckpointError, match=message):
        capture(make(), "model")


def test_the_generator_of_the_process_stays_that() -> None:
    one, other = cluster.MiniBatchKMeans(3), cluster.MiniBatchKMeans(3)
    learn(one, 0, 2)
    before = np.random.get_state(legacy=False)
    load(other, copy.deepcopy(capture(one, "model")))
    assert other._random_state is one._random_state is np.random.mtrand._rand
    assert bits(np.random.get_state(legacy=False)) == bits(before)


def test_a_generator_that_is_a_parameter_goes_on_in_place_and_is_shared_as_it_was() -> None:
    given, fresh = np.random.RandomState(3), np.random.RandomState(3)
    one, other = (cluster.MiniBatchKMeans(3, random_state=rng) for rng in (given, fresh))
    learn(one, 0, 2)
    load(other, copy.deepcopy(capture(one, "model")))
    assert other.random_state is other._random_state is fresh
    assert fresh.random_sample() == given.random_sample()


def test_arrays_lie_in_memory_as_they_did_and_are_shared_as_they_were(tmp_path: Path) -> None:
    class Own(module("base").BaseEstimator):  # type: ignore[misc]
        pass

    one, other = Own(), Own()
    one.rows_, one.columns_ = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3, order="F")
    one.same_ = {"a": one.columns_, "b": one.rows_}
    load(other, through_a_file(one, tmp_path))
    assert other.rows_.flags.c_contiguous
    assert other.columns_.flags.f_contiguous
    assert np.array_equal(other.columns_, one.columns_)
    assert other.same_["b"] is other.rows_
    other.columns_[0, 0] = 9.0
    assert other.same_["a"][0, 0] == 9.0


def test_what_a_fresh_one_has_and_the_saved_one_had_not_is_gone() -> None:
    fitted = StandardScaler()
    learn(fitted, 0, 1)
    load(fitted, capture(StandardScaler(), "model"))
    assert vars(fitted) == vars(StandardScaler())


def test_strings_in_an_array_of_objects_are_kept(tmp_path: Path) -> None:
    one, other = StandardScaler(), StandardScaler()
    # As they are where what it was fitted with has names.
    one.feature_names_in_ = np.array([["length", "width"], ["depth", "age"]], dtype=object)
    load(other, through_a_file(one, tmp_path))
    assert other.feature_names_in_.dtype == object
    assert other.feature_names_in_.tolist() == one.feature_names_in_.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([0, object()], dtype=object), r"attribute own_/1 is a builtins\.object"),
        ({"<part>": "LabelBinarizer"}, r"attribute own_ is a builtins\.dict"),
        (np.random.RandomState(np.random.PCG64(0)), r"attribute own_ is a numpy\.random\.\w+\.RandomState"),
        (np.ma.zeros(2), r"attribute own_ is a numpy\.ma\.([\w.]+\.)?MaskedArray"),
    ],
)
def test_an_attribute_of_another_kind_is_refused_by_name(value: Any, message: str) -> None:
    model = naive_bayes.GaussianNB()
    model.own_ = value
    with pytest.raises(th.CheckpointError, match=f"GaussianNB cannot be saved without pickle, since its {message}"):
        capture(model, "model")


def test_what_the_program_says_of_outputs_and_metadata_stays() -> None:
    one, other = StandardScaler(), StandardScaler().set_output(transform="default")
    one._metadata_request = other._metadata_request = routing = object()
    learn(one, 0, 1)
    load(other, capture(one, "model"))
    assert other._sklearn_output_config == {"transform": "default"}
    assert other._metadata_request is routing
    assert other.mean_.tolist() == one.mean_.tolist()


def changed_parameters() -> Iterator[Any]:
    yield linear_model.SGDClassifier(alpha=0.1), linear_model.SGDClassifier(alpha=0.2), ["m/alpha: 0.1 here, 0.2 there"]
    yield (
        linear_model.SGDClassifier(random_state=0),
        linear_model.SGDClassifier(random_state=np.random.RandomState(0)),
        ["m/random_state: 0 here, a generator there"],
    )
    yield (
        linear_model.SGDClassifier(random_state=np.random.RandomState(0)),
        linear_model.SGDClassifier(random_state=0),
        ["m/random_state: a generator here, 0 there"],
    )
    yield linear_model.Perceptron(), linear_model.SGDClassifier(), ["m: a Perceptron here, a SGDClassifier there"]
    yield naive_bayes.GaussianNB(priors=np.ones(2)), naive_bayes.GaussianNB(priors=np.ones(2)), []
    yield (
        naive_bayes.GaussianNB(priors=np.ones(2)),
        naive_bayes.GaussianNB(),
        ["m/priors: array([1., 1.]) here, None there"],
    )
    yield linear_model.SGDClassifier(class_weight={0: 1.0}), linear_model.SGDClassifier(class_weight={0: 1.0}), []
    yield (
        linear_model.SGDClassifier(class_weight={0: 1.0}),
        linear_model.SGDClassifier(class_weight={0: 1.0, 1: 2.0}),
        ["m/class_weight: {0: 1.0} here, {0: 1.0, 1: 2.0} there"],
    )
    yield (
        naive_bayes.GaussianNB(priors=np.zeros(1)),
        naive_bayes.GaussianNB(priors=np.zeros(1, int)),
        ["m/priors: array([0.]) here, array([0]) there"],
    )
    yield linear_model.SGDClassifier(alpha=float("nan")), linear_model.SGDClassifier(alpha=float("nan")), []


@pytest.mark.parametrize(("here", "there", "told"), list(changed_parameters()))
def test_parameters_are_compared(here: Any, there: Any, told: list[str]) -> None:
    saved = copy.deepcopy(capture(there, "m"))
    assert list(mismatches(here, saved, "m", "there")) == told


def test_parameters_that_are_missing_are_named() -> None:
    saved = copy.deepcopy(capture(StandardScaler(), "m"))
    saved["parameters"]["new"] = saved["parameters"].pop("copy")
    assert list(mismatches(StandardScaler(), saved, "m", "there")) == [
        "m/copy: StandardScaler has this parameter here, and not there",
        "m/new: StandardScaler has this parameter there, and not here",
    ]
    assert list(mismatches(StandardScaler(), 3, "m", "there")) == ["m: a StandardScaler here, none there"]


def test_what_is_not_as_it_was_written_leaves_the_estimator_alone() -> None:
    model = neural_network.MLPClassifier((8,), random_state=0)
    learn(model, 0, 1)
    saved = copy.deepcopy(capture(model, "m"))
    saved["attributes"]["_optimizer"]["<part>"] = "system"
    before = bits(capture(model, "m"))
    with pytest.raises(th.CheckpointError, match=r"holds a MLPClassifier that is not as it was written: KeyError"):
        Loader(None).load(model, decoded(saved), ("m",))
    assert bits(capture(model, "m")) == before


def test_another_version_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    saved = {**capture(StandardScaler(), "m"), "version": "0.1"}
    load(StandardScaler(), saved)
    assert "a StandardScaler is restored that scikit-learn 0.1 had fitted" in caplog.text
