"""What `show` says of each kind of value, and that it reads no large array for it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import Saver, _arrays, _outline
from tenterhooks_checkpoint._listing import Item, items
from tenterhooks_checkpoint._manifest import NotWholeError

VALUES: list[tuple[Any, str, list[int] | None, Any]] = [
    (None, "None", None, None),
    (True, "bool", None, True),
    (5, "int", None, 5),
    (-(2**53), "int", None, -(2**53)),
    (2**53 + 1, "int", None, str(2**53 + 1)),
    (1.5, "float", None, 1.5),
    (float("nan"), "float", None, "nan"),
    (float("-inf"), "float", None, "-inf"),
    ("text\n", "str", None, "text\n"),
    ("\ud800", "str", None, "\ud800"),
    (b"ab\x00", "bytes", None, "b'ab\\x00'"),
    ([], "list", [0], []),
    ((), "tuple", [0], []),
    ({}, "dict", [0], {}),
    ([1, "a", None], "list", [3], [1, "a", None]),
    ((1.5, float("inf")), "tuple", [2], [1.5, "inf"]),
    (np.float32(0.1), "numpy.float32", None, 0.1),
    (np.float64("nan"), "numpy.float64", None, "nan"),
    (np.longdouble(1.5), "numpy.longdouble", None, "1.5"),
    (np.int64(-1), "numpy.int64", None, -1),
    (np.uint64(2**64 - 1), "numpy.uint64", None, str(2**64 - 1)),
    (np.bool_(True), type(np.bool_(True)).__name__, None, True),
    (np.str_("a"), "numpy.str_", None, "a"),
    (np.bytes_(b"a"), "numpy.bytes_", None, "b'a'"),
    (np.datetime64("2020-01-01"), "numpy.datetime64", None, "2020-01-01"),
    (np.complex64(1 - 2j), "numpy.complex64", None, "(1-2j)"),
    (np.array(2.5), "float64", [], 2.5),
    (np.array([0.1, 2], np.float32), "float32", [2], [0.1, 2.0]),
    (np.array([[True, False]]), "bool", [1, 2], [[True, False]]),
    (np.arange(8).reshape(2, 2, 2), "int64", [2, 2, 2], [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]),
    (np.zeros((0, 3)), "float64", [0, 3], []),
    (np.array([1, np.nan]), "float64", [2], [1.0, "nan"]),
    (np.array([1 + 2j]), "complex128", [1], ["(1+2j)"]),
    (np.arange(2, dtype=">i4"), ">i4", [2], [0, 1]),
    (np.array(["2020", "NaT"], "M8[Y]"), "datetime64[Y]", [2], ["2020", "NaT"]),
    (np.array(["a", "bc"]), "<U2", [2], ["a", "bc"]),
    (np.array([b"a"]), "|S1", [1], ["b'a'"]),
    (np.array([(1, "a")], [("n", "i1"), ("s", "U2")]), "[('n', 'i1'), ('s', '<U2')]", [1], ["(1, 'a')"]),
]

LARGE: list[tuple[Any, str, list[int] | None]] = [
    (np.zeros((3, 3)), "float64", [3, 3]),
    (np.zeros(9, np.complex64), "complex64", [9]),
    (np.array(["a" * 1000]), "<U1000", [1]),
    (10**5000, "int", None),
    ("a" * 1001, "str", None),
    (b"a" * 1001, "bytes", None),
    (list(range(9)), "list", [9]),
    (["a" * 1001], "list", [1]),
]


def save(directory: Path, state: dict[str, Any]) -> Checkpoint:
    return Saver(directory).save(state, step=1)


def listed(directory: Path, state: dict[str, Any]) -> list[Item]:
    return list(items(_outline.read(save(directory, state))))


@pytest.mark.parametrize(("value", "kind", "shape", "shown"), VALUES, ids=[kind for _, kind, *_ in VALUES])
def test_a_small_value_is_shown(tmp_path: Path, value: Any, kind: str, shape: list[int] | None, shown: Any) -> None:
    (item,) = listed(tmp_path, {"x": value})
    found = item.as_json()
    if isinstance(value, np.bool_):
        kind = f"numpy.{kind}"  # NumPy 2 calls it otherwise
    assert found == {"name": "x", "type": kind, "value": shown} | ({} if shape is None else {"shape": shape})
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(("value", "kind", "shape"), LARGE, ids=[kind for _, kind, _ in LARGE])
def test_a_large_value_is_not_shown(tmp_path: Path, value: Any, kind: str, shape: list[int] | None) -> None:
    (item,) = listed(tmp_path, {"x": value})
    assert item.as_json() == {"name": "x", "type": kind} | ({} if shape is None else {"shape": shape})
    assert item.text == ""


def test_entries_stand_in_their_order_with_their_places(tmp_path: Path) -> None:
    state = {
        "variables": {"b": 1, "a": {"x": np.zeros(2), 5: 6}},
        "hooks": {},
        "sources": [{"drawn": 3}, 4, (5, [6])],
        "flat": [1, 2],
    }
    assert [item.name for item in listed(tmp_path, state)] == [
        "variables/b",
        "variables/a/x",
        "variables/a/5",
        "hooks",
        "sources/[0]/drawn",
        "sources/[1]",
        "sources/[2]/[0]",
        "sources/[2]/[1]",
        "flat",
    ]


def test_an_empty_state_has_no_entries(tmp_path: Path) -> None:
    assert listed(tmp_path, {}) == []


def test_cells_of_a_line(tmp_path: Path) -> None:
    w, rng, step = listed(tmp_path, {"w": np.array([0.1, 2]), "rng": 2**60, "step": np.str_("a")})
    assert w.as_row() == ("w", "float64 (2,)", "[0.1, 2.0]")
    assert rng.as_row() == ("rng", "int", str(2**60))
    assert step.as_row() == ("step", "numpy.str_", "'a'")


def test_a_long_line_is_cut(tmp_path: Path) -> None:
    (item,) = listed(tmp_path, {"x": "a" * 100})
    assert item.value == "a" * 100
    assert item.text == f"'{'a' * 56}..."


def test_characters_that_are_none_are_said(tmp_path: Path) -> None:
    (item,) = listed(tmp_path, {"x": np.frombuffer(b"\xff" * 4, "<u4").view("<U1")})
    assert item.as_json() == {"name": "x", "type": "<U1", "shape": [1]}
    assert item.text.startswith("(")


def test_a_key_that_python_does_not_print_is_shown_otherwise() -> None:
    (item,) = items({"a": {16**5000: 1}})
    assert item.name.startswith("a/0x1000")


def test_a_long_place_is_cut_so_that_all_places_below_it_are_short() -> None:
    found = list(items({"k" * 10**6: {"a": [{}, {}], "b": 1}}))
    assert len(found) == 3
    assert all(len(item.name) < 1100 for item in found)


def test_deep_nesting_is_no_recursion() -> None:
    value: Any = 1
    for _ in range(10_000):
        value = [value, 2]
    assert len(list(items({"x": value}))) == 10_000


def test_large_arrays_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = save(tmp_path, {"w": np.zeros(10**6), "c": np.zeros(10**6, np.complex64), "b": np.zeros(2)})
    read_into, read = _arrays.read_into, []

    def watched(file: Any, content: memoryview) -> None:
        read.append(len(content))
        read_into(file, content)

    monkeypatch.setattr(_arrays, "read_into", watched)
    assert [item.as_row()[1] for item in items(_outline.read(checkpoint))] == [
        "float64 (1000000,)",
        "complex64 (1000000,)",
        "float64 (2,)",
    ]
    assert read[-1] == np.zeros(2).nbytes
    assert sum(read) < 1000


def test_an_array_that_is_missing_is_an_error(tmp_path: Path) -> None:
    checkpoint = save(tmp_path, {"w": np.zeros(2)})
    (checkpoint.path / "state.json").write_text('{"w":{"$array":"v"}}')
    with pytest.raises(NotWholeError, match="the state is not as it was written: KeyError: 'v'"):
        _outline.read(checkpoint)
