"""Sessions that save to memory: without a plugin that writes checkpoints."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.open_graph import OpenGraph
from tenterhooks.testing import MemorySaver


class Saves(th.SessionRunHook):
    """Saves at every second step."""

    saves_state = True

    def __init__(self, saver: MemorySaver) -> None:
        self._saver = saver

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        session = run_context.session
        if session.global_step % 2 == 0:
            assert session.hook.before_save(session=session, step=session.global_step) == []
            self._saver.save(session.state_dict(), step=session.global_step)


@pytest.fixture
def open_session() -> Callable[..., th.MonitoredSession]:
    """Opens a session in a folder, restored from what an earlier one of the test has saved there."""
    savers: dict[Path, MemorySaver] = {}

    def opened(
        folder: Path, *hooks: object, graph: th.Graph | None = None, state: Mapping[str, Any] | None = None
    ) -> th.MonitoredSession:
        saver = savers.setdefault(folder, MemorySaver())
        creator = th.ChiefSessionCreator(graph or OpenGraph(state), folder, saver=saver)
        return th.MonitoredSession(creator, [*hooks, Saves(saver)], sleep=lambda secs: None)

    return opened
