"""What TensorBoard's own reader finds in the event files."""

import math
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_summary import TensorBoardWriter

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read(directory: Path, tag: str) -> list[Any]:
    """The points of a curve."""
    events = accumulator.EventAccumulator(str(directory), size_guidance={accumulator.SCALARS: 0})
    events.Reload()
    points: list[Any] = events.Scalars(tag)
    return points


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_points_are_read_as_they_were_written(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path, clock=iter([1.0, 2.0, 3.5, 4.5]).__next__)
    writer.add_scalar("train/loss", 0.5, 1)
    writer.add_scalar("train/loss", 0.25, 7)
    writer.close()
    points = [(point.wall_time, point.step, point.value) for point in read(tmp_path, "train/loss")]
    assert points == [(3.5, 1, 0.5), (4.5, 7, 0.25)]


def test_no_point_is_left_out(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    for step in range(2500):
        writer.add_scalar("loss", step, step)
    writer.close()
    assert [(point.step, point.value) for point in read(tmp_path, "loss")] == [(step, step) for step in range(2500)]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_written_as_it_is(tmp_path: Path, value: float) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", value, 1)
    writer.close()
    assert [point.value for point in read(tmp_path, "loss")] == pytest.approx([value], nan_ok=True)


def test_a_tag_is_kept_as_it_is(tmp_path: Path) -> None:
    tag = "Été/loss (mean), %"
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar(tag, 0.5, 1)
    writer.close()
    assert [point.value for point in read(tmp_path, tag)] == [0.5]


def test_what_was_flushed_can_be_read_while_the_writer_is_open(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    assert [point.value for point in read(tmp_path, "loss")] == [0.5]
    writer.close()


def test_only_the_end_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr("os.fsync", waits.append)
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    assert waits == []
    writer.close()
    assert len(waits) == 1


def test_curves_of_an_interrupted_and_a_resumed_run_do_not_overlap(tmp_path: Path) -> None:
    interrupted = TensorBoardWriter(tmp_path)
    for step in (1, 2, 3, 4):
        interrupted.add_scalar("loss", 0.0, step)
    interrupted.flush()
    resumed = TensorBoardWriter(tmp_path)
    for step in (3, 4, 5):
        resumed.add_scalar("loss", 1.0, step)
    resumed.close()
    points = [(point.step, point.value) for point in read(tmp_path, "loss")]
    assert points == [(1, 0.0), (2, 0.0), (3, 1.0), (4, 1.0), (5, 1.0)]
    interrupted.close()


def test_two_writers_at_one_time_have_two_files(tmp_path: Path) -> None:
    for step in (1, 2):
        writer = TensorBoardWriter(tmp_path)
        writer.add_scalar("loss", 0.5, step)
        writer.close()
    assert len(files(tmp_path)) == 2
    assert [point.step for point in read(tmp_path, "loss")] == [1, 2]


def test_there_is_no_file_before_the_first_point(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path / "run")
    writer.flush()
    writer.close()
    assert files(tmp_path / "run") == []


def test_a_folder_that_cannot_be_made_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        TensorBoardWriter(tmp_path / "file")


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.close()
    writer.close()
    assert [point.step for point in read(tmp_path, "loss")] == [1]


def test_a_closed_writer_takes_no_point(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.close()
    with pytest.raises(RuntimeError, match="closed"):
        writer.add_scalar("loss", 0.5, 1)
    assert files(tmp_path) == []
