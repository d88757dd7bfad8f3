"""Steps per second of a training run."""

from tenterhooks_step_counter.hook import StepCounterHook

__all__ = ["StepCounterHook"]
