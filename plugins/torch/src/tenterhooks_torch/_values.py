"""Tensors, and what else PyTorch has of values that do not change: types of elements, devices, shapes."""

from collections.abc import Mapping
from typing import Any

import torch

from tenterhooks import CheckpointError
from tenterhooks.state_adapters import ValueHandler
from tenterhooks_torch._layout import as_array, as_plain, dtype_name, dtype_named, from_array, storage_of, tensor_on

__all__ = ["Values"]

# Of Python and torch for a saved value of another make.
_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Values(ValueHandler):
    """Saves each tensor as an array; of those that share memory, that memory once, and how each lies on it."""

    adapter = "torch"

    def capture(self, value: Any, path: str, shared: dict[Any, Any]) -> dict[str, Any]:
        """The value as a dict."""
        if isinstance(value, torch.dtype):
            return {"type": "dtype", "name": dtype_name(value)}
        if isinstance(value, torch.device):
            return {"type": "device", "name": str(value)}
        if isinstance(value, torch.Size):
            return {"type": "Size", "lengths": list(value)}
        _check(value, path)
        saved: dict[str, Any] = {"type": "Tensor", "dtype": dtype_name(value.dtype)}
        if value.requires_grad and value.is_leaf:
            saved["requires_grad"] = True
        place = value.untyped_storage().data_ptr() if value.numel() and not (value.is_conj() or value.is_neg()) else 0
        first = shared.setdefault((value.device, place), (value, saved, len(shared))) if place else (value, saved, 0)
        # The one met first is held, lest its memory becomes that of another one meanwhile.
        if first[1] is saved:
            saved["data"] = as_array(value)
            return saved
        if "storage" not in first[1]:
            first[1]["data"] = as_array(storage_of(value))
            first[1].update(_lie(first[0], first[2]))
        saved.update(_lie(value, first[2]))
        return saved

    def restored(self, saved: Mapping[str, Any], shared: dict[Any, Any]) -> Any:
        """The value, of a tensor on the CPU."""
        try:
            match saved["type"]:
                case "Tensor":
                    return _tensor(saved, shared)
                case "dtype":
                    return dtype_named(saved["name"])
                case "device":
                    return torch.device(saved["name"])
                case "Size":
                    return torch.Size(saved["lengths"])
            raise ValueError(f"no value is a {saved['type']!r:.60}")
        except _ERRORS as error:
            raise CheckpointError(
                f"the checkpoint holds a value of torch that is not as it was written: {type(error).__name__}: {error}"
            ) from error

    def form(self, value: Any) -> str | None:
        """Type of elements and shape; nothing of what is no tensor, and of a parameter that has no shape yet."""
        if not isinstance(value, torch.Tensor) or torch.nn.parameter.is_lazy(value):
            return None
        return _form(dtype_name(value.dtype), list(value.shape))

    def saved_form(self, saved: Mapping[str, Any]) -> str:
        """The same of what `capture` gave."""
        if saved.get("type") != "Tensor":
            return f"a torch.{saved.get('type')}"
        shape = saved.get("shape") if "storage" in saved else list(getattr(saved.get("data"), "shape", ()))
        return _form(saved.get("dtype"), shape)

    def outline(self, value: Any) -> Any:
        """A tensor of the same form without memory."""
        if self.form(value) is None:
            return value
        return torch.empty(value.shape, dtype=value.dtype, device="meta")

    def load(self, current: Any, value: Any, *, in_place: bool) -> Any:
        """The same tensor, where it lies and as it requires gradients, with what the restored one holds."""
        if not isinstance(current, torch.Tensor) or not isinstance(value, torch.Tensor):
            return value
        if not in_place or _overlaps(current):
            return value if value.device == current.device else _moved(value, current.device)
        as_plain(current.detach()).copy_(as_plain(value.detach()))
        return current

    def fetched(self, value: Any, *, copy: bool) -> Any:
        """A tensor that knows of no gradients, on the same device."""
        if not isinstance(value, torch.Tensor):
            return value
        if copy:
            return value.detach().clone()
        return value.detach() if value.requires_grad else value


def _check(value: Any, path: str) -> None:
    """Raise an error for what is no array of numbers."""
    advice = None
    if torch.nn.parameter.is_lazy(value):
        advice = "has no shape yet: run the module once on a batch before the session is opened"
    elif value.layout is not torch.strided or value.is_nested:
        advice = f"has the layout {value.layout}, nested or sparse: save its parts, such as indices and values"
    elif value.is_quantized:
        advice = "is quantized: save its int_repr(), and its scale and zero point"
    elif value.device.type == "meta":
        advice = "has no memory (device meta): materialise it before the session is opened"
    elif type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        advice = "computes in a way of its own: save the tensors that it consists of"
    if advice is not None:
        raise CheckpointError(f"{path} is a {type(value).__module__}.{type(value).__qualname__} that {advice}")


def _form(dtype: Any, shape: Any) -> str:
    return f"a tensor of {dtype} and shape {shape}"


def _lie(value: Any, storage: int) -> dict[str, Any]:
    """How a tensor lies on memory that it shares."""
    lie = {"shape": list(value.shape), "stride": list(value.stride()), "offset": value.storage_offset()}
    return {"storage": storage, **lie}


def _tensor(saved: Mapping[str, Any], shared: dict[Any, Any]) -> Any:
    dtype = dtype_named(saved["dtype"])
    if "storage" in saved:
        if "data" in saved:
            shared[saved["storage"]] = from_array(saved["data"], torch.uint8)
        lie = saved["offset"], saved["shape"], saved["stride"]
        # What was one tensor at several places is so again.
        known = repr((saved["storage"], saved["dtype"], *lie, saved.get("requires_grad")))
        if known in shared:
            return shared[known]
        tensor = shared[known] = tensor_on(shared[saved["storage"]], dtype, *lie)
    else:
        tensor = from_array(saved["data"], dtype)
    return tensor.requires_grad_() if saved.get("requires_grad") is True else tensor


def _moved(tensor: Any, device: Any) -> Any:
    return tensor.detach().to(device).requires_grad_(tensor.requires_grad)


def _overlaps(tensor: Any) -> bool:
    """Whether several of its elements lie in one place, so that it cannot be written."""
    return any(stride == 0 and length > 1 for stride, length in zip(tensor.stride(), tensor.shape, strict=True))
