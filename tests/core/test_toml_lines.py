"""The lines of keys in TOML files, in all forms in which keys are written."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tenterhooks.toml_lines import TomlLines

# Each value that is a number is the line at which it stands.
FILE = '''# A comment with = and [brackets] in it.
title = 2  # [no.table]
"quoted.key" = 3
'single "one"' = 4
dotted.key = 5
dotted . "other key" = 6
hooks = [7, 7]
more = [  # = not a key
    9, # "a
    10,

    12, { a = 12, "b c" = 12, d.e = 12 },
    [13,
     14],
]
text = """a
b = 17
[c]
\\""" x = 1
""""
multi = \'\'\'
x = 22
\'\'\'
after = 24

[table] # comment
a = 27
b-c_d = 28

[ spaced . "x.y" . z ]
a = 31
inline = { a = 32, b = { c = 32 }, t = "} = {", l = [32, 32] }

[[array]]
[tool.tenterhooks]
hooks = [ 36,
    37
]
[tool.tenterhooks.nan]
date = 1979-05-27 07:32:00
float = 1.5
a = 42
"\\u0061bc" = 43
[tool]
b = 45
\t indented\t=\t46
quotes = [ """a"""", "b",
    48,
]
'''


def numbers(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], int]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif isinstance(value, int):
        yield path, value


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_each_key_and_item_has_its_line(ends: str) -> None:
    text = FILE.replace("\n", ends)
    wanted = dict(numbers(tomllib.loads(text)))
    lines = TomlLines(text)
    assert len(wanted) == 30
    assert {path: lines.of(path) for path in wanted} == wanted


def test_a_table_has_the_line_of_its_header() -> None:
    lines = TomlLines(FILE)
    tables: list[Any] = [
        ("table",),
        ("spaced", "x.y"),
        ("array",),
        ("tool", "tenterhooks"),
        ("tool", "tenterhooks", "nan"),
    ]
    assert [lines.of(path) for path in tables] == [26, 30, 34, 35, 39]


def test_a_table_that_is_only_dotted_has_the_line_of_its_first_key() -> None:
    assert TomlLines(FILE).of(["dotted"]) == 5


def test_what_has_no_line_of_its_own_has_that_of_what_it_stands_in() -> None:
    assert TomlLines(FILE).of(["table", "nothing"]) == 26
    assert TomlLines(FILE).of(["nothing"]) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing", "a = 1", "[a]", "a = []", "a = {}"])
def test_a_small_file_is_read_to_its_end(text: str) -> None:
    tomllib.loads(text)
    assert TomlLines(text).of(["a"]) == 1
