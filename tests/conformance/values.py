"""Values as a scenario writes them."""

import math
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """A value in the form in which a scenario has it: plain Python, NaN as "nan".

    What a scenario cannot hold, a tuple or an array, stays itself and so differs from what is expected.
    """
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case np.generic():
            return plain(value.item())
        case float() if math.isnan(value):
            return "nan"
        case _:
            return value
