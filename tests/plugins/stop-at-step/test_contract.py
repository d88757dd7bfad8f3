"""StopAtStepHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_stop_at_step import StopAtStepHook


class TestLastStep(HookContract):
    hook_class = StopAtStepHook
    options = {"last_step": 4}


class TestNumberOfSteps(HookContract):
    hook_class = StopAtStepHook
    options = {"num_steps": 2}
    counts_from_start = True
