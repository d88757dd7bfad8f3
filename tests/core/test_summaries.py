"""One open writer per folder, shared by all who write there."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import tenterhooks as th
from tenterhooks import plugins, summaries
from tenterhooks.summaries import open_summary_writer, summary_writer_installed


class Recorder:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.points: list[tuple[str, float, int]] = []
        self.flushed = 0
        self.closed = 0
        self._writing = False

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        assert not self._writing, "two threads are in the writer"
        self._writing = True
        # Lets another thread in, if there is nothing to keep it out.
        time.sleep(0)
        self.points.append((tag, value, step))
        self._writing = False

    def flush(self) -> None:
        self.flushed += 1

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Recorder]:
    """The writers that were made, with `Recorder` as the one that is installed."""
    writers: list[Recorder] = []

    def factory(directory: Path) -> Recorder:
        writers.append(Recorder(directory))
        return writers[-1]

    def load_default(group: str, *, distribution: str, purpose: str) -> Callable[[Path], Recorder]:
        assert group == "tenterhooks.summary_writers"
        return factory

    monkeypatch.setattr(plugins, "load_default", load_default)
    return writers


def test_all_who_open_a_folder_share_one_writer(
    made: list[Recorder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders: list[str | Path] = ["runs", tmp_path / "runs", "other/../runs"]
    for number, folder in enumerate(folders):
        open_summary_writer(folder).add_scalar("loss", 0.5, number)
    assert [writer.directory for writer in made] == [(tmp_path / "runs").resolve()]
    assert made[0].points == [("loss", 0.5, 0), ("loss", 0.5, 1), ("loss", 0.5, 2)]


def test_another_folder_has_another_writer(made: list[Recorder], tmp_path: Path) -> None:
    open_summary_writer(tmp_path / "a")
    open_summary_writer(tmp_path / "b")
    assert [writer.directory.name for writer in made] == ["a", "b"]


def test_the_last_close_closes_the_writer(made: list[Recorder], tmp_path: Path) -> None:
    first, second = open_summary_writer(tmp_path), open_summary_writer(tmp_path)
    first.close()
    assert made[0].closed == 0
    second.close()
    assert made[0].closed == 1


def test_closing_twice_counts_once(made: list[Recorder], tmp_path: Path) -> None:
    first, second = open_summary_writer(tmp_path), open_summary_writer(tmp_path)
    first.close()
    first.close()
    second.add_scalar("loss", 0.5, 1)
    assert (made[0].closed, made[0].points) == (0, [("loss", 0.5, 1)])


def test_what_is_closed_takes_no_point(made: list[Recorder], tmp_path: Path) -> None:
    first, _ = open_summary_writer(tmp_path), open_summary_writer(tmp_path)
    first.close()
    with pytest.raises(RuntimeError, match="open it again"):
        first.add_scalar("loss", 0.5, 1)


def test_a_folder_can_be_opened_again_after_the_last_close(made: list[Recorder], tmp_path: Path) -> None:
    open_summary_writer(tmp_path).close()
    open_summary_writer(tmp_path).add_scalar("loss", 0.5, 1)
    assert [writer.points for writer in made] == [[], [("loss", 0.5, 1)]]


def test_a_writer_that_cannot_be_made_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def factory(directory: Path) -> Recorder:
        raise OSError("disk full")

    monkeypatch.setattr(plugins, "load_default", lambda *_, **__: factory)
    for _ in range(2):
        with pytest.raises(OSError, match="disk full"):
            open_summary_writer(tmp_path)
    assert summaries._open.keys().isdisjoint({tmp_path.resolve()})


def test_threads_are_in_the_writer_one_after_the_other(made: list[Recorder], tmp_path: Path) -> None:
    def write(tag: str) -> None:
        writer = open_summary_writer(tmp_path)
        for step in range(500):
            writer.add_scalar(tag, 0.0, step)
        writer.close()

    keeper = open_summary_writer(tmp_path)
    threads = [threading.Thread(target=write, args=(tag,)) for tag in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keeper.close()
    assert len(made) == 1
    assert sorted(made[0].points) == [(tag, 0.0, step) for tag in "abcd" for step in range(500)]


def test_without_a_plugin_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plugins, "installed", lambda group: ())
    with pytest.raises(th.PluginError, match="pip install tenterhooks-summary"):
        open_summary_writer(tmp_path)


@pytest.mark.parametrize(("names", "expected"), [((), False), (("other",), False), (("default",), True)])
def test_whether_a_writer_is_installed(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], expected: bool) -> None:
    monkeypatch.setattr(plugins, "installed", lambda group: tuple(SimpleNamespace(name=name) for name in names))
    assert summary_writer_installed() is expected
