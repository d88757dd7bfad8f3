"""`MonitoredTrainingSession`: which hooks its arguments add, and where."""

import inspect
import logging
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import FakeDistributions as Install

from .recorders import Calls, Recorder, counting_graph, raising

# The three plugins that the arguments ask for, as they are named and called, in place of those that may be installed.
PLUGINS = """
import copy
from pathlib import Path

import tenterhooks as th

calls = []   # (hook, stage)
made = []    # (hook, options)
saved = {}   # the states, by folder


class Noting(th.SessionRunHook):
    def __init__(self, label, options):
        self.label = label
        made.append((label, options))

    def after_run(self, run_context, run_values):
        calls.append((self.label, "after_run"))


class StepCounter(Noting):
    def __init__(self, *, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        super().__init__("step-counter", {"every_n_steps": every_n_steps})


class Summary(Noting):
    def __init__(self, *, save_steps=None, save_secs=None, output_dir=None, tensors=None, summary_writer=None):
        super().__init__("summary", {"save_steps": save_steps, "save_secs": save_secs})


class CheckpointSaver(Noting):
    saves_state = True

    def __init__(self, checkpoint_dir=None, *, save_secs=None, save_steps=None, max_to_keep=5):
        self.checkpoint_dir = checkpoint_dir
        options = {"save_secs": save_secs, "save_steps": save_steps, "max_to_keep": max_to_keep}
        super().__init__("checkpoint", {"checkpoint_dir": checkpoint_dir, **options})

    def end(self, session):
        saved.setdefault(str(session.checkpoint_dir), []).append(copy.deepcopy(session.state_dict()))


class Saver:
    def __init__(self, directory, *, max_to_keep=5):
        self.directory = str(directory)

    def restore(self, checkpoint=None):
        states = saved.get(self.directory)
        return states and (th.Checkpoint(Path(self.directory), states[-1]["global_step"], len(states)), states[-1])
"""


@pytest.fixture
def calls(install: Install) -> Calls:
    """The calls of the plugins that stand for the real ones; hooks of the test may note theirs there too."""
    install("tenterhooks-step-counter", {"step-counter": "fake_defaults:StepCounter"})
    install("tenterhooks-summary", {"summary": "fake_defaults:Summary"})
    install(
        "tenterhooks-checkpoint",
        {"checkpoint": "fake_defaults:CheckpointSaver"},
        more_groups={"tenterhooks.savers": {"default": "fake_defaults:Saver"}},
        fake_defaults=PLUGINS,
    )
    __import__("fake_defaults")
    noted: Calls = sys.modules["fake_defaults"].calls
    return noted


def made_by(**arguments: Any) -> dict[str, dict[str, Any]]:
    """The hooks that these arguments added, and their options."""
    made: list[tuple[str, dict[str, Any]]] = sys.modules["fake_defaults"].made
    made.clear()
    th.MonitoredTrainingSession(graph=counting_graph(), **arguments).close()
    assert len(dict(made)) == len(made)
    return dict(made)


def test_it_is_a_monitored_session() -> None:
    with th.MonitoredTrainingSession(graph=counting_graph()) as session:
        assert type(session) is th.MonitoredSession


def test_its_graph_is_the_default_one_where_none_is_given() -> None:
    with counting_graph().as_default() as graph, th.MonitoredTrainingSession() as session:
        assert session.graph is graph


def test_options_are_given_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        th.MonitoredTrainingSession(counting_graph())  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["hooks", "chief_only_hooks"])
def test_one_string_is_no_list_of_hooks(name: str) -> None:
    arguments: dict[str, Any] = {name: "nan"}
    with pytest.raises(TypeError, match=r"not one string: pass \['nan'\]"):
        th.MonitoredTrainingSession(graph=counting_graph(), **arguments)


class TestOrder:
    def test_it_is_chief_only_hooks_step_counter_summaries_hooks_and_the_saver(
        self, calls: Calls, tmp_path: Path
    ) -> None:
        with th.MonitoredTrainingSession(
            graph=counting_graph(),
            checkpoint_dir=tmp_path,
            hooks=[Recorder("hook", calls)],
            chief_only_hooks=[Recorder("chief-only", calls)],
            save_summaries_steps=1,
            log_step_count_steps=1,
        ) as session:
            session.run("train")
        order = [name for name, stage in calls if stage == "after_run"]
        assert order == ["chief-only", "step-counter", "summary", "hook", "checkpoint"]

    def test_what_other_hooks_do_at_the_end_is_in_the_last_checkpoint(self, calls: Calls, tmp_path: Path) -> None:
        def at_end(session: th.Session) -> None:
            session.state["w"] = 100.0

        seen: list[float] = []
        for _ in range(2):
            with th.MonitoredTrainingSession(
                graph=counting_graph(), checkpoint_dir=tmp_path, hooks=[Recorder("a", end=at_end)]
            ) as session:
                seen.append(session.run("w"))
        assert seen == [0.0, 100.0]


