"""What can be saved, what of it fits, and how it is loaded into the objects that exist."""

import collections
import copy
import enum
import random
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import tenterhooks as th
from tenterhooks import CheckpointError
from tenterhooks.adapted import TAG
from tenterhooks.generators import get_state, same
from tenterhooks.loading import Loader
from tenterhooks.state import capture, check_nesting, mismatches


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, saved, ())


class Counter:
    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.value = state["value"]


class Moments(NamedTuple):
    mean: Any
    count: Any


def problems(current: Any, saved: Any) -> list[str]:
    return list(mismatches(current, saved, "v"))


RANDOM_STATE = "a RandomState of MT19937"

plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.complex_numbers(allow_nan=False),
        st.text(),
        st.binary(),
        st_numpy.arrays(st.sampled_from(["f4", "i8", "?"]), st_numpy.array_shapes(min_dims=0, max_side=3)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(
            st.one_of(st.text(), st.integers(), st.booleans(), st.none()).filter(lambda key: key != TAG),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=10,
)


def in_python(value: Any) -> Any:
    """A saved value with the complex numbers of Python in place of NumPy's."""
    if isinstance(value, dict):
        return {key: in_python(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(in_python, value))
    return complex(value) if isinstance(value, complex) else value


def scrambled(value: Any) -> Any:
    """Something of the same structure with other arrays."""
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, dict):
        return {key: scrambled(entry) for key, entry in value.items()}
    return type(value)(map(scrambled, value)) if isinstance(value, list | tuple) else value


@given(plain)
def test_what_is_plain_is_saved_as_it_is_and_loaded_back(value: Any) -> None:
    saved = capture(value, "v")
    assert repr(in_python(saved)) == repr(value)
    current = scrambled(value)
    assert problems(current, saved) == []
    assert repr(load(current, saved)) == repr(value)


# Saving


def test_an_array_is_not_copied_when_it_is_saved() -> None:
    array = np.zeros(2)
    assert capture({"a": [array]}, "v")["a"][0] is array


def test_a_generator_is_saved_as_the_state_of_its_bit_generator() -> None:
    rng = np.random.default_rng(3)
    assert capture(rng, "v") == rng.bit_generator.state


def test_what_is_saved_of_a_generator_does_not_move_on_with_it() -> None:
    rng = np.random.Generator(np.random.MT19937(3))
    saved = capture(rng, "v")
    before = copy.deepcopy(saved)
    rng.random(1_000)
    assert repr(saved) == repr(before)


@pytest.mark.parametrize("make", [np.random.RandomState, random.Random])
def test_a_generator_of_another_kind_is_saved_as_its_state_too(make: Any) -> None:
    saved = capture({"rng": make(3)}, "v")["rng"]
    assert same(saved, get_state(make(3)))


@pytest.mark.parametrize("module", [random, np.random])
def test_a_module_of_a_global_generator_is_saved_as_the_state_of_that(module: Any) -> None:
    assert same(capture(module, "v"), get_state(module))


def test_a_complex_number_is_saved_as_one_of_numpy() -> None:
    saved = capture([1 - 2j], "v")[0]
    assert type(saved) is np.complex128
    assert saved == 1 - 2j


def test_the_keys_of_a_dict_are_saved_as_they_are() -> None:
    value = {"a": 1, 2: 1, 0.5: 1, True: 1, b"b": 1, None: 1, np.int64(7): 1}
    saved = capture(value, "v")
    assert [(type(key), key) for key in saved] == [(type(key), key) for key in value]


def test_an_object_is_saved_by_its_state_dict() -> None:
    assert capture({"c": Counter(3)}, "v") == {"c": {"value": 3}}


def test_a_state_dict_may_hold_what_is_saved_otherwise_too() -> None:
    rng = np.random.default_rng(3)
    assert capture(Counter(Counter(rng)), "v") == {"value": {"value": rng.bit_generator.state}}


def test_a_stateful_object_is_told_by_its_two_methods() -> None:
    assert isinstance(Counter(), th.Stateful)
    assert not isinstance({}, th.Stateful)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), r"^v is a builtins\.object, which cannot be saved: use arrays, numbers, strings, dicts"),
        ({"a": [1, {2}]}, r"^v/a/1 is a builtins\.set, which cannot be saved"),
        ((lambda: 0,), r"^v/0 is a builtins\.function"),
        (Counter({"f": object()}), r"^v \(state_dict\)/value/f is a builtins\.object"),
        ({"a": {(1, 2): 3}}, r"^v/a has the key \(1, 2\) of type tuple, which cannot be saved: use strings, numbers,"),
        ([random.SystemRandom()], r"^v/0 is a random\.SystemRandom, whose numbers come from the operating system"),
        (np, r"^v is a builtins\.module, which cannot be saved"),
        (np.array([object()]), r"^v is an array of Python objects \(object\), which cannot be saved without pickle"),
    ],
)
def test_what_cannot_be_saved_is_an_error_that_says_where_it_is(value: Any, message: str) -> None:
    with pytest.raises(th.CheckpointError, match=message):
        capture(value, "v")


