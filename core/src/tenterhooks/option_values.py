"""How what is given for an option outside of code becomes a value of its type."""

import collections.abc
import contextlib
import json
from collections.abc import Callable
from typing import Any

from tenterhooks.errors import nearest
from tenterhooks.option_types import Kind, describe, fields_of, kinds_of, word

__all__ = ["RefusedError", "converted_value", "parsed_text"]

# In this order a text is tried as one: what takes any text comes last.
_TEXT_ORDER = {
    name: place
    for place, names in enumerate(["none", "bool", "int", "float", "literal", "table", "list", "any", "str path"])
    for name in names.split()
}


class RefusedError(Exception):
    """A value is not of the type; the message goes on after the name of the option."""


def converted_value(annotation: object, value: object) -> object:
    """A value of TOML in a type.

    Raises:
        RefusedError: It is not of that type.
    """
    kinds = kinds_of(annotation)
    for kind in kinds:
        if kind.name == "none" and isinstance(value, str) and value.lower() == "none":
            return None
    refusals = []
    # An int that may be a float or an int stays one.
    for kind in sorted(kinds, key=lambda kind: kind.name == "float" and not isinstance(value, float)):
        try:
            return _of_kind(kind, value)
        except RefusedError as refused:
            refusals.append(refused)
    raise _best(refusals, annotation, value)


def parsed_text(annotation: object, text: str) -> object:
    """A text in a type.

    Raises:
        RefusedError: It is not of that type.
    """
    kinds = sorted(kinds_of(annotation), key=lambda kind: _TEXT_ORDER[kind.name])
    # Of "loss" a list is made only where it cannot be meant as it is.
    as_it_is = any(kind.name in ("any", "str", "path") for kind in kinds)
    refusals = []
    for kind in kinds:
        try:
            return _from_text(kind, text, as_it_is)
        except RefusedError as refused:
            refusals.append(refused)
    raise _best(refusals, annotation, text)


def _best(refusals: list[RefusedError], annotation: object, value: object) -> RefusedError:
    """What is to be said where no member takes a value: of one within a list or table the exact place."""
    inner = [refused for refused in refusals if str(refused)]
    if len(inner) == 1:
        return inner[0]
    if (allowed := describe(annotation)) is None:
        return RefusedError(" can be given in code only")
    literals = [str(v) for kind in kinds_of(annotation) if kind.name == "literal" for v in kind.arguments]
    if any(kind.name == "bool" for kind in kinds_of(annotation)):
        literals += ["true", "false"]
    near = nearest(value.lower(), literals) if isinstance(value, str) and literals else ""
    given = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    type_name = {bool: "bool", str: "str", dict: "table"}.get(type(value), type(value).__name__)
    if isinstance(value, bool):
        given = given.lower()
    near = near if "nearest" in near else ""
    return RefusedError(f" is {allowed}, not {given:.200} ({type_name}){near}")


def _of_kind(kind: Kind, value: Any) -> object:
    """A value of TOML as one of this kind; it is not `none`."""
    match kind.name, value:
        case "any", _:
            return value
        case "none", None:  # Of JSON; TOML has none.
            return value
        case ("bool", bool()) | ("str", str()):
            return value
        case "int", int() if not isinstance(value, bool):
            return value
        case "float", int() | float() if not isinstance(value, bool):
            try:
                return float(value)
            except OverflowError:
                raise RefusedError from None
        case "path", str():
            return kind.annotation(value)
        case "literal", _:
            for allowed in kind.arguments:
                if type(allowed) is type(value) and allowed == value:
                    return value
            if value == "none" and None in kind.arguments:
                return None
        case "list", list():
            return _list(kind, value, converted_value)
        case "table", dict():
            return _table(kind, value)
    raise RefusedError


def _from_text(kind: Kind, text: str, as_it_is: bool) -> object:
    """A text as a value of this kind."""
    stripped = text.strip()
    match kind.name:
        case "str":
            return text
        case "path":
            return kind.annotation(text)
        case "any":
            values = _structure(stripped)
            return text if values is None else values
        case "none" if stripped.lower() == "none":
            return None
        case "bool" if stripped.lower() in ("true", "false"):
            return stripped.lower() == "true"
        case "int" | "float" if stripped.isascii():
            try:
                return int(stripped) if kind.name == "int" else float(stripped)
            except ValueError:
                raise RefusedError from None
        case "literal":
            for allowed in kind.arguments:
                if stripped == (allowed if isinstance(allowed, str) else word(allowed)):
                    return allowed
        case "table" if isinstance(values := _structure(stripped), dict):
            return _of_kind(kind, values)
        case "list" if isinstance(values := _structure(stripped), list):
            return _of_kind(kind, values)
        case "list" if "," in stripped or stripped[:1] == "[" or not as_it_is:
            items = stripped[1:-1] if stripped[:1] == "[" and stripped[-1:] == "]" else stripped
            return _list(kind, [item.strip() for item in items.split(",") if item.strip()], parsed_text)
    raise RefusedError


def _structure(text: str) -> Any:
    """What a text says in JSON or as a value of TOML, if it is a list or a table; else None."""
    if text[:1] not in ("[", "{"):
        return None
    # Imported late: most options are no lists.
    import tomllib

    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    with contextlib.suppress(ValueError, RecursionError):
        # One value, not lines of them.
        return None if "\n" in text else tomllib.loads(f"value = {text}")["value"]
    return None


def _list(kind: Kind, values: list[Any], convert: Callable[[Any, Any], object]) -> object:
    """A list, or what it stands for, of converted items."""
    types_of_items = kind.arguments
    if kind.annotation is tuple and types_of_items[1:] != (...,) and types_of_items != (Any,):
        if len(values) != len(types_of_items):
            raise RefusedError
    else:
        types_of_items = types_of_items[:1] * len(values)
    items = []
    for place, (annotation, value) in enumerate(zip(types_of_items, values, strict=True), 1):
        try:
            items.append(convert(annotation, value))
        except RefusedError as refused:
            raise RefusedError(f", item {place}{refused}") from None
    made = {tuple: tuple, set: set, frozenset: frozenset, collections.abc.Set: set}.get(kind.annotation, list)
    try:
        return made(items)
    except TypeError:
        raise RefusedError from None  # A set of what cannot be in one.


def _table(kind: Kind, value: dict[str, Any]) -> object:
    """A dict of converted values, or a dataclass of them."""
    fields = None if kind.arguments else fields_of(kind.annotation)
    converted = {}
    for key, item in value.items():
        if fields is not None and key not in fields:
            raise RefusedError(f" has no key {key!r}{nearest(key, fields)}")
        try:
            converted[key] = converted_value(kind.arguments[0] if fields is None else fields[key].annotation, item)
        except RefusedError as refused:
            raise RefusedError(f", key {key!r}{refused}") from None
    if fields is None:
        return converted
    missing = [name for name, field in fields.items() if field.default is field.empty and name not in value]
    if missing:
        raise RefusedError(f" needs the keys {', '.join(missing)}")
    try:
        return kind.annotation(**converted)
    except Exception as error:
        raise RefusedError(f" is refused by {kind.annotation.__name__}: {type(error).__name__}: {error}") from error
