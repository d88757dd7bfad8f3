"""The hook `stop-at-step`."""

from tenterhooks_stop_at_step.hook import StopAtStepHook

__all__ = ["StopAtStepHook"]
