"""What a kept copy of a state is."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tenterhooks_checkpoint._snapshot import Snapshot


def test_a_copy_is_not_changed_with_what_it_was_taken_of() -> None:
    record = np.zeros(1, [("a", "i4")])[0]
    state: dict[str, Any] = {"w": np.ones(3), "nested": [{"v": np.ones(2)}, (np.ones(1), record)], "n": 1}
    copied = Snapshot().take(state)
    state["w"][:] = 2
    state["nested"][0]["v"][:] = 2
    state["nested"][1][0][:] = 2
    record["a"] = 2
    state["nested"].append("more")
    del state["n"]
    assert copied["w"].tolist() == [1, 1, 1]
    assert copied["nested"][0]["v"].tolist() == [1, 1]
    assert copied["nested"][1][0].tolist() == [1]
    assert copied["nested"][1][1]["a"] == 0
    assert len(copied["nested"]) == 2
    assert copied["n"] == 1
    assert [type(part) for part in copied["nested"]] == [dict, tuple]


def test_memory_is_kept_from_one_copy_to_the_next() -> None:
    snapshot = Snapshot()
    state = {"same": np.ones(3), "shape": np.ones(3), "type": np.ones(3)}
    first = snapshot.take(state)
    second = snapshot.take({"same": np.full(3, 5.0), "shape": np.ones(4), "type": np.ones(3, np.float32)})
    assert second["same"] is first["same"]
    assert second["same"].tolist() == [5, 5, 5]
    assert second["shape"].shape == (4,)
    assert second["type"].dtype == np.float32


def test_memory_of_what_is_no_more_is_given_back() -> None:
    snapshot = Snapshot()
    first = snapshot.take({"w": np.ones(3)})
    snapshot.take({})
    assert snapshot.take({"w": np.ones(3)})["w"] is not first["w"]


def test_equal_names_at_other_places_have_memory_of_their_own() -> None:
    state: dict[Any, Any] = {"a": {"b": np.ones(1)}, "a/b": np.zeros(1), 0: [np.full(1, 2.0)]}
    copied = Snapshot().take(state)
    assert copied["a"]["b"].tolist() == [1]
    assert copied["a/b"].tolist() == [0]


@pytest.mark.parametrize(
    "array",
    [
        np.array(5.0),
        np.zeros((0, 3)),
        np.arange(6).reshape(2, 3).T,
        np.arange(10)[::3],
        np.arange(3, dtype=">i4"),
        np.zeros(2, [("a", "i4"), ("b", ">f8", (2,))]),
        np.array([np.nan, np.inf]),
        np.array(["x", "yz"]),
        np.broadcast_to(np.ones(2), (3, 2)),
    ],
    ids=["0-d", "empty", "transposed", "strided", "big-endian", "structured", "nan", "text", "broadcast"],
)
def test_any_array_is_copied(array: NDArray[Any]) -> None:
    snapshot = Snapshot()
    for _ in range(2):
        copied = snapshot.take({"a": array})["a"]
        assert (copied.dtype, copied.shape) == (array.dtype, array.shape)
        assert copied.tobytes() == array.tobytes()
        assert not np.may_share_memory(copied, array)


def test_an_array_that_is_there_twice_is_one_in_the_copy() -> None:
    snapshot = Snapshot()
    array = np.ones(2)
    for _ in range(2):
        copied = snapshot.take({"a": array, "b": [array], "c": np.ones(2)})
        assert copied["a"] is copied["b"][0]  # type: ignore[index]
        assert copied["a"] is not copied["c"]


def test_an_ordered_dict_is_copied_with_what_is_in_it() -> None:
    state: dict[str, Any] = {"w": OrderedDict(b=np.ones(2), a=[1])}
    copied = Snapshot().take(state)
    state["w"]["b"][:] = 2
    state["w"]["a"].append(3)
    assert type(copied["w"]) is OrderedDict
    assert repr(copied["w"]) == repr(OrderedDict(b=np.ones(2), a=[1]))
