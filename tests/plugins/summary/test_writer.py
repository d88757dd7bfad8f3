"""What TensorBoard's own reader finds in the event files."""

import gc
import io
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tenterhooks_summary import TensorBoardWriter

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read(directory: Path, tag: str) -> list[Any]:
    """The points of a curve."""
    points: list[Any] = events_of(directory).Scalars(tag)
    return points


def events_of(directory: Path) -> Any:
    """All that is shown of a folder."""
    guidance = dict.fromkeys(accumulator.DEFAULT_SIZE_GUIDANCE, 0)
    events = accumulator.EventAccumulator(str(directory), size_guidance=guidance)
    events.Reload()
    return events


def logs_of(directory: Path) -> list[tuple[int, int, str]]:
    """The marks of sessions in the files of a folder: step, status, message."""
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    found = []
    for name in files(directory):
        for event in loader.RawEventFileLoader(str(directory / name)).Load():
            parsed = pytest.importorskip("tensorboard.compat.proto.event_pb2").Event.FromString(event)
            if parsed.HasField("session_log"):
                found.append((parsed.step, parsed.session_log.status, parsed.session_log.msg))
    return found


START, STOP = 1, 2


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that has a writer of a folder."""
    lines = "import os, signal, sys\nfrom tenterhooks_summary import TensorBoardWriter\n" + (
        "folder = sys.argv[1]\nwriter = TensorBoardWriter(folder)\n" + program
    )
    line = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", lines, str(folder)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_points_are_read_as_they_were_written(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path, clock=iter([3.5, 4.5]).__next__)
    writer.add_scalar("train/loss", 0.5, 1)
    writer.add_scalar("train/loss", 0.25, 7)
    writer.close()
    points = [(point.wall_time, point.step, point.value) for point in read(tmp_path, "train/loss")]
    assert points == [(3.5, 1, 0.5), (4.5, 7, 0.25)]


def test_no_point_of_100_000_is_left_out(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    for step in range(10_000):
        for tag in "abcdefghij":
            writer.add_scalar(tag, step, step)
    writer.close()
    events = events_of(tmp_path)
    for tag in "abcdefghij":
        assert [(point.step, point.value) for point in events.Scalars(tag)] == [(step, step) for step in range(10_000)]


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


def test_a_start_hides_what_a_lost_run_wrote_beyond_it(tmp_path: Path) -> None:
    for begun, steps in [(1, range(1, 160)), (101, range(150, 160, 50))]:
        writer = TensorBoardWriter(tmp_path)
        writer.start(begun)
        for step in steps:
            writer.add_scalar("loss", begun, step)
            writer.add_histogram("w", [1.0, 2.0], step)
        writer.close()
    assert [(point.step, point.value) for point in read(tmp_path, "loss")][99:] == [(100, 1.0), (150, 101.0)]
    assert [point.step for point in events_of(tmp_path).Histograms("w")][99:] == [100, 150]


def test_a_start_in_the_midst_of_a_file_does_so_too(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.start(1)
    for step in (1, 2, 3, 4):
        writer.add_scalar("loss", 0.0, step)
    writer.start(3)
    writer.add_scalar("loss", 1.0, 3)
    writer.close()
    assert [(point.step, point.value) for point in read(tmp_path, "loss")] == [(1, 0.0), (2, 0.0), (3, 1.0)]
    assert logs_of(tmp_path) == [(1, START, ""), (3, START, "")]


@pytest.mark.parametrize("other", ["4000000000.host.1.0", "4000000000.999999999.host.1", "4000000000.000000007.host.1"])
def test_a_file_comes_after_all_that_are_there_whatever_the_clock_says(tmp_path: Path, other: str) -> None:
    (tmp_path / f"events.out.tfevents.{other}").touch()
    for _ in range(3):
        writer = TensorBoardWriter(tmp_path)
        writer.add_scalar("loss", 0.5, 1)
        writer.close()
    names = sorted(tmp_path.iterdir(), key=lambda path: (path.stat().st_size > 0, path.stat().st_mtime_ns))
    assert [path.name for path in names] == files(tmp_path)


def test_how_a_session_ended_is_in_the_file(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.start(5)
    writer.add_scalar("loss", 0.5, 5)
    writer.finish(None)
    writer.finish(ValueError("no"))
    writer.close()
    assert logs_of(tmp_path) == [(5, START, ""), (5, STOP, ""), (5, STOP, "ValueError: no")]


def test_a_session_that_writes_nothing_leaves_no_file(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.start(5)
    writer.finish(None)
    writer.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("error", "status"), [(None, 1), (ValueError("no"), 2)])
def test_hyperparameters_have_the_status_of_the_end(tmp_path: Path, error: Exception | None, status: int) -> None:
    hparams: dict[str, Any] = {"rate": np.float32(0.5), "size": 3, "name": "sgd", "nesterov": True}
    writer = TensorBoardWriter(tmp_path)
    writer.add_hparams(hparams, ["loss"])
    writer.finish(error)
    writer.close()
    content = events_of(tmp_path).PluginTagToContent("hparams")
    read = pytest.importorskip("tensorboard.plugins.hparams.metadata")
    start = read.parse_session_start_info_plugin_data(content["_hparams_/session_start_info"])
    assert {name: value.WhichOneof("kind") for name, value in start.hparams.items()} == {
        "rate": "number_value",
        "size": "number_value",
        "name": "string_value",
        "nesterov": "bool_value",
    }
    experiment = read.parse_experiment_plugin_data(content["_hparams_/experiment"])
    assert [metric.name.tag for metric in experiment.metric_infos] == ["loss"]
    assert read.parse_session_end_info_plugin_data(content["_hparams_/session_end_info"]).status == status


def test_a_histogram_has_all_numbers(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(20, 50))
    writer = TensorBoardWriter(tmp_path)
    writer.add_histogram("w", values, 3)
    values[:] = 0.0  # What is written is what it was.
    writer.close()
    (event,) = events_of(tmp_path).Histograms("w")
    values = np.random.default_rng(0).normal(size=(20, 50))
    histogram = event.histogram_value
    counts, edges = np.histogram(values, 30)
    assert (event.step, histogram.num, histogram.sum) == (3, 1000, pytest.approx(values.sum()))
    assert (histogram.min, histogram.max) == (values.min(), values.max())
    assert histogram.bucket == counts.tolist()
    assert histogram.bucket_limit == edges[1:].tolist()


@pytest.mark.parametrize("values", [[2.0], np.full(7, 2.0), np.full((2, 3), 2), np.ones(4, bool) * 2])
def test_a_histogram_of_one_number_has_one_bin(tmp_path: Path, values: Any) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_histogram("w", values, 3)
    writer.close()
    histogram = events_of(tmp_path).Histograms("w")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.bucket_limit) == (2.0, 2.0, [2.0])
    assert histogram.bucket == [np.size(values)]


def test_a_histogram_shows_what_is_finite_and_says_that_there_is_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_histogram("w", [1.0, math.nan, 3.0, math.inf], 1)
    writer.add_histogram("none", [math.nan], 1)
    writer.close()
    histogram = events_of(tmp_path).Histograms("w")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, sum(histogram.bucket)) == (1.0, 3.0, 4, 2)
    assert math.isnan(histogram.sum)
    assert "the histogram 'w' shows 2 of 4 numbers" in caplog.text
    assert "the histogram 'none' shows 0 of 1 numbers" in caplog.text


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 1), (4, 5, 2), (4, 5, 3), (4, 5, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64, np.float16])
def test_an_image_is_read_as_it_was_written(tmp_path: Path, shape: tuple[int, ...], dtype: Any) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    given = pixels if dtype is np.uint8 else (pixels / 255.0).astype(dtype)
    writer = TensorBoardWriter(tmp_path)
    writer.add_image("input", given, 2)
    writer.close()
    (image,) = events_of(tmp_path).Images("input")
    assert (image.step, image.height, image.width) == (2, 4, 5)
    read = np.asarray(Image.open(io.BytesIO(image.encoded_image_string)))
    assert (read.reshape(pixels.shape) == pixels).all()


def test_a_text_is_read_as_it_was_written(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_text("note", "**Été**\n", 4)
    writer.close()
    events = events_of(tmp_path)
    (event,) = events.Tensors("note")
    assert (event.step, event.tensor_proto.string_val) == (4, ["**Été**\n".encode()])
    assert events.SummaryMetadata("note").plugin_data.plugin_name == "text"


@pytest.mark.parametrize(
    ("add", "error", "message"),
    [
        (lambda w: w.add_scalar("loss", "high", 1), ValueError, "could not convert"),
        (lambda w: w.add_scalar("loss", None, 1), TypeError, "NoneType"),
        (lambda w: w.start("a"), TypeError, "integer"),
        (lambda w: w.add_histogram("w", [], 1), ValueError, "histogram 'w'.*empty"),
        (lambda w: w.add_histogram("w", ["a"], 1), TypeError, "histogram 'w'.*of type list.*real numbers"),
        (lambda w: w.add_histogram("w", np.ones(2, complex), 1), TypeError, "array of complex128.*real numbers"),
        (lambda w: w.add_image("i", np.zeros((3, 4, 4, 3)), 1), ValueError, r"image 'i' .*\(3, 4, 4, 3\).*channels"),
        (lambda w: w.add_image("i", np.zeros((3, 4, 5)), 1), ValueError, r"\(3, 4, 5\)"),
        (lambda w: w.add_image("i", np.zeros((0, 4)), 1), ValueError, r"\(0, 4\)"),
        (lambda w: w.add_image("i", np.zeros((3, 4), int), 1), TypeError, "array of int64.*uint8 from 0 to 255"),
        (lambda w: w.add_image("i", np.full((3, 4), 255.0), 1), ValueError, "from 255 to 255: scale them"),
        (lambda w: w.add_image("i", np.full((3, 4), math.nan), 1), ValueError, "from nan to nan: scale them"),
        (lambda w: w.add_text("t", 3, 1), TypeError, "text 't' is 3 of type int"),
        (lambda w: w.add_hparams({3: 1.0}), TypeError, "hyperparameters have names, not 3 of type int"),
        (lambda w: w.add_hparams({"layers": [1, 2]}), TypeError, r"hyperparameter 'layers' is \[1, 2\] of type list"),
    ],
)
def test_what_cannot_be_written_is_an_error_at_once(tmp_path: Path, add: Any, error: type, message: str) -> None:
    writer = TensorBoardWriter(tmp_path)
    with pytest.raises(error, match=message):
        add(writer)
    writer.close()
    assert files(tmp_path) == []


def test_what_the_thread_cannot_encode_is_an_error_and_the_rest_is_written(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.add_scalar("\ud800", 0.5, 1)
    writer.add_scalar("loss", 0.5, 2)
    with pytest.raises(ValueError, match="surrogates") as caught:
        writer.flush()
    assert caught.value.__notes__ == ["the summary '\\ud800' of step 1 is left out"]
    writer.close()
    assert [point.step for point in read(tmp_path, "loss")] == [1, 2]


def test_a_file_that_is_removed_is_an_error(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.flush()
    for path in tmp_path.iterdir():
        path.unlink()
    writer.add_scalar("loss", 0.5, 2)
    with pytest.raises(FileNotFoundError, match="was removed"):
        writer.close()


def test_one_that_nobody_closes_is_written_and_closed_when_it_is_collected(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.itself = writer  # type: ignore[attr-defined]
    del writer
    gc.collect()
    assert [point.step for point in read(tmp_path, "loss")] == [1]


def test_the_end_of_the_process_writes_all(tmp_path: Path) -> None:
    done = run("for step in range(20_000): writer.add_scalar('loss', step, step)", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [point.step for point in read(tmp_path, "loss")] == list(range(20_000))


def test_what_was_flushed_survives_a_kill(tmp_path: Path) -> None:
    run(
        "for step in range(1000): writer.add_scalar('loss', step, step)\n"
        "writer.flush(); writer.add_scalar('loss', 0, 1000); os.kill(os.getpid(), signal.SIGKILL)",
        tmp_path,
    )
    assert [point.step for point in read(tmp_path, "loss")][:1000] == list(range(1000))


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit on this system")
def test_a_disk_that_is_full_is_an_error_and_nothing_is_lost_once_there_is_room(tmp_path: Path) -> None:
    done = run(
        "import resource\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, most))\n"
        "for step in range(1000): writer.add_scalar('loss', step, step)\n"
        "try: writer.flush()\n"
        "except OSError as error: print(error.strerror)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))\n"
        "writer.close()",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "File too large\n", "")
    assert [point.step for point in read(tmp_path, "loss")] == list(range(1000))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on this system")
def test_a_child_of_a_fork_writes_a_file_of_its_own_and_nothing_twice(tmp_path: Path) -> None:
    done = run(
        "writer.add_scalar('loss', 0, 1); writer.flush(); writer.add_scalar('loss', 0, 2)\n"
        "if os.fork() == 0:\n"
        "    writer.add_scalar('child', 0, 3)\n"
        "    sys.exit()\n"
        "os.wait()\n",
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(files(tmp_path)) == 2
    assert [point.step for point in read(tmp_path, "loss")] == [1, 2]
    assert [point.step for point in read(tmp_path, "child")] == [3]


def test_a_change_of_the_working_directory_changes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writer = TensorBoardWriter("run")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    writer.add_scalar("loss", 1.0, 1)
    writer.close()
    assert len(list((tmp_path / "run").iterdir())) == 1
