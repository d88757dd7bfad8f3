"""A training with scikit-learn that is killed and started again ends with the same bits."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install scikit-learn")
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

STEPS = 12

PROGRAM = """
import inspect, os, signal, sys, warnings
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import IncrementalPCA
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
import tenterhooks as th

folder, kill_at = sys.argv[1], int(sys.argv[2])
images, labels = load_digits(return_X_y=True)
np.random.seed(1)
order = np.random.default_rng(0)
models = [
    SGDClassifier(random_state=np.random.RandomState(0)), SGDRegressor(eta0=1e-6), Perceptron(), GaussianNB(),
    MultinomialNB(), MiniBatchKMeans(10), IncrementalPCA(4), StandardScaler(), MLPClassifier((8,)),
]
state = {"order": order, **{type(model).__name__: model for model in models}}
with th.MonitoredTrainingSession(
    checkpoint_dir=folder, state=state, save_checkpoint_secs=None, save_checkpoint_steps=2
) as session:
    for epoch in session.epochs(2):
        for rows in session.steps(np.array_split(order.permutation(300), 6)):
            for model in models:
                named = {"classes": range(10)} if "classes" in inspect.signature(model.partial_fit).parameters else {}
                model.partial_fit(images[rows], labels[rows], **named)
            session.publish(rows=rows)
            if session.global_step + 1 == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
"""


def run(folder: Path, kill_at: int) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(folder), str(kill_at)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if kill_at else 0), done.stderr


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
def test_a_training_that_is_killed_twice_ends_bit_equal(tmp_path: Path) -> None:
    run(tmp_path / "through", 0)
    # In the first epoch, and in the middle of the second one.
    run(tmp_path / "killed", 5)
    run(tmp_path / "killed", 10)
    run(tmp_path / "killed", 0)
    expected, found = end(tmp_path / "through"), end(tmp_path / "killed")
    assert found["variables"].keys() == expected["variables"].keys()
    for name, state in expected["variables"].items():
        assert found["variables"][name] == state, name
    assert found["hooks"] == expected["hooks"]


def test_the_readmes_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = Path(__file__).parents[3] / "plugins" / "sklearn" / "README.md"
    if not readme.exists():
        pytest.skip("the README is not beside these tests")
    match = re.search(r"^```python\n(.*?)^```$", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert match
    monkeypatch.chdir(tmp_path)
    exec(compile(match[1], str(readme), "exec"), {})
    newest = Saver(tmp_path / "runs" / "a").latest()
    assert newest is not None
    assert newest.step == 30