def looped(kind: str) -> Any:
    inner: list[Any] = []
    value = {"list": inner, "tuple": (inner,), "dict": {"a": inner}, "object": Counter(inner)}[kind]
    inner.append(value)
    return value


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("list", r"^v/0 is the list that it lies in, and what contains itself cannot be saved: break the cycle$"),
        ("tuple", r"^v/0/0 is the tuple that it lies in"),
        ("dict", r"^v/a/0 is the dict that it lies in"),
        ("object", r"^v \(state_dict\)/value/0 is the Counter that it lies in"),
    ],
)
def test_what_contains_itself_is_an_error_that_says_where(kind: str, message: str) -> None:
    with pytest.raises(th.CheckpointError, match=message):
        capture(looped(kind), "v")


def test_what_is_there_twice_does_not_contain_itself() -> None:
    twice: list[Any] = [1]
    assert capture({"a": twice, "b": [twice, (twice,)]}, "v") == {"a": [1], "b": [[1], ([1],)]}


@pytest.mark.parametrize("check", [capture, check_nesting])
def test_what_is_nested_too_deep_is_an_error_and_not_pythons(check: Any) -> None:
    value: Any = []
    for _ in range(100):
        value = [value]
    check(value, "v")
    for _ in range(5000):
        value = (value,)
    with pytest.raises(th.CheckpointError, match=r"^v/0/0.*\.\.\. is nested more than 100 levels deep"):
        check(value, "v")


def test_an_ordered_dict_is_saved_as_one() -> None:
    saved = capture({"a": OrderedDict(b=1, a=[2]), "b": defaultdict(int, c=3)}, "v")
    assert type(saved["a"]) is OrderedDict
    assert list(saved["a"].items()) == [("b", 1), ("a", [2])]
    assert type(saved["b"]) is dict


# What fits


@pytest.mark.parametrize(
    ("current", "saved", "message"),
    [
        (
            np.zeros((2, 3)),
            np.zeros((3, 2)),
            "v: float64 of shape (2, 3) here, float64 of shape (3, 2) in the checkpoint",
        ),
        (
            np.zeros(2, "f4"),
            np.zeros(2, "f8"),
            "v: float32 of shape (2,) here, float64 of shape (2,) in the checkpoint",
        ),
        (np.zeros(1), 0.0, "v: an array here, a float in the checkpoint"),
        (np.zeros(1), [0.0], "v: an array here, a list in the checkpoint"),
        (np.zeros(()), None, "v: an array here, None in the checkpoint"),
        (0.0, np.zeros(1), "v: a float here, an array of float64 and shape (1,) in the checkpoint"),
        (0.0, {}, "v: a float here, a dict in the checkpoint"),
        (0, "a", "v: a int here, a str in the checkpoint"),
        ("a", 0, "v: a str here, a int in the checkpoint"),
        ("a", b"a", "v: a str here, a bytes in the checkpoint"),
        ({}, [], "v: a dict here, a list in the checkpoint"),
        ([], {}, "v: a list here, a dict in the checkpoint"),
        ((), [], "v: a tuple here, a list in the checkpoint"),
        ([], 1, "v: a list here, a int in the checkpoint"),
        (
            np.random.default_rng(0),
            np.random.Generator(np.random.MT19937(0)).bit_generator.state,
            "v: a generator of PCG64 here, a generator of MT19937 in the checkpoint",
        ),
        (np.random.default_rng(0), 3, "v: a generator of PCG64 here, a int in the checkpoint"),
        (
            np.random.Generator(np.random.MT19937(0)),
            get_state(np.random.RandomState(0)),
            "v: a generator of MT19937 here, a RandomState of MT19937 in the checkpoint",
        ),
        (
            random.Random(0),
            get_state(np.random.RandomState(0)),
            "v: a random.Random here, a RandomState of MT19937 in the checkpoint",
        ),
        (random, None, "v: a random.Random here, a NoneType in the checkpoint"),
        (
            np.random.RandomState(0),
            {**get_state(np.random.RandomState(0)), "state": {}},
            f"v: {RANDOM_STATE} here, {RANDOM_STATE} with a broken state (KeyError: 'key') in the checkpoint",
        ),
        (
            np.zeros((), "f4"),
            np.float64(0),
            "v: float32 of shape () here, float64 of shape () in the checkpoint",
        ),
        (
            np.float32(0),
            np.zeros(()),
            "v: a float32 here, an array of float64 and shape () in the checkpoint",
        ),
        (np.zeros(1), np.float64(0), "v: an array here, a float64 in the checkpoint"),
        ({"c": Counter()}, {}, "v: the keys ['c'] here, [] in the checkpoint"),
        ([Counter()], [], "v: 1 entries here, 0 in the checkpoint"),
        (Moments(0, 0), (1, 2, 3), "v: 2 entries here, 3 in the checkpoint"),
        (Moments(0, 0), [1, 2], "v: a Moments here, a list in the checkpoint"),
        ({1}, 3, "v: a set here, a int in the checkpoint"),
    ],
)
def test_what_does_not_fit_is_said(current: Any, saved: Any, message: str) -> None:
    assert problems(current, saved) == [message]


