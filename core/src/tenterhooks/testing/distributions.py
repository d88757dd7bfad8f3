"""Fake distributions: modules, and the metadata with their entry points, as an installation leaves them."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tenterhooks import plugins

__all__ = ["FakeDistributions"]


class FakeDistributions:
    r"""Installs distributions into folders of their own, before all others on the path, until the block is over.

    One that is named as another that is installed stands in its place. What is installed is read anew after each, and
    when all are gone.

    Args:
        folder: Where the folders go.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tenterhooks as th
        >>> source = "import tenterhooks as th\n\n\nclass Quiet(th.SessionRunHook):\n    name = 'quiet'\n"
        >>> with tempfile.TemporaryDirectory() as folder, FakeDistributions(Path(folder)) as install:
        ...     install("tenterhooks-quiet", {"quiet": "quiet_hook:Quiet"}, quiet_hook=source)
        ...     th.make_hook("quiet").name
        'quiet'
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: set[str] = set()
        self._places: list[str] = []

    def __call__(
        self,
        distribution: str,
        entry_points: Mapping[str, str],
        *,
        group: str = plugins.HOOKS_GROUP,
        more_groups: Mapping[str, Mapping[str, str]] | None = None,
        version: str = "1.0",
        metadata: str | None = None,
        **modules: str,
    ) -> None:
        """Install one.

        Args:
            distribution: Its name.
            entry_points: "module:attribute" by name.
            group: The group of the entry points.
            more_groups: Entry points of other groups, by group.
            version: Its version.
            metadata: The text of its METADATA; by default its name and version, as they have to be.
            modules: The source of its modules, by name.
        """
        place = self._folder / f"installed-{len(self._places) + 1}"
        info = place / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, "utf-8")
        lines = []
        for header, entries in {group: entry_points, **(more_groups or {})}.items():
            lines += [f"[{header}]", *(f"{name} = {target}" for name, target in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
        for name, source in modules.items():
            (place / f"{name}.py").write_text(source, "utf-8")
            self._modules.add(name)
        self._places.append(str(place))
        sys.path.insert(0, str(place))
        _read_anew()

    def __enter__(self) -> Self:
        _read_anew()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Leave nothing of them in this process. The files stay."""
        for place in self._places:
            if place in sys.path:
                sys.path.remove(place)
        for name in self._modules:
            sys.modules.pop(name, None)
        _read_anew()


def _read_anew() -> None:
    # Python's finders remember what a folder held.
    importlib.invalidate_caches()
    plugins.refresh()
