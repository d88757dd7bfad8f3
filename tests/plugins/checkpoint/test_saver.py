"""What the default saver promises: what is listed is whole, the newest whole one is restored, N are kept."""

import errno
import itertools
import json
import logging
import math
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import CheckpointSaverHook, _lock
from tenterhooks_checkpoint._manifest import Manifest
from tenterhooks_checkpoint.saver import Saver

FILES = ["arrays.safetensors", "manifest.json", "state.json"]

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")


def state(step: int) -> dict[str, Any]:
    return {"variables": {"w": np.full(4, float(step))}, "global_step": step}


def save(directory: Path, *steps: int, max_to_keep: int | None = None) -> list[Checkpoint]:
    saver = Saver(directory, max_to_keep=max_to_keep)
    return [saver.save(state(step), step=step) for step in steps]


def restored_step(directory: Path) -> int:
    found = Saver(directory).restore()
    assert found is not None
    checkpoint, restored = found
    assert restored["global_step"] == checkpoint.step
    assert restored["variables"]["w"].tolist() == [checkpoint.step] * 4
    return checkpoint.step


def names(directory: Path) -> list[str]:
    """What is in a folder, but for the file that its writer locks."""
    return sorted(path.name for path in directory.iterdir() if path.name != ".lock")


def flip(path: Path, position: int, mask: int = 1) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= mask
    path.write_bytes(content)


def edit_manifest(checkpoint: Checkpoint, **changes: Any) -> None:
    """With a checksum of itself that agrees, as only a program would."""
    path = checkpoint.path / "manifest.json"
    content = json.loads(path.read_text()) | changes
    del content["manifest"]
    sealed = json.dumps(content, indent=2).removesuffix("\n}") + ',\n  "manifest": "'
    path.write_text(f'{sealed}{xxhash.xxh3_128(sealed.encode()).hexdigest()}"\n}}\n')


def downgrade(checkpoint: Checkpoint) -> None:
    """Make it one of the first format."""
    files = {name: (checkpoint.path / name).read_bytes() for name in ("arrays.safetensors", "state.json")}
    manifest = {
        "format": 1,
        "step": checkpoint.step,
        "sequence": checkpoint.sequence,
        "checksum": "crc32",
        "files": {
            name: {"size": len(content), "checksum": f"{zlib.crc32(content):08x}"} for name, content in files.items()
        },
    }
    (checkpoint.path / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def python(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


# Saving and restoring.


def test_what_was_saved_is_restored(tmp_path: Path) -> None:
    checkpoint = Saver(tmp_path).save({"a": [1, (2, None)], "w": np.arange(3)}, step=7)
    found = Saver(tmp_path).restore()
    assert found is not None
    assert found[0] == checkpoint
    assert found[1]["a"] == [1, (2, None)]
    assert found[1]["w"].tolist() == [0, 1, 2]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(st.characters(), max_size=5), st.text(st.characters()) | st.integers() | st.floats()))
