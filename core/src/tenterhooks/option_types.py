"""The types of options, and what of them can be given outside of code."""

import collections.abc
import contextlib
import dataclasses
import functools
import inspect
import json
import os
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, Literal

__all__ = ["Kind", "describe", "fields_of", "kinds_of", "resolved", "word"]

_LISTS = (
    list,
    tuple,
    set,
    frozenset,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Set,
)
_TABLES = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_PATHS = (Path, PurePath, os.PathLike)
_ANY = (Any, object)


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One member of a type that can be given outside of code.

    Attributes:
        name: One of none, bool, int, float, str, path, literal, list, table, any.
        annotation: What a path, a literal, a list or a table is to be in the end.
        arguments: The values of a literal, the types of a list's items, the type of a table's values. Empty for a
            dataclass.
    """

    name: str
    annotation: Any = None
    arguments: tuple[Any, ...] = ()


def describe(annotation: object) -> str | None:
    """What may be given outside of code for a type, in words; None if nothing may."""
    words = list(dict.fromkeys(_words(kind) for kind in kinds_of(annotation)))
    # Of `Callable | None` nothing is left that would be worth giving.
    return None if words == ["none"] else " or ".join(words) or None


def kinds_of(annotation: Any) -> list[Kind]:
    """The members of a type that can be given outside of code."""
    for wrapped in ("__supertype__", "__value__"):  # A NewType, and a type alias.
        if hasattr(annotation, wrapped):
            return kinds_of(getattr(annotation, wrapped))
    if isinstance(annotation, dataclasses.InitVar):
        return kinds_of(annotation.type)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return kinds_of(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return [kind for member in arguments for kind in kinds_of(member)]
    if origin is Literal:
        given = tuple(value for value in arguments if value is None or type(value) in (bool, int, str))
        return [Kind("literal", annotation, given)] if given else []
    base = origin or annotation
    if annotation is None or annotation is type(None):
        return [Kind("none")]
    for simple in (bool, int, float, str):
        if annotation is simple:
            return [Kind(simple.__name__)]
    if any(base is path for path in _PATHS):
        return [Kind("path", PurePath if base is PurePath else Path)]
    if any(base is any_ for any_ in _ANY):
        return [Kind("any")]
    if any(base is each for each in _LISTS):
        items = arguments or (Any,)
        # One whose items cannot be given has nothing to be given either.
        return [Kind("list", base, items)] if all(item is ... or kinds_of(item) for item in items) else []
    if any(base is each for each in _TABLES):
        values = arguments[1] if arguments else Any
        keyed = not arguments or any(kind.name in ("str", "any") for kind in kinds_of(arguments[0]))
        return [Kind("table", base, (values,))] if keyed and kinds_of(values) else []
    if inspect.isclass(annotation) and dataclasses.is_dataclass(annotation):
        return [Kind("table", annotation)]
    return []


def _words(kind: Kind) -> str:
    if kind.name == "literal":
        return " or ".join(map(word, kind.arguments))
    if kind.name == "list":
        items = [describe(item) or "" for item in kind.arguments if item is not ...]
        return f"a list of {items[0]}" if len(items) == 1 else f"a list of {len(items)}: {', '.join(items)}"
    if kind.name == "table" and kind.arguments:
        return f"a table of {describe(kind.arguments[0])}"
    if kind.name == "table":
        return f"a table ({', '.join(fields_of(kind.annotation))})"
    return {"bool": "true or false", "any": "any value", "path": "a path"}.get(kind.name, kind.name)


def word(literal: object) -> str:
    """A value of a `Literal` as it is written in a file."""
    return "none" if literal is None else json.dumps(literal, ensure_ascii=False)


def fields_of(dataclass: Any) -> dict[str, inspect.Parameter]:
    """What a dataclass is made with, by name, with types that are resolved."""
    parameters = inspect.signature(dataclass).parameters.values()
    return {
        p.name: p.replace(annotation=resolved(p.annotation, dataclass))
        for p in parameters
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }


def resolved(annotation: Any, factory: Callable[..., object]) -> object:
    """A type that is a string or has some in it, where their names are known to the factory's module; else as it is."""
    if not isinstance(annotation, str) and not typing.get_args(annotation):
        return annotation
    while isinstance(factory, functools.partial):
        factory = factory.func
    function = inspect.unwrap(factory.__init__ if inspect.isclass(factory) else factory)
    names = getattr(function, "__globals__", {})
    if "__name__" not in names or names["__name__"] != factory.__module__:
        names = {**vars(sys.modules.get(factory.__module__, types)), **names}
    # Whatever is in it: names that are imported for type checkers only, or what this Python cannot evaluate.
    with contextlib.suppress(Exception):
        found = eval(annotation, dict(names)) if isinstance(annotation, str) else annotation
        if not typing.get_args(found):
            return found
        holder = types.SimpleNamespace(__annotations__={"": found})
        return typing.get_type_hints(holder, dict(names), include_extras=True)[""]
    return annotation
