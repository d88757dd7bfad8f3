"""Fixtures of the command's tests."""

from pathlib import Path

import pytest

from .commands import GUARD, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder in which a hook `guard` is installed, for other processes."""
    place = tmp_path / "installed"
    write(place, "tenterhooks-guard", {"tenterhooks.hooks": {"guard": "fake_guard:GuardHook"}}, fake_guard=GUARD)
    return place
