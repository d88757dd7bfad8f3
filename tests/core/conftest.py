"""Fixtures of the core's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenterhooks.testing import FakeDistributions as Install

from .configured import Project, install_fakes


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Installs distributions for the time of the test."""
    with Install(tmp_path) as installing:
        yield installing


@pytest.fixture
def project(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A working directory of the test's own, with plugins whose options are of many types."""
    install_fakes(install)
    return Project(tmp_path / "project", monkeypatch)
