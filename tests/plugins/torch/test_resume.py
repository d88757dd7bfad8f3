"""A training with PyTorch that is killed at any step and started again ends with the same bits."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

STEPS = 6
TORCHDATAS_OWN = "ignore:'set_vital' is deprecated"

PROGRAM = """
import os, signal, sys
import torch
import tenterhooks as th

folder, kill_at, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
torch.manual_seed(1)
data = list(torch.randn(24, 5).unbind())
if kind == "stateful":
    from torchdata.stateful_dataloader import StatefulDataLoader as Loader
else:
    from torch.utils.data import DataLoader as Loader

graph = th.Graph()
graph.source("batch", lambda: Loader(data, batch_size=4, shuffle=True))
graph.variable("model", lambda: torch.nn.Sequential(
    torch.nn.Linear(5, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)))
graph.variable("optimizer", lambda model: torch.optim.AdamW(model.parameters(), lr=0.05))
graph.variable("schedule", lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=50))

@graph.train_op
def train(batch, model, optimizer, schedule):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    schedule.step()

with th.MonitoredTrainingSession(
    graph=graph, checkpoint_dir=folder, save_checkpoint_secs=None, save_checkpoint_steps=2
) as session:
    print("wound", dict(session.raw_session().restored.wound_forward) if session.raw_session().restored else {})
    while session.global_step < 6:
        session.run(train)
        if session.global_step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
"""

OWN_LOOP = """
import os, signal, sys
import torch
import tenterhooks as th

folder, kill_at, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
torch.manual_seed(1)
data = list(torch.randn(12, 5).unbind())
if kind == "stateful":
    from torchdata.stateful_dataloader import StatefulDataLoader as Loader
else:
    from torch.utils.data import DataLoader as Loader


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))

    def forward(self, batch):
        return self.layers(batch)


loader = Loader(data, batch_size=4, shuffle=True)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
state = {"model": model, "optimizer": optimizer, "schedule": schedule, "scaler": scaler}

with th.MonitoredTrainingSession(
    checkpoint_dir=folder, state=state, save_checkpoint_secs=None, save_checkpoint_steps=2
) as session:
    restored = session.raw_session().restored
    for epoch in session.epochs(2):
        for batch in session.steps(loader):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(batch).float().square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            session.publish(loss=loss)
            print("batch", session.global_step, batch.sum().item())
            if session.global_step + 1 == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
    wound = dict(session.raw_session().restored.wound_forward) if restored else {}
print("wound", wound)
"""


def run(folder: Path, kill_at: int, kind: str, program: str = PROGRAM) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", TORCHDATAS_OWN, "-c", program, str(folder), str(kill_at), kind],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.returncode == (-signal.SIGKILL if kill_at else 0), done.stderr
    return done.stdout


def bits(value: Any) -> Any:
    """A saved state in a form that can be compared."""
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [bits(entry) for entry in value]
    return (str(value.dtype), value.shape, value.tobytes()) if hasattr(value, "tobytes") else value


def end(folder: Path) -> Any:
    restored = Saver(folder).restore()
    assert restored is not None
    assert restored[0].step == STEPS
    return bits(restored[1])


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("kind", ["plain", "stateful"])
def test_a_training_that_is_killed_at_each_step_ends_bit_equal(kind: str, tmp_path: Path) -> None:
    if kind == "stateful":
        pytest.importorskip("torchdata", reason="torchdata is not installed: pip install -r requirements-torch.txt")
    run(tmp_path / "through", 0, kind)
    expected = end(tmp_path / "through")
    wound = []
    for step in range(1, STEPS + 1):
        folder = tmp_path / f"killed-{step}"
        run(folder, step, kind)
        wound.append(run(folder, 0, kind))
        found = end(folder)
        assert found["variables"] == expected["variables"], f"killed at step {step}"
        assert found["hooks"] == expected["hooks"], f"killed at step {step}"
        assert found["sources"]["batch"]["drawn"] == expected["sources"]["batch"]["drawn"]
    # A plain loader is wound forward, and that is said; a stateful one goes to where it was.
    assert any("batch" in line for line in wound) == (kind == "plain")


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("kind", ["plain", "stateful"])
def test_a_loop_of_the_programs_own_with_mixed_precision_goes_on_with_the_same_batches(
    kind: str, tmp_path: Path
) -> None:
    if kind == "stateful":
        pytest.importorskip("torchdata", reason="torchdata is not installed: pip install -r requirements-torch.txt")
    *through, _ = run(tmp_path / "through", 0, kind, OWN_LOOP).splitlines()
    assert len(through) == STEPS
    expected = end(tmp_path / "through")
    wound = []
    for step in (2, 5, 6):
        folder = tmp_path / f"killed-{step}"
        run(folder, step, kind, OWN_LOOP)
        *batches, told = run(folder, 0, kind, OWN_LOOP).splitlines()
        wound.append(told)
        assert batches == through[-len(batches) :]
        found = end(folder)
        assert found["variables"] == expected["variables"], f"killed at step {step}"
        assert found["hooks"] == expected["hooks"], f"killed at step {step}"
    if kind == "stateful":
        assert set(wound) == {"wound {}"}


def test_the_readmes_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = Path(__file__).parents[3] / "plugins" / "torch" / "README.md"
    if not readme.exists():
        pytest.skip("the README is not beside these tests")
    match = re.search(r"^```python\n(.*?)^```$", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert match
    monkeypatch.chdir(tmp_path)
    exec(compile(match[1], str(readme), "exec"), {})
    newest = Saver(tmp_path / "runs" / "a").latest()
    assert newest is not None
    assert newest.step == 10


def test_a_model_of_another_shape_is_refused_by_name(tmp_path: Path) -> None:
    def session(features: int) -> th.MonitoredSession:
        graph = th.Graph()
        graph.variable("model", lambda: torch.nn.Linear(features, 1))
        return th.MonitoredTrainingSession(graph=graph, checkpoint_dir=tmp_path)

    with session(3):
        pass
    message = (
        r"model/weight: a tensor of float32 and shape \[1, 4\] here, a tensor of float32 and shape \[1, 3\] in the"
    )
    with pytest.raises(th.CheckpointError, match=message):
        session(4)
