"""PreemptionHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_preemption import PreemptionHook


class TestContract(HookContract):
    hook_class = PreemptionHook


class TestGoesOn(HookContract):
    hook_class = PreemptionHook
    options = {"signals": ["SIGTERM"], "exit_by": None}
