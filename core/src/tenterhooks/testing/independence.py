"""The rule that two sessions share nothing: hooks in sessions that take turns do what each does alone."""

import copy
from collections import deque
from collections.abc import Iterator, MutableMapping, MutableSequence, MutableSet
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks.testing.resuming import alone
from tenterhooks.testing.stories import Story, Teller
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock
from tenterhooks.testing.watching import plain

__all__ = ["share_nothing"]

_MUTABLE = (MutableMapping, MutableSequence, MutableSet, bytearray, deque, np.ndarray)


def share_nothing(subject: Subject, folder: Path) -> str | None:
    """Two hooks in two sessions that take turns do what each does alone, and no class keeps what a session did.

    Raises:
        AssertionError: They do not.
    """
    for loop, where in subject.places():
        wanted = alone(subject, loop, where, folder / loop / "alone").story
        clocks = [ManualClock(), ManualClock()]
        places = [folder / loop / name for name in ("first", "second")]
        hooks = [subject.hook(place, clock) for place, clock in zip(places, clocks, strict=True)]
        before = dict(_kept_by_both(*hooks))
        tellers = [
            Teller(subject, hook, loop, place, clock)
            for hook, place, clock in zip(hooks, places, clocks, strict=True)
        ]  # fmt: skip
        stories = _in_turns(tellers, where)
        after = dict(_kept_by_both(*hooks))
        changed = [name for name in before | after if before.get(name) != after.get(name)]
        if changed:
            raise AssertionError(
                f"in {where} sessions change what all hooks of the kind have in common: {', '.join(changed)}. Keep it "
                "in the object: assign it in __init__ or in begin"
            )
        for which, story in zip(("first", "second"), stories, strict=True):
            found = story.differences(wanted)
            if found:
                raise AssertionError(
                    f"in {where} that takes turns with another one, the {which} of two hooks does otherwise than one "
                    f"alone: {'; '.join(found[:3])}. Keep in the object what belongs to its session"
                )
    return None


def _in_turns(tellers: list[Teller], where: str) -> list[Story]:
    first, second = tellers
    try:
        with first.fake:
            first.begin()
            # One step ahead, so that what one does at a step is not what the other does.
            first.step()
            with second.fake:
                second.begin()
                while first.goes_on or second.goes_on:
                    for teller in (second, first):
                        if teller.goes_on:
                            teller.step()
            second.end()
        first.end()
    except Exception as error:
        raise AssertionError(
            f"in {where} that takes turns with another one, it raises {type(error).__name__}: {error}; one alone does "
            "not. Keep in the object what belongs to its session"
        ) from error
    return [first.story, second.story]


def _kept_by_both(first: object, second: object) -> Iterator[tuple[str, Any]]:
    """What two hooks have in common and a session may change: by where it is, as it is now."""
    for cls in type(first).__mro__:
        if cls.__module__.partition(".")[0] not in ("builtins", "tenterhooks"):
            for name, value in vars(cls).items():
                if isinstance(value, (*_MUTABLE, bool, int, float, str, tuple, type(None))) and name[:2] != "__":
                    yield f"the class attribute {cls.__qualname__}.{name}", _copy(value)
    others = getattr(second, "__dict__", {})
    for name, value in getattr(first, "__dict__", {}).items():
        if isinstance(value, _MUTABLE) and others.get(name) is value:
            yield f"the attribute {name}, which is one object in both", _copy(value)


def _copy(value: Any) -> Any:
    try:
        return plain(copy.deepcopy(value))
    except Exception:
        # What cannot be copied is told by what it looks like.
        return repr(value)
