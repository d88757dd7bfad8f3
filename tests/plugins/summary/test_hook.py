"""SummarySaverHook in real sessions."""

import argparse
import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.summaries import SummaryWriter
from tenterhooks.testing import MemorySaver
from tenterhooks_checkpoint import CheckpointSaverHook
from tenterhooks_summary import SummarySaverHook


class Recorder(SummaryWriter):
    """A writer that notes what it is told."""

    def __init__(self) -> None:
        self.points: list[tuple[str, float, int]] = []
        self.flushed_points: list[tuple[str, float, int]] = []
        self.closed = False
        self.started: list[int] = []
        self.finished: list[BaseException | None] = []
        self.hparams: list[tuple[dict[str, Any], list[str]]] = []

    def start(self, step: int) -> None:
        self.started.append(step)

    def finish(self, exception: BaseException | None) -> None:
        self.finished.append(exception)

    def add_hparams(self, hparams: Mapping[str, Any], metrics: Iterable[str] = ()) -> None:
        self.hparams.append((dict(hparams), list(metrics)))

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.points.append((tag, value, step))

    def flush(self) -> None:
        self.flushed_points = list(self.points)

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_graph() -> th.Graph:
    """`loss` is 10 times the step before the update."""
    graph = th.Graph()
    graph.tensor(lambda global_step: 10.0 * global_step, name="loss")
    graph.tensor(lambda global_step: 0.5, name="eval/accuracy")
    graph.train_op(lambda: None, name="train")
    return graph


def train(hook: th.SessionRunHook, runs: int, graph: th.Graph | None = None, **options: Any) -> None:
    with th.MonitoredSession(graph=graph or make_graph(), hooks=[hook], **options) as session:
        for _ in range(runs):
            session.run("train")


def steps(recorder: Recorder) -> list[int]:
    return [step for _, _, step in recorder.points]


def read(directory: Path) -> dict[str, list[tuple[int, float]]]:
    """All curves of a folder, by TensorBoard's own reader."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(directory), size_guidance={accumulator.SCALARS: 0})
    events.Reload()
    return {tag: [(point.step, point.value) for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


@pytest.mark.parametrize("periods", [{}, {"save_steps": 1, "save_secs": 1.0}])
def test_exactly_one_period_is_needed(periods: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly one of save_steps and save_secs"):
        SummarySaverHook(**periods)


def test_the_first_run_is_written_and_then_one_each_period() -> None:
    recorder = Recorder()
    train(SummarySaverHook(save_steps=8, tensors="loss", summary_writer=recorder), 30)
    assert steps(recorder) == [1, 9, 17, 25]


def test_a_value_belongs_to_the_step_after_its_run() -> None:
    recorder = Recorder()
    train(SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder), 2)
    assert recorder.points == [("loss", 0.0, 1), ("loss", 10.0, 2)]


def test_a_period_of_seconds() -> None:
    clock, recorder = Clock(), Recorder()
    hook = SummarySaverHook(save_secs=9.0, tensors="loss", summary_writer=recorder, clock=clock)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for _ in range(8):
            session.run("train")
            clock.now += 3.1
    assert steps(recorder) == [1, 4, 7]


def test_values_are_computed_only_in_runs_that_are_written() -> None:
    computed: list[int] = []
    graph = th.Graph()

    @graph.tensor
    def loss(global_step: int) -> float:
        computed.append(global_step)
        return 0.0

    graph.train_op(lambda: None, name="train")
    train(SummarySaverHook(save_steps=3, tensors="loss", summary_writer=Recorder()), 7, graph)
    assert computed == [0, 3, 6]


def test_runs_that_do_not_train_write_no_step_twice() -> None:
    """TensorFlow's class gave such a step several points."""
    recorder = Recorder()
    hook = SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for fetches in (None, "train", "loss", "loss", "train", "loss"):
            session.run(fetches or [])
    assert recorder.points == [("loss", 0.0, 0), ("loss", 0.0, 1), ("loss", 10.0, 2)]


def test_the_last_step_is_not_written_unless_it_is_due() -> None:
    recorder = Recorder()
    train(SummarySaverHook(save_steps=3, tensors="loss", summary_writer=recorder), 5)
    assert steps(recorder) == [1, 4]


