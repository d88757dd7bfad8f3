"""Where a source stood, as a checkpoint says it: whether it is of this source, and whether it was met exactly."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenterhooks.generators import all_generators, kind, misfit, same

__all__ = ["Wound", "is_exact", "mismatches"]


@dataclass(frozen=True, slots=True)
class Wound:
    """How a source was wound forward.

    Attributes:
        items: By how many items.
        exact: Whether these are the items of the time before, as far as random generators tell: no other drew from
            those that the source draws from.
    """

    items: int
    exact: bool


def mismatches(source: str, variables: Mapping[str, Any], state: Any) -> Iterator[str]:
    """Say what of a saved state is none of a source; nothing where it is one.

    Args:
        source: The name of the source.
        variables: The session's variables.
        state: What `SourceReader.state_dict` gave.
    """
    path = f"sources/{source}"
    if not isinstance(state, dict) or type(state.get("drawn")) is not int or state["drawn"] < 0:
        yield f"{path}: no number of items in the checkpoint"
        return
    generators = dict(all_generators(variables))
    for part in ("begun_with", "looked_with", "left_with"):
        states = state.get(part, None if part == "begun_with" else {})
        if not isinstance(states, dict):
            yield f"{path}: no states of generators in the checkpoint ({part})"
            continue
        for place, saved in states.items():
            fault = misfit(generators[place], saved) if place in generators else None
            if fault is not None:
                yield f"{path}: {place} is {kind(generators[place])} here, {fault} in the checkpoint ({part})"


def is_exact(
    begun_with: Mapping[str, Any],
    after_first: Mapping[str, Any],
    at_end: Mapping[str, Any],
    known: Mapping[str, Any],
    left_with: Mapping[str, Any],
) -> bool:
    """Whether a source that was wound forward gave the items of the time before, as far as random generators tell.

    Args:
        begun_with: The states of the generators when it was begun now, by their places.
        after_first: Those after its first item; empty where it gave none.
        at_end: Those after its last item.
        known: Those of the time before when it was begun, as far as they are known.
        left_with: Those of the time before at the checkpoint, as far as they are known.
    """
    for place, state in at_end.items():
        if place not in known:
            if not same(state, begun_with[place]):
                return False
        # What it draws for its first item it draws at once when it is begun: others cannot come between.
        elif after_first and not same(state, after_first[place]) and not same(state, left_with.get(place)):
            return False
    return True
