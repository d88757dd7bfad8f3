"""The page about the command of the checkpoint plugin: its commands print what stands below them."""

import json
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tenterhooks_checkpoint import command as checkpoint_command

PAGE = (Path(__file__).parents[2] / "docs/how-to/look-at-checkpoints.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def run(*line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's program has run."""
    place = tmp_path_factory.mktemp("page")
    (code,) = (block["code"] for block in BLOCK.finditer(PAGE) if block["language"] == "python")
    done = run(sys.executable, "-W", "error", "-c", code, folder=place)
    assert done.returncode == 0, done.stderr
    return place


def commands() -> dict[str, str]:
    """The page's commands, and what stands below each."""
    return {
        block["code"].strip(): below["code"]
        for block, below in pairwise(BLOCK.finditer(PAGE))
        if block["language"] == "bash"
    }


def without_chance(text: str) -> str:
    """A text without what is another one each time: times, checksums, and sizes that a library may change."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "CHECKSUM", text)
    return re.sub(r"\d\.\d KiB", "SIZE", text)


@pytest.mark.parametrize("line", commands())
def test_a_command_prints_what_stands_below_it(line: str, folder: Path) -> None:
    command, *arguments = shlex.split(line)
    done = run(sys.executable, "-W", "error", "-m", command, *arguments, folder=folder)
    assert done.stderr == ""
    assert without_chance(done.stdout) == without_chance(commands()[line]), done.stdout


def test_each_command_has_an_example() -> None:
    assert {line.split()[2] for line in commands()} == {"ls", "verify", "show"}


def test_the_exit_codes_are_those_of_the_command() -> None:
    numbers = [getattr(checkpoint_command, name) for name in ("FINE", "BROKEN", "USAGE", "INTERRUPTED", "UNREAD")]
    rows = re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE)
    assert [int(number) for row in rows for number in row.split(",")] == numbers


@pytest.mark.parametrize("name", ["ls", "verify", "show"])
def test_the_json_has_what_the_page_says(name: str, folder: Path) -> None:
    done = run(sys.executable, "-m", "tenterhooks_checkpoint", name, "runs/look", "--json", folder=folder)
    (row,) = re.findall(rf"^\| `{name} --json` \| (.*) \|$", PAGE, re.MULTILINE)
    found = json.loads(done.stdout)
    said = set(re.findall(r"`(\w+)`", row))
    assert found.keys() <= said
    if name == "ls":
        assert said == {*found, *found["checkpoints"][0], "pid", "in_use"}
    elif name == "show":
        assert said == {*found, "ls", *(key for entry in found["entries"] for key in entry)}
