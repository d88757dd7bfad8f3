"""At which line of a TOML file each key stands, which `tomllib` does not tell."""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

__all__ = ["TomlLines"]

_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<space>[ \t\r]+)"
    r"|(?P<mark>[\[\]{}=,.])"
    r"|(?P<bare>[^\s\[\]{}=,.#\"']+)",
    re.DOTALL,
)


class TomlLines:
    """The lines of a TOML file.

    Args:
        text: The whole file, which has been read as TOML already.
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str | int, ...], int] = {}
        self._tokens = [(match.lastgroup or "", match[0], match.start()) for match in _TOKEN.finditer(text)]
        self._text = text
        self._place = 0
        table: tuple[str | int, ...] = ()
        while self._skip("space", "newline", "comment"):
            if self._next() == "[":
                while self._next() == "[":
                    self._place += 1
                table = self._key(())
                self._go_to_line_end()
            else:
                path = self._key(table)
                self._place += 1  # The sign "=".
                self._value(path)

    def of(self, path: Sequence[str | int]) -> int:
        """The line of a key, or of what it stands in where it has none of its own.

        Args:
            path: The keys that lead to it, and numbers of items of a list, from 0.
        """
        whole = tuple(path)
        return next((self._lines[whole[:n]] for n in range(len(whole), 0, -1) if whole[:n] in self._lines), 1)

    def _next(self) -> str:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else ""

    def _skip(self, *kinds: str) -> bool:
        """Go past tokens of these kinds; whether any are left."""
        while self._place < len(self._tokens) and self._tokens[self._place][0] in kinds:
            self._place += 1
        return self._place < len(self._tokens)

    def _note(self, path: tuple[str | int, ...]) -> None:
        if self._place < len(self._tokens):
            self._lines.setdefault(path, self._text.count("\n", 0, self._tokens[self._place][2]) + 1)

    def _key(self, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Read a key, which may be of several parts, and note the line of each."""
        while self._skip("space"):
            kind, token, _ = self._tokens[self._place]
            if kind in ("string", "bare"):
                path = (*path, _unquoted(token) if kind == "string" else token)
                self._note(path)
            elif token != ".":
                break
            self._place += 1
        return path

    def _value(self, path: tuple[str | int, ...]) -> None:
        """Go past a value, and note the lines of the items of a list and of the keys of a table in it."""
        self._skip("space")
        opening = self._next()
        if opening not in ("[", "{"):
            while self._next() not in ("", "\n", ",", "]", "}"):
                self._place += 1
            return
        self._place += 1
        item = 0
        while self._skip("space", "newline", "comment") and self._next() not in ("]", "}"):
            if self._next() == ",":
                self._place += 1
            elif opening == "[":
                self._note((*path, item))
                self._value((*path, item))
                item += 1
            else:
                inner = self._key(path)
                self._place += 1
                self._value(inner)
        self._place += 1

    def _go_to_line_end(self) -> None:
        while self._next() not in ("", "\n"):
            self._place += 1


def _unquoted(token: str) -> str:
    value: Any = tomllib.loads(f"key = {token}")["key"]
    return str(value)
