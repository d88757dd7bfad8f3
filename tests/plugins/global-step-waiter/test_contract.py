"""GlobalStepWaiterHook keeps the contract of all hooks."""

import itertools
from pathlib import Path

from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_global_step_waiter import GlobalStepWaiterHook


class TestNothingToWaitFor(HookContract):
    hook_class = GlobalStepWaiterHook
    options = {"wait_until_step": 0}


class TestStepOfOthers(HookContract):
    hook_class = GlobalStepWaiterHook
    counts_from_start = True

    def make_hook(self, folder: Path, clock: ManualClock) -> object:
        steps = itertools.cycle(range(4))
        return GlobalStepWaiterHook(3, read_step=lambda: next(steps), clock=clock, sleep=clock.advance)
