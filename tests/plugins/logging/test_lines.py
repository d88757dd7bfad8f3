"""A file of lines, whole whatever happens."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_logging._lines import LineFile


class Numbers(LineFile):
    """Each line is a step; what is no number tells none."""

    def as_written(self, value: Any, tag: str) -> Any:
        return value

    def write(self, step: int, time: float, values: dict[str, Any]) -> None:
        self.append(b"%d\n" % step)

    def write_end(self, step: int, time: float, how: str) -> None:
        self.append(b"inf\n")

    def step_of(self, line: bytes) -> float | None:
        try:
            return float(line)
        except ValueError:
            return None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "numbers.txt"


def session(path: Path, *steps: int, after: int | None = None) -> None:
    """Write some steps, in a session that is fresh or goes on after a step, and end it."""
    file = Numbers(path)
    if after is None:
        file.begin()
    else:
        file.go_on(after)
    for step in steps:
        file.write(step, 0.0, {})
    file.write_end(0, 0.0, "")
    file.close()


def test_a_line_is_with_the_system_at_once(path: Path) -> None:
    file = Numbers(path)
    file.begin()
    file.write(1, 0.0, {})
    assert path.read_bytes() == b"1\n"
    file.close()


def test_who_goes_on_after_a_step_writes_no_step_twice(path: Path) -> None:
    session(path, 1, 2, 3)
    session(path, 3, 4, after=2)
    assert path.read_bytes() == b"1\n2\n3\n4\ninf\n"


def test_what_is_not_past_the_step_stays(path: Path) -> None:
    session(path, 1, 2)
    session(path, 3, after=2)
    assert path.read_bytes() == b"1\n2\n3\ninf\n"


@pytest.mark.parametrize("torn", [b"3", b"in", b"\x00\x00", b"x"])
def test_a_last_line_that_is_torn_goes(path: Path, torn: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(b"1\n2\n" + torn)
    session(path, 3, after=2)
    assert path.read_bytes() == b"1\n2\n3\ninf\n"


def test_a_line_that_tells_no_step_goes_with_the_one_before_it(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"# a note\n1\n# another\n2\n# and one\n")
    session(path, after=1)
    assert path.read_bytes() == b"# a note\n1\n# another\ninf\n"


def test_who_goes_on_without_a_file_begins_one(path: Path) -> None:
    session(path, 8, after=7)
    assert path.read_bytes() == b"8\ninf\n"


def test_a_fresh_session_leaves_what_is_there_under_another_name(path: Path) -> None:
    for step in (1, 2, 3):
        session(path, step)
    found = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert found == {
        "numbers.txt": b"3\ninf\n",
        "numbers-1.txt": b"1\ninf\n",
        "numbers-2.txt": b"2\ninf\n",
    }


def test_a_file_without_a_step_is_none_to_be_kept(path: Path) -> None:
    session(path)
    session(path)
    assert [file.name for file in path.parent.iterdir()] == ["numbers.txt"]


def test_a_file_of_something_else_is_kept_whole(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"my notes")
    session(path, 1)
    assert (path.parent / "numbers-1.txt").read_bytes() == b"my notes"


def test_another_file_takes_its_place_and_is_gone_on_with(path: Path) -> None:
    file = Numbers(path)
    file.begin()
    file.write(1, 0.0, {})
    path.chmod(0o640)
    file.replace([b"10\n", *file.lines()])
    file.write(2, 0.0, {})
    file.close()
    assert path.read_bytes() == b"10\n1\n2\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["numbers.txt"]
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path: Path, path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    link = tmp_path / "link.txt"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("links cannot be made here")
    file = Numbers(link)
    file.begin()
    file.replace([b"1\n"])
    file.close()
    assert link.is_symlink()
    assert path.read_bytes() == b"1\n"


def test_two_cannot_write_to_one_file(path: Path) -> None:
    file = Numbers(path)
    with pytest.raises(ValueError, match=r"another hook writes to .*numbers.txt: give one of them another path"):
        Numbers(path.parent / "." / "numbers.txt")
    file.close()
    file.close()
    Numbers(path).close()


def test_one_that_was_dropped_is_no_hindrance(path: Path) -> None:
    Numbers(path)
    Numbers(path).close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on the size of files, as Linux has it")
def test_a_line_that_the_disk_has_no_room_for_is_not_written_in_part(path: Path) -> None:
    import resource
    import signal

    file = Numbers(path)
    file.begin()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
        file.append(b"1234\n")
        with pytest.raises(OSError, match="too large"):
            file.append(b"123456789\n")
        file.append(b"5678\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
        file.close()
    assert path.read_bytes() == b"1234\n5678\n"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is open cannot be removed")
@pytest.mark.parametrize("again", [False, True], ids=["removed", "replaced"])
def test_a_file_that_was_removed_meanwhile_takes_no_lines_and_says_so(path: Path, again: bool) -> None:
    file = Numbers(path)
    file.begin()
    file.write(1, 0.0, {})
    path.unlink()
    if again:
        path.write_bytes(b"of another program\n")
    writes: list[Callable[[], None]] = [lambda: file.write(2, 0.0, {}), lambda: file.replace([b"1\n"])]
    for write in writes:
        with pytest.raises(FileNotFoundError, match=r"numbers\.txt was removed or replaced while it was written"):
            write()
    file.close()
    assert [entry.read_bytes() for entry in path.parent.iterdir()] == [b"of another program\n"] * again


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files on this system")
def test_what_cannot_be_read_again_is_no_file_to_write(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"numbers\.txt is no file that can be read again: give another path"):
        Numbers(path)


def test_a_folder_is_no_file_to_write(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(OSError, match=r"numbers\.txt is a folder: give a file in it"):
        Numbers(path)
