"""A training with JAX that is killed at any step and started again ends with the same bits."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WHY = "JAX is not installed: pip install -r requirements-jax.txt"
pytest.importorskip("jax", reason=WHY)
pytest.importorskip("optax", reason=WHY)
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

STEPS = 6

PROGRAM = """
import os, signal, sys
from dataclasses import dataclass
from typing import Any
import jax, jax.numpy as jnp, optax
import tenterhooks as th

folder, kill_at = sys.argv[1], int(sys.argv[2])
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(0.1, 20)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Layer:
    w: Any
    b: Any


def loss_of(params, key):
    x = jax.random.normal(key, (16, 3))
    hidden = jnp.tanh(x @ params["in"].w + params["in"].b)
    return ((hidden @ params["out"].w + params["out"].b - x.sum(axis=1, keepdims=True)) ** 2).mean()


def update(params, moments, key):
    key, now = jax.random.split(key)
    loss, gradient = jax.value_and_grad(loss_of)(params, now)
    change, moments = optimizer.update(gradient, moments, params)
    return optax.apply_updates(params, change), moments, key, loss


first, second = jax.random.split(jax.random.key(0))
params = {
    "in": Layer(jax.random.normal(first, (3, 8)), jnp.zeros(8)),
    "out": Layer(jax.random.normal(second, (8, 1)), jnp.zeros(1)),
}
state = {"params": params, "moments": optimizer.init(params), "key": jax.random.key(1)}
update = jax.jit(update, donate_argnums=(0, 1, 2))
with th.MonitoredTrainingSession(
    checkpoint_dir=folder, state=state, save_checkpoint_secs=None, save_checkpoint_steps=2
) as session:
    s = session.state
    for step in session.steps():
        s["params"], s["moments"], s["key"], loss = update(s["params"], s["moments"], s["key"])
        session.publish(loss=loss)
        print("loss", step, loss)
        if step + 1 == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if step + 1 == 6:
            break
"""


def run(folder: Path, kill_at: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(folder), str(kill_at)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.returncode == (-signal.SIGKILL if kill_at else 0), done.stderr
    return done.stdout.splitlines()


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
def test_a_training_that_is_killed_at_each_step_ends_bit_equal(tmp_path: Path) -> None:
    through = run(tmp_path / "through", 0)
    assert len(through) == STEPS
    expected = end(tmp_path / "through")
    for step in range(1, STEPS + 1):
        folder = tmp_path / f"killed-{step}"
        before = run(folder, step)
        after = run(folder, 0)
        assert before == through[:step]
        assert after == through[STEPS - len(after) :]
        assert len(after) >= STEPS - step
        assert end(folder)["variables"] == expected["variables"], f"killed at step {step}"


def test_the_readmes_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = Path(__file__).parents[3] / "plugins" / "jax" / "README.md"
    if not readme.exists():
        pytest.skip("the README is not beside these tests")
    match = re.search(r"^```python\n(.*?)^```$", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert match
    monkeypatch.chdir(tmp_path)
    exec(compile(match[1], str(readme), "exec"), {})
    newest = Saver(tmp_path / "runs" / "a").latest()
    assert newest is not None
    assert newest.step == 10
