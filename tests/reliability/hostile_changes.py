"""Changes to a good file of a checkpoint that make it a hostile one."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from .hostile_values import DTYPES, FRAGMENTS, NAMES, SHAPES, TAGS, Raw, value

__all__ = ["mutated", "retyped", "scribbled"]


def mutated(document: Any, rng: random.Random) -> Any:
    """A copy of a JSON document with something else in one or more places."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        document = _with_another_part(document, rng, rng.randrange(1, 6))
    return document


def retyped(document: Any, rng: random.Random) -> Any:
    """A copy of a JSON document with another type of elements, or another shape, of one or more of its arrays."""
    document = copy.deepcopy(document)
    described = list(_with_key(document, "dtype"))
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(described)["dtype"] = rng.choice(DTYPES)
        if rng.random() < 0.3:
            rng.choice(described)["shape"] = rng.choice(SHAPES)
    return document


def _with_key(document: Any, key: str) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        if key in document:
            yield document
        for part in document.values():
            yield from _with_key(part, key)
    elif isinstance(document, list):
        for part in document:
            yield from _with_key(part, key)


def _with_another_part(document: Any, rng: random.Random, depth: int) -> Any:
    if depth == 0 or not document or not isinstance(document, dict | list):
        return rng.choice([value, _tagged])(rng)
    if isinstance(document, list):
        index = rng.randrange(len(document))
        part = _with_another_part(document[index], rng, depth - 1)
        return [*document[:index], part, *document[index + 1 :]]
    key = rng.choice(list(document))
    draw = rng.random()
    if draw < 0.06:
        return {other: part for other, part in document.items() if other != key}
    if draw < 0.12:
        return {**document, rng.choice([*NAMES, *TAGS]): value(rng)}
    if draw < 0.16:
        return {**document, Raw.twice(key): value(rng)}
    if key == "dtype" and draw < 0.9:
        return {**document, key: rng.choice(DTYPES)}
    if key == "shape" and draw < 0.9:
        return {**document, key: rng.choice(SHAPES)}
    return {**document, key: _with_another_part(document[key], rng, depth - 1)}


def _tagged(rng: random.Random) -> Any:
    tag = rng.choice(TAGS)
    if tag == "$array":
        array = rng.choice(["variables/w", "variables/complex", "variables/empty", "variables/fields", *NAMES])
        return {tag: array, "dtype": rng.choice(DTYPES), "shape": rng.choice(SHAPES)}
    if tag == "$scalar":
        content = rng.choice(["", "AAAA", "AAAAAAAAAAA=", "/////w==", "=", value(rng)])
        return {tag: {"dtype": rng.choice(DTYPES), "bytes": content}}
    if tag == "$dict":
        return {tag: [[rng.choice([value, _tagged])(rng), value(rng)] for _ in range(rng.choice([1, 2, 20]))]}
    return {tag: rng.choice(["ff" * 8, "f" * 5000, "7ff0000000000000", "eda080", "-1", [1, [2]], value(rng)])}


def scribbled(content: bytes, rng: random.Random, *, within: int | None = None) -> bytes:
    """Bytes that are changed in a few places."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
        limit = min(len(changed), within or len(changed)) or 1
        place = rng.randrange(limit)
        draw = rng.random()
        if draw < 0.25:
            changed[place : place + 1] = bytes([rng.randrange(256)])
        elif draw < 0.5:
            fragment = rng.choice(FRAGMENTS)
            changed[place : place + rng.choice([0, len(fragment)])] = fragment
        elif draw < 0.75:
            del changed[place : place + rng.randrange(1, 40)]
        else:
            start = rng.randrange(limit)
            changed[place:place] = changed[start : start + rng.randrange(1, 60)]
    return bytes(changed)
