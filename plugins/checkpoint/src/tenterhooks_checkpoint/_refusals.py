"""What a checkpoint cannot hold, and where in the state it stands."""

import numpy as np

from tenterhooks import CheckpointError

__all__ = ["below", "name_of", "place", "refusal"]


def below(path: str, name: str) -> str:
    """The place of an entry, as in `variables/w/[3]`."""
    return f"{path}/{name}" if path else name


def name_of(key: object) -> str:
    """A key of a dict as a part of a place."""
    if type(key) is str:
        return key
    # Python converts a limited number of digits, and NumPy has values that it cannot print.
    try:
        return repr(key)
    except (OverflowError, SystemError, ValueError):
        return hex(key) if isinstance(key, int) else f"a {type(key).__name__} that cannot be printed"


def place(path: str) -> str:
    """A place as a message shows it: a name may hold what cannot be printed."""
    return path.encode("utf-8", "backslashreplace").decode() or "the state"


def refusal(value: object, path: str, *, key: bool = False, why: str = "") -> CheckpointError:
    """The error for a value, or a key of the dict at that place, whose type a checkpoint cannot hold."""
    kind = type(value)
    if key:
        advice = "give it a key that is a string or another scalar of these"
    elif isinstance(value, np.ma.MaskedArray):
        advice = "save its `data` and its `mask`"
    elif isinstance(value, np.ndarray):
        advice = "save `numpy.asarray` of it"
    elif callable(getattr(value, "state_dict", None)):
        advice = "save its `state_dict()`"
    elif isinstance(value, complex):
        advice = "save `numpy.complex128` of it"
    else:
        bases = [base for base in (int, float, str, bytes, list, tuple, dict) if isinstance(value, base)]
        advice = f"save `{bases[0].__name__}` of it" if bases else "save it as one of these"
    verb = "has a key that is" if key else "is"
    return CheckpointError(
        f"{place(path)} {verb} a {kind.__module__}.{kind.__qualname__}, which a checkpoint cannot hold{why}. It holds "
        "NumPy arrays and scalars, bool, int, float, str, bytes, None, and lists, tuples and dicts of them: "
        f"{advice}"
    )
