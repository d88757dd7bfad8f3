"""What tests of loops of the program's own share: sessions of each kind, and a hook that asks for values."""

from collections.abc import Callable
from typing import Any

import pytest

import tenterhooks as th

__all__ = ["Ask", "Opened", "each_kind", "raw_of"]

Opened = Callable[..., Any]

each_kind = pytest.mark.parametrize(
    "opened", [th.MonitoredTrainingSession, th.MonitoredSession, th.SingularMonitoredSession], ids=lambda o: o.__name__
)


class Ask(th.SessionRunHook):
    """Asks for values in each pass, or where `when` says so, and notes (the step after the pass, the values).

    Args:
        fetches: What it asks for.
        feeds: What it feeds.
        when: Whether it asks, by the number of runs that were completed.
    """

    def __init__(
        self, fetches: Any = None, feeds: dict[str, Any] | None = None, when: Callable[[int], bool] = lambda runs: True
    ) -> None:
        self.seen: list[tuple[int, Any]] = []
        self._fetches = fetches
        self._feeds = feeds
        self._when = when

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs(self._fetches, self._feeds) if self._when(run_context.completed_runs) else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen.append((run_context.session.global_step, run_values.results))


def raw_of(session: Any) -> th.Session:
    raw = session.raw_session()
    assert isinstance(raw, th.Session)
    return raw