def test_by_default_the_collection_of_summaries_is_written() -> None:
    graph, recorder = make_graph(), Recorder()
    graph.add_to_collection("summaries", "eval/accuracy")
    train(SummarySaverHook(save_steps=1, summary_writer=recorder), 1, graph)
    assert recorder.points == [("eval/accuracy", 0.5, 1)]


def test_what_a_later_hook_adds_to_the_collection_is_written_too() -> None:
    class Adds(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            graph.add_to_collection("summaries", graph.tensor(lambda: 2.0, name="added"))

    recorder = Recorder()
    hooks = [SummarySaverHook(save_steps=1, summary_writer=recorder), Adds()]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        session.run("train")
    assert recorder.points == [("added", 2.0, 1)]


@pytest.mark.parametrize(
    ("tensors", "tags"),
    [
        (lambda graph: "loss", ["loss"]),
        (lambda graph: graph["loss"], ["loss"]),
        (lambda graph: ["loss", graph["eval/accuracy"]], ["loss", "eval/accuracy"]),
        (lambda graph: {"b": "loss", "a": graph["loss"]}, ["b", "a"]),
    ],
    ids=["name", "node", "list", "dict"],
)
def test_what_to_write_is_given_by_name_or_node(tensors: Callable[[th.Graph], Any], tags: list[str]) -> None:
    graph, recorder = make_graph(), Recorder()
    train(SummarySaverHook(save_steps=1, tensors=tensors(graph), summary_writer=recorder), 1, graph)
    assert [tag for tag, _, _ in recorder.points] == tags


def test_an_unknown_name_is_an_error_before_any_run() -> None:
    with pytest.raises(KeyError, match=r"'los'.*nearest.*'loss'"):
        train(SummarySaverHook(save_steps=1, tensors="los", summary_writer=Recorder()), 0)


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.array(3), np.int64(3)])
def test_any_number_can_be_written(value: Any) -> None:
    graph, recorder = make_graph(), Recorder()
    graph.tensor(lambda: value, name="number")
    train(SummarySaverHook(save_steps=1, tensors="number", summary_writer=recorder), 1, graph)
    (point,) = recorder.points
    assert point[:2] == ("number", 3.0)
    assert type(point[1]) is float


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(1), r"shape \(1,\)"),
        (None, "None of type NoneType"),
        ([1.0], "of type list"),
        ("1.5", "of type str"),
        pytest.param(10**400, "is 1000000000", id="too large"),
    ],
)
def test_what_is_no_number_is_an_error_that_says_what_to_do(value: Any, what: str) -> None:
    graph, recorder = make_graph(), Recorder()
    graph.tensor(lambda: value, name="weights")
    with pytest.raises(ValueError, match=f"'weights'.*{what}.*its mean"):
        train(SummarySaverHook(save_steps=1, tensors=["loss", "weights"], summary_writer=recorder), 1, graph)
    assert recorder.points == []


def test_a_given_writer_is_flushed_and_left_open() -> None:
    recorder = Recorder()
    train(SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder), 1)
    assert (recorder.flushed_points, recorder.closed) == ([("loss", 0.0, 1)], False)


def test_without_a_folder_the_error_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match=r"output_dir=.*summary_dir"):
        train(SummarySaverHook(save_steps=1, tensors="loss"), 0)


def test_event_files_are_read_by_tensorboard(tmp_path: Path) -> None:
    train(SummarySaverHook(save_steps=2, output_dir=tmp_path, tensors=["loss", "eval/accuracy"]), 3)
    assert read(tmp_path) == {"loss": [(1, 0.0), (3, 20.0)], "eval/accuracy": [(1, 0.5), (3, 0.5)]}


def test_the_folder_is_by_default_that_of_the_session(tmp_path: Path) -> None:
    train(SummarySaverHook(save_steps=1, tensors="loss"), 1, summary_dir=tmp_path)
    assert read(tmp_path) == {"loss": [(1, 0.0)]}


