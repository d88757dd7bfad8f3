"""FinalOpsHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_final_ops import FinalOpsHook


class TestContract(HookContract):
    hook_class = FinalOpsHook
    options = {"final_ops": {"loss": "loss"}}
    values = [{"loss": 3.0}, {"loss": 2.0}, {"loss": 1.0}]
