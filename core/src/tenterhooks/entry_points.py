"""The entry points of what is installed, read so that one broken distribution hides no other."""

import functools
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

__all__ = ["by_group", "entry_points", "groups", "is_distribution"]

_log = logging.getLogger(__name__)


def entry_points(**wanted: str) -> "Iterable[EntryPoint]":
    """The entry points of installed distributions, but for those of one whose list of them cannot be read.

    Args:
        wanted: What they are to have, such as `group`; nothing for all.
    """
    # Imported late: it takes longer than everything else here together.
    import importlib_metadata

    try:
        found: Iterable[EntryPoint] = importlib_metadata.entry_points(**wanted)
    except Exception:
        # Some distribution is broken: it is found by reading them one by one.
        return _one_by_one(importlib_metadata.distributions(), wanted)
    return found


@functools.cache
def by_group() -> "Mapping[str, Sequence[EntryPoint]]":
    """All of them; read once per process, since to read those of one group takes as long."""
    found: dict[str, list[EntryPoint]] = {}
    for entry_point in entry_points():
        found.setdefault(entry_point.group, []).append(entry_point)
    return found


def groups() -> tuple[str, ...]:
    """All groups of entry points whose names begin as those of tenterhooks do, sorted."""
    return tuple(sorted({e.group for e in entry_points() if e.group.startswith("tenterhooks.")}))


def is_distribution(name: str) -> bool:
    """Whether a distribution of this name is installed, whatever it offers."""
    import importlib_metadata

    try:
        return importlib_metadata.distribution(name).name is not None
    # No name of one at all is a ValueError, and one that is broken may raise anything.
    except Exception:
        return False


def _one_by_one(distributions: Iterable[Any], wanted: dict[str, str]) -> "list[EntryPoint]":
    found, seen = [], set()
    for distribution in distributions:
        try:
            # As elsewhere on the path, the first of a name hides the others.
            if distribution.name not in seen:
                seen.add(distribution.name)
                found += distribution.entry_points.select(**wanted)
        except Exception as error:
            place = distribution.locate_file("")
            _log.warning("the plugins of %s in %s cannot be read: %r", distribution, place, error)
    return found
