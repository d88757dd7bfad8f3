"""One open writer per folder, shared by all who write there."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

import tenterhooks as th
from tenterhooks import plugins, summaries
from tenterhooks.summaries import (
    SummaryWriter,
    check_summary_writer,
    leave_summary_writer,
    open_summary_writer,
    summary_writer_installed,
)


class Recorder(SummaryWriter):
    def __init__(self, directory: Path) -> None:
        self.told: list[tuple[object, ...]] = []
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

    def start(self, step: int) -> None:
        self.told.append(("start", step))

    def add_histogram(self, tag: str, values: object, step: int) -> None:
        self.told.append(("histogram", tag, values, step))

    def add_image(self, tag: str, image: object, step: int) -> None:
        self.told.append(("image", tag, image, step))

    def add_text(self, tag: str, text: str, step: int) -> None:
        self.told.append(("text", tag, text, step))

    def add_hparams(self, hparams: Mapping[str, object], metrics: Iterable[str] = ()) -> None:
        self.told.append(("hparams", hparams, metrics))

    def finish(self, exception: BaseException | None) -> None:
        self.told.append(("finish", exception))

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


def test_a_share_hands_all_on(made: list[Recorder], tmp_path: Path) -> None:
    share, error = open_summary_writer(tmp_path), ValueError("no")
    share.start(1)
    share.add_histogram("w", [1.0], 2)
    share.add_image("i", [[1.0]], 3)
    share.add_text("t", "fine", 4)
    share.add_hparams({"rate": 0.1}, ["loss"])
    share.finish(error)
    assert made[0].told == [
        ("start", 1),
        ("histogram", "w", [1.0], 2),
        ("image", "i", [[1.0]], 3),
        ("text", "t", "fine", 4),
        ("hparams", {"rate": 0.1}, ["loss"]),
        ("finish", error),
    ]
    share.close()
    with pytest.raises(RuntimeError, match="open it again"):
        share.start(1)
    with pytest.raises(RuntimeError, match="open it again"):
        share.finish(None)
    assert len(made[0].told) == 6


class Fails(SummaryWriter):
    """Fails at what it is told to, and notes the rest."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.done: list[str] = []

    def _do(self, what: str) -> None:
        self.done.append(what)
        if what == self.at:
            raise OSError(what)

    def add_scalar(self, tag: str, value: float, step: int) -> None: ...

    def finish(self, exception: BaseException | None) -> None:
        self._do("finish")

    def flush(self) -> None:
        self._do("flush")

    def close(self) -> None:
        self._do("close")


@pytest.mark.parametrize(("close", "last"), [(True, "close"), (False, "flush")])
def test_a_writer_is_left_whatever_it_makes_of_the_end(close: bool, last: str) -> None:
    writer = Fails("finish")
    with pytest.raises(OSError, match="finish"):
        leave_summary_writer(writer, None, close=close)
    assert writer.done == ["finish", last]


@pytest.mark.parametrize("writer", [[], "runs", SummaryWriter, SimpleNamespace(add_scalar=print)])
def test_what_is_no_writer_is_refused(writer: object) -> None:
    with pytest.raises(TypeError, match=r"of a subclass of tenterhooks\.summaries\.SummaryWriter, not "):
        check_summary_writer(writer)


def test_a_writer_and_none_are_accepted(tmp_path: Path) -> None:
    check_summary_writer(None)
    check_summary_writer(Recorder(tmp_path))


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
