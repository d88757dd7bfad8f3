"""What of scikit-learn's is handled by what. It is imported when an adapter is made, and not before."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks import PluginError

if TYPE_CHECKING:
    from tenterhooks.state_adapters import Handler, ValueHandler

__all__ = ["SklearnAdapter"]


class SklearnAdapter:
    """Saves and restores estimators by their fitted attributes.

    Sessions make it themselves when they meet an estimator, and nothing has to be set.

    Raises:
        PluginError: scikit-learn is not installed.
    """

    def __init__(self) -> None:
        try:
            from sklearn import base
        except ModuleNotFoundError as error:
            if error.name != "sklearn":
                raise
            raise PluginError(
                "tenterhooks-sklearn needs scikit-learn, which is not installed: pip install scikit-learn"
            ) from error
        from tenterhooks_sklearn._estimators import Estimators

        self._base: type = base.BaseEstimator
        self._estimators = Estimators()

    def handler(self, cls: type) -> "Handler | None":
        """What handles values of a type; None where it is no estimator, or has a state of its own."""
        own = hasattr(cls, "state_dict") and hasattr(cls, "load_state_dict")
        return self._estimators if issubclass(cls, self._base) and not own else None

    def values(self) -> "ValueHandler | None":
        """Nothing: an estimator is an object that takes a state."""
        return None

    def global_generators(self) -> Mapping[str, Any]:
        """None: scikit-learn draws from NumPy's."""
        return {}