def test_any_names_and_values_survive_the_files(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, Any]
) -> None:
    arrays = {f"{name}/array": np.array([index]) for index, name in enumerate(entries)}
    directory = tmp_path_factory.mktemp("checkpoints")
    Saver(directory).save({**entries, **arrays}, step=0)
    found = Saver(directory).restore()
    assert found is not None
    restored = found[1]
    assert {name: restored.pop(name).tolist() for name in arrays} == {
        name: array.tolist() for name, array in arrays.items()
    }
    assert repr(restored) == repr({name: entry for name, entry in entries.items() if name not in arrays})


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 3), np.float16),
        np.zeros((0, 3)),
        np.array(1.5),
        np.arange(4, dtype=">i4")[::2],
        np.ones(2, np.complex64),
        np.array(["2020"], "M8[s]"),
        np.array([(1, "a")], [("n", "i1"), ("s", "U2")]),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_array_survives_the_files(tmp_path: Path, array: NDArray[Any]) -> None:
    Saver(tmp_path).save({"w": array}, step=0)
    found = Saver(tmp_path).restore()
    assert found is not None
    restored = found[1]["w"]
    assert (restored.dtype, restored.shape, restored.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_restored_arrays_are_ones_own(tmp_path: Path) -> None:
    save(tmp_path, 1)
    found = Saver(tmp_path).restore()
    assert found is not None
    found[1]["variables"]["w"][:] = 9
    assert restored_step(tmp_path) == 1


def test_a_checkpoint_is_a_folder_of_three_files(tmp_path: Path) -> None:
    (checkpoint,) = save(tmp_path, 20)
    assert checkpoint == Checkpoint(path=tmp_path / "checkpoint-1-step-20", step=20, sequence=1)
    assert names(tmp_path) == ["checkpoint-1-step-20"]
    assert names(checkpoint.path) == FILES


def test_manifest_says_what_the_files_are(tmp_path: Path) -> None:
    (checkpoint,) = save(tmp_path, 20)
    manifest = json.loads((checkpoint.path / "manifest.json").read_text())
    files = manifest.pop("files")
    time = datetime.fromisoformat(manifest.pop("time"))
    assert abs(datetime.now(UTC) - time) < timedelta(minutes=1)
    assert len(manifest.pop("manifest")) == 32
    assert manifest == {"format": 2, "step": 20, "sequence": 1, "checksum": "xxh3_128", "metrics": {}}
    assert {name: entry["size"] for name, entry in files.items()} == {
        name: (checkpoint.path / name).stat().st_size for name in ("arrays.safetensors", "state.json")
    }


def test_arrays_are_read_by_the_safetensors_library(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    (checkpoint,) = save(tmp_path, 3)
    assert load_file(checkpoint.path / "arrays.safetensors")["variables/w"].tolist() == [3.0] * 4


@posix
def test_files_get_the_mode_that_the_umask_asks_for(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        (checkpoint,) = save(tmp_path, 1)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((checkpoint.path / name).stat().st_mode) for name in FILES}
    assert modes == dict.fromkeys(FILES, 0o640)


def test_folder_is_made_by_the_first_save(tmp_path: Path) -> None:
    saver = Saver(tmp_path / "runs" / "a")
    assert names(tmp_path) == []
    saver.save(state(1), step=1)
    assert restored_step(tmp_path / "runs" / "a") == 1


def test_folder_given_as_a_string(tmp_path: Path) -> None:
    assert Saver(str(tmp_path)).save(state(1), step=1).path == tmp_path / "checkpoint-1-step-1"


def test_numpy_step_is_a_step(tmp_path: Path) -> None:
    step: Any = np.int64(5)
    assert Saver(tmp_path).save(state(5), step=step).step == 5
    assert restored_step(tmp_path) == 5


def test_negative_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 0, not -1"):
        Saver(tmp_path).save({}, step=-1)


def test_state_that_cannot_be_saved_leaves_nothing(tmp_path: Path) -> None:
    save(tmp_path, 1)
    with pytest.raises(CheckpointError, match=r"^variables/w is a builtins.set"):
        Saver(tmp_path).save({"variables": {"w": {1}}}, step=2)
    assert names(tmp_path) == ["checkpoint-1-step-1"]


def test_safetensors_is_not_imported_before_it_is_used() -> None:
    done = python("import sys, tenterhooks_checkpoint; print('safetensors' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


# Nothing there.


def test_empty_folder_restores_none(tmp_path: Path) -> None:
    assert Saver(tmp_path).restore() is None


def test_missing_folder_restores_none_and_is_not_made(tmp_path: Path) -> None:
    saver = Saver(tmp_path / "runs")
    assert saver.restore() is None
    assert saver.list() == []
    assert saver.latest() is None
    assert names(tmp_path) == []


def test_other_files_are_no_checkpoints(tmp_path: Path) -> None:
    for name in (
        "events.out",
        "checkpoint",
        "checkpoint-1",
        "checkpoint-x-step-1",
        "checkpoint-1-step-1.bak",
        ".tmp-x",
    ):
        (tmp_path / name).mkdir()
    assert Saver(tmp_path).restore() is None


# Order.


def test_order_is_that_of_the_commits_and_not_of_the_steps(tmp_path: Path) -> None:
    save(tmp_path, 100, 9, 50)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [100, 9, 50]
    assert restored_step(tmp_path) == 50


def test_numbers_are_not_compared_as_text(tmp_path: Path) -> None:
    save(tmp_path, *range(12))
    assert [checkpoint.sequence for checkpoint in Saver(tmp_path).list()] == list(range(1, 13))
    assert restored_step(tmp_path) == 11


def test_latest_is_the_last_of_the_list(tmp_path: Path) -> None:
    save(tmp_path, 5, 4)
    assert Saver(tmp_path).latest() == Saver(tmp_path).list()[-1]


def test_a_step_that_is_saved_again_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    _, other, again = save(tmp_path, 5, 6, 5, max_to_keep=None)
    assert Saver(tmp_path).list() == [other, again]


def test_sequence_goes_on_after_one_that_is_not_whole(tmp_path: Path) -> None:
    *_, last = save(tmp_path, 1, 2)
    (last.path / "manifest.json").unlink()
    (third,) = save(tmp_path, 3)
    assert third.sequence == 3


def test_another_process_that_saves_there_is_an_error_and_nothing_is_broken(tmp_path: Path) -> None:
    save(tmp_path, 1)
    saver = Saver(tmp_path)
    saver.save(state(2), step=2)
    done = python(SECOND, tmp_path)
    assert done.stdout == f"process {os.getpid()} on {socket.gethostname()} saves into {tmp_path}\n"
    assert names(tmp_path) == ["checkpoint-1-step-1", "checkpoint-2-step-2"]
    saver.save(state(3), step=3)
    saver.close()
    assert python(SECOND, tmp_path).stdout == "saved\n"
    # And this one may again.
    saver.save(state(4), step=4)
    assert [checkpoint.sequence for checkpoint in saver.list()] == [1, 2, 3, 4, 5]


# What is kept.


def test_last_n_are_kept(tmp_path: Path) -> None:
    save(tmp_path, 10, 20, 30, 40, max_to_keep=2)
    assert names(tmp_path) == ["checkpoint-3-step-30", "checkpoint-4-step-40"]


def test_five_are_kept_by_default(tmp_path: Path) -> None:
    saver = Saver(tmp_path)
    for step in range(7):
        saver.save(state(step), step=step)
    assert [checkpoint.step for checkpoint in saver.list()] == [2, 3, 4, 5, 6]


def test_none_keeps_all(tmp_path: Path) -> None:
    save(tmp_path, *range(7), max_to_keep=None)
    assert len(Saver(tmp_path).list()) == 7


def test_keep_one_keeps_the_newest(tmp_path: Path) -> None:
    save(tmp_path, 30, 20, 10, max_to_keep=1)
    assert names(tmp_path) == ["checkpoint-3-step-10"]


def test_checkpoints_of_an_earlier_saver_count(tmp_path: Path) -> None:
    save(tmp_path, 1, 2, 3)
    save(tmp_path, 4, max_to_keep=2)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [3, 4]


def test_one_that_is_not_whole_neither_counts_nor_goes(tmp_path: Path) -> None:
    _, torn, _ = save(tmp_path, 1, 2, 3)
    (torn.path / "state.json").unlink()
    save(tmp_path, 4, max_to_keep=2)
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [3, 4]
    assert torn.path.exists()


def test_nothing_else_in_the_folder_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "events.out").write_text("events")
    (tmp_path / "checkpoint-best").mkdir()
    save(tmp_path, 1, 2, max_to_keep=1)
    assert names(tmp_path) == ["checkpoint-2-step-2", "checkpoint-best", "events.out"]


def test_a_folder_that_cannot_be_listed_for_what_to_delete_does_not_undo_the_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    saver = Saver(tmp_path, max_to_keep=1)
    saver.save(state(1), step=1)

    def fail() -> None:
        raise CheckpointError("cannot look for checkpoints")

    with monkeypatch.context() as patch:
        patch.setattr(saver, "list", fail)
        assert saver.save(state(2), step=2).step == 2
    assert "nothing is deleted" in caplog.text
    assert names(tmp_path) == ["checkpoint-1-step-1", "checkpoint-2-step-2"]


def test_nothing_is_deleted_before_the_new_one_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, 1)
    seen: list[list[str]] = []
    rmtree = shutil.rmtree

    def watch(path: Path, *args: Any, **options: Any) -> None:
        seen.append(names(tmp_path))
        rmtree(path, *args, **options)

    monkeypatch.setattr(shutil, "rmtree", watch)
    save(tmp_path, 2, max_to_keep=1)
    ((hidden, new),) = seen
    assert hidden.startswith(".tmp-")
    assert hidden.endswith(".old")
    assert new == "checkpoint-2-step-2"


def test_failed_save_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, 1)

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(CheckpointError):
        save(tmp_path, 2, max_to_keep=1)
    assert names(tmp_path) == ["checkpoint-1-step-1"]


