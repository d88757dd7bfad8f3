"""Fixtures for tests of hooks, for pytest: `pytest -p tenterhooks.testing.pytest_plugin`, or in a `conftest.py`.

pytest_plugins = ["tenterhooks.testing.pytest_plugin"]
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenterhooks.testing import FakeDistributions, ManualClock, MemorySaver, Outcome, Recorder
from tenterhooks.testing import run_hooks as run

__all__ = ["distributions", "manual_clock", "memory_saver", "recorder", "run_hooks"]


@pytest.fixture
def manual_clock() -> ManualClock:
    """A clock that stands still until somebody moves it: `run_hooks(..., clock=manual_clock)`."""
    return ManualClock()


@pytest.fixture
def memory_saver() -> MemorySaver:
    """Checkpoints in memory: `run_hooks(..., saver=memory_saver)`, twice to resume."""
    return MemorySaver()


@pytest.fixture
def recorder() -> Recorder:
    """A hook that notes its calls."""
    return Recorder()


@pytest.fixture
def run_hooks() -> Callable[..., Outcome]:
    """The function `tenterhooks.testing.run_hooks`."""
    return run


@pytest.fixture
def distributions(tmp_path: Path) -> Iterator[FakeDistributions]:
    """Installs fake distributions for the time of the test."""
    with FakeDistributions(tmp_path / "distributions") as install:
        yield install
