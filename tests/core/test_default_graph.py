"""The default graph: which one it is, and that a block of it changes no error."""

import threading
from dataclasses import dataclass

import pytest

import tenterhooks as th


@dataclass(frozen=True)
class FrozenError(Exception):
    """Lets nothing be set on it."""

    code: int


def test_there_is_no_default_graph_outside_of_a_block() -> None:
    assert th.get_default_graph() is None
    with th.Graph().as_default() as graph:
        assert th.get_default_graph() is graph
    assert th.get_default_graph() is None


def test_the_innermost_default_graph_holds() -> None:
    inner, outer = th.Graph(), th.Graph()
    with outer.as_default():
        with inner.as_default():
            assert th.get_default_graph() is inner
        assert th.get_default_graph() is outer


def test_the_default_graph_ends_with_a_block_that_raised() -> None:
    with pytest.raises(KeyError), th.Graph().as_default():
        raise KeyError
    assert th.get_default_graph() is None


def test_the_default_graph_is_of_its_own_thread() -> None:
    seen: list[th.Graph | None] = []
    with th.Graph().as_default():
        thread = threading.Thread(target=lambda: seen.append(th.get_default_graph()))
        thread.start()
        thread.join(10)
    assert seen == [None]


def test_a_block_lets_an_error_through_that_cannot_be_changed() -> None:
    error = FrozenError(3)
    with pytest.raises(FrozenError) as caught, th.Graph().as_default():
        raise error
    assert caught.value is error
    assert th.get_default_graph() is None
