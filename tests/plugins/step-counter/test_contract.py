"""StepCounterHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_step_counter import StepCounterHook


class TestSteps(HookContract):
    hook_class = StepCounterHook
    options = {"every_n_steps": 2}
    counts_from_start = True


class TestSeconds(HookContract):
    hook_class = StepCounterHook
    options = {"every_n_secs": 2.0}
    counts_from_start = True
