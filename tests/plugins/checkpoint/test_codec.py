"""What goes into a checkpoint comes out of it with the same types and bits, or is refused by name."""

import json
import re
import struct
from collections import OrderedDict, defaultdict
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from tenterhooks import CheckpointError
from tenterhooks_checkpoint import _codec


def there_and_back(state: dict[str, Any]) -> dict[str, Any]:
    tree, arrays = _codec.encode(state)
    return _codec.decode(json.loads(json.dumps(tree, allow_nan=False)), arrays)


def of_one(value: Any) -> Any:
    return there_and_back({"value": value})["value"]


def bits(value: Any) -> Any:
    """What is equal only for values of the same type and bits, whatever lies between the fields of a structure."""
    if isinstance(value, np.ndarray | np.void) and value.dtype.names is not None:
        return type(value), value.dtype, value.shape, [bits(value[name]) for name in value.dtype.names]
    if isinstance(value, np.str_ | np.bytes_):
        return type(value), value.item()
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype, value.shape, value.tobytes()
    if isinstance(value, float):
        return float, struct.pack(">d", value)
    if isinstance(value, dict):
        return dict, [(bits(key), bits(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [bits(entry) for entry in value]
    return type(value), value


# Surrogates included, and some that stand side by side.
text = st.text(st.characters(), max_size=8) | st.text("\ud83d\ude00\\u$", max_size=4)
dtypes = hnp.scalar_dtypes() | hnp.array_dtypes(hnp.scalar_dtypes(), max_size=3) | hnp.byte_string_dtypes()
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))
scalars = hnp.arrays(hnp.scalar_dtypes(), ()).map(lambda array: array[()])
keys = text | st.integers() | st.floats() | st.booleans() | st.none() | st.binary(max_size=4)
atoms = st.none() | st.booleans() | st.integers() | st.floats() | text | st.binary(max_size=8) | scalars | arrays
values = st.recursive(
    atoms,
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(text, part, max_size=3)
        | st.dictionaries(keys, part, max_size=3)
    ),
    max_leaves=8,
)


# The first example of all pays for Hypothesis' table of characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(text, values, max_size=3))
def test_any_state_comes_back(state: dict[str, Any]) -> None:
    assert bits(there_and_back(state)) == bits(state)


@settings(deadline=None)
@given(arrays)
def test_any_array_comes_back(array: NDArray[Any]) -> None:
    assert bits(of_one(array)) == bits(array)


ARRAYS: dict[str, NDArray[Any]] = {
    "structured": np.array([(1, "a", [1.5, 2.5])], [("n", ">i2"), ("s", "U3"), ("xy", "<f8", (2,))]),
    "nested structure": np.zeros(2, [("outer", [("inner", "M8[ms]"), ("flag", "?")])]),
    "aligned structure": np.ones(2, np.dtype([("a", "u1"), ("b", "f8")], align=True)),
    "fields out of order": np.ones(2, np.dtype({"names": ["a", "b"], "formats": ["f4", "u1"], "offsets": [4, 0]})),
    "fields that overlap": np.ones(2, np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 0]})),
    "fields with titles": np.ones(2, np.dtype([(("a title", "a"), "f4"), ("b", "f4")])),
    "no fields": np.zeros(3, np.dtype([])),
    "0-d": np.array(2.5),
    "0-d string": np.array("text"),
    "empty": np.zeros((0, 3), np.float32),
    "empty strings": np.ndarray((2,), "U0", b""),
    "empty bytes": np.ndarray((2, 0), "S3", b""),
    "big-endian": np.arange(3, dtype=">f8"),
    "Fortran-ordered": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "not contiguous": np.arange(12).reshape(3, 4)[::-2, 1::2],
    "broadcast": np.broadcast_to(np.float32(1.5), (2, 3)),
    "complex": np.array([1 + 2j, complex(-0.0, np.nan)]),
    "single complex": np.array([1 + 2j], np.complex64),
    "long double": np.array([1, 2], np.longdouble) / 3,
    "half": np.array([1.5, -np.inf, np.nan], np.float16),
    "bool": np.array([True, False]),
    "datetime": np.array(["2020-01-01T00:00", "NaT"], "M8[25s]"),
    "timedelta": np.array([1, 2], "m8[W]"),
    "datetime in nanoseconds": np.array(["NaT"], "M8[ns]"),
    "str": np.array(["a", "\u00e4\U0001f600", ""]),
    "bytes": np.array([b"a", b"", b"abc"]),
    "void": np.array([b"\x01\x00"], "V2"),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_array_comes_back_with_type_shape_and_bits(array: NDArray[Any]) -> None:
    assert bits(of_one(array)) == bits(array)


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_restored_array_can_be_written_and_is_aligned(array: NDArray[Any]) -> None:
    tree, kept = _codec.encode({"value": array})
    restored = _codec.decode(tree, {name: part.copy() for name, part in kept.items()})["value"]
    assert restored.flags.writeable
    assert restored.flags.aligned


