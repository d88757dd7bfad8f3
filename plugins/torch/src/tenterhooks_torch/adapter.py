"""What of PyTorch's is handled by what. It is imported when an adapter is made, and not before."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks import PluginError

if TYPE_CHECKING:
    from tenterhooks.state_adapters import Handler, ValueHandler

__all__ = ["TorchAdapter"]


class TorchAdapter:
    """Saves and restores tensors, modules, optimizers, schedulers and random generators.

    Sessions make it themselves when they meet a value of PyTorch's, and nothing has to be set.

    Raises:
        PluginError: PyTorch is not installed.
    """

    def __init__(self) -> None:
        try:
            import torch
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise PluginError(
                "tenterhooks-torch needs PyTorch, which is not installed: pip install torch (the build for your device)"
            ) from error
        from tenterhooks_torch import _generators, _modules, _optimizers, _values

        self._values = _values.Values()
        self._global_generators = _generators.global_generators
        self._handlers: list[tuple[tuple[type, ...], Handler]] = [
            ((torch.Tensor, torch.dtype, torch.device, torch.Size), self._values),
            ((torch.nn.Module,), _modules.Modules()),
            ((torch.optim.Optimizer,), _optimizers.Optimizers()),
            ((torch.optim.lr_scheduler.LRScheduler,), _optimizers.Schedulers()),
            ((torch.Generator,), _generators.Generators()),
        ]

    def handler(self, cls: type) -> "Handler | None":
        """What handles values of a type; None where these are saved as any others.

        Such are objects with `state_dict` and `load_state_dict`, as a `GradScaler`; the tensors in what they give are
        handled.
        """
        return next((handler for types, handler in self._handlers if issubclass(cls, types)), None)

    def values(self) -> "ValueHandler":
        """What restores tensors."""
        return self._values

    def global_generators(self) -> Mapping[str, Any]:
        """What torch draws from where it is given no generator: that of the CPU, and those of CUDA once in use."""
        return self._global_generators()
