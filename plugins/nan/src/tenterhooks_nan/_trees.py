"""The numbers and arrays of a structure, with the places where they lie."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tenterhooks.adapted import handler_of
from tenterhooks.state_adapters import ObjectHandler, TreeHandler

__all__ = ["leaves"]

# A tuple, since a union is made anew in each call.
_NUMBERS = (int, float, complex, np.ndarray, np.generic)


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The numbers and arrays in a value, each with its place, such as `w` or `optimizer/m/[0]`.

    It looks into dicts, lists and tuples, into what frameworks take apart, and into what `state_dict` gives of an
    object that has one. Of a sparse array it gives the numbers that are stored. What else there is has no numbers.
    """
    if (parts := _parts(value)) is not None:
        yield from leaves(parts, path)
    elif isinstance(value, _NUMBERS):
        yield path, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from leaves(entry, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from leaves(entry, f"{path}/[{index}]")
    elif isinstance(handler := handler_of(value), TreeHandler):
        yield from leaves(handler.parts(value), path)
    elif isinstance(handler, ObjectHandler):
        yield from leaves(handler.state(value), path)
    elif callable(getattr(value, "state_dict", None)):
        yield from leaves(value.state_dict(), path)
    elif getattr(value, "dtype", None) is not None:
        yield path, value


def _parts(value: Any) -> Any:
    """What an array holds that is not compared as a whole: of records, of objects, or a sparse one; None for others."""
    if isinstance(value, np.ndarray | np.void) and value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "O" else None
    if str(getattr(value, "layout", "")).startswith("torch.sparse"):
        return {"values": (value.coalesce() if value.is_sparse else value).values()}
    if type(value).__module__.startswith("scipy.sparse"):
        return {"values": value.tocoo().data}
    return None
