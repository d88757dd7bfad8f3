"""What the adapter handles, and what it says where PyTorch is missing. These tests run without it."""

import sys

import pytest

import tenterhooks as th
from tenterhooks_torch import TorchAdapter


def test_without_pytorch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(th.PluginError, match="needs PyTorch, which is not installed: pip install torch"):
        TorchAdapter()


def test_it_handles_what_has_a_handler_and_leaves_the_rest_alone() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
    adapter = TorchAdapter()
    own = type("Own", (torch.nn.Linear,), {})
    handled = [torch.Tensor, torch.nn.Parameter, own, torch.optim.AdamW, torch.optim.lr_scheduler.StepLR]
    assert all(adapter.handler(cls) is not None for cls in [*handled, torch.Generator, torch.dtype])
    assert adapter.handler(torch.amp.GradScaler) is None
    assert adapter.handler(torch.utils.data.DataLoader) is None
    assert adapter.handler(torch.Tensor) is adapter.values()
