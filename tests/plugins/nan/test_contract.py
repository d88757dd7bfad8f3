"""NanTensorHook keeps the contract of all hooks."""

import math

import numpy as np

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


class TestTreesThatAreNotFinite(HookContract):
    hook_class = NanTensorHook
    options = {"loss_tensor": ["loss", "grads"], "fail_on_nan_loss": False, "check": "non-finite"}
    values = [{"loss": 1.0, "grads": {"w": [np.array([1.0, g])]}} for g in (1.0, 0.5, math.inf, 0.5)]


class TestEveryNSteps(HookContract):
    hook_class = NanTensorHook
    options = {"fail_on_nan_loss": False, "every_n_steps": 2}
    values = [{"loss": loss} for loss in (1.0, 0.5, 0.25, math.nan, 0.5)]


class TestDeferred(HookContract):
    hook_class = NanTensorHook
    options = {"fail_on_nan_loss": False, "deferred": True}
    values = [{"loss": loss} for loss in (1.0, 0.5, math.nan, 0.5, 0.5)]


class TestDeferredEveryNSteps(HookContract):
    hook_class = NanTensorHook
    options = {"loss_tensor": {"the loss": "loss"}, "fail_on_nan_loss": False, "deferred": True, "every_n_steps": 2}
    values = [{"loss": np.array(loss)} for loss in (1.0, math.nan, 0.5, 0.5, 0.5)]
