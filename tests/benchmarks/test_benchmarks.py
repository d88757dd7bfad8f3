"""The benchmarks run. What they measure is for people to read: no test depends on it."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_checkpoints_are_compared_in_a_table() -> None:
    line = [sys.executable, str(HERE / "bench_checkpoint.py"), "--sizes", "1", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = re.findall(r"^\| tenterhooks \| (.*) \|$", done.stdout, re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d\d \| \d+\.\d\d \| \d+% \| \d+\.\d\d", row), done.stdout


@pytest.mark.skipif(
    find_spec("torch") is None, reason="PyTorch is not installed: pip install -r requirements-torch.txt"
)
def test_loops_are_compared_in_a_table_for_each_body() -> None:
    line = [sys.executable, str(HERE / "bench_loops.py"), "--steps", "200", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    ours = re.findall(r"^\| tenterhooks \| (.*) \|$", done.stdout, re.MULTILINE)
    assert len(ours) == 2, done.stdout
    assert all(re.fullmatch(r"(-?\d+\.\d\d \| ){3}-?\d+\.\d\d", row) for row in ours), done.stdout
    for name, package in (("Lightning", "lightning"), ("Ignite", "ignite")):
        rows = re.findall(rf"^\| {name} \| ([^|]+) \|", done.stdout, re.MULTILINE)
        assert [row == "not installed" for row in rows] == [find_spec(package) is None] * 2, done.stdout


def test_steps_are_compared_in_tables() -> None:
    line = [sys.executable, str(HERE / "bench_step.py"), "--steps", "50", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^\| ([^|]*\w[^|]*) \| (.*) \|$", done.stdout, re.MULTILINE))
    for title in ("plain loop", "pluggy alone, two calls", "`session.run`", "`steps`"):
        assert re.fullmatch(r"(\d+\.\d\d \| ){3}\d+\.\d\d", rows.pop(title)), done.stdout
    assert (rows.pop("Ignite").startswith("not installed")) == (find_spec("ignite") is None)
    assert "`steps`, each every 1,000 steps" in rows
    assert all(re.fullmatch(r"\d+\.\d\d", figure) for figure in rows.values()), done.stdout


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_of_a_step_are_counted() -> None:
    line = [sys.executable, str(HERE / "bench_step.py"), "--count", "--only", "plain loop", "--hooks", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (figure,) = re.findall(r"^\| plain loop \| ([\d,]+) \|$", done.stdout, re.MULTILINE)
    assert 100 < int(figure.replace(",", "")) < 100_000, done.stdout


def test_starts_are_compared_in_tables() -> None:
    line = [sys.executable, str(HERE / "bench_startup.py"), "--repeats", "1", "--plugins", "3", "--steps", "10"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| ([^|]*\w[^|]*) \| (.*) \|$", done.stdout, re.MULTILINE)
    assert {title for title, _ in rows} >= {
        "`import tenterhooks`",
        "open a session without hooks, the first one",
        "find two plugins",
        "all of them installed, two of them used",
    }
    assert all(re.fullmatch(r"\d+\.\d+( \| \d+\.\d\d)?", figures) for _, figures in rows), done.stdout


def test_writers_of_summaries_are_compared_in_a_table() -> None:
    line = [sys.executable, str(HERE / "bench_summaries.py"), "--steps", "50", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^\| ([^|]*\w[^|]*) \| (.*) \|$", done.stdout, re.MULTILINE))
    assert re.fullmatch(r"-?\d+\.\d\d \| \d+\.\d\d", rows["tenterhooks"]), done.stdout
    assert (rows["PyTorch's `SummaryWriter`"] == "not installed |") is (find_spec("torch") is None), done.stdout
