"""Summaries of a training run, as TensorBoard event files."""

from tenterhooks_summary.hook import SummarySaverHook
from tenterhooks_summary.kinds import Histogram, Image, Scalar, Text
from tenterhooks_summary.writer import TensorBoardWriter

__all__ = ["Histogram", "Image", "Scalar", "SummarySaverHook", "TensorBoardWriter", "Text"]
