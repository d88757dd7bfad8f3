"""What the command says of a folder, and its exit codes."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import Saver, _manifest, command
from tenterhooks_checkpoint.command import BROKEN, FINE, USAGE, main

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")

COMMANDS = ["ls", "verify", "show"]


def save(directory: Path, *steps: int) -> list[Checkpoint]:
    saver = Saver(directory, max_to_keep=None)
    return [saver.save({"variables": {"w": np.full((3, 4), step)}, "global_step": step}, step=step) for step in steps]


def damage(checkpoint: Checkpoint, name: str = "arrays.safetensors") -> None:
    """Flip a bit, which the size does not show."""
    path = checkpoint.path / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


class Said:
    """What one call of the command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.code: object
        try:
            self.code = main([str(argument) for argument in arguments])
        except SystemExit as error:
            self.code = error.code
        self.out, self.err = capsys.readouterr()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


# ls


def test_ls_has_a_line_for_each_in_the_order_of_the_commits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, 300, 9, 20)
    said = Said(capsys, "ls", tmp_path)
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    head, *rows = said.lines
    assert head.split() == ["sequence", "step", "size", "time", "metrics", "state"]
    for row, sequence, step in zip(rows, [1, 2, 3], [300, 9, 20], strict=True):
        assert re.fullmatch(rf" *{sequence}  +{step}  +\d+ B  {time}  -        whole", row)
    assert (said.code, said.err) == (FINE, "")


def test_ls_says_what_is_broken_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second, third = save(tmp_path, 1, 2, 3)
    (second.path / "state.json").unlink()
    damage(third, "manifest.json")
    said = Said(capsys, "ls", tmp_path)
    assert said.code == BROKEN
    _, one, two, three = said.lines
    assert one.endswith("  whole")
    assert "  broken: state.json is missing: " in two
    assert re.search(r"  -  +-  +broken: manifest\.json is damaged: ", three)


def test_ls_has_what_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saver = Saver(tmp_path)
    for step, loss in enumerate([0.123456789, math.nan]):
        saver.save({}, step=step, metrics={"loss": loss, "accuracy": 1 - loss})
    _, *rows = Said(capsys, "ls", tmp_path).lines
    assert "  loss 0.123457, accuracy 0.876543  whole" in rows[0]
    assert "  loss nan, accuracy nan " in rows[1]
    found = Said(capsys, "ls", tmp_path, "--json").json["checkpoints"]
    assert [report["metrics"]["loss"] for report in found] == [0.123456789, "nan"]


def test_ls_reads_the_manifests_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkpoint,) = save(tmp_path, 1)
    damage(checkpoint)
    assert Said(capsys, "ls", tmp_path).code == FINE


def test_ls_mentions_temporary_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, 1)
    dead, living = ".tmp-999999999-0123abcd-0", f".tmp-{os.getppid()}-0123abcd-0"
    for name in (dead, living):
        (tmp_path / name).mkdir()
    said = Said(capsys, "ls", tmp_path)
    assert said.code == FINE
    assert f"{dead}: process 999999999 left it and is no more; the next save removes it" in said.lines
    assert f"{living}: process {os.getppid()} works in it" in said.lines
    temporary = {left["name"]: left for left in Said(capsys, "ls", "--json", tmp_path).json["temporary"]}
    assert temporary == {
        dead: {"name": dead, "pid": 999999999, "in_use": False},
        living: {"name": living, "pid": os.getppid(), "in_use": True},
    }
    assert (tmp_path / dead).exists()


def test_ls_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = save(tmp_path, 5, 6)
    (second.path / "state.json").write_text("{}")
    said = Said(capsys, "ls", tmp_path, "--json")
    assert said.code == BROKEN
    one, two = said.json["checkpoints"]
    time = _manifest.read(first).time
    assert time is not None
    assert one == {
        "name": "checkpoint-1-step-5",
        "path": str(first.path),
        "sequence": 1,
        "step": 5,
        "size": sum(path.stat().st_size for path in first.path.iterdir()),
        "time": time.isoformat(),
        "metrics": {},
        "fault": None,
    }
    assert two["fault"].startswith("state.json has 2 bytes and should have ")


def test_one_that_is_deleted_meanwhile_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = save(tmp_path, 1, 2)
    check = _manifest.check

    def late(checkpoint: Checkpoint, **options: Any) -> Any:
        if first.path.exists():
            shutil.rmtree(first.path)
        return check(checkpoint, **options)

    monkeypatch.setattr(_manifest, "check", late)
    said = Said(capsys, "ls", tmp_path, "--json")
    assert [report["step"] for report in said.json["checkpoints"]] == [2]
    assert said.code == FINE


@posix
def test_nothing_behind_a_link_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkpoint,) = save(tmp_path / "a", 1)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / checkpoint.path.name).symlink_to(checkpoint.path)
    said = Said(capsys, "ls", tmp_path / "b", "--json")
    assert said.code == BROKEN
    (report,) = said.json["checkpoints"]
    assert (report["size"], report["time"], report["fault"]) == (0, None, "it is no folder")


