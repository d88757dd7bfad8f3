"""The example trains as well as it says, and ends with the same weights however it was interrupted."""

import importlib.util
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenterhooks_checkpoint import Saver

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="the example needs scikit-learn: pip install scikit-learn"
)

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "digits.py"
LAST_STEP = 1500
LONGEST_SECS = 30.0
LEAST_ACCURACY = 0.95


def command(folder: Path, last_step: int, save_steps: int = 100) -> list[str]:
    options = ["--dir", str(folder), "--last-step", str(last_step), "--save-steps", str(save_steps)]
    return [sys.executable, str(EXAMPLE), *options]


def train(folder: Path, last_step: int, save_steps: int = 100) -> tuple[str, str]:
    """Run the example to its end; what it printed and what it logged."""
    done = subprocess.run(
        command(folder, last_step, save_steps),
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=2 * LONGEST_SECS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def saved(folder: Path) -> dict[str, Any]:
    """All that the newest checkpoint holds."""
    found = Saver(folder).restore()
    assert found is not None, f"no checkpoint in {folder}"
    return flat(found[1])


def flat(state: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """A nested mapping as one of paths, its arrays as their bits."""
    entries: dict[str, Any] = {}
    for key, value in state.items():
        if isinstance(value, Mapping):
            entries |= flat(value, f"{path}{key}/")
        else:
            entries[f"{path}{key}"] = (
                (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
            )
    return entries


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@dataclass
class Finished:
    """A run of the example that went through."""

    folder: Path
    printed: str
    seconds: float


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("digits") / "through"
    start = time.monotonic()
    printed, _ = train(folder, LAST_STEP)
    return Finished(folder, printed, time.monotonic() - start)


def test_the_defaults_are_what_is_tested_here() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE), "--help"], capture_output=True, text=True, check=True)
    assert f"({LAST_STEP})" in done.stdout


def test_it_recognizes_held_out_digits_within_the_time(through: Finished) -> None:
    result = re.fullmatch(
        rf"step {LAST_STEP}, held-out digits: accuracy (0\.\d+), AUC (0\.\d+|1\.0+)\n", through.printed
    )
    assert result, through.printed
    assert float(result[1]) >= LEAST_ACCURACY
    assert float(result[2]) >= LEAST_ACCURACY
    assert through.seconds < LONGEST_SECS


def test_tensorboard_reads_its_summaries(through: Finished) -> None:
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="TensorBoard is not installed"
    )
    reader = accumulator.EventAccumulator(str(through.folder))
    reader.Reload()
    assert {"loss", "accuracy", "auc"} <= set(reader.Tags()["scalars"])
    for tag in ("loss", "accuracy", "auc"):
        assert [point.step for point in reader.Scalars(tag)] == list(range(1, LAST_STEP, 50))
    assert reader.Scalars("loss")[-1].value < reader.Scalars("loss")[0].value
    assert reader.Scalars("accuracy")[-1].value >= LEAST_ACCURACY


def test_run_again_at_its_last_step_it_says_so_and_trains_no_step(through: Finished, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(through.folder, folder)
    checkpoints, before = Saver(folder).list(), files(folder)
    printed, log = train(folder, LAST_STEP)
    assert f"nothing to do: the session starts at global step {LAST_STEP}" in log
    assert printed == through.printed
    assert Saver(folder).list() == checkpoints
    assert files(folder) == before


def test_resumed_it_ends_with_the_same_bits_as_one_that_ran_through(tmp_path: Path) -> None:
    train(tmp_path / "through", 150)
    # Not at a multiple of the period of anything.
    train(tmp_path / "resumed", 73)
    printed, log = train(tmp_path / "resumed", 150)
    assert "at global step 73" in log
    assert printed.startswith("step 150,")
    assert saved(tmp_path / "resumed") == saved(tmp_path / "through")
    # What the comparison would not see if it were empty.
    assert {"global_step", "variables/w1", "sources/batch/drawn"} <= saved(tmp_path / "through").keys()


def test_a_run_of_fewer_steps_ends_with_other_bits(tmp_path: Path) -> None:
    train(tmp_path / "a", 20)
    train(tmp_path / "b", 21)
    assert saved(tmp_path / "a")["variables/w1"] != saved(tmp_path / "b")["variables/w1"]


def test_killed_half_way_and_run_again_it_ends_with_the_same_bits(through: Finished, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    saver = Saver(folder)
    process = subprocess.Popen(
        command(folder, LAST_STEP, save_steps=5), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + LONGEST_SECS
        while (newest := saver.latest()) is None or newest.step < LAST_STEP // 2:
            assert process.poll() is None, "the example ended before it was half-way"
            assert time.monotonic() < deadline, "the example did not get half-way in time"
            time.sleep(0.005)
    finally:
        process.kill()
        status = process.wait()
    # It was really running: it neither ended by itself nor came to its last step.
    assert status == (1 if sys.platform == "win32" else -signal.SIGKILL)
    killed_at = saver.latest()
    assert killed_at is not None
    assert LAST_STEP // 2 <= killed_at.step < LAST_STEP

    printed, log = train(folder, LAST_STEP)
    assert f"at global step {killed_at.step}" in log
    assert printed == through.printed
    assert saved(folder) == saved(through.folder)
