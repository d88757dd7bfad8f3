"""Plugins of many authors beside each other: what one does, and how one fails, is no matter of the others."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks import plugins
from tenterhooks.configuration import CommandLine, use_command_line
from tenterhooks.testing import FakeDistributions as Install

from .configured import training_session

MANY = 200

GOOD = """
import tenterhooks as th

class Hook(th.SessionRunHook):
    steps = 0

    def after_run(self, run_context, run_values):
        Hook.steps += 1
"""
# For a core whose stages had fewer arguments.
OLDER = """
import tenterhooks as th

class Hook:
    calls = []

    @th.hookimpl
    def begin(self):
        self.calls.append("begin")

    @th.hookimpl
    def after_create_session(self, session):
        self.calls.append("after_create_session")

    @th.hookimpl
    def after_run(self, run_values):
        self.calls.append("after_run")

    @th.hookimpl
    def end(self):
        self.calls.append("end")
"""
# For a core with a stage that there is not yet.
NEWER = """
import tenterhooks as th

class Hook(th.SessionRunHook):
    calls = []

    def after_run(self, run_context, run_values):
        self.calls.append("after_run")

    {mark}
    def before_evaluation(self, session):
        self.calls.append("before_evaluation")
"""
UNIMPORTABLE = "import a_library_that_is_not_installed\n"
RAISING = """
import tenterhooks as th

class Hook(th.SessionRunHook):
    def __init__(self):
        raise OSError("no such device")
