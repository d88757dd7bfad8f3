"""The state adapter for scikit-learn."""

from tenterhooks_sklearn.adapter import SklearnAdapter

__all__ = ["SklearnAdapter"]