def test_one_that_cannot_be_deleted_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, 1)
    rename = Path.rename

    def busy(self: Path, target: Path) -> Path:
        if self.name == "checkpoint-1-step-1":
            raise PermissionError(13, "in use")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", busy)
        save(tmp_path, 2, max_to_keep=1)
    assert "cannot delete" in caplog.text
    assert "checkpoint-1-step-1" in caplog.text
    save(tmp_path, 3, max_to_keep=1)
    assert names(tmp_path) == ["checkpoint-3-step-3"]


def measured(directory: Path, losses: list[float], **options: Any) -> Saver:
    saver = Saver(directory, **options)
    for step, loss in enumerate(losses):
        saver.save(state(step), step=step, metrics={"loss": loss})
    return saver


def steps(saver: Saver) -> list[int]:
    return [checkpoint.step for checkpoint in saver.list()]


def test_the_last_and_the_best_are_kept(tmp_path: Path) -> None:
    saver = measured(tmp_path, [5.0, 1.0, 4.0, 2.0, 3.0, 6.0], max_to_keep=2, best="loss", keep_best=2)
    assert steps(saver) == [1, 3, 4, 5]
    best = saver.best()
    assert best is not None
    assert (best.step, best.metrics) == (1, {"loss": 1.0})


def test_the_best_outlives_the_process_that_measured_it(tmp_path: Path) -> None:
    measured(tmp_path, [5.0, 1.0], max_to_keep=1, best="loss")
    saver = Saver(tmp_path, max_to_keep=1, best="loss")
    for step in (2, 3):
        saver.save(state(step), step=step, metrics={"loss": 2.0})
    assert steps(saver) == [1, 3]


