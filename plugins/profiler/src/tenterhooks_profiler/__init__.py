"""What takes the time of a training run."""

from tenterhooks_profiler._stopwatch import Timing
from tenterhooks_profiler.hook import ProfilerHook

__all__ = ["ProfilerHook", "Timing"]