@pytest.mark.parametrize(
    ("current", "saved"),
    [
        (np.zeros(2), np.ones(2)),
        (0, 0.5),
        (0.5, 3),
        (True, 1),
        (np.float32(0), 1.5),
        (0, np.float64(1)),
        (0, np.complex128(1)),
        (1j, 0.5),
        (np.zeros(()), np.float64(1)),
        (np.float64(1), np.zeros(())),
        ({"a": 1j}, {"b": 2}),
        (random.Random(0), get_state(random.Random(1))),
        (random, get_state(random.Random(1))),
        (np.random.RandomState(0), get_state(np.random.RandomState(1))),
        (np.random, get_state(np.random.RandomState(1))),
        (None, 3),
        (None, np.zeros(2)),
        (3, None),
        ("a", "b"),
        ([], [1, 2]),
        ([1, 2], []),
        ({"a": 1}, {"b": 2}),
        ((), (1,)),
        (Counter(), {"value": 9}),
        (np.random.default_rng(0), np.random.default_rng(1).bit_generator.state),
    ],
)
def test_what_a_program_may_have_made_of_a_value_fits(current: Any, saved: Any) -> None:
    assert problems(current, saved) == []


def test_all_that_does_not_fit_is_said_with_its_place() -> None:
    current = {"a": [np.zeros(1), np.zeros(2)], "b": {"c": (np.zeros(3), 1)}}
    saved = {"a": [np.zeros(1), np.zeros(9)], "b": {"c": (np.zeros(9), 1)}}
    assert [problem.partition(":")[0] for problem in problems(current, saved)] == ["v/a/1", "v/b/c/0"]


def test_entries_of_both_dicts_have_to_fit_where_others_differ() -> None:
    assert [p.partition(":")[0] for p in problems({"w": np.zeros(1)}, {"w": np.zeros(2), "m": np.zeros(2)})] == ["v/w"]


# Loading


def test_an_array_is_loaded_in_place() -> None:
    current = np.zeros(2)
    view = current[1:]
    assert load(current, np.array([3.0, 4.0])) is current
    assert view.tolist() == [4]


def test_what_is_loaded_shares_no_memory_with_what_was_saved() -> None:
    saved = np.ones(2)
    load(np.zeros(2), saved)[:] = 5
    assert saved.tolist() == [1, 1]


def test_an_array_that_cannot_be_written_is_replaced_by_a_copy() -> None:
    current, saved = np.zeros(2), np.ones(2)
    current.flags.writeable = False
    loaded = load(current, saved)
    assert loaded is not saved
    assert loaded.tolist() == [1, 1]
    assert current.tolist() == [0, 0]


def test_a_generator_is_loaded_in_place() -> None:
    current, other = np.random.default_rng(0), np.random.default_rng(1)
    assert load(current, capture(other, "v")) is current
    assert current.random() == other.random()


@pytest.mark.parametrize("make", [np.random.RandomState, random.Random])
def test_a_generator_of_another_kind_is_loaded_in_place_too(make: Any) -> None:
    current, other = make(0), make(1)
    assert load(current, capture(other, "v")) is current
    assert same(get_state(current), get_state(other))


