"""StepCounterHook in real sessions, on a clock of the test's own."""

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks import plugins
from tenterhooks.summaries import SummaryWriter
from tenterhooks_step_counter import StepCounterHook


class Recorder(SummaryWriter):
    """A writer that notes what it is told."""

    def __init__(self) -> None:
        self.points: list[tuple[str, float, int]] = []
        self.flushed_points: list[tuple[str, float, int]] = []
        self.closed = False
        self.started: list[int] = []
        self.finished: list[BaseException | None] = []

    def start(self, step: int) -> None:
        self.started.append(step)

    def finish(self, exception: BaseException | None) -> None:
        self.finished.append(exception)

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
    graph = th.Graph()
    graph.tensor(lambda: 7.0, name="constant")
    graph.train_op(lambda: None, name="train")
    return graph


def train(hook: th.SessionRunHook, clock: Clock, runs: int, secs: float = 0.5, **options: Any) -> None:
    """Make runs that take half a second each."""
    with th.MonitoredSession(graph=make_graph(), hooks=[hook], **options) as session:
        for _ in range(runs):
            session.run("train")
            clock.now += secs


def rates(recorder: Recorder) -> list[tuple[int, float]]:
    assert {tag for tag, _, _ in recorder.points} <= {"global_step/sec"}
    return [(step, value) for _, value, step in recorder.points]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[Path, Recorder]:
    """The writers by folder, of a plugin that is as good as installed."""
    writers: dict[Path, Recorder] = {}

    def load_default(group: str, *, distribution: str, purpose: str) -> Callable[[Path], Recorder]:
        return lambda directory: writers.setdefault(directory, Recorder())

    monkeypatch.setattr(plugins, "load_default", load_default)
    monkeypatch.setattr("tenterhooks_step_counter.hook.summary_writer_installed", lambda: True)
    return writers


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "installed", lambda group=plugins.HOOKS_GROUP: ())


def test_both_periods_are_an_error() -> None:
    with pytest.raises(ValueError, match="only one of every_n_steps and every_n_secs"):
        StepCounterHook(every_n_steps=10, every_n_secs=1.0)


def test_by_default_it_measures_every_100_steps() -> None:
    clock, recorder = Clock(), Recorder()
    train(StepCounterHook(summary_writer=recorder, clock=clock), clock, 202)
    assert [step for step, _ in rates(recorder)] == [101, 201]


def test_the_first_trigger_only_starts_the_clock() -> None:
    clock, recorder = Clock(), Recorder()
    train(StepCounterHook(every_n_steps=10, summary_writer=recorder, clock=clock), clock, 30)
    assert rates(recorder) == [(11, 2.0), (21, 2.0)]


def test_a_period_of_seconds() -> None:
    clock, recorder = Clock(), Recorder()
    train(StepCounterHook(every_n_secs=1.0, summary_writer=recorder, clock=clock), clock, 6, secs=0.8)
    assert rates(recorder) == [(3, 2 / 1.6), (5, 2 / 1.6)]


def test_the_rate_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_step_counter")
    clock = Clock()
    train(StepCounterHook(every_n_steps=10, clock=clock), clock, 11)
    assert [record.getMessage() for record in caplog.records if record.name == "tenterhooks_step_counter"] == [
        "global_step/sec: 2, at step 11"
    ]


class ResumedAt(th.ChiefSessionCreator):
    """A session as if restored at a step."""

    def __init__(self, graph: th.Graph, step: int) -> None:
        super().__init__(graph)
        self._step = step

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.state.global_step = self._step
        return session


def test_steps_from_before_the_session_do_not_count() -> None:
    clock, recorder = Clock(), Recorder()
    hook = StepCounterHook(every_n_steps=2, summary_writer=recorder, clock=clock)
    with th.MonitoredSession(ResumedAt(make_graph(), 1000), hooks=[hook]) as session:
        for _ in range(3):
            session.run("train")
            clock.now += 0.5
    assert rates(recorder) == [(1003, 2.0)]


