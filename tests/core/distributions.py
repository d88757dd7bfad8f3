"""Distributions that a test installs for itself."""

from tenterhooks.testing import FakeDistributions as Install

__all__ = ["Install"]
