"""What nobody expects in the JSON of a checkpoint."""

import json
import random
from typing import Any

__all__ = ["DTYPES", "FRAGMENTS", "NAMES", "SHAPES", "TAGS", "Raw", "as_text", "value"]

_DEEP = 100_000


class Raw:
    """Text that stands in a document as it is, where `json.dumps` would not write it."""

    _TWICE = "@twice@"

    @classmethod
    def of(cls, text: str) -> str:
        """A value that `as_text` replaces by this text."""
        return f"@raw@{text}@raw@"

    @classmethod
    def twice(cls, key: str) -> str:
        """A key that `as_text` writes as this one, which is there already."""
        return f"{cls._TWICE}{key}"


def as_text(document: Any, *, indent: int | None = None) -> str:
    """A document as JSON, or nearly so."""
    parts = json.dumps(document, indent=indent, ensure_ascii=False).replace('"' + Raw._TWICE, '"').split("@raw@")
    # Those at odd places are raw, each between the quotes of what was a string.
    for index in range(1, len(parts), 2):
        parts[index] = json.loads(f'"{parts[index]}"')
        parts[index - 1] = parts[index - 1].removesuffix('"')
        if index + 1 < len(parts):
            parts[index + 1] = parts[index + 1].removeprefix('"')
    return "".join(parts)


def value(rng: random.Random) -> Any:
    """One value, of any type."""
    kind = rng.randrange(30)
    if kind == 0:  # These are large, so they are rare.
        return Raw.of(rng.choice(_LARGE))
    if kind < 10:
        return rng.choice(NAMES)
    if kind < 14:
        return rng.choice(SHAPES)
    if kind < 18:
        return rng.choice(DTYPES)
    return rng.choice(_VALUES)


NAMES = [
    "",
    ".",
    "..",
    "../../x",
    "../sentinel",
    "/etc/passwd",
    "/dev/zero",
    "C:\\x",
    "\0",
    "a\0b",
    "a" * 300,
    "a/" * 2000,
    "\ud800",
    "\x1b[31mred",
    "line\nend",
    "__metadata__",
    "__class__",
    "arrays.safetensors",
    "state.json",
    "manifest.json",
    "variables/w",
    "tenterhooks_canary",
    "os.system",
    "%s%n{0}",
    "-rf",
]
"""Names that lead elsewhere, or that something might take for more than a name."""

SHAPES: list[Any] = [
    [],
    [0],
    [1],
    [6],
    [2, 3],
    [-1],
    [-1, -6],
    [2**31],
    [2**63],
    [2**64],
    [10**400],
    [0, 2**62],
    [0, 2**63, 2**63],
    [2**32, 2**32],
    [2**21, 2**21, 2**21, 2],
    [1] * 32,
    [1] * 33,
    [1] * 65,
    [1] * 5000,
    [0] * 64,
    [True],
    [1.0],
    [None],
    ["6"],
    [[6]],
    None,
    6,
    "6",
    {"6": 6},
    "",
]