def test_a_recovery_between_pauses_keeps_the_rate() -> None:
    clock, recorder = Clock(), Recorder()
    hooks = [StepCounterHook(every_n_steps=2, summary_writer=recorder, clock=clock), Abort(clock, 4)]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(8):
            session.run("train")
            with session.pause_clock(clock=clock):
                clock.now += 100.0
    # Steps 1, 2, 3, 4; then again, without a checkpoint, from 1 to 5.
    assert rates(recorder) == [(3, 2.0), (5, 2 / 3.0)]
    assert recorder.started == [1, 1]


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["end", "on_exception"])
def test_a_writer_is_told_how_the_session_ended(error: Exception | None) -> None:
    recorder = Recorder()
    hooks = [StepCounterHook(summary_writer=recorder)]
    with contextlib.suppress(ValueError), th.MonitoredSession(graph=make_graph(), hooks=hooks):
        if error is not None:
            raise error
    assert recorder.finished == [error]


def test_what_is_no_writer_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match=r"subclass of tenterhooks\.summaries\.SummaryWriter, not 'runs' of type str"):
        StepCounterHook(summary_writer="runs")  # type: ignore[arg-type]


def test_a_clock_that_stands_still_gives_no_rate() -> None:
    clock, recorder = Clock(), Recorder()
    train(StepCounterHook(every_n_steps=1, summary_writer=recorder, clock=clock), clock, 5, secs=0.0)
    assert rates(recorder) == []


@pytest.mark.parametrize("period", [{"every_n_steps": 10}, {"every_n_secs": 5.0}])
@pytest.mark.parametrize("before", [True, False], ids=["before it", "after it"])
def test_the_time_of_an_evaluation_does_not_count(period: dict[str, Any], before: bool) -> None:
    class Evaluate(th.SessionRunHook):
        """Takes a minute each fifth step."""

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step % 5 == 0:
                with run_context.session.pause_clock(clock=clock):
                    clock.now += 60.0

    clock, recorder = Clock(), Recorder()
    counter = StepCounterHook(**period, summary_writer=recorder, clock=clock)
    hooks = [Evaluate(), counter] if before else [counter, Evaluate()]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(31):
            session.run("train")
            clock.now += 0.5
    assert len(rates(recorder)) >= 3
    assert {rate for _, rate in rates(recorder)} == {2.0}


def test_an_evaluation_of_the_session_before_is_forgotten() -> None:
    clock, recorder = Clock(), Recorder()
    hook = StepCounterHook(every_n_steps=2, summary_writer=recorder, clock=clock)
    for pause in (60.0, 0.0):
        with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
            for _ in range(3):
                session.run("train")
                clock.now += 0.5
                with session.pause_clock(clock=clock):
                    clock.now += pause
    assert rates(recorder) == [(3, 2.0), (3, 2.0)]


def test_steps_in_a_pause_have_no_rate() -> None:
    clock, recorder = Clock(), Recorder()
    hook = StepCounterHook(every_n_steps=1, summary_writer=recorder, clock=clock)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session, session.pause_clock(clock=clock):
        for _ in range(3):
            session.run("train")
            clock.now += 0.5
    assert recorder.points == []


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_runs_that_do_not_move_the_step_are_warned_of_five_times(caplog: pytest.LogCaptureFixture) -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[StepCounterHook()]) as session:
        for _ in range(10):
            session.run("constant")
    assert len(warnings(caplog)) == 5
    assert "still 0" in warnings(caplog)[0]


def test_runs_that_train_are_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    train(StepCounterHook(), Clock(), 10)
    assert warnings(caplog) == []


def test_a_given_writer_is_flushed_and_left_open() -> None:
    clock, recorder = Clock(), Recorder()
    train(StepCounterHook(every_n_steps=1, summary_writer=recorder, clock=clock), clock, 2)
    assert (recorder.flushed_points, recorder.closed) == ([("global_step/sec", 2.0, 2)], False)


def test_it_writes_into_its_folder(opened: dict[Path, Recorder], tmp_path: Path) -> None:
    clock = Clock()
    hook = StepCounterHook(every_n_steps=1, output_dir=tmp_path / "a", clock=clock)
    train(hook, clock, 2, summary_dir=tmp_path / "b")
    assert {folder.name: rates(recorder) for folder, recorder in opened.items()} == {"a": [(2, 2.0)]}


def test_the_folder_is_by_default_that_of_the_session(opened: dict[Path, Recorder], tmp_path: Path) -> None:
    clock = Clock()
    train(StepCounterHook(every_n_steps=1, clock=clock), clock, 2, summary_dir=tmp_path / "b")
    assert {folder.name: rates(recorder) for folder, recorder in opened.items()} == {"b": [(2, 2.0)]}