# verify


def test_verify_reads_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second, _ = save(tmp_path, 1, 2, 3)
    said = Said(capsys, "verify", tmp_path)
    assert said.lines == [f"checkpoint-{n}-step-{n}: whole" for n in (1, 2, 3)]
    assert (said.code, said.err) == (FINE, "")
    damage(second)
    said = Said(capsys, "verify", tmp_path)
    one, two, three = said.lines
    assert (one, three) == ("checkpoint-1-step-1: whole", "checkpoint-3-step-3: whole")
    assert two.startswith("checkpoint-2-step-2: broken: arrays.safetensors is damaged: its xxh3_128 is ")
    assert said.code == BROKEN


def test_verify_reads_the_one_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second = save(tmp_path, 10, 20)
    damage(second)
    for name in ("checkpoint-1-step-10", "checkpoint-1-step-10/", "10", tmp_path / "checkpoint-1-step-10"):
        said = Said(capsys, "verify", tmp_path, name)
        assert said.lines == ["checkpoint-1-step-10: whole"]
        assert said.code == FINE
    assert Said(capsys, "verify", tmp_path, "20").code == BROKEN


def test_a_step_names_the_newest_of_that_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = save(tmp_path, 10, 20)
    shutil.copytree(first.path, tmp_path / "checkpoint-3-step-10")
    assert (
        Said(capsys, "verify", tmp_path, "10").lines[0].startswith("checkpoint-3-step-10: broken: manifest.json says")
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_folder_that_is_a_checkpoint_itself_is_that_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    _, second, _ = save(tmp_path, 1, 2, 3)
    said = Said(capsys, name, second.path, "--json")
    assert said.code == FINE
    found = said.json
    assert (found["checkpoint"] if name == "show" else found["checkpoints"][0])["path"] == str(second.path)


def test_verify_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second = save(tmp_path, 1, 2)
    damage(second, "state.json")
    said = Said(capsys, "verify", tmp_path, "--json")
    assert said.code == BROKEN
    one, two = said.json["checkpoints"]
    assert one.keys() == two.keys() == {"name", "path", "sequence", "step", "size", "time", "metrics", "fault"}
    assert one["fault"] is None
    assert two["fault"] == Saver(tmp_path).verify(second)


# show


def test_show_has_the_entries_of_the_newest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, 9, 5)
    said = Said(capsys, "show", tmp_path)
    head, *entries = said.lines
    assert re.fullmatch(r"checkpoint-2-step-5, \d+ B, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", head)
    assert [re.split("  +", entry) for entry in entries] == [
        ["variables/w", "int64 (3, 4)"],
        ["global_step", "int", "5"],
    ]
    assert (said.code, said.err) == (FINE, "")


def test_show_has_the_entries_of_the_one_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, 9, 5)
    found = Said(capsys, "show", tmp_path, "9", "--json").json
    assert found["checkpoint"]["name"] == "checkpoint-1-step-9"
    assert found["passed_over"] == []
    assert found["entries"] == [
        {"name": "variables/w", "type": "int64", "shape": [3, 4]},
        {"name": "global_step", "type": "int", "value": 9},
    ]


def test_show_says_what_it_passes_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second = save(tmp_path, 1, 2)
    damage(second, "state.json")
    said = Said(capsys, "show", tmp_path)
    assert said.lines[0].startswith("checkpoint-1-step-1, ")
    assert said.err.startswith("checkpoint-2-step-2: broken: state.json is damaged: ")
    assert said.code == BROKEN
    found = Said(capsys, "show", tmp_path, "--json").json
    assert found["checkpoint"]["step"] == 1
    assert [report["step"] for report in found["passed_over"]] == [2]


def test_show_of_a_broken_one_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, second = save(tmp_path, 1, 2)
    (second.path / "arrays.safetensors").unlink()
    said = Said(capsys, "show", tmp_path, "2")
    assert said.err.startswith("checkpoint-2-step-2: broken: arrays.safetensors is missing: ")
    assert (said.code, said.out) == (BROKEN, "")
    found = Said(capsys, "show", tmp_path, "2", "--json").json
    assert found["checkpoint"] is None
    assert found["entries"] == []


# What is no folder of checkpoints.


@pytest.mark.parametrize("name", ["ls", "verify"])
def test_folder_without_checkpoints_is_fine_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    said = Said(capsys, name, tmp_path)
    assert said.lines == [f"no checkpoints in {tmp_path}"]
    assert said.code == FINE
    assert Said(capsys, name, tmp_path, "--json").json["checkpoints"] == []


