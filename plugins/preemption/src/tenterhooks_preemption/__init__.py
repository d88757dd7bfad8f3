"""The hook `preemption`."""

from tenterhooks_preemption.hook import PreemptionHook

__all__ = ["PreemptionHook"]
