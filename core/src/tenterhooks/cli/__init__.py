"""The command `tenterhooks`."""

from tenterhooks.cli.command import main

__all__ = ["main"]
