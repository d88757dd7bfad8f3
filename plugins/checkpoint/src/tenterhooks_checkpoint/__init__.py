"""The hook `checkpoint`, and the default saver."""

from tenterhooks_checkpoint.hook import CheckpointSaverHook
from tenterhooks_checkpoint.listener import CheckpointSaverListener
from tenterhooks_checkpoint.saver import Saver

__all__ = ["CheckpointSaverHook", "CheckpointSaverListener", "Saver"]
