"""A process that is killed at any moment and started again leaves the files of one that was not."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed")

PROGRAM = Path(__file__).parent / "program.py"
STEPS = 100
LONGEST_SECS = 60.0


def run(folder: Path, kill_after: int | None = None) -> None:
    """Run the program, and kill it once it has said so many steps, while it makes some more."""
    command = [sys.executable, str(PROGRAM), str(folder), str(STEPS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if kill_after is None:
            process.communicate("\n" * STEPS, timeout=LONGEST_SECS)
            assert process.returncode == 0
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n" * (kill_after + 8))
        process.stdin.flush()
        for _ in range(kill_after):
            assert process.stdout.readline()
        process.kill()
        process.communicate(timeout=LONGEST_SECS)
        assert process.returncode != 0


def lines(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    return [{**json.loads(line), "time": None} for line in text.splitlines()]


def table(folder: Path) -> list[dict[str, Any]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return [{**row, "time": None} for row in csv.DictReader(file)]


def test_the_files_are_those_of_an_unbroken_run(tmp_path: Path) -> None:
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    run(unbroken)
    for kill_after in (1, 5, 12, 15, 3):
        run(killed, kill_after)
    assert not any("end" in line for line in lines(killed))
    run(killed)
    assert [line["step"] for line in lines(unbroken)] == [*range(1, STEPS + 1), STEPS]
    assert lines(killed) == lines(unbroken)
    assert table(killed) == table(unbroken)
    assert not list(killed.glob("*.tmp"))