class TestWhatIsAdded:
    def test_by_default_it_is_nothing(self, calls: Calls) -> None:
        assert made_by() == {}

    def test_a_folder_brings_a_saver_every_600_seconds(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path) == {
            "checkpoint": {"checkpoint_dir": tmp_path, "save_secs": 600.0, "save_steps": None, "max_to_keep": 5}
        }

    def test_the_default_period_reads_as_what_it_does(self, calls: Calls, tmp_path: Path) -> None:
        default = inspect.signature(th.MonitoredTrainingSession).parameters["save_checkpoint_secs"].default
        assert repr(default) == "600.0 unless save_checkpoint_steps is given"
        passed_on = {"save_checkpoint_secs": default, "save_checkpoint_steps": 7, "checkpoint_dir": tmp_path}
        assert made_by(**passed_on)["checkpoint"]["save_secs"] is None

    def test_the_default_period_may_be_given_beside_the_other(self, calls: Calls, tmp_path: Path) -> None:
        both = {"save_checkpoint_secs": 600.0, "save_checkpoint_steps": 7, "checkpoint_dir": tmp_path}
        assert made_by(**both)["checkpoint"]["save_secs"] == 600.0

    @pytest.mark.parametrize(
        ("periods", "secs", "steps"),
        [
            ({"save_checkpoint_steps": 7}, None, 7),
            ({"save_checkpoint_secs": 30.0}, 30.0, None),
            ({"save_checkpoint_secs": 30.0, "save_checkpoint_steps": 7}, 30.0, 7),
            ({"save_checkpoint_secs": None, "save_checkpoint_steps": 7}, None, 7),
            ({"save_checkpoint_secs": 0, "save_checkpoint_steps": 7}, None, 7),
            ({"save_checkpoint_secs": 30.0, "save_checkpoint_steps": 0}, 30.0, None),
        ],
    )
    def test_the_saver_has_the_periods_that_are_given(
        self, calls: Calls, tmp_path: Path, periods: dict[str, Any], secs: float | None, steps: int | None
    ) -> None:
        options = made_by(checkpoint_dir=tmp_path, **periods)["checkpoint"]
        assert (options["save_secs"], options["save_steps"]) == (secs, steps)

    @pytest.mark.parametrize("off", [None, 0])
    def test_no_period_switches_the_saver_off(self, calls: Calls, tmp_path: Path, off: int | None) -> None:
        assert made_by(checkpoint_dir=tmp_path, save_checkpoint_secs=off, save_checkpoint_steps=off) == {}

    def test_no_period_in_seconds_alone_switches_it_off(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path, save_checkpoint_secs=None) == {}

    def test_a_period_without_a_folder_brings_none(self, calls: Calls) -> None:
        assert made_by(save_checkpoint_steps=7) == {}

    def test_the_saver_is_told_how_many_to_keep(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path, max_to_keep=None)["checkpoint"]["max_to_keep"] is None

    def test_steps_between_summaries_bring_a_writer(self, calls: Calls) -> None:
        assert made_by(save_summaries_steps=10) == {"summary": {"save_steps": 10, "save_secs": None}}

    def test_seconds_between_summaries_bring_a_writer(self, calls: Calls) -> None:
        assert made_by(save_summaries_secs=10.0) == {"summary": {"save_steps": None, "save_secs": 10.0}}

    def test_steps_between_counts_bring_a_counter(self, calls: Calls) -> None:
        assert made_by(log_step_count_steps=10) == {"step-counter": {"every_n_steps": 10}}

    @pytest.mark.parametrize("off", [None, 0])
    def test_no_period_brings_none_of_them(self, calls: Calls, off: int | None) -> None:
        assert made_by(save_summaries_steps=off, save_summaries_secs=off, log_step_count_steps=off) == {}

    def test_a_plugin_that_is_not_there_is_an_error_that_names_it(self, install: Install) -> None:
        install("tenterhooks-step-counter", {})  # In place of the one that may be installed.
        with pytest.raises(th.PluginError, match="no plugin named 'step-counter' is installed"):
            th.MonitoredTrainingSession(graph=counting_graph(), log_step_count_steps=1)


class OwnSaver(Recorder):
    """A saver of the program's own."""

    saves_state = True

    def __init__(self, checkpoint_dir: str | Path | None) -> None:
        super().__init__("own")
        self.checkpoint_dir = checkpoint_dir