def test_the_newest_is_kept_though_it_is_the_worst(tmp_path: Path) -> None:
    assert steps(measured(tmp_path, [1.0, 2.0, 3.0], max_to_keep=1, best="loss", keep_best=1)) == [0, 2]


def test_nan_is_never_the_best_and_anything_is_better(tmp_path: Path) -> None:
    saver = measured(tmp_path, [math.nan], max_to_keep=1, best="loss")
    assert saver.best() is None
    saver.close()
    saver = measured(tmp_path, [math.nan, math.inf, math.nan], max_to_keep=1, best="loss")
    assert steps(saver) == [1, 2]
    best = saver.best()
    assert best is not None
    assert best.metrics == {"loss": math.inf}


def test_more_is_better_if_it_is_said(tmp_path: Path) -> None:
    saver = measured(tmp_path, [1.0, 3.0, 2.0], max_to_keep=1, best="loss", mode="max")
    assert steps(saver) == [1, 2]
    found = [saver.best(), saver.best("loss", "min"), Saver(tmp_path).best("loss"), Saver(tmp_path).best("accuracy")]
    assert [checkpoint and checkpoint.step for checkpoint in found] == [1, 2, 2, None]


def test_of_equal_ones_the_first_is_the_best(tmp_path: Path) -> None:
    for mode in ("min", "max"):
        best = measured(tmp_path / mode, [2.0, 2.0], best="loss", mode=mode).best()
        assert best is not None
        assert best.step == 0


def test_every_so_many_steps_are_kept(tmp_path: Path) -> None:
    saver = Saver(tmp_path, max_to_keep=1, keep_every_n_steps=20)
    for step in (10, 20, 30, 40, 50):
        saver.save(state(step), step=step)
    assert steps(saver) == [20, 40, 50]


def test_one_without_the_metric_is_kept_as_one_of_the_last(tmp_path: Path) -> None:
    measured(tmp_path, [1.0], best="loss")
    saver = Saver(tmp_path, max_to_keep=1, best="loss")
    for step in (1, 2):
        saver.save(state(step), step=step)
    assert steps(saver) == [0, 2]


def test_best_of_what_has_to_be_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="best of what"):
        Saver(tmp_path).best()


@pytest.mark.parametrize(
    "options", [{"keep_best": 0}, {"keep_every_n_steps": 0}, {"mode": "less"}], ids=["best", "every", "mode"]
)
def test_impossible_retention_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Saver(tmp_path, **options)


@pytest.mark.parametrize("number", [0, -1])
def test_keeping_none_is_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(ValueError, match="at least 1, or None"):
        Saver(tmp_path, max_to_keep=number)


# What is not whole.


def rewrite_state(checkpoint: Checkpoint) -> None:
    """With a manifest that agrees, as only a program would."""
    rewrite(checkpoint, "state.json", b'{"w":{"$array":"../x"}}')


def rewrite(checkpoint: Checkpoint, name: str, content: bytes) -> None:
    (checkpoint.path / name).write_bytes(content)
    files = json.loads((checkpoint.path / "manifest.json").read_text())["files"]
    files[name] = {"size": len(content), "checksum": xxhash.xxh3_128(content).hexdigest()}
    edit_manifest(checkpoint, files=files)


