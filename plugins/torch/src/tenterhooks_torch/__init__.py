"""The state adapter for PyTorch."""

from tenterhooks_torch.adapter import TorchAdapter

__all__ = ["TorchAdapter"]
