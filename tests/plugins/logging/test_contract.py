"""LoggingTensorHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_logging import LoggingTensorHook


class TestEachRun(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "every_n_iter": 1, "formatter": str}
    values = {"loss": 1.0}


class TestSteps(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "every_n_iter": 2}
    values = {"loss": 1.0}
    counts_from_start = True


class TestSeconds(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": {"the loss": "loss"}, "every_n_secs": 2.0}
    values = {"loss": 1.0}
    counts_from_start = True


class TestEnd(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "at_end": True}
    values = {"loss": 1.0}
