"""The file that names hooks: `tenterhooks.toml`, or the table `[tool.tenterhooks]` of `pyproject.toml`."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenterhooks.configuration import Named, Setting, Source
from tenterhooks.errors import ConfigurationError, nearest
from tenterhooks.names import fold

if TYPE_CHECKING:
    from tenterhooks.toml_lines import TomlLines

__all__ = ["find_file", "read_file"]

_OWN = "tenterhooks.toml"
_SHARED = "pyproject.toml"
_LISTS = ("hooks", "disable")


def find_file() -> Path | None:
    """The file that holds: that of the working directory, or of the nearest folder above it that has one.

    In one folder `tenterhooks.toml` goes before `pyproject.toml`, which counts if it has a table `[tool.tenterhooks]`.

    Raises:
        ConfigurationError: A file that may be it cannot be read, or is no TOML.
    """
    found = _find()
    return None if found is None else found[0]


def read_file() -> Source:
    """What the file says, if there is one.

    Raises:
        ConfigurationError: It cannot be read, is no TOML, or says what is not understood.
    """
    found = _find()
    return Source() if found is None else _File(*found).source()


# How a file may begin to speak of this package's table. Most files of that name do not, and reading them takes a while.
_MENTION = re.compile(r"""\btool\b["']?\s*(?:\.\s*["']?tenterhooks|\]|=)""")


def _find() -> tuple[Path, str, dict[str, Any]] | None:
    try:
        folder = str(Path.cwd())
    except OSError:
        return None  # The working directory was deleted.
    above = None
    while folder != above:
        for name in (_OWN, _SHARED):
            # Not by way of `Path`, since this is done whenever a session is opened.
            if not os.path.isfile(os.path.join(folder, name)):  # noqa: PTH113, PTH118
                continue
            path = Path(folder, name)
            text = _text(path)
            if name == _OWN or _MENTION.search(text):
                content = _parsed(path, text)
                if name == _OWN or "tenterhooks" in _table_of(content, "tool"):
                    return path, text, content
        above, folder = folder, os.path.dirname(folder)  # noqa: PTH120
    return None


def _table_of(table: dict[str, Any], key: str) -> dict[str, Any]:
    inner = table.get(key)
    return inner if isinstance(inner, dict) else {}


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{_shown(path)} cannot be read: {error}", _shown(path)) from error
    try:
        # Some editors begin a file with a mark, which is no TOML.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if path.name == _SHARED and b"tenterhooks" not in content:
            return ""
        line = content.count(b"\n", 0, error.start) + 1
        where = f"{_shown(path)}:{line}"
        raise ConfigurationError(f"{where}: a TOML file is UTF-8, and this is not: {error}", where) from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    # Imported late: most programs have no such file.
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = found[1] if found else text.count("\n") + 1
        where = f"{_shown(path)}:{line}"
        raise ConfigurationError(f"{where}: this is no TOML: {error}", where) from error


def _shown(path: Path) -> str:
    """A file in messages: its name alone if it is in the working directory."""
    return path.name if path.parent == Path.cwd() else str(path)


class _File:
    """One file, and where in it everything stands."""

    def __init__(self, path: Path, text: str, content: dict[str, Any]) -> None:
        self._path = path
        self._text = text
        self._content = content
        self._prefix = () if path.name == _OWN else ("tool", "tenterhooks")
        self._lines: TomlLines | None = None

    def source(self) -> Source:
        table: Any = self._content
        for key in self._prefix:
            table = table[key]
        if not isinstance(table, dict):
            raise self._error((), f"[tool.tenterhooks] is a table, not {_given(table)}")
        settings: list[Setting] = []
        for key, value in table.items():
            if key not in _LISTS:
                settings += self._settings(key, value, [other for other in table if other not in _LISTS])
        return Source(self._names(table, "hooks"), tuple(settings), self._names(table, "disable"))

    def _where(self, path: Sequence[str | int]) -> str:
        if self._lines is None:
            # Imported late: it is of use here and nowhere else.
            from tenterhooks.toml_lines import TomlLines

            self._lines = TomlLines(self._text)
        return f"{_shown(self._path)}:{self._lines.of((*self._prefix, *path))}"

    def _error(self, path: Sequence[str | int], message: str) -> ConfigurationError:
        where = self._where(path)
        return ConfigurationError(f"{where}: {message}", where)

    def _names(self, table: dict[str, Any], key: str) -> tuple[Named, ...]:
        names = table.get(key, [])
        if not isinstance(names, list):
            example = json.dumps([names if isinstance(names, str) else "nan"])
            raise self._error([key], f"{key} is a list of short names, such as {key} = {example}, not {_given(names)}")
        for place, name in enumerate(names):
            if not isinstance(name, str):
                raise self._error(
                    [key, place],
                    f"{key} is a list of short names, and {_given(name)} is none; options stand in a table [NAME]",
                )
        return tuple(Named(name, self._where([key, place])) for place, name in enumerate(names))

    def _settings(self, key: str, value: Any, tables: Iterable[str]) -> list[Setting]:
        if key == "tool" and not self._prefix:
            raise self._error(
                [key], f"in {_OWN} everything stands at the top: [nan] in place of [tool.tenterhooks.nan]"
            )
        if not isinstance(value, dict):
            near = nearest(key, _LISTS)
            raise self._error(
                [key],
                f"there is no setting {key!r}{near if 'nearest' in near else ''}; "
                "there are hooks and disable, which are lists, and a table of options for each hook",
            )
        self._check_twice([], key, tables)
        for option in value:
            self._check_twice([key], option, value)
        return [Setting(key, option, item, False, self._where([key, option])) for option, item in value.items()]

    def _check_twice(self, path: list[str], key: str, keys: Iterable[str]) -> None:
        """See that no other key means the same, written in another way."""
        for other in keys:
            if other != key and fold(other) == fold(key):
                raise self._error(
                    [*path, key],
                    f"{key!r} and {other!r} (line {self._where([*path, other]).rpartition(':')[2]}) "
                    "mean the same: keep one of them",
                )


def _given(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)[:100]
