"""ProgressHook keeps the contract of all hooks."""

import io
from pathlib import Path

from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_progress import ProgressHook


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestLines(HookContract):
    hook_class = ProgressHook
    # A total is no period: at that step, wherever a session begins, all is shown.
    options = {"total": 9, "values": ["loss"], "line_every_n_secs": 2.0}
    values = [{"loss": 1.0 / step} for step in range(1, 6)]
    counts_from_start = True


class TestBar(HookContract):
    hook_class = ProgressHook
    values = [{"loss": 1.0 / step} for step in range(1, 6)]
    counts_from_start = True

    def make_hook(self, folder: Path, clock: ManualClock) -> object:
        return ProgressHook(values="loss", every_n_secs=2.0, file=Terminal(), clock=clock)


class TestEachStep(HookContract):
    hook_class = ProgressHook
    options = {"every_n_secs": 0.0, "line_every_n_secs": 0.0, "desc": "training"}
