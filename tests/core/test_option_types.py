"""Which types of options can be given outside of code, and how they are told."""

import enum
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NewType, Optional

import pytest

import tenterhooks as th
from tenterhooks.option_types import describe, fields_of, resolved, word

if TYPE_CHECKING:
    from decimal import Decimal

Steps = NewType("Steps", int)


class Mode(enum.Enum):
    FAST = enum.auto()


@dataclass
class Branch:
    """Holds more of its kind."""

    name: "str"
    price: "Decimal | None" = None
    inner: "list[Branch] | None" = None


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "int"),
        (bool | None, "true or false or none"),
        (str | Path, "str or a path"),
        (Literal["min", 1, True], '"min" or 1 or true'),
        (Literal["min"] | None, '"min" or none'),
        (list[int | None], "a list of int or none"),
        (Iterable[th.Node | str], "a list of str"),
        (tuple[int, str], "a list of 2: int, str"),
        (tuple[int, ...], "a list of int"),
        (dict[str, float], "a table of float"),
        (dict, "a table of any value"),
        (Branch, "a table (name, price, inner)"),
        (list[Branch], "a list of a table (name, price, inner)"),
        (Any, "any value"),
        (Steps, "int"),
        (int | Callable[[], int], "int"),
        (None, None),
    ],
)
def test_what_is_allowed_reads_well(annotation: object, words: str | None) -> None:
    assert describe(annotation) == words


@pytest.mark.parametrize(
    "annotation",
    [
        Callable[[], int],
        th.Saver | None,
        list[th.Node],
        dict[str, th.Node],
        dict[int, str],
        "Unknown",
        th.Node,
        complex,
        Literal[b"raw", Mode.FAST],
    ],
)
def test_nothing_can_be_given_for_other_types(annotation: object) -> None:
    assert describe(annotation) is None


def test_a_field_of_a_dataclass_has_its_type_where_that_is_known() -> None:
    found = {name: field.annotation for name, field in fields_of(Branch).items()}
    assert found == {"name": str, "price": "Decimal | None", "inner": list[Branch] | None}


class TestResolved:
    def test_the_names_are_those_of_the_module_of_the_factory(self) -> None:
        assert resolved("Steps", Branch) is Steps
        assert resolved("Steps", functools.partial(functools.partial(Branch))) is Steps
        assert resolved("Steps", th.Graph) == "Steps"

    def test_a_name_within_a_type_is_resolved_too(self) -> None:
        assert resolved(Optional["Branch"], Branch) == Branch | None
        assert resolved("list['Branch']", Branch) == list[Branch]
        assert resolved(Literal["Branch"], Branch) == Literal["Branch"]
        assert resolved(Optional["Nowhere"], Branch) == Optional["Nowhere"]  # noqa: F821

    def test_a_class_that_inherits_its_constructor_is_known_too(self) -> None:
        class Child(th.SecondOrStepTimer): ...

        assert resolved("Steps", Child) is Steps

    @pytest.mark.parametrize("annotation", ["1 +", "Nowhere", "1 / 0"])
    def test_what_cannot_be_evaluated_stays_as_it_is(self, annotation: str) -> None:
        assert resolved(annotation, Branch) == annotation


def test_a_value_of_a_literal_is_told_as_a_file_has_it() -> None:
    assert [word(value) for value in ("a", 1, False, None)] == ['"a"', "1", "false", "none"]
