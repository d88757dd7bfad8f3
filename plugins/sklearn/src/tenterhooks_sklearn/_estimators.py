"""scikit-learn's estimators: their parameters are compared, their fitted attributes are saved and restored."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sklearn

from tenterhooks import CheckpointError
from tenterhooks.state_adapters import ObjectHandler
from tenterhooks_sklearn._values import Reader, Writer, is_generator

__all__ = ["Estimators"]

_log = logging.getLogger(__name__)

# What `partial_fit` makes anew each time, and what the program says of how estimators work together.
_SKIPPED = frozenset({"_loss_function_", "_metadata_request", "_sklearn_output_config"})

# Of Python and NumPy for a saved value of another make.
_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Estimators(ObjectHandler):
    """Saves each estimator by what `fit` and `partial_fit` left in it."""

    def state(self, current: Any) -> Any:
        """Parameters and attributes.

        Raises:
            CheckpointError: One of them cannot be saved.
        """
        writer = Writer(_name(current))
        return {
            "class": _name(current),
            "version": sklearn.__version__,
            "parameters": _parameters(current, writer),
            "attributes": {
                name: writer.write(value, f"attribute {name}") for name, value in _attributes(current).items()
            },
        }

    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Name the class, or the parameters, that are others."""
        here = _name(current)
        if not isinstance(saved, Mapping) or not {"class", "parameters", "attributes"} <= saved.keys():
            yield f"{path}: a {here} here, none {there}"
            return
        if here != saved["class"]:
            yield f"{path}: a {here} here, a {saved['class']} {there}"
            return
        found = saved["parameters"]
        for name, value in _parameters(current, Writer(here)).items():
            if name not in found:
                yield f"{path}/{name}: {here} has this parameter here, and not {there}"
            elif is_generator(getattr(current, name)) != _is_generator_state(found[name]) or not (
                is_generator(getattr(current, name)) or _equal(value, found[name])
            ):
                yield f"{path}/{name}: {_short(value)} here, {_short(found[name])} {there}"
        for name in found:
            if name not in current.get_params(deep=False):
                yield f"{path}/{name}: {here} has this parameter {there}, and not here"

    def load(self, current: Any, state: Any) -> None:
        """Take the attributes, and no others; generators that are parameters go on where they were.

        Raises:
            CheckpointError: They are none.
        """
        if state.get("version") != sklearn.__version__:
            _log.warning(
                "a %s is restored that scikit-learn %s had fitted, by scikit-learn %s, which may compute otherwise",
                _name(current),
                state.get("version"),
                sklearn.__version__,
            )
        given = {f"parameter {n}": v for n, v in current.get_params(deep=False).items() if is_generator(v)}
        reader = Reader(given)
        try:
            for name, value in state["parameters"].items():
                reader.read(value, f"parameter {name}")
            attributes = {name: reader.read(value, f"attribute {name}") for name, value in state["attributes"].items()}
        except _ERRORS as error:
            raise CheckpointError(
                f"the checkpoint holds a {_name(current)} that is not as it was written: "
                f"{type(error).__name__}: {error}"
            ) from error
        for name in _attributes(current):
            delattr(current, name)
        vars(current).update(attributes)


def _name(estimator: Any) -> str:
    return type(estimator).__qualname__


def _parameters(estimator: Any, writer: Writer) -> dict[str, Any]:
    return {name: writer.write(v, f"parameter {name}") for name, v in estimator.get_params(deep=False).items()}


def _attributes(estimator: Any) -> dict[str, Any]:
    """All that is no parameter."""
    other = _SKIPPED.union(estimator.get_params(deep=False))
    return {name: value for name, value in vars(estimator).items() if name not in other}


def _is_generator_state(saved: Any) -> bool:
    return isinstance(saved, dict) and "<generator>" in saved


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(_equal, one, other))
    # NaN, which some parameters are, equals nothing.
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124


def _short(value: Any) -> str:
    return "a generator" if _is_generator_state(value) else f"{value!r:.60}"