def test_a_folder_of_its_own_comes_before_that_of_the_session(tmp_path: Path) -> None:
    train(SummarySaverHook(save_steps=1, tensors="loss", output_dir=tmp_path / "a"), 1, summary_dir=tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_tensors_there_is_no_file_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train(SummarySaverHook(save_steps=1, output_dir=tmp_path / "run"), 3)
    assert not (tmp_path / "run").exists()
    assert caplog.text.count("there are no summaries to write: pass SummarySaverHook(tensors=...)") == 1


def test_two_hooks_share_the_file_of_a_folder(tmp_path: Path) -> None:
    hooks = [SummarySaverHook(save_steps=1, output_dir=tmp_path, tensors=name) for name in ("loss", "eval/accuracy")]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        session.run("train")
    assert len(list(tmp_path.iterdir())) == 1
    assert read(tmp_path) == {"loss": [(1, 0.0)], "eval/accuracy": [(1, 0.5)]}


def test_points_can_be_read_soon_and_with_nothing_else_done(tmp_path: Path) -> None:
    hook = SummarySaverHook(save_steps=1, output_dir=tmp_path, tensors="loss")
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        session.run("train")
        deadline = time.monotonic() + 60.0
        while read(tmp_path) != {"loss": [(1, 0.0)]}:
            assert time.monotonic() < deadline, "nothing in a minute"


def test_what_is_in_a_checkpoint_was_flushed_before(tmp_path: Path) -> None:
    recorder = Recorder()
    flushed: list[list[int]] = []

    class Listens(th.SessionRunHook):
        @th.hookimpl(optionalhook=True)
        def after_save(self, session: th.Session, step: int, checkpoint: object) -> None:
            flushed.append([step for _, _, step in recorder.flushed_points])

    saver = CheckpointSaverHook(tmp_path, save_steps=2, asynchronous=False)
    hooks = [saver, SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder), Listens()]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(4):
            session.run("train")
    assert flushed[0] == []
    assert flushed[-1] == [1, 2, 3, 4]


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["end", "on_exception"])
def test_the_file_is_closed_when_the_session_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    recorder = Recorder()
    monkeypatch.setattr("tenterhooks_summary.hook.open_summary_writer", lambda directory: recorder)
    hooks = [SummarySaverHook(save_steps=1, output_dir=tmp_path, tensors="loss")]
    with contextlib.suppress(ValueError), th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        session.run("train")
        assert not recorder.closed
        if error is not None:
            raise error
    assert recorder.closed


class Abort(th.SessionRunHook):
    """Loses the worker in the given calls of after_run."""

    def __init__(self, *calls: int) -> None:
        self._calls = calls
        self._count = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._count += 1
        if self._count in self._calls:
            raise th.AbortedError("worker lost")


def test_a_recovery_goes_on_with_the_open_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Recorder] = []

    def open_writer(directory: Path) -> Recorder:
        opened.append(Recorder())
        return opened[-1]

    monkeypatch.setattr("tenterhooks_summary.hook.open_summary_writer", open_writer)
    hooks = [SummarySaverHook(save_steps=2, output_dir=tmp_path, tensors="loss"), Abort(4)]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(8):
            session.run("train")
    assert len(opened) == 1
    # The fourth run led to step 4 and was lost; there is no checkpoint, so its repetition leads to step 1.
    assert steps(opened[0]) == [1, 3, 1, 3, 5]


def test_a_curve_has_no_hole_where_a_recovery_went_back(tmp_path: Path) -> None:
    hooks = [
        SummarySaverHook(save_steps=3, output_dir=tmp_path / "curves", tensors="loss"),
        CheckpointSaverHook(tmp_path, save_steps=5, asynchronous=False),
        Abort(14),
    ]
    creator = th.ChiefSessionCreator(make_graph(), checkpoint_dir=tmp_path)
    with th.MonitoredSession(creator, hooks=hooks) as session:
        for _ in range(16):
            session.run("train")
    # The newest checkpoint was at step 10; the run that led to 14 was lost, and its repetition leads to 11.
    assert [step for step, _ in read(tmp_path / "curves")["loss"]] == [1, 4, 7, 10, 11]


def test_a_writer_is_told_from_which_step_a_session_goes_on(tmp_path: Path) -> None:
    recorder = Recorder()
    for _ in range(2):
        hooks = [
            SummarySaverHook(save_steps=50, tensors="loss", summary_writer=recorder),
            CheckpointSaverHook(tmp_path, save_steps=3),
        ]
        creator = th.ChiefSessionCreator(make_graph(), checkpoint_dir=tmp_path)
        with th.MonitoredSession(creator, hooks=hooks) as session:
            for _ in range(3):
                session.run("train")
    assert recorder.started == [1, 4]
    assert steps(recorder) == [1, 4]


