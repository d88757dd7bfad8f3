"""The benchmarks run. What they measure is for people to read: no test depends on it."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_checkpoints_are_compared_in_a_table() -> None:
    line = [sys.executable, str(HERE / "bench_checkpoint.py"), "--sizes", "1", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = re.findall(r"^\| tenterhooks \| (.*) \|$", done.stdout, re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d\d \| \d+\.\d\d \| \d+% \| \d+\.\d\d", row), done.stdout
