"""The file that names hooks: how it is found, and what it says."""

import os
import sys
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks.configuration import Named, Setting, Source
from tenterhooks.configuration_file import find_file, read_file

from .configured import Project


class TestWhichFile:
    def test_there_may_be_none(self, project: Project) -> None:
        assert find_file() is None
        assert read_file() == Source()

    def test_the_working_directorys_goes_before_those_above(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project.file('hooks = ["above"]')
        project.file("[tool.tenterhooks]", "a/pyproject.toml")
        (project.folder / "a/b").mkdir()
        monkeypatch.chdir(project.folder / "a/b")
        assert find_file() == project.folder / "a/pyproject.toml"
        project.file("", "a/b/tenterhooks.toml")
        assert find_file() == project.folder / "a/b/tenterhooks.toml"

    def test_one_above_is_named_with_its_whole_path(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        project.file('hooks = ["guard"]')
        (project.folder / "a").mkdir()
        monkeypatch.chdir(project.folder / "a")
        assert read_file().hooks == (Named("guard", f"{project.folder / 'tenterhooks.toml'}:1"),)

    def test_in_one_folder_the_own_one_goes_before_pyproject(self, project: Project) -> None:
        project.file("")
        project.file('[tool.tenterhooks]\nhooks = ["guard"]', "pyproject.toml")
        assert find_file() == project.folder / "tenterhooks.toml"

    @pytest.mark.parametrize("content", ["[tool.ruff]", '[project]\nname = "tenterhooks"', "tool = 1 # tenterhooks"])
    def test_a_pyproject_without_the_table_is_passed_over(self, project: Project, content: str) -> None:
        project.file(content, "pyproject.toml")
        assert find_file() is None

    @pytest.mark.parametrize("content", [b"[broken", b"\xff\xfe"])
    def test_a_broken_pyproject_that_does_not_name_this_package_is_passed_over(
        self, project: Project, content: bytes
    ) -> None:
        (project.folder / "pyproject.toml").write_bytes(content)
        assert find_file() is None

    def test_a_mark_that_an_editor_puts_before_the_text_is_passed_over(self, project: Project) -> None:
        project.file('\ufeffhooks = ["guard"]')
        assert [(named.name, named.where) for named in read_file().hooks] == [("guard", "tenterhooks.toml:1")]

    def test_a_folder_of_that_name_is_no_file(self, project: Project) -> None:
        (project.folder / "tenterhooks.toml").mkdir()
        assert find_file() is None

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete the working directory of a process")
    def test_without_a_working_directory_there_is_none(self, project: Project) -> None:
        project.file('hooks = ["guard"]')
        (project.folder / "a").mkdir()
        os.chdir(project.folder / "a")
        (project.folder / "a").rmdir()
        assert find_file() is None


class TestWhatItSays:
    CONTENT = """hooks = ["guard",
    "nan"]
disable = ["summary"]

[{}stop-at-step]
last_step = 5
"not kebab" = [1]
[{}guard.schedule]
first = 1
"""

    @pytest.mark.parametrize("name", ["tenterhooks.toml", "pyproject.toml"])
    def test_hooks_options_and_what_is_switched_off_with_their_lines(self, project: Project, name: str) -> None:
        prefix = "" if name == "tenterhooks.toml" else "tool.tenterhooks."
        header = "" if name == "tenterhooks.toml" else "[tool.tenterhooks] "
        lines = self.CONTENT.format(prefix, prefix)
        project.file(f"{header}\n{lines}", name)
        assert read_file() == Source(
            (Named("guard", f"{name}:2"), Named("nan", f"{name}:3")),
            (
                Setting("stop-at-step", "last_step", 5, False, f"{name}:7"),
                Setting("stop-at-step", "not kebab", [1], False, f"{name}:8"),
                Setting("guard", "schedule", {"first": 1}, False, f"{name}:9"),
            ),
            (Named("summary", f"{name}:4"),),
        )

    def test_an_empty_table_says_nothing(self, project: Project) -> None:
        project.file("[tool.tenterhooks]\n[tool.tenterhooks.guard]", "pyproject.toml")
        assert read_file() == Source()


def test_a_file_that_cannot_be_read_is_an_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.file("")

    def refuse(path: Path) -> bytes:
        raise PermissionError("not for you")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(th.ConfigurationError, match=r"^tenterhooks\.toml cannot be read: not for you"):
        read_file()
