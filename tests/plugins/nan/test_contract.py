"""NanTensorHook keeps the contract of all hooks."""

import math

from tenterhooks.testing import HookContract
from tenterhooks_nan import NanTensorHook


class TestNumbers(HookContract):
    hook_class = NanTensorHook
    options = {"loss_tensor": "loss"}
    values = {"loss": 1.0}


class TestStopAtNan(HookContract):
    hook_class = NanTensorHook
    options = {"fail_on_nan_loss": False}
    values = [{"loss": loss} for loss in (1.0, 0.5, 0.25, math.nan, 0.5)]
