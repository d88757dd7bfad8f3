"""Distributions that a test installs for itself: a module, and the metadata with its entry points."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tenterhooks import plugins

__all__ = ["Install"]


class Install:
    """Installs distributions into folders of their own, before all others on the path.

    One that is named as another that is installed stands in its place.

    Args:
        folder: Where the folders go.
        monkeypatch: Undoes it after the test.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._modules: set[str] = set()
        self._count = 0

    def __call__(
        self,
        distribution: str,
        entry_points: Mapping[str, str],
        *,
        group: str = plugins.HOOKS_GROUP,
        more_groups: Mapping[str, Mapping[str, str]] | None = None,
        version: str = "1.0",
        **modules: str,
    ) -> None:
        """Install one.

        Args:
            distribution: Its name.
            entry_points: "module:attribute" by name.
            group: The group of the entry points.
            more_groups: Entry points of other groups, by group.
            version: Its version.
            modules: The source of its modules, by name.
        """
        self._count += 1
        place = self._folder / f"installed-{self._count}"
        metadata = place / f"{distribution.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8"
        )
        lines = []
        for header, entries in {group: entry_points, **(more_groups or {})}.items():
            lines += [f"[{header}]", *(f"{name} = {target}" for name, target in entries.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
        for name, source in modules.items():
            (place / f"{name}.py").write_text(source, "utf-8")
            self._modules.add(name)
        self._monkeypatch.syspath_prepend(place)
        plugins.refresh()

    def forget(self) -> None:
        """Leave nothing of it in this process."""
        for name in self._modules:
            sys.modules.pop(name, None)
        plugins.refresh()
