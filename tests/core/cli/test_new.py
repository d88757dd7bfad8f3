"""A plugin to begin with: complete, right as it is, and never written over anything."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tenterhooks.testing import FakeDistributions as Install

from .commands import said_in_process

# A folder of the repository, in which `--in-repo` makes a plugin.
CORE = '[project]\nname = "tenterhooks"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_project_has_all_that_is_published(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "new", "best-loss")
    assert (said.code, said.error) == (0, "")
    assert files(here) == [
        f"tenterhooks-best-loss/{file}"
        for file in [
            ".gitignore",
            "LICENSE",
            "README.md",
            "pyproject.toml",
            "src/tenterhooks_best_loss/__init__.py",
            "src/tenterhooks_best_loss/hook.py",
            "src/tenterhooks_best_loss/py.typed",
            "tests/test_hook.py",
        ]
    ]
    for file in files(here):
        assert f"made {Path(file)}\n" in said.out
    assert said.out.splitlines()[-1].startswith("then: cd tenterhooks-best-loss && pip install -e '.[test]' && ")


def test_its_names_follow_from_the_short_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said_in_process(capsys, "new", "best-loss")
    project = tomllib.loads((here / "tenterhooks-best-loss/pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "tenterhooks-best-loss"
    assert project["entry-points"]["tenterhooks.hooks"] == {"best-loss": "tenterhooks_best_loss:BestLossHook"}
    assert "class BestLossHook(" in (here / "tenterhooks-best-loss/src/tenterhooks_best_loss/hook.py").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(("name", "cls"), [("x", "XHook"), ("my-hook", "MyHook"), ("top-5-loss2", "Top5Loss2Hook")])
def test_a_class_has_its_name_once(name: str, cls: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said_in_process(capsys, "new", name, "folder")
    package = f"tenterhooks_{name.replace('-', '_')}"
    assert f"class {cls}(SessionRunHook)" in (here / f"folder/src/{package}/hook.py").read_text("utf-8")


def test_no_placeholder_is_left(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said_in_process(capsys, "new", "best-loss")
    for file in files(here):
        assert not re.search(r"\$[a-z{]", (here / file).read_text("utf-8")), file


def test_its_hook_keeps_the_lowest_value(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said_in_process(capsys, "new", "best-loss", "project")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not Contract", "."],
        cwd=here / "project",
        env={"PYTHONPATH": str(here / "project/src"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_what_exists_is_never_written_over(there: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = here / "project"
    if there == "folder":
        place.mkdir()
    elif there == "file":
        place.write_text("mine", "utf-8")
    else:
        place.symlink_to(here / "nowhere")
    said = said_in_process(capsys, "new", "best-loss", "project")
    assert (said.code, said.out) == (1, "")
    assert said.error == (
        "tenterhooks: error: new best-loss: project exists already; nothing is changed: name another folder\n"
    )
    assert files(here) == (["project"] if there == "file" else [])


def test_what_cannot_be_finished_is_removed(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(self: Path, text: str, encoding: str) -> int:
        if self.name == "hook.py":
            raise OSError(28, "No space left on device")
        return write(self, text, encoding)

    monkeypatch.setattr(Path, "write_text", full)
    said = said_in_process(capsys, "new", "best-loss")
    assert said.code == 1
    assert "No space left on device; what was made is removed again" in said.error
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "near"),
    [("BestLoss", "'best-loss'"), ("best_loss", "'best-loss'"), ("Best Loss!", "'best-loss'"), ("5-best", "'best'")],
)
def test_a_name_of_another_form_is_refused_with_one_that_would_do(
    name: str, near: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_in_process(capsys, "new", name)
    assert said.code == 2
    assert said.error.startswith(f"tenterhooks: error: new {name}: a short name is made of small letters and digits, ")
    assert said.error.endswith(f": {near}, say\n")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["", "-", "ü", "a--b", "a-", "a\n"])
def test_what_is_no_name_is_refused(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said_in_process(capsys, "new", "--", name).code == 2
    assert list(here.iterdir()) == []


def test_a_name_has_a_length(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said_in_process(capsys, "new", "a" * 40).code == 0
    said = said_in_process(capsys, "new", "b" * 41)
    assert (said.code, "at most 40 characters, and this has 41" in said.error) == (2, True)


def test_the_distributions_name_is_not_the_short_name(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "new", "tenterhooks-best-loss")
    assert said.code == 2
    assert "give the short name alone, 'best-loss'" in said.error


def test_a_name_that_is_taken_is_refused(install: Install, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"}, version="2.5")
    said = said_in_process(capsys, "new", "guard")
    assert said.code == 1
    assert "tenterhooks-guard 2.5 is installed and has a hook of this name" in said.error
    assert list(here.iterdir()) == []


class TestInTheRepository:
    @pytest.fixture(autouse=True)
    def repository(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        (here / "core").mkdir()
        (here / "core/pyproject.toml").write_text(CORE, "utf-8")
        (here / "plugins").mkdir()
        (here / "docs").mkdir()
        monkeypatch.chdir(here / "docs")
        return here

    def test_it_lies_where_the_others_lie(self, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert said_in_process(capsys, "new", "best-loss", "--in-repo").code == 0
        assert files(repository) == [
            "core/pyproject.toml",
            "plugins/best-loss/README.md",
            "plugins/best-loss/pyproject.toml",
            "plugins/best-loss/src/tenterhooks_best_loss/__init__.py",
            "plugins/best-loss/src/tenterhooks_best_loss/hook.py",
            "plugins/best-loss/src/tenterhooks_best_loss/py.typed",
            "tests/plugins/best-loss/test_hook.py",
        ]

    def test_it_says_what_to_add_by_hand(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_in_process(capsys, "new", "best-loss", "--in-repo")
        assert "to requirements-dev.txt:\n-e ./plugins/best-loss\n" in said.out
        assert "### `tenterhooks_best_loss.BestLossHook`\n" in said.out
        assert ".. automodule:: tenterhooks_best_loss\n" in said.out
        assert "to docs/changelog.md:\n## tenterhooks-best-loss\n\n### 0.1.0\n\n- `BestLossHook`.\n" in said.out

    def test_a_plugin_that_exists_is_not_touched(self, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (repository / "tests/plugins/best-loss").mkdir(parents=True)
        said = said_in_process(capsys, "new", "best-loss", "--in-repo")
        assert said.code == 1
        assert "exists already" in said.error
        assert not (repository / "plugins/best-loss").exists()

    def test_it_has_no_other_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_in_process(capsys, "new", "best-loss", "folder", "--in-repo")
        assert (said.code, "give either a folder or --in-repo" in said.error) == (2, True)


@pytest.mark.parametrize("core", [None, '[project]\nname = "other"\n'])
def test_elsewhere_there_is_no_repository(core: str | None, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if core is not None:
        (here / "core").mkdir()
        (here / "plugins").mkdir()
        (here / "core/pyproject.toml").write_text(core, "utf-8")
    said = said_in_process(capsys, "new", "best-loss", "--in-repo")
    assert said.code == 1
    assert "is the repository of tenterhooks" in said.error