def of_type(kind: str, size: int) -> bytes:
    """A file with an array `variables/w` of four such elements."""
    header = {"variables/w": {"dtype": kind, "shape": [4], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


def edit_bytes(checkpoint: Checkpoint, change: Callable[[bytes], bytes]) -> None:
    path = checkpoint.path / "manifest.json"
    path.write_bytes(change(path.read_bytes()))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace(path: Path, by: Callable[[Path], object]) -> None:
    shutil.rmtree(path)
    by(path)


DAMAGE: dict[str, Callable[[Checkpoint], object]] = {
    "arrays truncated": lambda c: os.truncate(c.path / "arrays.safetensors", 20),
    "arrays empty": lambda c: os.truncate(c.path / "arrays.safetensors", 0),
    "arrays missing": lambda c: (c.path / "arrays.safetensors").unlink(),
    "state truncated": lambda c: os.truncate(c.path / "state.json", 3),
    "state missing": lambda c: (c.path / "state.json").unlink(),
    "manifest truncated": lambda c: os.truncate(c.path / "manifest.json", 30),
    "manifest empty": lambda c: os.truncate(c.path / "manifest.json", 0),
    "manifest missing": lambda c: (c.path / "manifest.json").unlink(),
    "manifest of zeros": lambda c: (c.path / "manifest.json").write_bytes(bytes(100)),
    "manifest nested": lambda c: (c.path / "manifest.json").write_text("[" * 100_000),
    "manifest no object": lambda c: (c.path / "manifest.json").write_text("[]"),
    "manifest a folder": lambda c: replace_by_folder(c.path / "manifest.json"),
    "no size": lambda c: edit_manifest(c, files={"arrays.safetensors": {}, "state.json": {}}),
    "another step": lambda c: edit_manifest(c, step=3),
    "another sequence": lambda c: edit_manifest(c, sequence=9),
    "a newer format": lambda c: edit_manifest(c, format=3),
    "another checksum": lambda c: edit_manifest(c, checksum="crc32"),
    "a checksum of an older format": lambda c: edit_manifest(c, format=1),
    "an unknown checksum": lambda c: edit_manifest(c, checksum="sha3"),
    "no time": lambda c: edit_manifest(c, time="yesterday"),
    "a number as time": lambda c: edit_manifest(c, time=5),
    "a year before all years": lambda c: edit_manifest(c, time="0001-01-01T00:00:00+23:59"),
    "manifest with a space more": lambda c: edit_bytes(c, lambda content: content.replace(b": ", b":  ", 1)),
    "manifest with a line more": lambda c: edit_bytes(c, lambda content: content + b"\n"),
    "manifest with another number": lambda c: edit_bytes(c, lambda content: content.replace(b'"size": ', b'"size": 1')),
    "manifest without its checksum": lambda c: edit_bytes(c, lambda content: content.split(b',\n  "man')[0] + b"\n}\n"),
    "more files": lambda c: edit_manifest(c, files={"arrays.safetensors": {}, "state.json": {}, "../../secret": {}}),
    "a file": lambda c: replace(c.path, Path.touch),
    "an empty folder": lambda c: replace(c.path, Path.mkdir),
}

GARBLED: dict[str, Callable[[Checkpoint], object]] = {
    "arrays garbled": lambda c: flip(c.path / "arrays.safetensors", -1),
    "arrays' header garbled": lambda c: flip(c.path / "arrays.safetensors", 10),
    "state of another make": rewrite_state,
    "state nested without end": lambda c: rewrite(c, "state.json", b"[" * 100_000),
    "state no object": lambda c: rewrite(c, "state.json", b"[]"),
    "float of another make": lambda c: rewrite(c, "state.json", b'{"x":{"$float":"00"}}'),
    "array as the key of a dict": lambda c: rewrite(c, "state.json", b'{"x":{"$dict":[[{"$array":"variables/w"},1]]}}'),
    "arrays no safetensors": lambda c: rewrite(c, "arrays.safetensors", b"{}"),
    "arrays of a type that NumPy lacks": lambda c: rewrite(c, "arrays.safetensors", of_type("BF16", 8)),
    "arrays of bytes that NumPy lacks": lambda c: rewrite(c, "arrays.safetensors", of_type("F8_E4M3", 4)),
    "too many dimensions": lambda c: rewrite(
        c, "state.json", json.dumps({"x": {"$array": "variables/w", "dtype": "u1", "shape": [32] + [1] * 99}}).encode()
    ),
    "beyond what NumPy counts": lambda c: rewrite(
        c, "state.json", json.dumps({"x": {"$array": "variables/w", "dtype": "U0", "shape": [2**62, 32]}}).encode()
    ),
    "state garbled": lambda c: flip(c.path / "state.json", 5),
}


@pytest.mark.parametrize("damage", [*DAMAGE.values(), *GARBLED.values()], ids=[*DAMAGE, *GARBLED])
def test_one_that_is_not_whole_is_passed_over_with_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Checkpoint], object]
) -> None:
    *_, newest = save(tmp_path, 1, 2)
    damage(newest)
    assert restored_step(tmp_path) == 1
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert str(newest.path) in record.getMessage()
    assert "not whole: " in record.getMessage()


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_one_that_is_not_whole_is_not_listed(tmp_path: Path, damage: Callable[[Checkpoint], object]) -> None:
    first, newest = save(tmp_path, 1, 2)
    damage(newest)
    assert Saver(tmp_path).list() == [first]
    assert Saver(tmp_path).latest() == first


@pytest.mark.parametrize("damage", [*DAMAGE.values(), *GARBLED.values()], ids=[*DAMAGE, *GARBLED])
def test_folder_with_none_whole_is_an_error_that_says_why(
    tmp_path: Path, damage: Callable[[Checkpoint], object]
) -> None:
    (only,) = save(tmp_path, 2)
    damage(only)
    with pytest.raises(CheckpointError, match=r"no checkpoint in .* is whole .*checkpoint-1-step-2: .*move these away"):
        Saver(tmp_path).restore()


