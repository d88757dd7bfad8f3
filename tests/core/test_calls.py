"""The calls of a stage: whose is being made, from how far a loop over them has come."""

from collections.abc import Callable

import pytest

from tenterhooks.adapters import Adapter
from tenterhooks.calls import Calls, made_by, place_of
from tenterhooks.stop import StopRequests


def adapters(names: str) -> list[Adapter]:
    return [Adapter(object(), name, name, {}, StopRequests()) for name in names]


def test_it_is_known_whose_call_is_being_made() -> None:
    owners = adapters("abc")
    seen: list[tuple[Adapter | None, int]] = []

    def note() -> None:
        seen.append((made_by(calling), place_of(calling)))

    calls = Calls(owners, [note] * 3)
    calling = iter(calls)
    assert (made_by(calling), place_of(calling)) == (None, -1)
    for call in calling:
        call()
    assert seen == list(zip(owners, range(3), strict=True))
    assert made_by(calling) is None


def test_where_one_fails_it_stays_known() -> None:
    owners = adapters("ab")
    calls: Calls[Callable[[], object]] = Calls(owners, [int, lambda: int("one")])
    calling = iter(calls)
    with pytest.raises(ValueError, match="one"):
        for call in calling:
            call()
    assert made_by(calling) is owners[1]


def test_without_calls_none_is_being_made() -> None:
    calling = iter(Calls[object]([], []))
    assert made_by(calling) is None
    assert list(calling) == []
    assert made_by(calling) is None
