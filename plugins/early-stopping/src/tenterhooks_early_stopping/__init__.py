"""The hook `early-stopping`, and TensorFlow's functions that make one."""

from tenterhooks_early_stopping.functions import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tenterhooks_early_stopping.hook import EarlyStoppingHook

__all__ = [
    "EarlyStoppingHook",
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