class TestOwnSavers:
    def test_one_with_the_sessions_folder_keeps_the_default_away(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path, hooks=[OwnSaver(None)]) == {}

    def test_one_with_the_same_folder_keeps_the_default_away(self, calls: Calls, tmp_path: Path) -> None:
        own = OwnSaver(f"{tmp_path}/../{tmp_path.name}")
        assert made_by(checkpoint_dir=str(tmp_path), hooks=[own]) == {}

    def test_one_among_chief_only_hooks_keeps_the_default_away(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path, chief_only_hooks=[OwnSaver(tmp_path)]) == {}

    def test_one_by_its_short_name_keeps_the_default_away(self, calls: Calls, tmp_path: Path) -> None:
        assert made_by(checkpoint_dir=tmp_path, hooks=["checkpoint"])["checkpoint"]["save_secs"] is None

    def test_one_with_another_folder_does_not(self, calls: Calls, tmp_path: Path) -> None:
        assert "checkpoint" in made_by(checkpoint_dir=tmp_path / "a", hooks=[OwnSaver(tmp_path / "b")])

    def test_a_period_that_is_given_brings_one_beside_it(self, calls: Calls, tmp_path: Path) -> None:
        made = made_by(checkpoint_dir=tmp_path, hooks=[OwnSaver(tmp_path)], save_checkpoint_steps=3)
        assert made["checkpoint"]["save_steps"] == 3

    def test_a_hook_that_is_no_saver_does_not(self, calls: Calls, tmp_path: Path) -> None:
        other: Any = Recorder("other")
        other.checkpoint_dir = tmp_path
        assert "checkpoint" in made_by(checkpoint_dir=tmp_path, hooks=[other])


class TestFolders:
    def test_a_restart_in_the_same_folder_goes_on(self, calls: Calls, tmp_path: Path) -> None:
        for expected in [0, 2]:
            with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
                assert session.global_step == expected
                session.run("train")
                session.run("train")

    def test_one_without_savers_restores_too(self, calls: Calls, tmp_path: Path) -> None:
        with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
            session.run("train")
        with th.MonitoredTrainingSession(
            graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_secs=None
        ) as session:
            assert session.global_step == 1

    def test_summaries_go_into_the_folder_of_the_checkpoints(self, calls: Calls, tmp_path: Path) -> None:
        with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
            raw = session.raw_session()
            assert raw is not None
            assert (raw.checkpoint_dir, raw.summary_dir) == (tmp_path, tmp_path)

    def test_summaries_may_have_a_folder_of_their_own(self, calls: Calls, tmp_path: Path) -> None:
        with th.MonitoredTrainingSession(
            graph=counting_graph(), checkpoint_dir=tmp_path / "a", summary_dir=str(tmp_path / "b")
        ) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.summary_dir == tmp_path / "b"

    def test_there_may_be_none(self) -> None:
        with th.MonitoredTrainingSession(graph=counting_graph()) as session:
            raw = session.raw_session()
            assert raw is not None
            assert (raw.checkpoint_dir, raw.summary_dir) == (None, None)


class TestWorkers:
    def test_they_get_just_the_hooks(self, calls: Calls, tmp_path: Path) -> None:
        with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
            session.run("train")
        hook, chief_only = Recorder("hook"), Recorder("chief-only")
        sys.modules["fake_defaults"].made.clear()
        with th.MonitoredTrainingSession(
            graph=counting_graph(),
            is_chief=False,
            checkpoint_dir=tmp_path,
            hooks=[hook],
            chief_only_hooks=[chief_only],
            save_checkpoint_steps=1,
            save_summaries_steps=1,
            log_step_count_steps=1,
        ):
            pass
        assert hook.stages == ["begin", "after_create_session", "end"]
        assert (chief_only.stages, sys.modules["fake_defaults"].made) == ([], [])

    def test_they_restore_what_the_chief_saved(self, calls: Calls, tmp_path: Path) -> None:
        with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
            session.run("train")
        with th.MonitoredTrainingSession(graph=counting_graph(), is_chief=False, checkpoint_dir=tmp_path) as worker:
            assert worker.global_step == 1

    def test_they_wait_as_long_as_they_are_told(self, calls: Calls, tmp_path: Path) -> None:
        with pytest.raises(th.DeadlineExceededError, match="after 0 s"):
            th.MonitoredTrainingSession(
                graph=counting_graph(), is_chief=False, checkpoint_dir=tmp_path, max_wait_secs=0.0
            )

    def test_they_need_the_chiefs_folder(self) -> None:
        with pytest.raises(ValueError, match="pass the chief's checkpoint_dir"):
            th.MonitoredTrainingSession(graph=counting_graph(), is_chief=False)


class TestRecovery:
    def test_it_sleeps_and_gives_up_as_it_is_told(self) -> None:
        pauses: list[float] = []
        hook = Recorder("a", before_run=raising(*[th.AbortedError("lost") for _ in range(9)]))
        session = th.MonitoredTrainingSession(
            graph=counting_graph(), hooks=[hook], max_recoveries=3, sleep=pauses.append
        )
        with pytest.raises(th.AbortedError):
            session.run("train")
        session.close()
        assert pauses == [1.0, 2.0]

    def test_threads_have_the_grace_period_that_it_is_told(self, caplog: pytest.LogCaptureFixture) -> None:
        goes_on = threading.Event()

        def start(session: th.Session, coord: th.Coordinator) -> None:
            thread = threading.Thread(target=goes_on.wait, name="stubborn", daemon=True)
            coord.register_thread(thread)
            thread.start()

        with caplog.at_level(logging.WARNING):
            th.MonitoredTrainingSession(
                graph=counting_graph(), hooks=[Recorder("a", after_create_session=start)], stop_grace_period_secs=0.0
            ).close()
        goes_on.set()
        assert "threads did not stop within 0 s: stubborn" in caplog.text
