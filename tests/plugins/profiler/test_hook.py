"""ProfilerHook in real sessions: what it logs and reports, which steps it traces, and what it refuses."""

import inspect
import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import FakeSession, ManualClock, MemorySaver, Recorder, raising, run_hooks
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks_profiler import ProfilerHook

LOGGER = "tenterhooks_profiler"


class Takes(th.SessionRunHook):
    """Takes so many seconds in each of these stages."""

    def __init__(self, clock: ManualClock, name: str = "slow", **seconds: float) -> None:
        self.name = name
        self._clock = clock
        self._seconds = seconds

    def begin(self, graph: th.Graph) -> None:
        self._clock.advance(self._seconds.get("begin", 0.0))

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._clock.advance(self._seconds.get("after_run", 0.0))

    def end(self, session: th.Session) -> None:
        self._clock.advance(self._seconds.get("end", 0.0))


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.tensor(lambda: 7.0, name="constant")
    graph.train_op(lambda: None, name="train")
    return graph


def train(*hooks: object, runs: int = 3, **options: Any) -> None:
    with th.MonitoredSession(graph=make_graph(), hooks=hooks, **options) as session:
        for _ in range(runs):
            session.run("train")


def traced(folder: Path) -> list[int]:
    """The steps of which there is a trace."""
    assert all(re.fullmatch(r"timeline-\d+\.json", path.name) for path in folder.iterdir())
    return sorted(int(path.stem.removeprefix("timeline-")) for path in folder.iterdir())


def tables(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


def row(table: str, *begin: str) -> list[str]:
    """The cells of the one row that begins so."""
    (found,) = (line.split() for line in table.splitlines() if line.split()[: len(begin)] == [*begin])
    return found


@pytest.fixture
def _informed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)