def test_record_type_comes_back() -> None:
    array = np.ones(2, np.dtype((np.record, [("a", "f4")])))
    assert of_one(array).dtype.type is np.record
    assert type(of_one(array[0])) is np.record


def test_memory_mapping_is_saved_as_the_array_it_shows(tmp_path: Path) -> None:
    mapping = np.memmap(tmp_path / "file", np.float32, "w+", shape=(3,))
    mapping[:] = [1, 2, 3]
    assert bits(of_one(mapping)) == bits(np.array([1, 2, 3], np.float32))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_common_array_is_stored_as_itself(dtype: str) -> None:
    array = np.ones((2, 3), dtype)
    _, kept = _codec.encode({"variables": {"w": array}})
    assert kept["variables/w"].dtype == array.dtype
    assert kept["variables/w"].shape == array.shape


def test_contiguous_array_is_not_copied() -> None:
    array = np.ones(3)
    _, kept = _codec.encode({"w": array})
    assert np.shares_memory(kept["w"], array)


def test_arrays_at_places_with_one_name_do_not_collide() -> None:
    state = {"a": {"b": np.array(1)}, "a/b": np.array(2), "a/b~2": np.array(3), "__metadata__": np.array(4)}
    assert bits(there_and_back(state)) == bits(state)


def test_array_names_are_valid_unicode() -> None:
    _, kept = _codec.encode({"\ud800": np.array(1)})
    assert [name.encode() for name in kept] == [b"\\ud800"]


@pytest.mark.parametrize(
    "value", [0, -1, 2**53, 2**53 + 1, -(2**64), 10**5000, -(10**5000)], ids=lambda v: v.bit_length()
)
def test_int_of_any_size_comes_back(value: int) -> None:
    assert bits(of_one(value)) == bits(value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        5e-324,
        0.1,
        float("inf"),
        float("-inf"),
        float("nan"),
        struct.unpack(">d", b"\xff\xf8" + bytes(5) + b"\x07")[0],
    ],
)
def test_float_comes_back_bit_for_bit(value: float) -> None:
    assert bits(of_one(value)) == bits(value)


@pytest.mark.parametrize("value", ["", "$array", "\ud800", "\ud83d\ude00", "\U0001f600", "a\x00\n\u2028"], ids=ascii)
def test_str_comes_back(value: str) -> None:
    assert bits(of_one(value)) == bits(value)


SCALARS = [
    np.bool_(True),
    np.float16(1.5),
    np.float64("nan"),
    np.longdouble(1) / 3,
    np.complex64(1 - 2j),
    np.int64(-1),
    np.uint64(2**64 - 1),
    np.datetime64("2020-01-01", "D"),
    np.datetime64("NaT"),
    np.timedelta64(3, "ms"),
    np.str_("a\x00"),
    np.str_(""),
    np.str_("\ud800"),
    np.bytes_(b"a\x00"),
    np.bytes_(b""),
    np.zeros(1, [("a", ">f4"), ("b", "U2")])[0],
    np.void(b"\x00\x01"),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: str(scalar.dtype))
def test_numpy_scalar_comes_back(scalar: np.generic) -> None:
    assert bits(of_one(scalar)) == bits(scalar)


@pytest.mark.parametrize(
    "value",
    [
        {"$array": "w"},
        {"$tuple": [1]},
        {"$": 1},
        {"$dict": {"$dict": 1}},
        {1: "int", "1": "str", 1.5: "float", None: "none", b"1": "bytes"},
        {True: 1, False: 0},
        {np.int64(1): 1, np.datetime64("2020"): 2},
        {"\ud800": 1},
        {},
    ],
    ids=ascii,
)
def test_dict_with_keys_that_json_cannot_hold_comes_back(value: dict[Any, Any]) -> None:
    assert bits(of_one(value)) == bits(value)


