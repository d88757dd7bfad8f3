"""Values of a training run, logged."""

from tenterhooks_logging.hook import LoggingTensorHook

__all__ = ["LoggingTensorHook"]
