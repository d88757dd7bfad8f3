"""The best variables of a PyTorch module, which is filled in place."""

from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks_early_stopping import EarlyStoppingHook

torch = pytest.importorskip("torch")
pytest.importorskip("tenterhooks_torch")


def train(folder: Path, killed_at: int | None = None) -> tuple[float | None, int | None, list[float], list[float]]:
    """The best, its step, the weights of that step as they were, and those at the end."""
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    x = torch.randn(16, 2)
    y = x.sum(1, keepdim=True)
    hook = EarlyStoppingHook("eval/loss", patience=3, restore_best=True)
    weights: dict[int, list[float]] = {}
    with th.MonitoredTrainingSession(
        state={"model": model, "optimizer": optimizer}, checkpoint_dir=folder, save_checkpoint_steps=2, hooks=[hook]
    ) as session:
        for _ in session.epochs(40):
            for _ in session.steps(range(3)):
                optimizer.zero_grad()
                ((model(x) - y) ** 2).mean().backward()
                optimizer.step()
                if session.global_step == killed_at:
                    raise KeyError("killed")
            weights[session.global_step] = model.weight.detach().flatten().tolist()
            session.publish({"eval/loss": ((model(x) - y) ** 2).mean()})
        assert session.stop
    assert hook.best_step is not None
    return hook.best, hook.best_step, weights.get(hook.best_step, []), model.weight.detach().flatten().tolist()


def test_the_weights_of_the_best_step_are_put_back_also_after_an_interrupt(tmp_path: Path) -> None:
    best, step, then, now = train(tmp_path / "unbroken")
    assert then == now
    with pytest.raises(KeyError, match="killed"):
        train(tmp_path / "killed", 8)
    again = train(tmp_path / "killed")
    assert (again[0], again[1], again[3]) == (best, step, now)
