"""What was looked at on devices: of which NumPy's arrays, wrapped, stand for those of a library that has some."""

from typing import Any

import numpy as np

from tenterhooks_nan._looked_at import LookedAt

NAN = float("nan")


class Device:
    """A device that counts the truth values that are asked of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0

    def __str__(self) -> str:
        return self.name


class Array:
    """An array of a library with devices: nothing but a truth value can be moved from there."""

    def __init__(self, device: Device, values: Any) -> None:
        self.device = device
        self.values = np.asarray(values)
        self.dtype = str(self.values.dtype)
        self.shape = self.values.shape

    def __sub__(self, other: "Array") -> "Array":
        assert other.device is self.device
        with np.errstate(invalid="ignore"):
            return Array(self.device, self.values - other.values)

    def __ne__(self, other: object) -> "Array":  # type: ignore[override]
        return Array(self.device, self.values != (other.values if isinstance(other, Array) else other))

    def __or__(self, other: "Array") -> "Array":
        assert other.device is self.device
        return Array(self.device, self.values | other.values)

    def __getitem__(self, part: slice) -> "Array":
        return Array(self.device, self.values[part])

    __hash__ = None  # type: ignore[assignment]

    def any(self) -> "Array":
        return Array(self.device, self.values.any())

    def reshape(self, length: int) -> "Array":
        return Array(self.device, self.values.reshape(length))

    def __bool__(self) -> bool:
        self.device.asked += 1
        return bool(self.values)


def test_from_each_device_one_truth_value_is_moved() -> None:
    one, other = Device("one"), Device("other")
    arrays = [Array(one, [1.0, 2.0]), Array(other, [1.0]), Array(one, 3.0), Array(other, [[1.0]])]
    for check in ("nan", "non-finite"):
        looked = LookedAt([(str(n), array) for n, array in enumerate(arrays)], check, 7)
        assert (one.asked, other.asked) == (0, 0)
        assert looked.bad() == []
        assert (one.asked, other.asked) == (1, 1)
        one.asked = other.asked = 0


def test_what_cannot_be_bad_is_not_asked_of() -> None:
    device = Device("one")
    assert LookedAt([("n", Array(device, [1, 2]))], "nan", 1).bad() == []
    assert device.asked == 0


def test_all_that_is_bad_is_given_in_order() -> None:
    device = Device("one")
    leaves = [
        ("host", np.array([NAN])),
        ("fine", Array(device, [1.0])),
        ("device", Array(device, [1.0, NAN])),
        ("number", NAN),
        ("whole", 3),
        ("infinite", Array(device, [np.inf])),
    ]
    assert [path for path, _ in LookedAt(leaves, "nan", 1).bad()] == ["host", "device", "number"]
    found = [path for path, _ in LookedAt(leaves, "non-finite", 1).bad()]
    assert found == ["host", "device", "number", "infinite"]


def test_the_first_is_named_with_its_index() -> None:
    device = Device("one")
    leaves = [("fine", 1.0), ("grads/w", Array(device, [[0.0, 1.0], [NAN, NAN]])), ("loss", NAN)]
    assert LookedAt(leaves, "nan", 1).first() == "'grads/w' is NaN at [1, 0]"
    assert LookedAt(leaves[2:], "non-finite", 1).first() == "'loss' is not finite"
    assert LookedAt(leaves[:1], "nan", 1).first() is None
    assert LookedAt([], "nan", 1).first() is None


def test_what_was_found_stands_though_the_memory_has_other_values_by_now() -> None:
    array = np.array([NAN, 1.0])
    device = Array(Device("one"), [1.0, NAN])
    looked = [LookedAt([("w", leaf)], "nan", 1) for leaf in (array, device)]
    array[:] = device.values[:] = 0.0
    assert [one.first() for one in looked] == ["'w' is NaN", "'w' is NaN"]
