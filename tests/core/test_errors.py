"""The errors, and the nearest right word in their messages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.errors import nearest, note


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (th.AbortedError, Exception),
        (th.CheckpointError, RuntimeError),
        (th.DeadlineExceededError, Exception),
        (th.HookError, TypeError),
        (th.OutOfRangeError, Exception),
        (th.PluginError, RuntimeError),
        (th.UnavailableError, Exception),
        (th.UnknownNameError, KeyError),
    ],
)
def test_an_error_is_caught_by_the_base_that_it_is_documented_with(
    error: type[Exception], base: type[Exception]
) -> None:
    assert error.__bases__ == (base,)


def test_an_unknown_name_shows_its_message_without_the_quotes_of_a_key_error() -> None:
    assert str(th.UnknownNameError("no node is named 'x'")) == "no node is named 'x'"


def test_an_unknown_name_without_a_message_can_be_shown() -> None:
    assert str(th.UnknownNameError()) == ""


def test_a_hook_error_carries_the_object() -> None:
    hook = object()
    error = th.HookError("it is none", hook)
    assert error.hook is hook
    assert str(error) == "it is none"


def test_the_nearest_words_are_named_best_first() -> None:
    known = ["images", "labels", "loss", "logits", "loss/mean"]
    assert nearest("los", known).startswith("; the nearest: 'loss'")


def test_at_most_three_words_are_near() -> None:
    assert nearest("w", [f"w{number}" for number in range(9)]).count("'") == 6


def test_where_none_is_near_and_there_are_few_all_are_named_in_order() -> None:
    assert nearest("xyz", ["b", "a"]) == "; there are: 'a', 'b'"


def test_where_none_is_near_and_there_are_many_their_range_is_named() -> None:
    assert nearest("xyz", [f"name{number:02}" for number in range(40)]) == "; there are 40, from 'name00' to 'name39'"


def test_where_nothing_is_known_that_is_said() -> None:
    assert nearest("x", []) == "; there are none"


@given(st.text(), st.lists(st.text(), max_size=30))
def test_a_clause_is_given_for_any_word(word: str, known: list[str]) -> None:
    assert nearest(word, known).startswith("; the")


@given(st.text(min_size=1), st.sets(st.text(min_size=1), max_size=10))
def test_a_word_that_is_known_is_its_own_nearest(word: str, known: set[str]) -> None:
    assert nearest(word, {*known, word}).startswith(f"; the nearest: {word!r}")


@dataclass(frozen=True)
class FrozenError(Exception):
    """Lets nothing be set on it, `__notes__` neither."""

    code: int = 3


class RefusingError(Exception):
    def add_note(self, note: str) -> None:
        raise RuntimeError("no notes")


class WithoutListError(Exception):
    __notes__ = None  # type: ignore[assignment]


class OpaqueError(Exception):
    def __getattribute__(self, name: str) -> object:
        raise RuntimeError("nothing to see")


@pytest.mark.parametrize(
    "error", [ValueError("x"), FrozenError(), RefusingError(), WithoutListError()], ids=lambda e: type(e).__name__
)
def test_notes_are_added_in_order_to_errors_that_refuse_them_too(error: Exception) -> None:
    note(error, "first")
    note(error, "second")
    assert error.__notes__ == ["first", "second"]


def test_a_note_that_is_there_is_not_added_again() -> None:
    error = ValueError("x")
    for text in ["same", "other", "same"]:
        note(error, text)
    assert error.__notes__ == ["same", "other"]


def test_an_error_that_takes_no_note_in_any_way_goes_without() -> None:
    error = OpaqueError()
    note(error, "first")
    assert type(error) is OpaqueError


def raising(error: Exception) -> Callable[[], Any]:
    def function() -> Any:
        raise error

    return function


def test_the_programs_own_error_comes_out_whatever_it_refuses() -> None:
    error = FrozenError(7)

    def begun() -> th.Graph:
        graph = th.Graph()
        graph.tensor(raising(error), name="tensor")
        graph.source("source", raising(error))
        return graph

    for fetched in ("tensor", "source"):
        with pytest.raises(FrozenError) as caught, th.Session(begun()) as session:
            session.run(fetched)
        assert caught.value is error
    graph = th.Graph()
    graph.variable("variable", raising(error))
    with pytest.raises(FrozenError) as caught:
        th.Session(graph)
    assert caught.value is error
