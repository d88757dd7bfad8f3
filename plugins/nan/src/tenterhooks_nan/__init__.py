"""The hook `nan`."""

from tenterhooks_nan.hook import NanLossDuringTrainingError, NanTensorHook

__all__ = ["NanLossDuringTrainingError", "NanTensorHook"]
