"""How values of a file and texts become values of an option's type."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, Optional

import pytest

import tenterhooks as th
from tenterhooks.option_values import RefusedError, converted_value, parsed_text

Steps = NewType("Steps", int)


@dataclass
class Inner:
    rate: float
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outer:
    inner: "Inner | None" = None
    path: Path = Path()

    def __post_init__(self) -> None:
        if self.path == Path("nowhere"):
            raise ValueError("there is no such place")


@dataclass(init=False)
class Loose:
    size: int

    def __init__(self, *more: int, size: int = 0, clock: Callable[[], float] | None = None, **others: int) -> None:
        self.size = size


@dataclass
class Derived:
    base: InitVar[int]
    double: int = field(init=False)

    def __post_init__(self, base: int) -> None:
        self.double = 2 * base


Tensors = th.Node | str | Iterable[th.Node | str] | Mapping[str, th.Node | str]


def same(given: object, wanted: object) -> bool:
    return type(given) is type(wanted) and (given == wanted or repr(given) == repr(wanted))


def assert_says(error: BaseException, says: str) -> None:
    """Where a message ends in three dots, what comes there does not matter."""
    given = str(error).strip()
    assert given == says or (says.endswith("...") and given.startswith(says[:-3]))


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (float, 0.5, 0.5),
        (float, math.nan, math.nan),
        (float, math.inf, math.inf),
        (int | float, 3, 3),
        (float | int, 3, 3),
        (float | int, 3.0, 3.0),
        (bool, True, True),
        (bool | int, 1, 1),
        (int | bool, True, True),
        (str, "none", "none"),
        (str | None, "none", None),
        (int | None, "None", None),
        (int | None, 5, 5),
        (Optional[int], 5, 5),  # noqa: UP045 - What older plugins write.
        (Path, "a/b", Path("a/b")),
        (str | Path | None, "a/b", "a/b"),
        (Path | str, "a/b", Path("a/b")),
        (str | os.PathLike[str], "a/b", "a/b"),
        (Literal["min", "max"], "max", "max"),
        (Literal[1, "1"], "1", "1"),
        (Literal[1] | None, "none", None),
        (list[int], [1, 2], [1, 2]),
        (list, [1, "a"], [1, "a"]),
        (Sequence[float], [1, 2.5], [1.0, 2.5]),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (frozenset[str], ["a", "a"], frozenset({"a"})),
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (Mapping[str, Any], {"a": [None]}, {"a": [None]}),
        (Any, {"a": 1}, {"a": 1}),
        (object, 1.5, 1.5),
        (Steps, 7, 7),
        (Annotated[int, "positive"], 7, 7),
        (Tensors, "loss", "loss"),
        (Tensors, ["loss", "w"], ["loss", "w"]),
        (Tensors, {"l": "loss"}, {"l": "loss"}),
        (Inner, {"rate": 1}, Inner(1.0)),
        (Loose, {"size": 3}, Loose(size=3)),
        (Derived, {"base": 3}, Derived(3)),
        (Outer, {"inner": {"rate": 1, "names": ["a"]}, "path": "a"}, Outer(Inner(1.0, ["a"]), Path("a"))),
    ],
)
def test_a_value_of_a_file_is_taken(annotation: object, value: object, wanted: object) -> None:
    assert same(converted_value(annotation, value), wanted)


@pytest.mark.parametrize(
    ("annotation", "value", "says"),
    [
        (int, True, "is int, not true (bool)"),
        (int, 1.0, "is int, not 1.0 (float)"),
        (int, "1", 'is int, not "1" (str)'),
        (float, False, "is float, not false (bool)"),
        (float, 10**400, "is float, not 1000..."),
        (bool, 1, "is true or false, not 1 (int)"),
        (bool, "yes", 'is true or false, not "yes" (str)'),
        (bool, "ture", "is true or false, not \"ture\" (str); the nearest: 'true'"),
        (str, 5, "is str, not 5 (int)"),
        (int | None, "nan", 'is int or none, not "nan" (str)'),
        (Path | None, 3, "is a path or none, not 3 (int)"),
        (Literal["min", "max"], "maxi", 'is "min" or "max", not "maxi" (str); the nearest: \'max\', \'min\''),
        (Literal[1, 2], True, "is 1 or 2, not true (bool)"),
        (list[int], 3, "is a list of int, not 3 (int)"),
        (list[int], [1, "a"], ', item 2 is int, not "a" (str)'),
        (list[list[int]], [[1], [2, None]], ", item 2, item 2 is int, not None (NoneType)"),
        (tuple[int, str], [1], "is a list of 2: int, str, not [1] (list)"),
        (dict[str, float], {"a": "b"}, ", key 'a' is float, not \"b\" (str)"),
        (dict[str, int], [1], "is a table of int, not [1] (list)"),
        (set[Any], [[1]], "is a list of any value, not [[1]] (list)"),
        (Inner, {"rat": 1}, "has no key 'rat'; the nearest: 'rate'"),
        (Inner, {"names": []}, "needs the keys rate"),
        (Inner | None, {"rate": "a"}, ", key 'rate' is float, not \"a\" (str)"),
        (Outer, {"inner": {"rate": 1, "names": "a"}}, ", key 'inner', key 'names' is a list of str, not \"a\" (str)"),
        (Outer, {"path": "nowhere"}, "is refused by Outer: ValueError: there is no such place"),
        (Outer, 1, "is a table (inner, path), not 1 (int)"),
        (Loose, {"more": 1}, "has no key 'more'; there are: 'clock', 'size'"),
        (Loose, {"clock": "time.time"}, ", key 'clock' can be given in code only"),
        (Derived, {"base": "a"}, ", key 'base' is int, not \"a\" (str)"),
        (Tensors, 3, "is str or a list of str or a table of str, not 3 (int)"),
        (Tensors, ["a", 3], ", item 2 is str, not 3 (int)"),
    ],
)
def test_a_wrong_value_of_a_file_is_refused(annotation: object, value: object, says: str) -> None:
    with pytest.raises(RefusedError) as caught:
        converted_value(annotation, value)
    assert_says(caught.value, says)


@pytest.mark.parametrize(
    ("annotation", "text", "wanted"),
    [
        (int, "100", 100),
        (int, " -5 ", -5),
        (float, "100", 100.0),
        (float, "1e-3", 1e-3),
        (float, "inf", math.inf),
        (int | float, "1.5", 1.5),
        (int | str, "5", 5),
        (int | str, "five", "five"),
        (bool, "true", True),
        (bool, "False", False),
        (str, " verbatim, ", " verbatim, "),
        (str, "true", "true"),
        (str, '"a"', '"a"'),
        (str, "none", "none"),
        (str | None, "none", None),
        (int | None, "none", None),
        (int | None, "7", 7),
        (Path, "a b", Path("a b")),
        (str | Path | None, "a,b", "a,b"),
        (Literal["min", "max"], "min", "min"),
        (Literal[1, 2], "2", 2),
        (Literal["\u00e4", 'a"b'], "\u00e4", "\u00e4"),
        (Literal["\u00e4", 'a"b'], 'a"b', 'a"b'),
        (Literal[True, "auto"], "true", True),
        (Literal["code", "signal"] | None, "none", None),
        (list[str], "a", ["a"]),
        (list[str], "a,b", ["a", "b"]),
        (list[str], "[a, b]", ["a", "b"]),
        (list[str], '["a,b", "c"]', ["a,b", "c"]),
        (list[str], "['a']", ["a"]),
        (list[str], "", []),
        (list[str], "[]", []),
        (list[int], "1,2", [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (list[list[int]], "[[1], [2]]", [[1], [2]]),
        (list[int | None], "[1, null]", [1, None]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (dict[str, int], "{a = 1}", {"a": 1}),
        (Any, "loss", "loss"),
        (Any, '["loss"]', ["loss"]),
        (Any, "[broken", "[broken"),
        (Tensors, "loss", "loss"),
        (Tensors, "loss,w", ["loss", "w"]),
        (Tensors, '["a,b"]', ["a,b"]),
        (Tensors, '{"l": "loss"}', {"l": "loss"}),
        (Inner, "{rate = 1}", Inner(1.0)),
    ],
)
def test_a_text_is_taken(annotation: object, text: str, wanted: object) -> None:
    assert same(parsed_text(annotation, text), wanted)


@pytest.mark.parametrize(
    ("annotation", "text", "says"),
    [
        (int, "1.0", 'is int, not "1.0" (str)'),
        (int, "", 'is int, not "" (str)'),
        (int, "\uff19", 'is int, not "\uff19" (str)'),
        (int, "9" * 5000, 'is int, not "999...'),
        (float, "much", 'is float, not "much" (str)'),
        (bool, "1", 'is true or false, not "1" (str)'),
        (bool, "flase", "is true or false, not \"flase\" (str); the nearest: 'false'"),
        (Literal["\u00e4"], "a", 'is "\u00e4", not "a" (str)'),
        (Literal["min", "max"], "MIN", 'is "min" or "max", not "MIN" (str); the nearest: \'min\''),
        (list[int], "1,a", ', item 2 is int, not "a" (str)'),
        (list[int], '[1, "2"]', ', item 2 is int, not "2" (str)'),
        (dict[str, int], "a=1", 'is a table of int, not "a=1" (str)'),
        (dict[str, int], "[1]", 'is a table of int, not "[1]" (str)'),
        (dict[str, int], "{a = 1}\nb = 2", "is a table of int, not ..."),
        (list[int], "[" * 100_000, ', item 1 is int, not "[[[...'),
    ],
)
def test_a_wrong_text_is_refused(annotation: object, text: str, says: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parsed_text(annotation, text)
    assert_says(caught.value, says)
    assert len(str(caught.value)) < 300