@pytest.mark.parametrize("damage", [*DAMAGE.values(), *GARBLED.values()], ids=[*DAMAGE, *GARBLED])
def test_named_one_that_is_not_whole_is_an_error(tmp_path: Path, damage: Callable[[Checkpoint], object]) -> None:
    _, newest = save(tmp_path, 1, 2)
    damage(newest)
    with pytest.raises(CheckpointError, match=r"cannot restore .*checkpoint-2-step-2: ") as caught:
        Saver(tmp_path).restore(newest)
    assert caught.value.__cause__ is not None


def test_one_of_the_first_format_is_whole(tmp_path: Path) -> None:
    (old,) = save(tmp_path, 1)
    downgrade(old)
    assert Saver(tmp_path).verify(old) is None
    assert Saver(tmp_path).list() == [old]
    assert restored_step(tmp_path) == 1


@pytest.mark.parametrize("name", ["arrays.safetensors", "state.json"])
def test_damage_to_one_of_the_first_format_is_found(tmp_path: Path, name: str) -> None:
    first, old = save(tmp_path, 1, 2)
    downgrade(old)
    flip(old.path / name, -1)
    fault = Saver(tmp_path).verify(old)
    assert fault is not None
    assert re.match(rf"{name} is damaged: its crc32 is [0-9a-f]{{8}} and should be [0-9a-f]{{8}}$", fault)
    assert Saver(tmp_path).verify(first) is None
    assert restored_step(tmp_path) == 1


@pytest.mark.parametrize("damage", [*DAMAGE.values(), *GARBLED.values()], ids=[*DAMAGE, *GARBLED])
def test_verify_says_what_restore_says(tmp_path: Path, damage: Callable[[Checkpoint], object]) -> None:
    first, newest = save(tmp_path, 1, 2)
    saver = Saver(tmp_path)
    assert saver.verify(newest) is None
    damage(newest)
    fault = saver.verify(newest)
    assert fault
    with pytest.raises(CheckpointError) as caught:
        saver.restore(newest)
    assert str(newest.path) in str(caught.value)
    assert saver.verify(first) is None


def test_verify_names_all_faults(tmp_path: Path) -> None:
    (checkpoint,) = save(tmp_path, 1)
    flip(checkpoint.path / "arrays.safetensors", -1)
    (checkpoint.path / "state.json").write_bytes(b"{}")
    fault = Saver(tmp_path).verify(checkpoint)
    assert fault is not None
    arrays, state = fault.split("; ")
    assert arrays.startswith("arrays.safetensors is damaged: its xxh3_128 is ")
    assert state.startswith("state.json has 2 bytes and should have ")


def test_one_of_another_folder_can_be_verified(tmp_path: Path) -> None:
    (other,) = save(tmp_path / "a", 1)
    assert Saver(tmp_path / "b").verify(other) is None


def test_one_that_is_gone_does_not_verify(tmp_path: Path) -> None:
    (gone,) = save(tmp_path, 1)
    shutil.rmtree(gone.path)
    fault = Saver(tmp_path).verify(gone)
    assert fault is not None
    assert fault.startswith("manifest.json is missing: ")


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=4), st.integers(0), st.integers(0, 8), st.sampled_from(["arrays.safetensors", "state.json"]))
def test_verify_and_restore_agree_on_files_of_another_make(
    tmp_path_factory: pytest.TempPathFactory, new: bytes, place: int, old: int, name: str
) -> None:
    (checkpoint,) = save(tmp_path_factory.mktemp("checkpoints"), 1)
    content = (checkpoint.path / name).read_bytes()
    start = place % len(content)
    rewrite(checkpoint, name, content[:start] + new + content[start + old :])
    saver = Saver(checkpoint.path.parent)
    fault = saver.verify(checkpoint)
    if fault is None:
        assert saver.restore(checkpoint) is not None
    else:
        with pytest.raises(CheckpointError):
            saver.restore(checkpoint)


def test_newest_passed_over_does_not_hide_the_older(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, second, third = save(tmp_path, 1, 2, 3)
    for checkpoint in (second, third):
        flip(checkpoint.path / "state.json", 3)
    assert restored_step(tmp_path) == 1
    assert [third.path.name in caplog.messages[0], second.path.name in caplog.messages[1]] == [True, True]


def test_what_is_passed_over_is_not_kept_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, newest = save(tmp_path, 1, 2)
    flip(newest.path / "arrays.safetensors", -1)
    assert restored_step(tmp_path) == 1
    # An error has the frames with it, and these the arrays.
    assert [type(argument) for argument in caplog.records[0].args or ()] == [type(newest.path), str]


def test_older_one_can_be_named(tmp_path: Path) -> None:
    first, _ = save(tmp_path, 1, 2)
    found = Saver(tmp_path).restore(first)
    assert found is not None
    assert found[0] == first
    assert found[1]["global_step"] == 1


def test_one_of_another_folder_can_be_named(tmp_path: Path) -> None:
    (other,) = save(tmp_path / "a", 1)
    found = Saver(tmp_path / "b").restore(other)
    assert found is not None
    assert found[1]["global_step"] == 1


def test_named_one_that_is_gone_is_an_error(tmp_path: Path) -> None:
    (gone,) = save(tmp_path, 1)
    shutil.rmtree(gone.path)
    with pytest.raises(CheckpointError, match=r"manifest.json is missing"):
        Saver(tmp_path).restore(gone)


@posix
@pytest.mark.parametrize("name", FILES)
def test_file_that_is_a_link_is_not_followed(tmp_path: Path, name: str) -> None:
    (checkpoint,) = save(tmp_path / "runs", 1)
    outside = tmp_path / "outside"
    (checkpoint.path / name).rename(outside)
    (checkpoint.path / name).symlink_to(outside)
    with pytest.raises(CheckpointError, match="is no regular file"):
        Saver(tmp_path / "runs").restore()


@posix
def test_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (checkpoint,) = save(tmp_path / "a", 1)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / checkpoint.path.name).symlink_to(checkpoint.path)
    assert Saver(tmp_path / "b").list() == []