@pytest.mark.parametrize("error", [None, ValueError("no")], ids=["end", "on_exception"])
def test_its_writer_is_closed_when_the_session_is_over(
    opened: dict[Path, Recorder], tmp_path: Path, error: Exception | None
) -> None:
    hooks = [StepCounterHook(output_dir=tmp_path)]
    with contextlib.suppress(ValueError), th.MonitoredSession(graph=make_graph(), hooks=hooks):
        assert [recorder.closed for recorder in opened.values()] == [False]
        if error is not None:
            raise error
    assert [recorder.closed for recorder in opened.values()] == [True]


@pytest.mark.usefixtures("nothing_installed")
def test_a_folder_without_a_plugin_that_writes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(th.PluginError, match="pip install tenterhooks-summary"):
        th.MonitoredSession(graph=make_graph(), hooks=[StepCounterHook(output_dir=tmp_path)])


@pytest.mark.usefixtures("nothing_installed")
def test_the_sessions_folder_without_a_plugin_that_writes_is_said_once(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_step_counter")
    clock = Clock()
    hooks = [StepCounterHook(every_n_steps=1, clock=clock), Abort(clock, 2)]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks, summary_dir=tmp_path / "b") as session:
        session.run("train")
        session.run("train")
    said = [r.getMessage() for r in caplog.records if "pip install tenterhooks-summary" in r.getMessage()]
    assert len(said) == 1
    assert not (tmp_path / "b").exists()


class Abort(th.SessionRunHook):
    """Takes half a second a run, and loses the worker in the given call of after_run."""

    def __init__(self, clock: Clock, call: int) -> None:
        self._clock = clock
        self._call = call
        self._count = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._clock.now += 0.5
        self._count += 1
        if self._count == self._call:
            raise th.AbortedError("worker lost")


def test_a_recovery_goes_on_with_the_open_writer(opened: dict[Path, Recorder], tmp_path: Path) -> None:
    clock = Clock()
    hooks = [StepCounterHook(every_n_steps=2, output_dir=tmp_path, clock=clock), Abort(clock, 4)]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(8):
            session.run("train")
    # Steps 1, 2, 3, 4; then again, without a checkpoint, from 1 to 5.
    (recorder,) = opened.values()
    assert rates(recorder) == [(3, 2.0), (5, 2 / 3.0)]


def test_a_step_that_went_back_gives_no_rate(opened: dict[Path, Recorder], tmp_path: Path) -> None:
    clock = Clock()
    hooks = [StepCounterHook(every_n_secs=0.0, output_dir=tmp_path, clock=clock), Abort(clock, 3)]
    with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
        for _ in range(4):
            session.run("train")
    # Steps 1, 2, 3; then again, without a checkpoint, 1 and 2.
    (recorder,) = opened.values()
    assert rates(recorder) == [(2, 2.0), (3, 2.0), (2, 2.0)]


def test_a_run_repeated_at_the_same_step_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=[StepCounterHook(), Abort(Clock(), 1)]) as session:
        session.run("train")
    assert [text for text in warnings(caplog) if "global step is still" in text] == []


def test_a_hook_can_be_used_in_a_second_session() -> None:
    clock, recorder = Clock(), Recorder()
    hook = StepCounterHook(every_n_steps=2, summary_writer=recorder, clock=clock)
    train(hook, clock, 4)
    clock.now += 1000.0
    train(hook, clock, 4)
    assert rates(recorder) == [(3, 2.0), (3, 2.0)]


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("step-counter"), StepCounterHook)


class Worker(th.ChiefSessionCreator):
    """Makes the session of a process that is not the chief."""

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.is_chief = False
        return session


@pytest.mark.parametrize(("own", "folders"), [(False, []), (True, ["worker-1"])])
def test_a_process_that_is_not_the_chief_logs_its_rate_and_writes_into_a_folder_of_its_own(
    own: bool, folders: list[str], opened: dict[Path, Recorder], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_step_counter")
    clock = Clock()
    hook = StepCounterHook(every_n_steps=1, output_dir=tmp_path / "worker-1" if own else None, clock=clock)
    with th.MonitoredSession(Worker(make_graph()), hooks=[hook], summary_dir=tmp_path) as session:
        for _ in range(2):
            session.run("train")
            clock.now += 0.5
    assert [folder.name for folder in opened] == folders
    assert "global_step/sec: 2, at step 2" in caplog.text
