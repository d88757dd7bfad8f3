"""Each example is killed, resumed, and ends with the bits of one that ran through.

An example has a `main` that takes further hooks, and the option `--dir` for its checkpoints. A new one is one more
line of `EXAMPLES`. The graph's example has tests of its own, in test_digits.py.
"""

import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_checkpoint import Saver

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "docs" / "examples"
STAGES = ["before_run", "after_run"]
MOST_LINES = 80
KILLED = signal.SIGTERM if sys.platform == "win32" else -signal.SIGKILL


@dataclass(frozen=True)
class Example:
    """One example.

    Attributes:
        name: That of its file.
        last_step: The global step at which it ends with these options. On the way it saves three times or more.
        options: Those that make it short.
        needs: The module without which it does not run.
    """

    name: str
    last_step: int
    options: tuple[str, ...]
    needs: str = "numpy"

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.py"


EXAMPLES = [
    Example("bandit", 350, ("--steps", "350")),
    Example("estimator", 350, ("--steps", "350"), needs="sklearn"),
    Example("gan", 200, ("--steps", "200"), needs="torch"),
    Example("mlp", 69, ("--epochs", "3"), needs="torch"),
    Example("jax_regression", 350, ("--steps", "350"), needs="jax"),
    Example("sgd_classifier", 120, ("--epochs", "3"), needs="sklearn"),
    Example("simulation", 350, ("--steps", "350")),
]


def marked(example: Example) -> Any:
    missing = importlib.util.find_spec(example.needs) is None
    why = f"{example.name}.py needs {example.needs}, which is not installed"
    return pytest.param(example, id=example.name, marks=pytest.mark.skipif(missing, reason=why))


each_example = pytest.mark.parametrize("example", [marked(example) for example in EXAMPLES])


def run(folder: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    # Kernels sum in another order with another number of threads, of which there may be fewer on a busy machine.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_through(example: Example, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run an example as a reader would, to its end."""
    done = run(folder, example.path, "--dir", "checkpoints", *example.options)
    assert done.returncode == 0, done.stderr
    return done


def killed(example: Example, folder: Path, stage: str, step: int) -> int:
    """Have an example killed on its way to a step, and give the step of its newest checkpoint."""
    done = run(
        folder, HERE / "killed_example.py", example.path, stage, str(step), "--dir", "checkpoints", *example.options
    )
    assert done.returncode == KILLED, f"it was to be killed in {stage} of step {step}:\n{done.stderr}"
    return newest_step(folder)


def newest_step(folder: Path) -> int:
    newest = Saver(folder / "checkpoints").latest()
    assert newest is not None
    return newest.step


def bits(folder: Path) -> dict[str, bytes]:
    """The state in the newest checkpoint, as its files."""
    newest = Saver(folder / "checkpoints").latest()
    assert newest is not None
    return {path.name: path.read_bytes() for path in newest.path.iterdir() if path.name != "manifest.json"}


@each_example
def test_killed_and_resumed_an_example_ends_with_the_bits_of_one_that_ran_through(
    example: Example, tmp_path: Path
) -> None:
    through, resumed = tmp_path / "through", tmp_path / "resumed"
    through.mkdir()
    resumed.mkdir()
    whole = run_through(example, through)
    assert newest_step(through) == example.last_step
    # One life is killed in each third. A save waits for the one before, so by the last third one is on the disk.
    chooser, third = random.Random(example.name), example.last_step // 3
    saved = [
        killed(example, resumed, chooser.choice(STAGES), chooser.randint(life * third + 1, (life + 1) * third))
        for life in range(3)
    ]
    assert 0 < saved[-1] < example.last_step
    last = run_through(example, resumed)
    assert f"at global step {saved[-1]}" in last.stderr
    assert bits(resumed) == bits(through)
    assert last.stdout == whole.stdout


@each_example
def test_an_example_of_fewer_steps_ends_with_other_bits(example: Example, tmp_path: Path) -> None:
    run_through(example, tmp_path)
    states = [Saver(tmp_path / "checkpoints").restore(found) for found in Saver(tmp_path / "checkpoints").list()[-2:]]
    assert len({str(state) for state in states}) == 2
    assert all(len(content) > 100 for content in bits(tmp_path).values())


@each_example
def test_an_example_is_short(example: Example) -> None:
    assert len(example.path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_every_example_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {example.name for example in EXAMPLES} | {"digits"}


def test_the_bandit_finds_the_best_machine(tmp_path: Path) -> None:
    done = run(tmp_path, FOLDER / "bandit.py")
    assert done.returncode == 0, done.stderr
    found = re.match(r"machine (\d) was played most, .*\nthe best one is machine (\d);", done.stdout)
    assert found, done.stdout
    assert found[1] == found[2]


def test_the_simulation_measures_what_is_known_exactly(tmp_path: Path) -> None:
    done = run(tmp_path, FOLDER / "simulation.py")
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"mean magnetization (0\.\d+); that of an endless magnet is (0\.\d+)\n", done.stdout)
    assert found, done.stdout
    assert float(found[2]) == 0.911
    assert abs(float(found[1]) - float(found[2])) < 0.005


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="estimator.py needs scikit-learn")
def test_the_estimator_recognizes_held_out_digits_and_logs_its_outputs_in_each_step(tmp_path: Path) -> None:
    done = run(tmp_path, FOLDER / "estimator.py")
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"step 1000: accuracy (0\.\d+) and loss 0\.\d+, held out\n", done.stdout)
    assert found, done.stdout
    assert float(found[1]) >= 0.95
    logged = re.findall(r"^step (\d+): logits \[.*?\], probabilities \[", done.stderr, re.MULTILINE | re.DOTALL)
    assert logged == [str(step) for step in range(1, 1001)]