def test_a_module_of_a_global_generator_has_that_set() -> None:
    before = random.getstate()
    try:
        current: dict[str, Any] = {"rng": random}
        load(current, {"rng": get_state(random.Random(7))})
        assert current["rng"] is random
        assert random.random() == random.Random(7).random()
    finally:
        random.setstate(before)


@pytest.mark.parametrize("current", [1j, 0.0, 0, [0j]])
def test_a_complex_number_is_loaded_as_one_of_python(current: Any) -> None:
    loaded = load(current, capture([2 + 1j] if isinstance(current, list) else 2 + 1j, "v"))
    number = loaded[0] if isinstance(loaded, list) else loaded
    assert type(number) is complex
    assert number == 2 + 1j


def test_a_complex_number_of_numpy_is_loaded_as_one() -> None:
    assert type(load(np.complex128(0), capture(np.complex128(1j), "v"))) is np.complex128


def test_the_bits_of_a_complex_number_that_is_not_finite_are_kept() -> None:
    number = complex(float("nan"), -float("inf"))
    assert repr(load(0j, capture(number, "v"))) == repr(number)


def test_what_became_a_scalar_of_an_array_without_dimensions_is_a_scalar_again() -> None:
    loaded = load(np.zeros(()), capture(np.float64(3), "v"))
    assert type(loaded) is np.float64
    assert loaded == 3


def test_what_became_an_array_without_dimensions_is_one_again() -> None:
    saved = np.full((), 3.0)
    loaded = load(np.float64(0), saved)
    assert type(loaded) is np.ndarray
    assert loaded == 3
    assert loaded is not saved


ROWS = np.dtype([("x", "<f8"), ("n", ">i2"), ("s", "S3"), ("v", "<f4", (2,))])
NAN = np.frombuffer(bytes.fromhex("010000000000f87f"), "<f8")


@pytest.mark.parametrize(
    "array",
    [
        np.array([(1.5, 2, b"ab", (1, 2)), (np.nan, -2, b"abc", (3, np.inf))], ROWS),
        np.array((1.5, 2, b"ab", (1, 2)), ROWS),
        np.full((), 3.5),
        np.zeros((0, 3)),
        np.zeros(0, ROWS),
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(4, 6)[::-2, ::3],
        np.array([NAN[0], -0.0, np.inf]),
        NAN.byteswap().view(">f8"),
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array(["ä", "long"]),
        np.array([b"x", b""]),
        np.arange(3, dtype=np.float16),
        np.array([1 + 2j, complex("nan")], np.complex64),
        np.array([True, False]),
        np.ndarray((2,), "V3", b"abcdef"),
    ],
    ids=lambda array: f"{array.dtype.str} {array.shape}",
)
@pytest.mark.parametrize("how", ["as it is", "fixed", "new"])
def test_arrays_of_every_kind_come_back_equal(array: Any, how: str) -> None:
    saved = copy.deepcopy(capture(array, "v"))
    current: Any = None
    if how != "new":
        current = np.zeros_like(array)
        assert problems(current, saved) == []
        current.flags.writeable = how != "fixed"
    loaded = load(current, saved)
    assert (loaded is current) is (how == "as it is")
    assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
    assert loaded.tobytes() == array.tobytes()


def test_a_dict_of_other_keys_than_strings_is_loaded_in_place() -> None:
    weights = np.zeros(1)
    current: dict[Any, Any] = {3: weights, None: 1}
    assert load(current, {3: np.ones(1), None: 5, 2.5: 7}) is current
    assert current[3] is weights
    assert weights.tolist() == [1]
    assert list(current) == [3, None, 2.5]


def test_an_object_is_loaded_in_place() -> None:
    current = Counter(0)
    assert load(current, {"value": 3}) is current
    assert current.value == 3


def test_dicts_and_lists_are_loaded_in_place_with_all_that_is_in_them() -> None:
    weights, rng, counter = np.zeros(1), np.random.default_rng(0), Counter()
    inner = [weights, {"rng": rng}, 7]
    current = {"layers": inner, "counter": counter}
    other = {"layers": [np.ones(1), {"rng": np.random.default_rng(1)}, 8], "counter": Counter(2)}
    assert load(current, capture(other, "v")) is current
    assert current["layers"] is inner
    assert inner[0] is weights
    assert inner[1] == {"rng": rng}
    assert inner[2] == 8
    assert current["counter"] is counter
    assert weights.tolist() == [1]
    assert rng.random() == np.random.default_rng(1).random()
    assert counter.value == 2