def test_one_that_is_deleted_meanwhile_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from tenterhooks_checkpoint import _folder

    save(tmp_path, 1)
    read = _folder.read

    def overtaken(checkpoint: Checkpoint) -> tuple[Manifest, dict[str, Any]]:
        if checkpoint.step == 1:
            save(tmp_path, 2, max_to_keep=1)
        return read(checkpoint)

    monkeypatch.setattr(_folder, "read", overtaken)
    assert restored_step(tmp_path) == 2
    assert caplog.messages == []


@pytest.mark.parametrize("look", [Saver.latest, lambda saver: saver.list()[-1]], ids=["latest", "list"])
def test_one_that_is_deleted_meanwhile_does_not_hide_the_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[Saver], Checkpoint | None]
) -> None:
    from tenterhooks_checkpoint import _manifest

    save(tmp_path, 1)
    check = _manifest.check

    def overtaken(checkpoint: Checkpoint, **options: Any) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(_manifest, "check", check)
            if restored_step(tmp_path) == 1:
                save(tmp_path, 2, max_to_keep=1)
        return check(checkpoint, **options)

    monkeypatch.setattr(_manifest, "check", overtaken)
    newest = look(Saver(tmp_path))
    assert newest is not None
    assert newest.step == 2


@posix
def test_manifest_of_any_size_takes_no_memory(tmp_path: Path) -> None:
    before, newest = save(tmp_path, 1, 2)
    with (newest.path / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)  # It takes no space on the disk either.
    fault = Saver(tmp_path).verify(newest)
    assert fault == "manifest.json is damaged: it has 1099511627776 bytes, more than any manifest"
    assert Saver(tmp_path).list() == [before]


# Folders that cannot be written or read.


def test_folder_that_cannot_be_made_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    directory = tmp_path / "file" / "runs"
    with pytest.raises(CheckpointError, match=r"cannot save step 3 in .*Check that it is a folder") as caught:
        save(directory, 3)
    assert str(directory) in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)


def test_file_in_place_of_the_folder_cannot_be_saved_into(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(CheckpointError, match=r"cannot save step 3 in .*runs: ") as caught:
        save(tmp_path / "runs", 3)
    assert isinstance(caught.value.__cause__, OSError)


def test_file_in_place_of_the_folder_cannot_be_restored_from(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    saver = Saver(tmp_path / "runs")
    for look in (saver.restore, saver.list, saver.latest):
        with pytest.raises(CheckpointError, match=r"cannot look for checkpoints in .*runs: "):
            look()


@posix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CheckpointError, match=r"cannot save step 1 in .*Permission denied"):
        save(tmp_path, 1)


SECOND = """
import sys
from tenterhooks import CheckpointError
from tenterhooks_checkpoint import Saver

try:
    Saver(sys.argv[1]).save({}, step=9)
except CheckpointError as error:
    print(str(error).partition(":")[0])
else:
    print("saved")
"""
FULL_DISK = """
import resource, signal, sys
import numpy as np
from tenterhooks import CheckpointError
from tenterhooks_checkpoint import Saver

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    Saver(sys.argv[1], max_to_keep=1).save({"w": EVAL}, step=2)
except CheckpointError as error:
    print(type(error.__cause__).__name__, error)
"""


@posix
@pytest.mark.parametrize("value", ["np.ones(100_000)", "'text' * 10_000"], ids=["arrays", "state"])
def test_full_disk_leaves_the_checkpoint_before(tmp_path: Path, value: str) -> None:
    # A limit on the size of files stands for the end of the disk.
    save(tmp_path, 1)
    done = python(FULL_DISK.replace("EVAL", value), tmp_path)
    assert done.stdout.startswith("OSError cannot save step 2 in "), done.stderr
    assert names(tmp_path) == ["checkpoint-1-step-1"]
    assert restored_step(tmp_path) == 1


def test_system_that_cannot_flush_folders_saves_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def without_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", without_folders)
    save(tmp_path, 1)
    assert restored_step(tmp_path) == 1


def test_disk_that_fails_to_flush_a_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.name == "nt":
        pytest.skip("no folder is flushed there")

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(CheckpointError, match="Input/output error"):
        save(tmp_path, 1)


def test_interrupted_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, 1)

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, 2)
    assert names(tmp_path) == ["checkpoint-1-step-1"]


