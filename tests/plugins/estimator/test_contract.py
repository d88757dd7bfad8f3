"""The hooks that an Estimator adds to a training keep the contract of all hooks."""

from pathlib import Path

from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_estimator._hooks import EvaluationResults, LossLogger, RestoreCheck


class TestLossLogger(HookContract):
    hook_class = LossLogger
    options = {"loss": "loss", "every_n_steps": 2}
    values = [{"loss": loss} for loss in (5.0, 4.0, 3.0, 2.0)]
    counts_from_start = True

    def make_hook(self, folder: Path, clock: ManualClock) -> LossLogger:
        return LossLogger("loss", 2, clock=clock)


class TestRestoreCheck(HookContract):
    hook_class = RestoreCheck
    options = {"variables": ()}


class TestEvaluationResults(HookContract):
    hook_class = EvaluationResults
    options = {"names": ["eval/loss"]}
