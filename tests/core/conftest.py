"""Fixtures of the core's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .distributions import Install


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Installs distributions for the time of the test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        installing = Install(tmp_path, monkeypatch)
        yield installing
    installing.forget()
