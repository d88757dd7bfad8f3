"""No checkpoint, however hostile, makes a reader do anything but say what is wrong with it.

The environment's TENTERHOOKS_FUZZ is the number of hostile checkpoints; all of it, in half an hour or so, is

    TENTERHOOKS_FUZZ=100000 pytest tests/reliability/test_fuzz.py

A failure gives the numbers of the checkpoints. One of them alone, for instance number 7 of the kind `state`, is, in
`tests`: `python -W error -m reliability.fuzz_program EMPTY_FOLDER state 7 1`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .hostile import KINDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits its memory as Linux does")

INPUTS = int(os.environ.get("TENTERHOOKS_FUZZ", "3000"))


def python(*arguments: str) -> str:
    """What another Python prints, with warnings as errors."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_checkpoint_is_read_or_refused_and_nothing_else_happens(tmp_path: Path, kind: str) -> None:
    count = max(1, INPUTS // len(KINDS))
    found = json.loads(python("-m", "reliability.fuzz_program", str(tmp_path), kind, "0", str(count)))
    assert found["wrong"] == []
    # Where all were broken, or none, only one half of the readers was tried.
    assert found["counts"].keys() == ({"broken"} if kind == "folder" else {"broken", "whole"})


FOUL_DEEDS = [
    "open(folder / 'inside', 'w')",
    "open(folder / 'inside', 'ab')",
    "open(folder.parent / 'outside')",
    "open(folder / 'link')",
    "__import__('colorsys')",
    "exec('pass')",
    "eval('1')",
    "pickle.loads(pickle.dumps(Path))",
    "os.system('true')",
    "os.kill(os.getpid(), signal.SIGCHLD)",
    "(folder / 'more').mkdir()",
    "(folder / 'link').unlink()",
]


@pytest.mark.parametrize("deed", FOUL_DEEDS)
def test_the_watch_of_that_test_notes_it(tmp_path: Path, deed: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside").write_text("")
    (folder / "link").symlink_to(tmp_path / "outside")
    program = (
        "import os, pickle, signal, sys; from pathlib import Path; from reliability.watch import Watch\n"
        "folder = Path(sys.argv[1]); watch = Watch(folder)\n"
        f"with watch.armed():\n    kept = {deed}\n"
        "print(len(watch.noted))"
    )
    assert int(python("-W", "ignore::ResourceWarning", "-c", program, str(folder))) > 0


def test_the_watch_of_that_test_lets_a_reader_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    program = (
        "import os, sys; from pathlib import Path; from reliability.watch import Watch\n"
        "folder = Path(sys.argv[1]); watch = Watch(folder)\n"
        "with watch.armed():\n    (folder / 'file').read_bytes(); os.listdir(folder); os.kill(os.getpid(), 0)\n"
        "print(watch.noted)"
    )
    assert python("-c", program, str(tmp_path)) == "[]\n"