# Processes that die.

DYING = """
import os, signal, sys
import numpy as np
from tenterhooks_checkpoint import Saver

directory, doomed, calls = sys.argv[1], sys.argv[2], 0

def dying(name):
    function = getattr(os, name)
    def call(*args, **options):
        global calls
        calls += 1
        if doomed in (name, str(calls)):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return function(*args, **options)
    setattr(os, name, call)

for name in ("mkdir", "fsync", "rename", "unlink", "rmdir"):
    dying(name)
Saver(directory, max_to_keep=1).save({"variables": {"w": np.full(4, 2.0)}, "global_step": 2}, step=2)
print("done")
"""


def test_kill_between_write_and_commit_leaves_the_old_one_the_newest(tmp_path: Path) -> None:
    save(tmp_path, 1)
    done = python(DYING, tmp_path, "rename")
    assert done.returncode != 0
    leftover, kept = names(tmp_path)
    assert names(tmp_path / leftover) == FILES
    assert leftover.startswith(".tmp-")
    assert kept == "checkpoint-1-step-1"
    assert restored_step(tmp_path) == 1


def test_next_save_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    save(tmp_path, 1)
    python(DYING, tmp_path, "rename")
    save(tmp_path, 3)
    assert names(tmp_path) == ["checkpoint-1-step-1", "checkpoint-2-step-3"]


def test_kill_at_any_call_leaves_a_whole_newest_one(tmp_path: Path) -> None:
    seen = []
    for call in itertools.count(1):
        directory = tmp_path / str(call)
        save(directory, 1)
        done = python(DYING, directory, call)
        seen.append(restored_step(directory))
        assert all((checkpoint.path / name).exists() for checkpoint in Saver(directory).list() for name in FILES)
        save(directory, 3, max_to_keep=1)
        assert [checkpoint.step for checkpoint in Saver(directory).list()] == [3]
        assert len(names(directory)) == 1
        if done.stdout == "done\n":
            break
        assert done.returncode not in (0, 1), done.stderr
    assert seen == sorted(seen)
    assert seen[0] == 1
    assert seen[-1] == 2
    assert len(seen) > 10


def test_restoring_removes_nothing(tmp_path: Path) -> None:
    save(tmp_path, 1)
    python(DYING, tmp_path, "rename")
    before = names(tmp_path)
    restored_step(tmp_path)
    assert names(tmp_path) == before


def test_living_process_keeps_its_temporary_folder_where_there_are_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        folder = tmp_path / f".tmp-{living.pid}-0123abcd-0"
        folder.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(_lock, "_lock_file", no_locks)
            save(tmp_path, 1)
        assert folder.exists()
        # A process that can lock the folder is alone with it: that one has the number of another by chance.
        save(tmp_path, 2)
        assert not folder.exists()
    finally:
        living.communicate(b"\n")


def test_a_second_saver_leaves_what_the_first_is_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def meanwhile(self: Path, target: Path) -> Path:
        monkeypatch.undo()
        with pytest.raises(CheckpointError, match="another saver"):
            Saver(tmp_path).open()
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", meanwhile)
    save(tmp_path, 1)
    assert restored_step(tmp_path) == 1


def test_folder_of_an_earlier_process_with_the_same_number_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / f".tmp-{os.getpid()}-0123abcd-0"
    folder.mkdir()
    save(tmp_path, 1)
    assert not folder.exists()


def test_leftover_that_cannot_be_removed_does_not_stop_the_save(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".tmp-999999999-0123abcd-0").write_text("a file that rmtree refuses")
    save(tmp_path, 1)
    assert restored_step(tmp_path) == 1
    assert "cannot remove" in caplog.text


def test_temporary_folder_of_another_make_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".tmp-mine").mkdir()
    save(tmp_path, 1)
    assert names(tmp_path) == [".tmp-mine", "checkpoint-1-step-1"]


@pytest.mark.parametrize("make", [Saver, CheckpointSaverHook])
def test_an_empty_text_is_no_folder(make: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match=r"is an empty text: give None where there is none, '\.' for the working"):
        make("")


@pytest.mark.parametrize("name", ["max_to_keep", "keep_best", "keep_every_n_steps"])
@pytest.mark.parametrize("number", ["5", 2.5, True])
def test_what_is_no_number_of_checkpoints_is_named(name: str, number: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"{name} is a whole number, not {number!r} of type"):
        Saver(tmp_path, **{name: number})
