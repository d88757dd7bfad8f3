"""What lies in an estimator, in what a checkpoint can hold, and back.

Of what a checkpoint holds as it is a few things are written another way, as dicts with one of the keys below: arrays
that lie in memory column by column, since linear algebra rounds by how they lie; arrays of objects; random generators,
which a fresh estimator may not have yet; and those of scikit-learn's own objects that hold nothing else.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from tenterhooks import CheckpointError

__all__ = ["Reader", "Writer", "is_generator"]

_COLUMNS = "<columns>"
_OBJECTS = "<objects>"
_GENERATOR = "<generator>"
_SAME = "<same as>"
_PART = "<part>"
_KEYS = frozenset({_COLUMNS, _OBJECTS, _GENERATOR, _SAME, _PART})

# Objects of scikit-learn's that are made of what can be saved, and where they come from.
_PARTS = {
    "AdamOptimizer": "sklearn.neural_network._stochastic_optimizers",
    "LabelBinarizer": "sklearn.preprocessing",
    "SGDOptimizer": "sklearn.neural_network._stochastic_optimizers",
}

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)

# What check_random_state(None) gives: the generator of the module numpy.random.
_PROCESS: np.random.RandomState = np.random.mtrand._rand


def is_generator(value: object) -> bool:
    """Whether it is one of the generators that estimators draw from."""
    return type(value) is np.random.RandomState and value.get_state(legacy=False)["bit_generator"] == "MT19937"


class Writer:
    """Makes what a checkpoint can hold of the values of one estimator. What is there twice is so in the result.

    Args:
        owner: The estimator's class, for messages.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        # By id, with the value, lest another one gets that id.
        self._arrays: dict[int, tuple[Any, Any]] = {}
        self._generators: dict[int, str] = {}

    def write(self, value: Any, place: str) -> Any:
        """One value.

        Args:
            value: The value.
            place: Where it stands, as "attribute coef_".

        Raises:
            CheckpointError: It is of a kind that cannot be saved.
        """
        cls = type(value)
        if isinstance(value, _PLAIN):
            return value
        if cls is np.ndarray:
            if id(value) not in self._arrays:
                self._arrays[id(value)] = value, self._array(value, place)
            return self._arrays[id(value)][1]
        if cls in (list, tuple):
            return cls(self.write(entry, f"{place}/{index}") for index, entry in enumerate(value))
        if cls is dict and not _KEYS.intersection(value):
            return {key: self.write(entry, f"{place}/{key}") for key, entry in value.items()}
        if is_generator(value):
            if value is _PROCESS:
                return {_GENERATOR: "numpy.random"}
            first = self._generators.setdefault(id(value), place)
            return {_GENERATOR: value} if first == place else {_SAME: first}
        if cls.__name__ in _PARTS and cls is _part(cls.__name__):
            return {_PART: cls.__name__, "attributes": self.write(vars(value), place)}
        raise CheckpointError(
            f"a {self._owner} cannot be saved without pickle, since its {place} is a {cls.__module__}."
            f"{cls.__qualname__}: take another estimator, or give a class derived from it state_dict and "
            "load_state_dict"
        )

    def _array(self, value: Any, place: str) -> Any:
        if value.dtype == object:
            return {_OBJECTS: self.write(value.ravel().tolist(), place), "shape": value.shape}
        by_columns = value.ndim > 1 and not value.flags.c_contiguous and abs(value.strides[0]) < abs(value.strides[-1])
        return {_COLUMNS: value.T} if by_columns else value


class Reader:
    """Makes the values again of what a `Writer` made of those of one estimator.

    Args:
        generators: Those that the estimator has already, by their places.
    """

    def __init__(self, generators: Mapping[str, Any]) -> None:
        self._generators = dict(generators)
        self._arrays: dict[int, Any] = {}

    def read(self, saved: Any, place: str) -> Any:
        """One value, with memory of its own.

        Raises:
            Exception: One of Python's own for wrong values: it is none.
        """
        if isinstance(saved, np.ndarray):
            if id(saved) not in self._arrays:
                self._arrays[id(saved)] = saved.copy(order="C")
            return self._arrays[id(saved)]
        if isinstance(saved, list | tuple):
            return type(saved)(self.read(entry, f"{place}/{index}") for index, entry in enumerate(saved))
        if not isinstance(saved, dict):
            return saved
        if _COLUMNS in saved:
            return self.read(saved[_COLUMNS], place).T
        if _OBJECTS in saved:
            objects = np.empty(saved["shape"], object)
            objects.reshape(-1)[:] = self.read(saved[_OBJECTS], place)
            return objects
        if _SAME in saved:
            return self._generators[saved[_SAME]]
        if _GENERATOR in saved:
            if saved[_GENERATOR] == "numpy.random":
                return _PROCESS
            generator = self._generators.setdefault(place, np.random.RandomState())
            generator.set_state(saved[_GENERATOR])
            return generator
        if _PART in saved:
            cls = _part(saved[_PART])
            part = cls.__new__(cls)
            vars(part).update(self.read(saved["attributes"], place))
            return part
        return {key: self.read(entry, f"{place}/{key}") for key, entry in saved.items()}


def _part(name: str) -> Any:
    return getattr(import_module(_PARTS[name]), name)
