"""The calls of a stage: whose is being made, from what is left of them."""

from tenterhooks.adapters import Adapter
from tenterhooks.calls import Calls
from tenterhooks.stop import StopRequests


def test_it_is_known_whose_call_is_being_made() -> None:
    adapters = [Adapter(object(), name, name, {}, StopRequests()) for name in "abc"]
    seen: list[Adapter | None] = []
    calls = Calls(adapters, [lambda: seen.append(calls.current)] * 3)
    assert calls.current is None
    calls.left = iter(calls.functions)
    assert (calls.current, calls.place) == (None, -1)
    for call in calls.left:
        call()
    assert seen == list(adapters)


def test_where_one_fails_it_stays_known() -> None:
    adapters = [Adapter(object(), name, name, {}, StopRequests()) for name in "ab"]
    calls = Calls(adapters, [int, lambda: int("one")])
    calls.left = iter(calls.functions)
    try:
        for call in calls.left:
            call()
    except ValueError:
        assert calls.current is adapters[1]
    else:
        raise AssertionError("it did not fail")


def test_without_calls_none_is_being_made() -> None:
    calls = Calls([], [])
    calls.left = iter(calls.functions)
    assert calls.current is None