@pytest.mark.usefixtures("_informed")
class TestTable:
    def test_it_is_one_record_at_the_end(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        train(Takes(clock, begin=1.0, after_run=2.0), ProfilerHook(clock=clock))
        (table,) = tables(caplog)
        assert table.startswith("3 runs in 7.000 s\nhook ")
        assert row(table, "slow", "after_run") == ["slow", "after_run", "3", "6000.000", "2000000.0", "85.7%"]

    def test_the_begin_of_hooks_before_it_is_in_it(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        train(Takes(clock, begin=1.0), ProfilerHook(clock=clock))
        assert row(tables(caplog)[0], "slow", "begin")[2:4] == ["1", "1000.000"]

    def test_the_end_of_hooks_after_it_is_in_it(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        train(ProfilerHook(clock=clock), Takes(clock, end=5.0))
        assert row(tables(caplog)[0], "slow", "end") == ["slow", "end", "1", "5000.000", "5000000.0", "100.0%"]

    def test_the_work_of_a_graph_is_the_run(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        run_hooks([ProfilerHook(clock=clock)], {"loss": lambda: clock.advance(4.0)}, steps=2, loop="graph")
        assert row(tables(caplog)[0], "(run)")[1] == "2"

    def test_the_work_of_a_loop_of_the_programs_own_is_its_body(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        with th.MonitoredSession(state={}, hooks=[ProfilerHook(clock=clock)]) as session:
            for item in session.steps([1, 2]):
                clock.advance(3.0)
                session.publish(item=item)
        assert row(tables(caplog)[0], "(body)") == ["(body)", "2", "6000.000", "3000000.0", "100.0%"]

    def test_what_is_between_runs_is_outside(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        with th.MonitoredSession(graph=make_graph(), hooks=[ProfilerHook(clock=clock)]) as session:
            for _ in range(2):
                session.run("train")
                clock.advance(3.0)
        assert row(tables(caplog)[0], "(outside", "of", "runs)")[3] == "6000.000"

    def test_a_session_that_fails_has_one_too(self, caplog: pytest.LogCaptureFixture) -> None:
        bad = Recorder("bad", after_run=raising(ArithmeticError("no")))
        with pytest.raises(ArithmeticError):
            train(ProfilerHook(clock=ManualClock()), bad)
        assert row(tables(caplog)[0], "bad", "on_exception")[2] == "1"

    def test_a_session_that_failed_before_it_began_has_none(self, caplog: pytest.LogCaptureFixture) -> None:
        class First(th.SessionRunHook):
            @th.hookimpl(tryfirst=True)
            def begin(self, graph: th.Graph) -> None:
                raise ArithmeticError("no")

        with pytest.raises(ArithmeticError):
            train(First(), ProfilerHook())
        assert tables(caplog) == []

    def test_wrappers_keep_nothing_from_being_measured(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()

        class Around:
            @th.hookimpl(wrapper=True)
            def after_run(self) -> Any:
                clock.advance(1.0)
                return (yield)

        train(Takes(clock, after_run=2.0), Around(), ProfilerHook(clock=clock))
        assert row(tables(caplog)[0], "slow", "after_run")[2:4] == ["3", "6000.000"]
        assert row(tables(caplog)[0], "Around", "after_run")[2:4] == ["6", "3000.000"]

    def test_a_second_session_begins_anew(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        profiler = ProfilerHook(clock=clock)
        train(profiler, Takes(clock, "first", after_run=2.0))
        train(profiler, Takes(clock, "second", after_run=1.0))
        first, second = tables(caplog)
        assert ("first" in first, "first" in second, row(second, "second", "after_run")[2]) == (True, False, "3")

    def test_a_session_that_cannot_have_it_leaves_it_alone(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        profiler = ProfilerHook(clock=clock)
        with th.MonitoredSession(graph=make_graph(), hooks=[profiler, Takes(clock, after_run=2.0)]) as session:
            session.run("train")
            with pytest.raises(th.HookError, match="belongs to another open session"):
                th.MonitoredSession(graph=make_graph(), hooks=[profiler, Takes(clock, "other")])
            session.run("train")
        (table,) = tables(caplog)
        assert (row(table, "slow", "after_run")[2], "other" in table) == ("2", False)

    def test_a_recovery_is_measured_too(self, caplog: pytest.LogCaptureFixture) -> None:
        clock = ManualClock()
        hooks = [ProfilerHook(clock=clock), Takes(clock, after_run=2.0)]
        run_hooks(hooks, steps=3, fail_at={2: th.AbortedError("lost")}, saver=MemorySaver(), clock=clock)
        assert row(tables(caplog)[0], "profiler", "after_create_session")[2] == "2"
        assert row(tables(caplog)[0], "slow", "after_run")[2] == "3"


class TestReport:
    def test_it_says_what_each_hook_took(self) -> None:
        clock = ManualClock()
        hooks = [Takes(clock, begin=1.0, after_run=2.0), ProfilerHook(clock=clock)]
        with th.MonitoredSession(graph=make_graph(), hooks=hooks) as session:
            session.run("train")
            clock.advance(1.0)
            notes = {each.name: each.note for each in session.hooks_report}
        assert notes["slow"] == "took 3000.0 ms in 2 calls, 75.0% of the time"
        assert notes["profiler"] == "took 0.0 ms in 4 calls, 0.0% of the time"

    def test_before_any_call_it_says_nothing(self) -> None:
        assert ProfilerHook(clock=ManualClock()).report_on("slow") == ""

    def test_of_no_time_at_all_it_says_no_share(self) -> None:
        clock = ManualClock()
        with th.MonitoredSession(graph=make_graph(), hooks=[ProfilerHook(clock=clock)]) as session:
            notes = {each.name: each.note for each in session.hooks_report}
        assert notes["profiler"] == "took 0.0 ms in 2 calls"

    def test_the_timings_are_there_for_programs(self) -> None:
        clock = ManualClock()
        profiler = ProfilerHook(clock=clock)
        train(profiler, Takes(clock, after_run=2.0))
        assert profiler.timings[0] == ("slow", "after_run", 3, 6.0)


class TestTracedSteps:
    def test_none_by_default(self, tmp_path: Path) -> None:
        train(ProfilerHook(), summary_dir=tmp_path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(("period", "steps"), [(1, [2, 3, 4, 5]), (2, [2, 4]), (3, [3])])
    def test_a_period_of_steps_begins_with_no_trace_of_the_first(
        self, tmp_path: Path, period: int, steps: list[int]
    ) -> None:
        train(ProfilerHook(save_steps=period, output_dir=tmp_path), runs=5)
        assert traced(tmp_path) == steps

    def test_a_period_of_seconds(self, tmp_path: Path) -> None:
        clock = ManualClock()
        train(ProfilerHook(save_secs=2.0, output_dir=tmp_path, clock=clock), Takes(clock, after_run=0.8), runs=8)
        # The first run begins at 0.0, the fourth at 2.4 and the seventh at 4.8.
        assert traced(tmp_path) == [4, 7]

    @pytest.mark.parametrize("steps", [[1, 4], (4, 1), {1, 4}, range(1, 5, 3), np.array([1, 4]), iter([1, 4])])
    def test_those_that_are_chosen(self, tmp_path: Path, steps: Any) -> None:
        train(ProfilerHook(trace_steps=steps, output_dir=tmp_path), runs=5)
        assert traced(tmp_path) == [1, 4]

    def test_those_and_a_period(self, tmp_path: Path) -> None:
        train(ProfilerHook(trace_steps=[1, 3], save_steps=2, output_dir=tmp_path), runs=5)
        assert traced(tmp_path) == [1, 2, 3, 4]

    def test_a_loop_of_the_programs_own(self, tmp_path: Path) -> None:
        hook = ProfilerHook(save_steps=2, trace_steps=[5], output_dir=tmp_path)
        with th.MonitoredSession(state={}, hooks=[hook]) as session:
            for epoch in session.epochs(2):
                for item in session.steps(range(3)):
                    session.publish(item=item, epoch=epoch)
        assert traced(tmp_path) == [2, 4, 5, 6]

    def test_chosen_steps_are_those_of_the_whole_training(self, tmp_path: Path) -> None:
        saver = MemorySaver()
        for steps in (3, 6):
            hook = ProfilerHook(trace_steps=[2, 5], output_dir=tmp_path / str(steps))
            run_hooks([hook], steps=steps, saver=saver)
        assert (traced(tmp_path / "3"), traced(tmp_path / "6")) == ([2], [5])

    def test_a_run_that_failed_is_traced_when_it_is_repeated(self, tmp_path: Path) -> None:
        saver = MemorySaver()
        hook = ProfilerHook(trace_steps=[2], output_dir=tmp_path)
        run_hooks([hook], steps=3, fail_at={2: th.AbortedError("lost")}, saver=saver)
        assert traced(tmp_path) == [2]

    def test_the_run_in_which_a_later_hook_fails_is_traced(self, tmp_path: Path) -> None:
        hooks = [ProfilerHook(trace_steps=[1], output_dir=tmp_path), Recorder("bad", after_run=raising(OSError("no")))]
        with pytest.raises(OSError, match="no"):
            train(*hooks)
        names = [event["name"] for event in json.loads((tmp_path / "timeline-1.json").read_text())["traceEvents"]]
        assert names[-3:] == ["after_run", "profiler", "bad"]

    def test_other_runs_are_not_asked_for_the_time_of_nodes(self, tmp_path: Path) -> None:
        asked: list[bool] = []

        class Sees(th.SessionRunHook):
            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                asked.append("trace" in run_values.options)

        train(ProfilerHook(trace_steps=[2], output_dir=tmp_path), Sees())
        assert asked == [False, True, False]


class TestFolder:
    def test_it_is_by_default_that_of_summaries(self, tmp_path: Path) -> None:
        train(ProfilerHook(trace_steps=[1]), summary_dir=tmp_path)
        assert traced(tmp_path) == [1]

    def test_it_is_made(self, tmp_path: Path) -> None:
        train(ProfilerHook(trace_steps=[1], output_dir=str(tmp_path / "a" / "b")))
        assert traced(tmp_path / "a" / "b") == [1]

    def test_a_trace_of_before_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "timeline-1.json").write_text("old")
        train(ProfilerHook(trace_steps=[1], output_dir=tmp_path))
        assert json.loads((tmp_path / "timeline-1.json").read_text())["traceEvents"]


@pytest.mark.parametrize("loop", ["graph", "own"])
@pytest.mark.parametrize("killed_after", range(1, 5))
def test_a_run_that_was_interrupted_and_resumed_trains_as_an_unbroken_one(
    tmp_path: Path, loop: Any, killed_after: int
) -> None:
    def end(saver: MemorySaver, *parts: int) -> tuple[Any, list[int]]:
        folder = tmp_path / f"{loop}-{parts}"
        results = []
        for until in parts:
            hooks = [ProfilerHook(trace_steps=[2, 4], output_dir=folder), KeepEachStep(saver)]
            with FakeSession(hooks, loop=loop, saver=saver) as fake:
                while fake.global_step < until:
                    fake.step()
                results.append((float(fake.session.state["w"]), traced(folder)))
        return results[-1]

    assert end(MemorySaver(), killed_after, 5) == end(MemorySaver(), 5) == (5.0, [2, 4])


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"save_steps": 2, "save_secs": 1.0}, ValueError, "only one of save_steps and save_secs can be given"),
            ({"save_steps": 0}, ValueError, "save_steps is 1 or more, not 0"),
            ({"save_steps": "10"}, TypeError, "save_steps is a whole number, not '10' of type str"),
            ({"save_secs": -1.0}, ValueError, "a period is 0 or more, not -1.0"),
            ({"save_secs": float("nan")}, ValueError, "a period is 0 or more, not nan"),
            ({"trace_steps": 7}, TypeError, "trace_steps is a list of steps, not 7: pass [7] for one"),
            ({"trace_steps": "12"}, TypeError, "trace_steps is a list of steps, not '12'"),
            ({"trace_steps": [1, 2.5]}, TypeError, "trace_steps holds whole numbers, not 2.5"),
            ({"trace_steps": [True]}, TypeError, "trace_steps holds whole numbers, not True"),
            ({"trace_steps": range(3)}, ValueError, "the steps in trace_steps are 1 or more, not 0"),
            ({"trace_steps": range(5, -2, -1)}, ValueError, "the steps in trace_steps are 1 or more, not -1"),
            ({"output_dir": "profile"}, ValueError, "say which steps are, by save_steps, save_secs or trace_steps"),
        ],
    )
    def test_of_options(self, options: dict[str, Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=re.escape(message)):
            ProfilerHook(**options)

    def test_a_session_without_a_folder(self) -> None:
        with pytest.raises(ValueError, match="give ProfilerHook an output_dir, or the session a checkpoint_dir"):
            train(ProfilerHook(save_steps=2))

    def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(FileExistsError) as caught:
            train(ProfilerHook(save_steps=2, output_dir=tmp_path / "file"))
        assert "in after_create_session of hook 'profiler'" in caught.value.__notes__[0]

    def test_a_trace_that_cannot_be_written_is_blamed_on_it_and_the_table_is_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, LOGGER)
        (tmp_path / "timeline-1.json").mkdir()
        with pytest.raises(OSError, match=r"timeline-1\.json") as caught:
            train(ProfilerHook(trace_steps=[1], output_dir=tmp_path), runs=2)
        assert "in before_run of hook 'profiler'" in caught.value.__notes__[0]
        assert len(tables(caplog)) == 1

    def test_one_that_cannot_be_written_at_the_end(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, LOGGER)
        (tmp_path / "timeline-1.json").mkdir()
        with pytest.raises(OSError, match=r"timeline-1\.json"):
            train(ProfilerHook(trace_steps=[1], output_dir=tmp_path), runs=1)
        assert len(tables(caplog)) == 1


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("profiler"), ProfilerHook)


class Worker(th.ChiefSessionCreator):
    """Makes the session of a process that is not the chief."""

    def create_session(self) -> th.Session:
        session = super().create_session()
        session.is_chief = False
        return session


@pytest.mark.parametrize("own", [True, False])
def test_a_process_that_is_not_the_chief_traces_into_a_folder_of_its_own_alone(
    own: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tenterhooks_profiler")
    hook = ProfilerHook(trace_steps=[1], output_dir=tmp_path / "worker-1" if own else None)
    with th.MonitoredSession(Worker(make_graph()), hooks=[hook], summary_dir=tmp_path) as session:
        session.run("train")
    assert [path.name for path in tmp_path.rglob("*.json")] == ["timeline-1.json"] * own
    assert ("no traces are written here" in caplog.text) is not own
    assert "1 runs in" in caplog.text


def test_a_change_of_the_working_directory_changes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hook = ProfilerHook(trace_steps=[1], output_dir="profile")
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        session.run("train")
    assert traced(tmp_path / "profile") == [1]


class Look(th.SessionRunHook):
    """Notes through which modules its calls come."""

    def __init__(self) -> None:
        self.modules: set[str] = set()

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self.modules |= {Path(frame.filename).name for frame in inspect.stack()}

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.modules |= {Path(frame.filename).name for frame in inspect.stack()}


@pytest.mark.parametrize("present", [True, False])
def test_where_it_is_absent_no_call_of_another_hook_goes_through_it(present: bool) -> None:
    look = Look()
    train(look, *([ProfilerHook()] if present else []))
    assert ("_stopwatch.py" in look.modules) is present
    assert "instruments.py" not in look.modules
