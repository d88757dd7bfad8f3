"""Which hooks join a session, and with which options: what code, command line, environment and file say together."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks.configuration import CommandLine, use_command_line

from .configured import Project, made, training_session
from .recorders import Recorder, counting_graph, training


class TestNaming:
    def test_by_default_there_is_none(self, project: Project) -> None:
        assert made() == []
        assert "fake_hooks" not in sys.modules

    def test_a_file_names_hooks_in_their_order(self, project: Project) -> None:
        project.file('hooks = ["summary", "guard"]\n[summary]\nsave_steps = 5')
        assert made() == [("Summary", {"save_steps": 5}), ("Guard", {})]

    def test_the_environment_names_them(self, project: Project) -> None:
        project.environment({"HOOKS": "guard", "GUARD__STRICT": "true"})
        assert made() == [("Guard", {"strict": True})]

    def test_the_command_line_names_them(self, project: Project) -> None:
        with use_command_line(CommandLine([("guard", {"limit": "2"})], {"guard": {"names": "a,b"}}, [])):
            assert made() == [("Guard", {"limit": 2.0, "names": ["a", "b"]})]
        assert made() == []

    def test_together_each_is_made_once_in_the_order_of_file_environment_and_command_line(
        self, project: Project
    ) -> None:
        project.file('hooks = ["guard", "guard"]')
        project.environment({"HOOKS": "step_counter,guard"})
        with use_command_line(CommandLine([("summary", {"save_steps": "1"}), ("GUARD", {})], {}, [])):
            assert [name for name, _ in made()] == ["Guard", "StepCounter", "Summary"]

    def test_they_come_after_the_hooks_of_code_and_before_savers(self, project: Project, tmp_path: Path) -> None:
        project.file('hooks = ["other-saver", "guard"]\n[other-saver]\ncheckpoint_dir = "elsewhere"')
        with training_session(
            checkpoint_dir=tmp_path, hooks=[Recorder("a")], chief_only_hooks=[Recorder("b")], log_step_count_steps=1
        ) as session:
            order = [row.name for row in session.hooks_report if row.state == "active"]
        assert order == ["b", "step-counter", "a", "guard", "other-saver", "checkpoint"]

    @pytest.mark.parametrize("kind", [th.MonitoredSession, th.SingularMonitoredSession])
    def test_they_join_no_other_session(self, project: Project, kind: type[th.MonitoredSession]) -> None:
        project.file('hooks = ["guard"]\n[guard]\nlimit = -1\n[other]\nx = 1')
        with kind(graph=counting_graph(), hooks=["step-counter"]) as session:
            assert [row.name for row in session.hooks_report if row.state == "active"] == ["step-counter"]

    def test_nor_do_options_count_there(self, project: Project) -> None:
        project.file("[guard]\nlimit = -1")
        with training("guard") as session:
            (row,) = [row for row in session.hooks_report if row.state == "active"]
        assert row.options == {}


class TestOptions:
    FILE = """hooks = ["guard"]
        [guard]
        limit = 1
        steps = 1
        strict = true
        """

    def test_each_is_decided_for_itself(self, project: Project) -> None:
        project.file(self.FILE)
        project.environment({"GUARD__LIMIT": "2", "GUARD__STEPS": "2"})
        with use_command_line(CommandLine([("guard", {"steps": "3"})], {}, [])):
            assert made() == [("Guard", {"limit": 2.0, "steps": 3, "strict": True})]

    def test_what_is_set_goes_before_what_stands_with_the_hook(self, project: Project) -> None:
        with use_command_line(CommandLine([("guard", {"steps": "3"})], {"guard": {"steps": "4"}}, [])):
            assert made() == [("Guard", {"steps": 4})]

    def test_a_hook_that_code_names_takes_them(self, project: Project) -> None:
        project.file(self.FILE)
        assert made(hooks=["guard"]) == [("Guard", {"limit": 1.0, "steps": 1, "strict": True})]

    def test_each_of_two_that_code_names_takes_them(self, project: Project) -> None:
        project.file("[guard]\nsteps = 3")
        assert made(hooks=["guard", "guard"]) == [("Guard", {"steps": 3})] * 2

    def test_an_object_is_left_as_it_is(self, project: Project) -> None:
        hook = th.make_hook("guard", limit=7.0)
        project.file(self.FILE)
        with training_session(hooks=[hook]) as session:
            (row,) = [row for row in session.hooks_report if row.state == "active"]
        assert sys.modules["fake_hooks"].made == []
        assert row.options == {"limit": 7.0}
        assert row.note == (
            "tenterhooks.toml:3 has no effect on an object that code has made; "
            "tenterhooks.toml:4 has no effect on an object that code has made; "
            "tenterhooks.toml:5 has no effect on an object that code has made; named by tenterhooks.toml:1 too"
        )

    def test_all_kinds_of_them(self, project: Project) -> None:
        project.file(
            """hooks = ["guard"]
            guard.limit = inf
            guard.mode = "max"
            guard.names = ["a"]
            guard.weights = { a = 1 }
            guard.schedule.first = 3
            guard.path = "a/b"
            """
        )
        assert made() == [
            (
                "Guard",
                {
                    "limit": float("inf"),
                    "mode": "max",
                    "names": ["a"],
                    "weights": {"a": 1.0},
                    "schedule": (3, 2.0),
                    "path": Path("a/b"),
                },
            )
        ]

    def test_those_of_a_hook_that_is_not_active_are_warned_of(
        self, project: Project, caplog: pytest.LogCaptureFixture
    ) -> None:
        project.file("[guard]\nlimit = 1\n\nsteps = 3")
        assert made(hooks=["step-counter"]) == [("StepCounter", {})]
        (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert record.getMessage() == (
            "tenterhooks.toml:4: option 'steps' has no effect, since hook 'guard' is not active: name it in hooks, "
            "TENTERHOOKS_HOOKS or --hook"
        )

    def test_a_variable_with_one_underscore_is_warned_of(
        self, project: Project, caplog: pytest.LogCaptureFixture
    ) -> None:
        project.environment({"GUARD_LIMIT": "1", "HOOKS": "guard"})
        assert made() == [("Guard", {})]
        assert "environment TENTERHOOKS_GUARD_LIMIT has no effect: between the name of a hook, such as 'guard'" in (
            caplog.text
        )

    def test_a_warning_needs_a_reason(self, project: Project, caplog: pytest.LogCaptureFixture) -> None:
        project.file(self.FILE)
        project.environment({"SUMMARY__SAVE_STEPS": "1", "FUZZ": "1", "DISABLE": "summary"})
        made(hooks=["summary"])
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


class TestSwitchedOff:
    @pytest.mark.parametrize("name", ["guard", "GUARD"])
    def test_it_goes_before_everything_that_names_a_hook(self, project: Project, name: str) -> None:
        project.file(f'hooks = ["guard"]\ndisable = ["{name}"]')
        with use_command_line(CommandLine([("guard", {"limit": "-1"})], {}, [])):
            assert made(hooks=["guard"]) == []
        assert "fake_hooks" not in sys.modules

    @pytest.mark.parametrize("place", ["environment", "command line"])
    def test_it_holds_wherever_it_is_said(self, project: Project, place: str) -> None:
        project.environment({"DISABLE": "guard" if place == "environment" else ""})
        with use_command_line(CommandLine(disabled=["guard"] if place == "command line" else [])):
            assert made(hooks=["guard"]) == []

    def test_an_object_is_switched_off_by_its_plugins_name(self, project: Project) -> None:
        hook = th.make_hook("guard")
        hook.name = "mine"
        project.environment({"DISABLE": "guard"})
        with training_session(hooks=[hook, Recorder("a")]) as session:
            assert [(row.name, row.state) for row in session.hooks_report][:2] == [
                ("a", "active"),
                ("mine", "disabled"),
            ]

    def test_a_hook_of_no_plugin_is_switched_off_by_its_name(self, project: Project) -> None:
        hooks = [Recorder("a"), Recorder("b")]
        project.environment({"DISABLE": "a"})
        training_session(hooks=hooks).close()
        assert hooks[0].calls == []
        assert hooks[1].calls != []

    def test_of_two_of_a_name_one_can_be_meant_and_the_others_keep_theirs(self, project: Project) -> None:
        project.environment({"DISABLE": "x-2"})
        with training_session(hooks=[Recorder("x"), Recorder("x"), Recorder("x")]) as session:
            rows = [(row.name, row.state) for row in session.hooks_report][:3]
        assert rows == [("x", "active"), ("x-3", "active"), ("x-2", "disabled")]

    def test_the_name_without_a_number_means_all_of_them(self, project: Project) -> None:
        project.environment({"DISABLE": "x"})
        with training_session(hooks=[Recorder("x"), Recorder("x")]) as session:
            assert [row.state for row in session.hooks_report][:2] == ["disabled", "disabled"]

    def test_it_holds_in_every_monitored_session(self, project: Project) -> None:
        project.environment({"DISABLE": "guard,a,unknown"})
        hook = Recorder("a")
        with training("guard", hook) as session:
            assert [row.name for row in session.hooks_report if row.state == "active"] == []
        assert hook.calls == []

    def test_what_is_wrong_with_a_hook_does_not_matter_then(self, project: Project) -> None:
        class NoHook: ...

        project.environment({"DISABLE": "nohook,broken"})
        with training_session(hooks=[NoHook(), "broken"]) as session:
            assert session.run("w") == 0.0

    def test_savers_still_come_last(self, project: Project, tmp_path: Path) -> None:
        project.environment({"DISABLE": "a"})
        saver = th.make_hook("other-saver")
        with training_session(hooks=[saver, Recorder("a"), Recorder("b")]) as session:
            assert [row.name for row in session.hooks_report][:2] == ["b", "other-saver"]

    def test_an_object_that_is_switched_off_is_free_for_another_session(self, project: Project) -> None:
        hook = Recorder("a")
        project.environment({"DISABLE": "a"})
        with training_session(hooks=[hook]), training_session(hooks=[hook]) as session:
            assert session.run("w") == 0.0


class TestNothingIsRead:
    def test_a_session_without_named_hooks_reads_no_metadata(self, project: Project) -> None:
        program = """
import sys
import tenterhooks as th

class Mine(th.SessionRunHook):
    def end(self, session): ...

with th.MonitoredTrainingSession(hooks=[Mine()]) as session:
    for _ in session.steps(range(3)):
        pass
print("importlib_metadata" in sys.modules, "tomllib" in sys.modules)
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True, cwd=project.folder
        )
        assert done.stdout == "False False\n"
