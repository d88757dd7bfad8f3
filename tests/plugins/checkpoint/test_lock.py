"""One process at a time has a folder."""

import errno
import gc
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenterhooks import CheckpointError
from tenterhooks_checkpoint import _lock
from tenterhooks_checkpoint._lock import LOCK, FolderLock

TAKES = """
import sys
from pathlib import Path
from tenterhooks import CheckpointError
from tenterhooks_checkpoint._lock import FolderLock

lock = FolderLock(Path(sys.argv[1]))
try:
    lock.take()
except CheckpointError as error:
    print(error)
else:
    print("taken", flush=True)
    sys.stdin.read()
"""


def other_process_takes(directory: Path) -> bool:
    done = subprocess.run(
        [sys.executable, "-c", TAKES, directory], input="", capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout == "taken\n"


def test_another_process_cannot_have_it_before_it_is_given_back(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.take()
    assert lock.held
    assert not other_process_takes(tmp_path)
    lock.give_back()
    assert not lock.held
    assert other_process_takes(tmp_path)
    lock.give_back()
    lock.take()
    assert not other_process_takes(tmp_path)


def test_another_of_this_process_cannot_have_it_either(tmp_path: Path) -> None:
    one, other = FolderLock(tmp_path), FolderLock(tmp_path / ".." / tmp_path.name)
    assert one.take()
    assert not one.take()
    with pytest.raises(CheckpointError, match="another saver of this process"):
        other.take()
    one.give_back()
    assert other.take()
    one.give_back()
    assert not other_process_takes(tmp_path)


def test_a_folder_that_was_made_anew_is_taken_anew(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    lock = FolderLock(folder)
    lock.take()
    (folder / LOCK).unlink()
    folder.rmdir()
    folder.mkdir()
    assert lock.take()
    assert not other_process_takes(folder)


def test_one_that_is_dropped_gives_it_back(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.take()
    del lock
    gc.collect()
    assert other_process_takes(tmp_path)


def test_the_end_of_a_process_gives_it_back_and_the_error_says_who_has_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TAKES, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "taken\n"
        with pytest.raises(
            CheckpointError, match=rf"^process {other.pid} on .* saves into {tmp_path}: .*checkpoint_dir"
        ):
            FolderLock(tmp_path).take()
        other.kill()
    FolderLock(tmp_path).take()


def test_reading_the_file_gives_nothing_back(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.take()
    assert (tmp_path / LOCK).read_bytes().startswith(b"process ")
    assert not other_process_takes(tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_neither_has_it_nor_keeps_it(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.take()
    # A child that outlives its parent's hold, as a worker of a data loader may.
    done, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(go)
        os.read(done, 1)
        os._exit(lock.held)
    os.close(done)
    try:
        assert not other_process_takes(tmp_path)
        lock.give_back()
        assert other_process_takes(tmp_path)
    finally:
        os.close(go)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP])
def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(number, "no locks here")

    monkeypatch.setattr(_lock, "_lock_file", refuse)
    lock = FolderLock(tmp_path)
    lock.take()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "no two processes" in caplog.text
    assert lock.held


def test_a_file_that_does_not_close_well_is_said_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lock = FolderLock(tmp_path)
    lock.take()
    close = os.close

    def fail(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", fail)
        lock.give_back()
    assert not lock.held
    assert "Input/output error" in caplog.text
    assert other_process_takes(tmp_path)


def test_a_file_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FolderLock(tmp_path / "missing").take()
