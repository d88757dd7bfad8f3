"""Two trainings that were given one folder by mistake."""

import subprocess
import sys
from pathlib import Path

import pytest

from tenterhooks_checkpoint import Saver

TRAINS = """
import sys
import numpy as np
import tenterhooks as th

graph = th.Graph()
graph.variable("w", lambda: np.zeros(1000))

@graph.train_op
def train(w):
    w += 1.0

with th.MonitoredTrainingSession(
    graph=graph, checkpoint_dir=sys.argv[1], save_checkpoint_steps=1, max_to_keep=None
) as session:
    print("begun", flush=True)
    for line in sys.stdin:
        session.run("train")
        print(session.global_step, flush=True)
"""


def start(folder: Path) -> "subprocess.Popen[str]":
    line = [sys.executable, "-c", TRAINS, str(folder)]
    return subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def step(process: "subprocess.Popen[str]") -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go on\n")
    return process.stdout.readline().strip()


def test_the_second_gets_an_error_and_the_first_goes_on(tmp_path: Path) -> None:
    with start(tmp_path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "begun\n"
        assert step(first) == "1"
        with start(tmp_path) as second:
            out, errors = second.communicate(timeout=60)
        assert (out, second.returncode) == ("", 1)
        assert f"CheckpointError: process {first.pid} on " in errors
        assert "Give this one another checkpoint_dir" in errors
        assert step(first) == "2"
        out, errors = first.communicate(timeout=60)
        assert (first.returncode, errors) == (0, "")
    saver = Saver(tmp_path)
    assert [checkpoint.step for checkpoint in saver.list()] == [0, 1, 2]
    assert [saver.verify(checkpoint) for checkpoint in saver.list()] == [None] * 3


@pytest.mark.parametrize("way", ["ended", "was killed"])
def test_the_second_may_go_on_where_the_first(tmp_path: Path, way: str) -> None:
    with start(tmp_path) as first:
        assert step(first) == "begun"
        if way == "ended":
            first.communicate(timeout=60)
        else:
            first.kill()
    with start(tmp_path) as second:
        assert step(second) == "begun"
        _, errors = second.communicate(timeout=60)
        assert (second.returncode, errors) == (0, "")