def test_order_of_keys_is_kept() -> None:
    assert list(of_one({"b": 1, "a": 2, "c": 3})) == ["b", "a", "c"]


def test_state_of_a_generator_comes_back() -> None:
    for kind in (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64):
        state: Any = kind(1).state
        assert bits(of_one(dict(state))) == bits(dict(state))


def test_value_that_stands_twice_is_no_cycle() -> None:
    shared = [1]
    assert of_one([shared, shared]) == [[1], [1]]


class Point(NamedTuple):
    x: int
    y: int


class Number(np.float64):
    pass


class Colour(IntEnum):
    RED = 1


class Stateful:
    def state_dict(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("value", "kind", "advice"),
    [
        ({1}, "builtins.set", "save it as one of these"),
        (bytearray(), "builtins.bytearray", "save it as one of these"),
        (1j, "builtins.complex", "numpy.complex128"),
        (Point(1, 2), "Point", "save `tuple` of it"),
        (defaultdict(int, a=1), "collections.defaultdict", "save `dict` of it"),
        (Colour.RED, "Colour", "save `int` of it"),
        (Stateful(), "Stateful", "save its `state_dict()`"),
        (np.ma.masked_array([1], [True]), "MaskedArray", "its `data` and its `mask`"),
        (np.zeros((2, 2)).view(np.matrix), "matrix", "numpy.asarray"),
        (Number(1), "Number", "save `float` of it"),
        (np.zeros(1, [("a", "O")])[0], "numpy.void", "it holds Python objects"),
        ({(1, 2): 3}, "has a key that is a builtins.tuple", "give it a key that is a string"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_other_value_is_refused_with_its_place_and_what_to_do(value: object, kind: str, advice: str) -> None:
    with pytest.raises(CheckpointError, match=r"^variables/w/\[3\] ") as caught:
        _codec.encode({"variables": {"w": [0, 1, 2, value]}})
    assert kind in str(caught.value)
    assert advice in str(caught.value)


def test_object_array_is_refused_with_its_place() -> None:
    with pytest.raises(CheckpointError, match=r"^hooks/nan/table is an array of object.* Python objects.*astype"):
        _codec.encode({"hooks": {"nan": {"table": np.array([None, {}], object)}}})


def test_structure_with_objects_is_refused() -> None:
    with pytest.raises(CheckpointError, match=re.escape("w is an array of [('a', 'O')]")):
        _codec.encode({"w": np.zeros(1, [("a", "O")])})


def test_type_that_numpy_takes_for_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenterhooks_checkpoint import _dtypes

    # As bfloat16 of another package does, the type describes itself as one of NumPy's.
    monkeypatch.setattr(_dtypes, "_describe", lambda dtype: "<V2")
    with pytest.raises(CheckpointError, match=r"^w is an array of complex64.*NumPy alone does not know it"):
        _codec.encode({"w": np.zeros(1, np.complex64)})


def test_cycle_is_refused() -> None:
    loop: dict[str, Any] = {"inner": []}
    loop["inner"].append(loop)
    with pytest.raises(CheckpointError, match=r"^loop/inner/\[0\] contains itself.*break the cycle"):
        _codec.encode({"loop": loop})


def nested(levels: int, kind: str) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"list": [value], "tuple": (value,), "dict": {"a": value}, "pairs": {1: value}}[kind]
    return value


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "pairs"])
def test_deepest_state_allowed_comes_back(kind: str) -> None:
    value = nested(_codec.MAX_DEPTH - 1, kind)  # the state itself is one level
    assert of_one(value) == value


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "pairs"])
@pytest.mark.parametrize("levels", [_codec.MAX_DEPTH, 10_000])
def test_deeper_state_is_refused(kind: str, levels: int) -> None:
    with pytest.raises(CheckpointError, match=r"^value/.* is nested more than 100 levels deep"):
        _codec.encode({"value": nested(levels, kind)})


def test_key_that_python_does_not_print_comes_back() -> None:
    assert of_one({10**5000: np.arange(2), -(10**5000): 1})[10**5000].tolist() == [0, 1]
    with pytest.raises(CheckpointError, match=r"value/0x[0-9a-f]+ is a builtins\.set"):
        of_one({10**5000: set()})


def test_array_of_an_integer_is_not_taken_for_a_length() -> None:
    tree = {"w": {"$array": "a", "dtype": "<u4", "shape": [2]}}
    state = _codec.decode(tree, {"a": np.array(2**62)})
    assert state["w"].tolist() == [0, 2**30]