def test_a_writer_is_told_of_a_recovery() -> None:
    recorder = Recorder()
    hooks = [
        SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder, hparams={"rate": 0.1}),
        Abort(4),
    ]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(5):
            session.run("train")
    assert recorder.started == [1, 1]
    assert steps(recorder) == [1, 2, 3, 4, 1, 2]
    assert recorder.hparams == [({"rate": 0.1}, ["loss"])]


@pytest.mark.parametrize("error", [None, ValueError("no"), KeyboardInterrupt()], ids=["end", "error", "Ctrl-C"])
def test_a_writer_is_told_how_the_session_ended(error: BaseException | None) -> None:
    recorder = Recorder()
    hook = SummarySaverHook(save_steps=1, tensors="loss", summary_writer=recorder)
    with (
        contextlib.suppress(ValueError, KeyboardInterrupt),
        th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session,
    ):
        session.run("train")
        if error is not None:
            raise error
    assert recorder.finished == [error]
    assert recorder.flushed_points == [("loss", 0.0, 1)]


def test_hyperparameters_can_be_written_alone(tmp_path: Path) -> None:
    train(SummarySaverHook(save_steps=1, output_dir=tmp_path, hparams={"rate": 0.1}), 1)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_hook_can_be_used_in_a_second_session(tmp_path: Path) -> None:
    hook = SummarySaverHook(save_steps=4, tensors="loss")
    train(hook, 3, summary_dir=tmp_path / "a")
    train(hook, 3, summary_dir=tmp_path / "b")
    assert read(tmp_path / "a") == read(tmp_path / "b") == {"loss": [(1, 0.0)]}


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("summary", save_steps=1), SummarySaverHook)


def test_the_writer_is_not_imported_before_it_writes() -> None:
    program = "import sys, tenterhooks_summary; sys.exit('tensorboardX' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_writing_warns_of_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from tenterhooks_summary import TensorBoardWriter\n"
        "writer = TensorBoardWriter(sys.argv[1]); writer.add_scalar('loss', 1.0, 1); writer.close()"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class Worker(th.ChiefSessionCreator):
    """Makes the session of a process that is not the chief."""

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.is_chief = False
        return session


def test_a_process_that_is_not_the_chief_writes_nothing_between_the_chiefs_curves(tmp_path: Path) -> None:
    computed: list[int] = []
    graph = make_graph()
    graph.tensor(lambda: computed.append(1), name="costly")
    creator = Worker(graph, tmp_path, saver=MemorySaver())
    with th.MonitoredSession(creator, hooks=[SummarySaverHook(save_steps=1, tensors="costly")]) as session:
        session.run("train")
    assert (list(tmp_path.iterdir()), computed) == ([], [])


def test_a_process_that_is_not_the_chief_writes_into_a_folder_of_its_own(tmp_path: Path) -> None:
    hook = SummarySaverHook(save_steps=1, tensors="loss", output_dir=tmp_path / "worker-1")
    with th.MonitoredSession(Worker(make_graph()), hooks=[hook]) as session:
        session.run("train")
    assert read(tmp_path / "worker-1") == {"loss": [(1, 0.0)]}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"save_steps": "10"}, TypeError, "a period is a number, not '10' of type str"),
        ({"tensors": 5}, TypeError, "expected a node or its name, several of them, or a dict of them by tag, not 5"),
        ({"tensors": {3: "loss"}}, TypeError, "a tag is a text, not 3 of type int"),
        ({"hparams": argparse.Namespace(rate=0.1)}, TypeError, "hparams are a dict of values by name, not Namespace"),
        ({"summary_writer": "runs"}, TypeError, "subclass of tenterhooks.summaries.SummaryWriter, not 'runs'"),
    ],
)
def test_options_of_another_type_are_an_error_at_once(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        SummarySaverHook(**{"save_steps": 1, **options})


def test_what_to_write_may_come_from_a_generator_and_lasts_for_a_second_session() -> None:
    recorder = Recorder()
    hook = SummarySaverHook(save_steps=1, tensors=(name for name in ["loss"]), summary_writer=recorder)
    train(hook, 1)
    train(hook, 1)
    assert steps(recorder) == [1, 1]
