"""The hook `progress`: a bar in a terminal or notebook, and lines elsewhere."""

from tenterhooks_progress.hook import ProgressHook

__all__ = ["ProgressHook"]
