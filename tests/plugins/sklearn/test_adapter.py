"""What the adapter handles, and what it says where scikit-learn is missing."""

import sys

import pytest

import tenterhooks as th
from tenterhooks_sklearn import SklearnAdapter


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(th.PluginError, match="needs scikit-learn, which is not installed: pip install scikit-learn"):
        SklearnAdapter()


def test_it_handles_estimators_and_leaves_the_rest_alone() -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed: pip install scikit-learn")
    from sklearn.utils import Bunch

    adapter = SklearnAdapter()
    own = type("Own", (base.BaseEstimator,), {})
    stateful = type("Stateful", (own,), {"state_dict": lambda self: {}, "load_state_dict": lambda self, state: None})
    assert adapter.handler(own) is not None
    assert adapter.handler(own) is adapter.handler(base.BaseEstimator)
    assert adapter.handler(stateful) is None
    assert adapter.handler(Bunch) is None
    assert adapter.values() is None
    assert adapter.global_generators() == {}
