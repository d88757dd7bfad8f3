"""The hook `global-step-waiter`."""

from tenterhooks_global_step_waiter.hook import GlobalStepWaiterHook

__all__ = ["GlobalStepWaiterHook"]