@pytest.mark.parametrize(
    ("current", "saved"),
    [([], [1, [2]]), ([1, 2, 3], [4]), ({}, {"a": 1}), ({"a": 1, "b": 2}, {"a": 3}), ({"a": 1}, {"b": 2})],
)
def test_a_list_or_dict_that_grew_or_shrank_is_loaded_in_place_too(current: Any, saved: Any) -> None:
    before = copy.deepcopy(saved)
    loaded = load(current, saved)
    assert loaded is current
    assert loaded == before
    loaded.clear()
    assert saved == before


def test_entries_that_exist_are_loaded_in_place_where_a_dict_grew() -> None:
    weights = np.zeros(1)
    current = {"w": weights}
    load(current, {"w": np.ones(1), "momentum": np.full(1, 2.0)})
    assert current["w"] is weights
    assert weights.tolist() == [1]
    assert current["momentum"].tolist() == [2]


def test_the_objects_of_a_tuple_are_loaded_in_place() -> None:
    rng, weights = np.random.default_rng(0), np.zeros(1)
    loaded = load((rng, weights, 1), capture((np.random.default_rng(1), np.ones(1), 2), "v"))
    assert loaded[0] is rng
    assert loaded[1] is weights
    assert weights.tolist() == [1]
    assert loaded[2] == 2


def test_the_arrays_of_a_tuple_are_loaded_in_place() -> None:
    weights = np.zeros(1)
    loaded = load((weights, 1), (np.ones(1), 2))
    assert loaded[0] is weights
    assert loaded == (np.ones(1), 2)


def test_a_named_tuple_is_saved_as_a_tuple_and_loaded_as_one_of_its_kind() -> None:
    saved = capture(Moments(np.ones(1), 3), "v")
    assert type(saved) is tuple
    current = Moments(np.zeros(1), 0)
    assert problems(current, saved) == []
    loaded = load(current, saved)
    assert loaded == Moments(np.ones(1), 3)
    assert type(loaded) is Moments
    assert loaded.mean is current.mean


def test_a_dict_is_loaded_in_the_order_of_the_checkpoint() -> None:
    assert list(load({"a": 1, "b": 2}, {"b": 3, "c": 4, "a": 5})) == ["b", "c", "a"]


def test_a_dict_with_a_mind_of_its_own_is_loaded_as_it_was() -> None:
    current = collections.Counter("aab")
    assert load(current, capture(collections.Counter("bbc"), "v")) is current
    assert current == {"b": 2, "c": 1}


@pytest.mark.parametrize("current", [None, {}, [], ()])
def test_an_array_that_is_new_shares_no_memory_with_what_was_saved(current: Any) -> None:
    array = np.ones(1)
    saved = {"a": array} if isinstance(current, dict) else array if current is None else type(current)([array])
    loaded = load(current, saved)
    new = loaded if current is None else loaded["a"] if isinstance(current, dict) else loaded[0]
    assert new.tolist() == [1]
    assert not np.may_share_memory(new, array)


@pytest.mark.parametrize(("current", "saved"), [(1, 2), ("a", "b"), (None, 3), (0, 0.5), ((), (1, 2))])
def test_what_has_no_inside_is_replaced(current: Any, saved: Any) -> None:
    assert load(current, saved) == saved


def test_a_mapping_that_cannot_be_written_is_replaced() -> None:
    class Fixed(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            return {"a": 1}[key]

        def __iter__(self) -> Any:
            return iter("a")

        def __len__(self) -> int:
            return 1

    assert problems(Fixed(), {"a": 2}) == []
    assert load(Fixed(), {"a": 2}) == {"a": 2}


def test_a_key_that_python_does_not_print_is_captured_and_compared() -> None:
    state = {10**5000: {"w": np.zeros(2)}}
    assert capture(state, "v")[10**5000]["w"] is state[10**5000]["w"]
    with pytest.raises(th.CheckpointError, match=r"^v/0x[0-9a-f]+ is a builtins\.set"):
        capture({10**5000: set()}, "v")
    (problem,) = mismatches(state, {10**5000: {"w": np.zeros(3)}}, "v")
    assert problem.startswith("v/0x")


class Phase(enum.IntEnum):
    WARM_UP = 1


def test_a_member_of_an_enum_is_refused_since_it_would_come_back_as_its_value() -> None:
    with pytest.raises(CheckpointError, match=r"phases/0 is <Phase.WARM_UP: 1>, which would come back as its value"):
        capture([Phase.WARM_UP], "phases")
