"""The PyTorch example, killed in the middle of epoch 2, sees the same batches and ends with the same weights."""

import runpy
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver

pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "docs" / "examples" / "mlp.py"
EPOCH = 23
# It saves every 10 steps, and a save waits for the one before: the one of step 30, in the second epoch, is on the disk.
KILLED_AT = 41
KILLED = signal.SIGTERM if sys.platform == "win32" else -signal.SIGKILL
LOADERS = {"plain": [], "stateful": ["--stateful"]}


def run(folder: Path, last: int, options: list[str]) -> tuple[list[str], str]:
    """The lines of its passes, and all else that it says."""
    command = [HERE / "watched_example.py", EXAMPLE, last, "--dir", folder, "--epochs", 3, *options]
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == (KILLED if last else 0), done.stderr
    lines = done.stdout.splitlines()
    passes = [line for line in lines if line.startswith("pass ")]
    return passes, done.stderr + "\n".join(line for line in lines if line not in passes)


def bits(folder: Path) -> dict[str, bytes]:
    newest = Saver(folder).latest()
    assert newest is not None
    assert newest.step == 3 * EPOCH
    return {path.name: path.read_bytes() for path in newest.path.iterdir() if path.name != "manifest.json"}


@pytest.mark.parametrize("kind", LOADERS)
def test_killed_in_the_second_epoch_it_goes_on_with_the_same_batches(kind: str, tmp_path: Path) -> None:
    if kind == "stateful":
        pytest.importorskip("torchdata", reason="torchdata is not installed: pip install -r requirements-torch.txt")
    through, resumed = tmp_path / "through", tmp_path / "resumed"
    expected, _ = run(through, 0, LOADERS[kind])
    assert len(set(expected)) == 3 * EPOCH
    before, _ = run(resumed, KILLED_AT, LOADERS[kind])
    assert before == expected[:KILLED_AT]
    newest = Saver(resumed).latest()
    assert newest is not None
    assert EPOCH < newest.step < 2 * EPOCH
    after, told = run(resumed, 0, LOADERS[kind])
    assert after == expected[newest.step :]
    assert bits(resumed) == bits(through)
    # A plain loader is wound forward over the items of the epoch, and that is said; the other one goes to where it was.
    items = 2 * (newest.step - EPOCH)
    wound = kind == "plain"
    assert (f"the items of steps have no state_dict and were wound forward by {items}\n" in told) == wound
    assert told.splitlines()[-2] == f"wound { ({'steps': items} if wound else {}) }"


def test_its_best_checkpoint_is_that_of_the_best_evaluation(tmp_path: Path) -> None:
    run(tmp_path, 0, [])
    best = Saver(tmp_path).best("eval/accuracy", "max")
    assert best is not None
    measured = [found.metrics["eval/accuracy"] for found in Saver(tmp_path).list()]
    assert best.metrics["eval/accuracy"] == max(measured) > 0.9


class Told(th.SessionRunHook):
    """Keeps what it is told of."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self.errors.append(exception)


def test_an_error_in_its_body_is_told_to_every_hook_and_starts_in_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def failing(*arguments: Any, **options: Any) -> Any:
        raise ArithmeticError("no loss today")

    main = runpy.run_path(str(EXAMPLE), run_name="example")["main"]
    monkeypatch.setattr(sys, "argv", ["mlp.py", "--dir", str(tmp_path), "--epochs", "1"])
    monkeypatch.setattr(torch.nn.functional, "cross_entropy", failing)
    hooks = [Told(), Told()]
    with pytest.raises(ArithmeticError, match="no loss today") as caught:
        main(*hooks)
    assert [hook.errors for hook in hooks] == [[caught.value], [caught.value]]
    _, body, *below = traceback.extract_tb(caught.value.__traceback__)
    assert body.filename == str(EXAMPLE)
    assert body.line is not None
    assert "cross_entropy(" in body.line
    assert [frame.name for frame in below] == ["failing"]
