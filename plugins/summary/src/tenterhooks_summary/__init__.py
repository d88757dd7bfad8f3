"""Summaries of a training run, as TensorBoard event files."""

from tenterhooks_summary.hook import SummarySaverHook
from tenterhooks_summary.writer import TensorBoardWriter

__all__ = ["SummarySaverHook", "TensorBoardWriter"]