@pytest.mark.parametrize(
    "tree",
    [
        [],
        None,
        {"w": {"$array": "missing"}},
        {"w": {"$array": "a", "dtype": "O", "shape": [1]}},
        {"w": {"$array": "a", "dtype": {"names": ["a"], "formats": ["O"], "offsets": [0]}, "shape": [1]}},
        {"w": {"$array": "a", "dtype": "<f8", "shape": [10**6]}},
        {"w": {"$array": "a", "dtype": "<f8", "shape": [-1, -1]}},
        {"w": {"$array": "a", "dtype": "nonsense", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "f4,f4", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "(1,,2)f8", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "1" * 5000 + "f8", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "float64", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "a8", "shape": [1]}},
        {"w": {"$array": "a", "dtype": "|a8", "shape": [1]}},
        {"w": {"$array": "a", "dtype": 7, "shape": [1]}},
        {"w": {"$array": "a", "dtype": "<f8"}},
        {"w": {"$array": "a", "path": "/etc/passwd"}},
        {"w": {"$scalar": {"dtype": "<f8", "bytes": "AA=="}}},
        {"w": {"$unknown": 1}},
        {"w": {"$int": "1", "$float": "1"}},
        {"w": {"$int": "no number"}},
        {"w": {"$dict": [[[], 1]]}},
        {"w": {"$bytes": "?"}},
        {"w": {"$ordered": [["a", 1]]}},
        {"w": {"$ordered": {"$ordered": {}}}},
        {"w": {"$float": "00"}},
        {"w": {"$scalar": {"dtype": "<U1", "bytes": "/////w=="}}},
    ],
    ids=json.dumps,
)
def test_tree_of_another_make_is_refused(tree: object) -> None:
    with pytest.raises(CheckpointError, match="the state is not as it was written"):
        _codec.decode(tree, {"a": np.zeros(8, np.uint8)})


def through_files(state: dict[str, Any]) -> dict[str, Any]:
    tree, arrays = _codec.encode(state)
    return _codec.decode(json.loads(json.dumps(tree)), {name: array.copy() for name, array in arrays.items()})


@pytest.mark.parametrize("dtype", ["f4", ">f4", "c8", "i8,f4"])
def test_an_array_that_is_there_twice_is_stored_once_and_is_one_again(dtype: str) -> None:
    array, equal = np.zeros(3, dtype), np.zeros(3, dtype)
    state = {"a": array, "b": [array, {"c": array}], "d": equal}
    assert len(_codec.encode(state)[1]) == 2
    found = through_files(state)
    assert found["a"] is found["b"][0] is found["b"][1]["c"]
    assert found["d"] is not found["a"]


@pytest.mark.parametrize("dtype", ["f4", ">f4", "c8", "i8,f4", "U3"])
def test_the_order_in_memory_comes_back(dtype: str) -> None:
    array = np.arange(24).astype("U3" if dtype == "U3" else "i8").reshape(2, 3, 4).astype(dtype)
    fortran = np.asfortranarray(array)
    found = through_files({"c": array, "f": fortran, "transposed": array.T, "strided": array[:, ::2]})
    assert found["c"].flags.c_contiguous
    assert found["f"].flags.f_contiguous
    assert found["transposed"].flags.f_contiguous
    assert found["strided"].flags.c_contiguous
    for name, wanted in (("c", array), ("f", array), ("transposed", array.T), ("strided", array[:, ::2])):
        assert found[name].tobytes() == wanted.tobytes()
        assert found[name].shape == wanted.shape


def test_an_order_that_is_none_is_an_error() -> None:
    with pytest.raises(CheckpointError, match="'X' is no order"):
        _codec.decode({"w": {"$array": "w", "order": "X"}}, {"w": np.zeros(2)})


def test_bytes_are_a_view_where_they_can_be() -> None:
    array = np.zeros(1000, "c8")
    (content,) = _codec.encode({"w": array})[1].values()
    assert np.shares_memory(content, array)


def test_an_ordered_dict_comes_back_as_one() -> None:
    state = {"w": OrderedDict([("b", np.ones(2)), ("a", OrderedDict([(1, "x"), ("$dict", {})]))]), "plain": {"a": 1}}
    found = through_files(state)
    assert repr(found) == repr(state)
    assert type(found["plain"]) is dict