"""

# Names hooks in one of the ways in which that can be done, and opens a session.
Opens = Callable[..., th.MonitoredSession]


def by_code(*names: str) -> th.MonitoredSession:
    return training_session(hooks=names)


def by_file(*names: str) -> th.MonitoredSession:
    Path("tenterhooks.toml").write_text(f"hooks = {list(names)}\n", "utf-8")
    return training_session()


def by_environment(*names: str) -> th.MonitoredSession:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("TENTERHOOKS_HOOKS", ",".join(names))
        return training_session()


def by_command_line(*names: str) -> th.MonitoredSession:
    with use_command_line(CommandLine([(name, {}) for name in names])):
        return training_session()


WHERE = {
    by_code: "",
    by_file: "tenterhooks.toml:1: ",
    by_environment: "environment TENTERHOOKS_HOOKS: ",
    by_command_line: "command line --hook odd: ",
}
WAYS = pytest.mark.parametrize("opened", WHERE)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory in which no file names hooks."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def install_odd(install: Install, source: str) -> None:
    """Install a plugin of which there is something to be said, and a good one."""
    install("oddities", {"odd": "odd_module:Hook"}, version="4.2", odd_module=source)
    install("goods", {"good": "good_module:Hook"}, good_module=GOOD)


def imported() -> set[str]:
    """The modules of plugins that are imported."""
    return {name for name in sys.modules if name.startswith("third_")} | (
        {"odd_module", "good_module"} & {*sys.modules}
    )


class TestMany:
    @pytest.fixture(autouse=True)
    def _many(self, install: Install) -> None:
        for number in range(MANY):
            module: dict[str, Any] = {f"third_{number}": GOOD}
            install(f"third-{number}", {f"hook-{number}": f"third_{number}:Hook"}, **module)

    @WAYS
    def test_of_those_that_are_installed_just_those_are_imported_that_are_used(self, opened: Opens) -> None:
        with opened("hook-7", "hook-150") as session:
            session.run("train")
            active = [row.name for row in session.hooks_report if row.state == "active"]
            unused = [row.name for row in session.hooks_report if row.state == "installed but not used"]
        assert active == ["hook-7", "hook-150"]
        assert len([name for name in unused if name.startswith("hook-")]) == MANY - 2
        assert imported() == {"third_7", "third_150"}
        assert [sys.modules[name].Hook.steps for name in ("third_7", "third_150")] == [1, 1]

    def test_which_distributions_bring_the_others_is_not_read(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "tenterhooks"):
            by_code("hook-7").close()
        assert "hook-8" in caplog.text
        for metadata in tmp_path.rglob("third_*.dist-info/METADATA"):
            metadata.write_text("Metadata-Version: 2.1\nName: read-later\nVersion: 2.0\n", "utf-8")
        read = {plugin.name for plugin in plugins.installed() if plugin.distribution != "read-later"}
        assert {name for name in read if name.startswith("hook-")} == {"hook-7"}

    def test_one_that_is_claimed_twice_among_them_is_an_error_that_names_both(self, install: Install) -> None:
        install("another-third", {"hook-7": "another_third:Hook"}, version="2.0")
        with pytest.raises(th.PluginError, match=r"'hook-7' is claimed by another-third 2\.0 and third-7 1\.0"):
            by_code("hook-7")
        by_code("hook-8").close()
        assert imported() == {"third_8"}

    def test_one_that_is_missing_is_an_error_with_the_nearest(self) -> None:
        with pytest.raises(th.PluginError, match=r"no plugin named 'hook-1500' is installed; the nearest: 'hook-1"):
            by_code("hook-1500")


class TestBroken:
    """Named together with a good one, or installed beside it."""

    @WAYS
    def test_an_import_that_fails_names_the_distribution_with_the_cause_chained(
        self, install: Install, opened: Opens
    ) -> None:
        install_odd(install, UNIMPORTABLE)
        with pytest.raises(th.PluginError) as caught:
            opened("good", "odd")
        assert str(caught.value).startswith(
            f"{WHERE[opened]}plugin 'odd' (oddities 4.2) cannot be imported from 'odd_module:Hook': ModuleNotFoundError"
        )
        assert isinstance(caught.value.__cause__, ModuleNotFoundError)

    @WAYS
    def test_a_constructor_that_raises_names_the_distribution_with_the_cause_chained(
        self, install: Install, opened: Opens
    ) -> None:
        install_odd(install, RAISING)
        with pytest.raises((OSError, th.ConfigurationError)) as caught:
            opened("good", "odd")
        if opened is by_code:
            # The program's own call: its error comes as it is.
            assert type(caught.value) is OSError
            assert caught.value.__notes__ == ["while making hook 'odd' (oddities 4.2) with {}"]
            return
        assert str(caught.value) == (
            f"{WHERE[opened]}hook 'odd' (oddities 4.2) cannot be made with no options: OSError: no such device"
        )
        assert isinstance(caught.value.__cause__, OSError)

    @WAYS
    @pytest.mark.parametrize("source", [UNIMPORTABLE, RAISING, NEWER.format(mark="@th.hookimpl")])
    def test_the_next_session_has_the_others(self, install: Install, opened: Opens, source: str) -> None:
        install_odd(install, source)
        with pytest.raises((OSError, th.PluginError, th.HookError)):
            opened("good", "odd")
        with opened("good") as session:
            session.run("train")
        assert sys.modules["good_module"].Hook.steps == 1

    @WAYS
    @pytest.mark.parametrize("source", [UNIMPORTABLE, RAISING])
    def test_installed_and_not_named_it_is_not_imported(self, install: Install, opened: Opens, source: str) -> None:
        install_odd(install, source)
        with opened("good") as session:
            rows = {row.name: row for row in session.hooks_report}
        assert (rows["odd"].state, rows["odd"].distribution) == ("installed but not used", "oddities")
        assert imported() == {"good_module"}


class TestOtherVersions:
    """Plugins that were written for another version of the core than the one that is installed."""

    @WAYS
    def test_one_for_an_older_core_gets_the_arguments_that_it_knows(self, install: Install, opened: Opens) -> None:
        install_odd(install, OLDER)
        with opened("odd", "good") as session:
            session.run("train")
        assert sys.modules["odd_module"].Hook.calls == ["begin", "after_create_session", "after_run", "end"]
        assert sys.modules["good_module"].Hook.steps == 1

    @WAYS
    def test_an_optional_stage_of_a_newer_core_is_ignored(self, install: Install, opened: Opens) -> None:
        install_odd(install, NEWER.format(mark="@th.hookimpl(optionalhook=True)"))
        with opened("odd", "good") as session:
            session.run("train")
        assert sys.modules["odd_module"].Hook.calls == ["after_run"]
        assert sys.modules["good_module"].Hook.steps == 1

    @WAYS
    def test_another_stage_of_a_newer_core_is_one_error_that_says_how_to_mark_it(
        self, install: Install, opened: Opens
    ) -> None:
        install_odd(install, NEWER.format(mark="@th.hookimpl"))
        with pytest.raises((th.HookError, th.ConfigurationError)) as caught:
            opened("good", "odd")
        message = (
            "hook 'odd' (oddities 4.2) implements 'before_evaluation', which no hook of this session specifies; "
            "the nearest: 'before_run'; mark it @hookimpl(optionalhook=True) if that is fine"
        )
        assert str(caught.value) == WHERE[opened] + message
        error = caught.value if opened is by_code else caught.value.__cause__
        assert isinstance(error, th.HookError)
        assert error.hook is not None
        assert sys.modules["good_module"].Hook.steps == 0
