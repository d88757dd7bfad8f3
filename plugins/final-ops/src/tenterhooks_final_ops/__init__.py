"""Values at the end of a session."""

from tenterhooks_final_ops.hook import FinalOpsHook

__all__ = ["FinalOpsHook"]
