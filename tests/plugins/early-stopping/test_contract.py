"""The hooks of early-stopping keep the contract of all hooks."""

import math

from tenterhooks.testing import HookContract
from tenterhooks_early_stopping import (
    EarlyStoppingHook,
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_no_decrease_hook,
)


class TestPatience(HookContract):
    hook_class = EarlyStoppingHook
    options = {"metric": "loss", "patience": 2}
    values = [{"loss": loss} for loss in (3.0, 1.0, 2.0, math.nan, 0.5, 0.25)]


class TestRestoreBest(HookContract):
    hook_class = EarlyStoppingHook
    options = {"metric": "loss", "patience": 2, "restore_best": True, "check_finite": True}
    values = [{"loss": loss} for loss in (3.0, 1.0, 2.0, 0.5, math.inf)]


class TestPeriod(HookContract):
    hook_class = EarlyStoppingHook
    options = {"metric": "loss", "patience_steps": 3, "every_n_steps": 2}
    values = [{"loss": 3.0 + step} for step in range(7)]


class TestWhereItIsPublishedNowAndThen(HookContract):
    hook_class = EarlyStoppingHook
    options = {"metric": "accuracy", "mode": "max", "patience": 1}
    values = [{"accuracy": 0.5}, {}, {"accuracy": 0.75}, {}, {"accuracy": 0.75}, {}]
    loops = ("own",)


class TestHigher(HookContract):
    hook_class = stop_if_higher_hook
    options = {"metric_name": "accuracy", "threshold": 0.8}
    values = [{"accuracy": value} for value in (0.5, 0.7, 0.8, 0.9, 0.7)]


class TestNoDecrease(HookContract):
    hook_class = stop_if_no_decrease_hook
    options = {"metric_name": "loss", "max_steps_without_decrease": 2}
    values = [{"loss": loss} for loss in (3.0, 1.0, 2.0, 1.0, 0.5)]


class TestPredicate(HookContract):
    hook_class = make_early_stopping_hook
    options = {"should_stop_fn": lambda: False, "run_every_steps": 1}