DTYPES: list[Any] = [
    *("<f4", ">f4", "|u1", "?", "<c16", "<c8", "<f2", "<g", "<M8[s]", "<M8[25s]", "<M8[25s/3]", "<m8", "<M8[x]"),
    *("O", "|O", "<O8", "object", "builtins.object", "V0", "|V24", "<U0", "<U6", "|S24", "|S0", "V2147483647"),
    *("V2147483648", "<U536870911", "S99999999999999999999", "f4,f4", "i4,O", "(2,3)f4", "(2,)O", "(1,,2)f4"),
    *("3f4", "(99999999999,)u1", "float", "int", "str", "bytes", "a3", "Float64", "", " ", ",", "\0", "\ud800"),
    *("é", "tenterhooks_canary", "bfloat16", "numpy.float32", "f" * 5000, "[", "{'names': ['a']}"),
    *(None, 0, -1, 1.5, True, [], ["<f4"], [["a", "<f4"]], {}, {"names": []}),
    {"names": [], "formats": [], "offsets": [], "itemsize": 0},
    {"names": [], "formats": [], "offsets": [], "itemsize": 24},
    {"names": ["a"], "formats": ["<f4"], "offsets": [0], "itemsize": 4},
    {"names": ["a"], "formats": ["<f4"], "offsets": [-4], "itemsize": 4},
    {"names": ["a"], "formats": ["<f4"], "offsets": [2**31], "itemsize": 24},
    {"names": ["a"], "formats": ["<f4"], "offsets": [2**64], "itemsize": 24},
    {"names": ["a"], "formats": ["<f4"], "offsets": ["0"], "itemsize": "4"},
    {"names": ["a"], "formats": ["O"], "offsets": [0], "itemsize": 8},
    {"names": ["a", "b"], "formats": ["<U1", "<i4"], "offsets": [0, 0], "itemsize": 4},
    {"names": ["a", "a"], "formats": ["<f4", "<f4"], "offsets": [0, 4], "itemsize": 8},
    {"names": ["a"], "formats": ["<f4"], "offsets": [0], "itemsize": 4, "titles": [["x"]]},
    {"names": ["a"], "formats": ["<f4"], "offsets": [0], "itemsize": 4, "titles": ["a"]},
    {"names": ["a"], "formats": ["<f4"], "offsets": [0], "itemsize": 4, "aligned": "x", "record": [1]},
    {"names": ["a"], "formats": ["<f4"], "offsets": [0], "itemsize": -1, "more": 1},
    {"names": ["\ud800"], "formats": ["<U6"], "offsets": [0], "itemsize": 24, "record": True},
    {"names": [0], "formats": ["<f4"], "offsets": [0], "itemsize": 4},
    {"names": "ab", "formats": ["<f4", "<f4"], "offsets": [0, 4], "itemsize": 8},
    {"base": "<f4", "shape": [6]},
    {"base": "<f4", "shape": [2, 3]},
    {"base": "<f4", "shape": []},
    {"base": "<f4", "shape": [0]},
    {"base": "<f4", "shape": 6},
    {"base": "<f4", "shape": "6"},
    {"base": "<f4", "shape": [-1]},
    {"base": "<f4", "shape": [2**31]},
    {"base": "u1", "shape": [2**64]},
    {"base": "u1", "shape": [1] * 65},
    {"base": "O", "shape": [1]},
    {"base": {"base": {"base": "<f4", "shape": [1]}, "shape": [1]}, "shape": [6]},
    {"base": None, "shape": None},
]

TAGS = [
    *("$array", "$bytes", "$dict", "$float", "$int", "$npbytes", "$npstr", "$ordered", "$scalar", "$str", "$tuple"),
    *("$", "$pickle", "$object", "$$dict", "$array "),
]

_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 20, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *([], {}, [[]], [{}], {"": {}}, [None] * 100, {"a": {"b": {"c": []}}}),
    *("x", "é", "\u202e", "2020-01-01T00:00:00+00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    *("9" * 5000, "xxh3_128", "crc32", "md5", "ff" * 16, "=", "AAAA", "AAA", "é" * 4),
    *map(Raw.of, ("NaN", "Infinity", "-Infinity", "1e999", "-0", "-", "01", "nul", "[", "]", "}", ",", "\\ud800")),
    *map(Raw.of, ('{"a":1,"a":2}', '{"$int":"1","$int":"2"}', "9" * 5000, "[" * 2000 + "]" * 2000, '"\\ud800"')),
]

_LARGE = [
    "[" * _DEEP + "]" * _DEEP,
    '{"a":' * _DEEP + "1" + "}" * _DEEP,
    '{"$tuple":[' * 900 + "]}" * 900,
    '{"$dict":[[1,' * 400 + "1" + "]]}" * 400,
    '{"base":' * 900 + '"<f4"' + ',"shape":[1]}' * 900,
    "[" + "[]," * _DEEP + "0]",
    '"' + "a" * (1 << 20) + '"',
    '{"$int":"' + "f" * (1 << 20) + '"}',
    "[" * _DEEP,
    '{"' + "a" * _DEEP + '":[' + "[]," * 9000 + "0]}",
]

FRAGMENTS = [
    *(b'"$array"', b'"$dict"', b'"$tuple"', b'"$scalar"', b'"$npstr"', b'"$float"', b'"$int"', b'"dtype"', b'"shape"'),
    *(b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\", b"null", b"true", b"0", b"-1", b"NaN", b"1e999", b"9" * 5000),
    *(b'"BF16"', b'"F8_E4M3"', b'"C64"', b'"U8"', b'"<U1"', b'"O"', b'"V8"', b'"M8[s]"', b'"names"', b'"base"'),
    *(b"[[[[[[", b'"\\ud800"', b"4611686018427387904", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"..", b"../../x"),
]
