"""What a session reports of its hooks, also of one that could not be opened."""

import logging
import sys
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks.configuration import CommandLine, use_command_line
from tenterhooks.hooks_report import HookReport, HooksReport
from tenterhooks.testing import FakeDistributions as Install

from .configured import Project, training_session
from .recorders import Recorder, counting_graph, raising, training

LOGGER = "tenterhooks.hooks_report"


def line_of_this() -> str:
    """The line from which this is called, as a report shows it."""
    return f"{__file__}:{sys._getframe(1).f_lineno}"


def named(report: HooksReport) -> dict[str, HookReport]:
    """The rows of hooks that somebody named."""
    return {row.name: row for row in report if row.origin != "installed"}


def report_in(error: BaseException) -> HooksReport:
    report: HooksReport = getattr(error, "hooks_report")  # noqa: B009 - It is not declared.
    return report


class TestOrigin:
    def test_of_an_object_it_is_where_the_session_was_opened(self, project: Project) -> None:
        opened, where = th.MonitoredSession(graph=counting_graph(), hooks=[Recorder("a")]), line_of_this()
        with opened as session:
            assert named(session.hooks_report)["a"] == HookReport("a", None, None, f"code {where}", {}, "active")

    def test_of_a_hook_that_was_made_by_name_it_is_where_it_was_made(self, project: Project) -> None:
        hook, where = th.make_hook("guard", limit=2.0), line_of_this()
        with training(hook) as session:
            assert named(session.hooks_report)["guard"] == HookReport(
                "guard", "tenterhooks-guard", "1.5", f"code {where}", {"limit": 2.0}, "active"
            )

    def test_of_a_file_it_is_file_and_line(self, project: Project) -> None:
        project.file('\nhooks = [\n"guard"]\n[guard]\nlimit = 2')
        with training_session() as session:
            assert named(session.hooks_report)["guard"] == HookReport(
                "guard",
                "tenterhooks-guard",
                "1.5",
                "tenterhooks.toml:3",
                {"limit": 2.0},
                "active",
                "limit by tenterhooks.toml:5",
            )

    def test_of_the_environment_it_is_the_variable(self, project: Project) -> None:
        project.environment({"HOOKS": "guard", "GUARD__LIMIT": "1"})
        with training_session() as session:
            row = named(session.hooks_report)["guard"]
        assert (row.origin, row.note) == (
            "environment TENTERHOOKS_HOOKS",
            "limit by environment TENTERHOOKS_GUARD__LIMIT",
        )

    def test_of_the_command_line_it_is_the_flag(self, project: Project) -> None:
        with use_command_line(CommandLine([("guard", {"limit": "1"})])), training_session() as session:
            row = named(session.hooks_report)["guard"]
        assert (row.origin, row.note) == ("command line --hook guard", "limit by command line --hook guard:limit=1")

    def test_code_in_the_working_directory_is_shown_without_it(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(Path(__file__).parent)
        with training(Recorder("a")) as session:
            assert named(session.hooks_report)["a"].origin.startswith("code recorders.py:")


class TestState:
    def test_of_one_that_is_switched_off_it_is_disabled_with_the_reason(self, project: Project) -> None:
        project.file('hooks = ["guard"]')
        project.environment({"DISABLE": "guard"})
        with training_session() as session:
            row = named(session.hooks_report)["guard"]
        assert (row.state, row.origin, row.note) == (
            "disabled",
            "tenterhooks.toml:1",
            "switched off by environment TENTERHOOKS_DISABLE",
        )

    def test_what_nobody_names_is_installed_but_not_used(self, project: Project) -> None:
        with training_session(hooks=["step-counter"]) as session:
            rows = {row.name: row for row in session.hooks_report}
        assert rows["guard"] == HookReport(
            "guard", "tenterhooks-guard", "1.5", "installed", {}, "installed but not used"
        )
        assert rows["step-counter"].state == "active"

    def test_it_is_told_after_the_end_too(self, project: Project) -> None:
        with training("guard") as session:
            before = session.hooks_report
        assert session.hooks_report == before


class TestFailed:
    def test_an_import_that_fails(self, project: Project, install: Install) -> None:
        install("tenterhooks-guard", {"guard": "no_such_module:X"})
        with pytest.raises(th.PluginError) as caught:
            training(Recorder("a"), "guard", "step-counter")
        assert {name: row.state for name, row in named(report_in(caught.value)).items()} == {
            "a": "active",
            "guard": "failed",
        }

    def test_a_constructor_that_raises(self, project: Project) -> None:
        project.file('hooks = ["broken"]')
        with pytest.raises(th.ConfigurationError) as caught:
            training_session()
        row = named(report_in(caught.value))["broken"]
        assert (row.state, row.origin) == ("failed", "tenterhooks.toml:1")

    def test_a_begin_that_raises(self, project: Project) -> None:
        with pytest.raises(OSError, match="no begin") as caught:
            training_session(hooks=[Recorder("a"), "failing", Recorder("b")])
        states = {name: row.state for name, row in named(report_in(caught.value)).items()}
        assert states == {"a": "active", "failing": "failed", "b": "active"}

        assert [note for note in caught.value.__notes__ if "is named by" in note] == []

    def test_a_begin_that_raises_of_a_hook_that_code_does_not_name(self, project: Project) -> None:
        project.environment({"HOOKS": "failing"})
        with pytest.raises(OSError, match="no begin") as caught:
            training_session(hooks=["guard"])
        assert caught.value.__notes__[-1] == "hook 'failing' is named by environment TENTERHOOKS_HOOKS"

    def test_an_object_that_is_no_hook(self, project: Project) -> None:
        with pytest.raises(th.HookError, match="implements no stage") as caught:
            training(Recorder("a"), object())
        states = {name: row.state for name, row in named(report_in(caught.value)).items()}
        assert states == {"a": "active", "object": "failed"}

    def test_a_hook_that_is_not_installed(self, project: Project) -> None:
        project.environment({"HOOKS": "mailer"})
        with pytest.raises(th.ConfigurationError) as caught:
            training_session(hooks=["guard"])
        rows = named(report_in(caught.value))
        assert {name: row.state for name, row in rows.items()} == {"guard": "active", "mailer": "failed"}
        assert rows["mailer"].origin == "environment TENTERHOOKS_HOOKS"

    def test_what_is_said_of_a_hook_that_there_is_not(self, project: Project) -> None:
        project.environment({"DISABLE": "mailer"})
        with pytest.raises(th.ConfigurationError) as caught:
            training_session(hooks=["guard"])
        assert named(report_in(caught.value))["guard"].state == "active"

    def test_a_session_that_cannot_be_made_for_another_reason(self, project: Project) -> None:
        class Creator:
            graph = counting_graph()
            create_session = staticmethod(raising(OSError("no session")))

        with pytest.raises(OSError, match="no session") as caught:
            th.MonitoredSession(Creator(), hooks=["guard"])  # type: ignore[arg-type]
        assert named(report_in(caught.value))["guard"].state == "active"

    def test_an_error_that_takes_no_attribute_goes_without(self, project: Project) -> None:
        class FrozenError(Exception):
            def __setattr__(self, name: str, value: object) -> None:
                raise AttributeError(name)

        with pytest.raises(FrozenError):
            training(Recorder("a", begin=raising(FrozenError())))

    def test_an_interrupt_does_not_wait_for_it(self, project: Project) -> None:
        with pytest.raises(KeyboardInterrupt) as caught:
            training(Recorder("a", begin=raising(KeyboardInterrupt())))
        assert not hasattr(caught.value, "hooks_report")


class TestText:
    def test_each_hook_has_a_line(self, project: Project) -> None:
        report = HooksReport(
            [
                HookReport("a", "dist-a", "1.0", "code a.py:1", {"x": 1, "y": "z"}, "active", "x by b.toml:2"),
                HookReport("B", None, None, "code a.py:1", {}, "failed"),
            ]
        )
        assert str(report) == ("a (dist-a 1.0): active; code a.py:1; x=1, y='z'; x by b.toml:2\nB: failed; code a.py:1")

    def test_options_that_are_no_plain_values_are_shown_by_their_type(self, project: Project) -> None:
        hook = th.make_hook("guard", names=["a"], clock=raising(), path=Path("x"))
        with training(hook) as session:
            options = named(session.hooks_report)["guard"].options
        assert options == {"names": ["a"], "clock": "<function>", "path": Path("x")}


class TestLog:
    def lines(self, caplog: pytest.LogCaptureFixture) -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == LOGGER]

    def test_it_says_in_three_lines_what_is_active_and_what_is_not(
        self, project: Project, caplog: pytest.LogCaptureFixture
    ) -> None:
        project.file('hooks = ["guard"]\ndisable = ["summary"]')
        caplog.set_level(logging.INFO, LOGGER)
        training_session(hooks=[Recorder("a"), "summary"]).close()
        active, disabled, unused = self.lines(caplog)
        assert active.startswith("hooks: a (code ")
        assert active.endswith("), guard (tenterhooks-guard 1.5, tenterhooks.toml:1)")
        assert disabled == (
            "hooks that do not join: summary (tenterhooks-summary 1.5, switched off by tenterhooks.toml:2)"
        )
        assert unused.startswith("hooks that are installed and not used here: ")
        assert "needy" in unused
        assert "guard" not in unused

    def test_what_is_not_used_is_said_once(
        self, project: Project, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        install("of-this-test", {"of-this-test": "nowhere:Hook"})
        caplog.set_level(logging.INFO, LOGGER)
        for _ in range(2):
            training("guard").close()
        assert [line.partition(":")[0] for line in self.lines(caplog)] == [
            "hooks",
            "hooks that are installed and not used here",
            "hooks",
        ]


def test_a_hook_may_report_on_the_others() -> None:
    class Knows(Recorder):
        def report_on(self, hook: str) -> str:
            return f"knows {hook}" if hook == "a" else ""

    with training(Recorder("a"), Knows("b")) as session:
        assert {name: row.note for name, row in named(session.hooks_report).items()} == {"a": "knows a", "b": ""}