@pytest.mark.parametrize("arguments", [[], ["5"]], ids=["none named", "one named"])
def test_there_is_nothing_to_show_of_a_folder_without_checkpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    said = Said(capsys, "show", tmp_path, *arguments)
    assert (said.code, said.out) == (USAGE, "")
    assert str(tmp_path) in said.err


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("folder", ["missing", "file", "file/below", "nul\0", "x" * 5000], ids=ascii)
def test_what_is_no_folder_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, folder: str
) -> None:
    (tmp_path / "file").write_text("")
    said = Said(capsys, name, tmp_path / folder)
    assert (said.code, said.out) == (USAGE, "")
    assert said.err.startswith(f"python -m tenterhooks_checkpoint {name}: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("name", ["verify", "show"])
@pytest.mark.parametrize(
    "choice", ["7", "checkpoint-2-step-7", "../outside/checkpoint-1-step-1", "/", "", "\0", "\x1b[31m"], ids=ascii
)
def test_checkpoint_that_is_not_there_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, choice: str
) -> None:
    save(tmp_path / "runs", 1)
    save(tmp_path / "outside", 1)
    said = Said(capsys, name, tmp_path / "runs", choice)
    assert (said.code, said.out) == (USAGE, "")
    assert "there are checkpoint-1-step-1\n" in said.err
    assert "\x1b" not in said.err


@pytest.mark.parametrize("arguments", [[], ["ls"], ["verify"], ["rm", "."], ["ls", ".", "1"], ["show", ".", "1", "2"]])
def test_wrong_arguments_are_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    said = Said(capsys, *arguments)
    assert (said.code, said.out) == (USAGE, "")
    assert said.err.startswith("usage: python -m tenterhooks_checkpoint")


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_help_has_the_exit_codes(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    said = Said(capsys, *arguments, "--help")
    assert said.code == 0
    assert "exit codes: 0 all that was looked at is whole, 1 something is broken, 2 wrong usage" in " ".join(
        said.out.split()
    )


NAMES = ["checkpoint-1-step-1", "checkpoint-0002-step-3", "checkpoint-9-step-99999999999999999999999"]


@pytest.mark.parametrize("name", COMMANDS)
def test_anything_of_a_checkpoints_name_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / NAMES[0]).write_text("a file")
    (tmp_path / NAMES[1]).mkdir()
    (tmp_path / NAMES[2] / "manifest.json").mkdir(parents=True)
    (tmp_path / ".tmp-99999999999999999999999-ab-0").mkdir()
    for arguments in ([], ["--json"]):
        said = Said(capsys, name, tmp_path, *arguments)
        assert said.code == BROKEN
        assert "Traceback" not in said.err
    assert [path.name for path in sorted(tmp_path.iterdir())] == [".tmp-99999999999999999999999-ab-0", *sorted(NAMES)]


def test_names_in_a_checkpoint_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Saver(tmp_path).save({"\x1b[2J\n\ud800": "\x1b[2J"}, step=1)
    said = Said(capsys, "show", tmp_path)
    assert said.lines[1] == "\\x1b[2J\\n\\ud800  str  '\\x1b[2J'"
    (entry,) = Said(capsys, "show", tmp_path, "--json").json["entries"]
    assert entry["name"] == "\x1b[2J\n\ud800"


# As a program, and as a part of another one.


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-W", "error", "-m", "tenterhooks_checkpoint", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, **options)


def test_it_is_a_program(tmp_path: Path) -> None:
    _, second = save(tmp_path, 1, 2)
    done = run("verify", tmp_path)
    assert (done.returncode, done.stderr) == (FINE, "")
    assert done.stdout.splitlines() == ["checkpoint-1-step-1: whole", "checkpoint-2-step-2: whole"]
    damage(second)
    assert run("verify", tmp_path).returncode == BROKEN
    assert run("verify", tmp_path / "missing").returncode == USAGE
    assert run().returncode == USAGE


def test_terminal_that_knows_ascii_alone_is_no_matter(tmp_path: Path) -> None:
    Saver(tmp_path).save({"\u00e4": "\u4e2d"}, step=1)
    done = run("show", tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (FINE, "")
    assert done.stdout.splitlines()[1] == "\\xe4  str  '\\u4e2d'"


@posix
def test_reader_that_goes_away_is_no_matter(tmp_path: Path) -> None:
    Saver(tmp_path).save({str(number): number for number in range(20_000)}, step=1)
    line = [sys.executable, "-m", "tenterhooks_checkpoint", "show", str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == command.UNREAD


def test_interrupt_has_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 1)

    def interrupt(self: Saver, checkpoint: Checkpoint) -> str | None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Saver, "verify", interrupt)
    assert Said(capsys, "verify", tmp_path).code == command.INTERRUPTED


def test_as_a_subcommand_of_the_core_it_goes_by_that_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, 1)
    assert command.subcommand(["verify", str(tmp_path)]) == FINE
    assert capsys.readouterr().out == "checkpoint-1-step-1: whole\n"
    assert command.subcommand(["ls", str(tmp_path / "missing")]) == USAGE
    assert capsys.readouterr().err.startswith("tenterhooks checkpoints ls: there is no folder ")
    with pytest.raises(SystemExit, match="2"):
        command.subcommand(["verfy", str(tmp_path)])
    assert "usage: tenterhooks checkpoints " in capsys.readouterr().err
