"""A hook is checked against the contract from the command line."""

import json
from pathlib import Path

import pytest

from tenterhooks.testing import RULES
from tenterhooks.testing import FakeDistributions as Install

from .commands import Said, said_in_process, tenterhooks

GOOD = """
import tenterhooks as th

class GoodHook(th.SessionRunHook):
    def __init__(self, *, value: str = "loss", limit: int = 5, needed: bool = True):
        if not needed:
            raise ValueError("it is needed")
        self.value = value

    def before_run(self, run_context):
        return th.SessionRunArgs(self.value)

class LoudHook(GoodHook):
    def before_run(self, run_context):
        print("loud")

class Namespace:
    Inner = GoodHook

number = 5
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module of hooks."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "my_hooks.py").write_text(GOOD, "utf-8")
    monkeypatch.chdir(folder)
    return folder


def checked(here: Path, *arguments: str) -> Said:
    return tenterhooks("check", *arguments, folder=here)


def test_a_good_hook_keeps_all_rules(here: Path) -> None:
    said = checked(here, "my_hooks:GoodHook")
    assert (said.code, said.error) == (0, "")
    *lines, sum_ = said.out.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [["ok", rule] for rule in RULES]
    assert sum_ == f"{len(RULES)} ok"


def test_a_rule_that_is_broken_is_said_and_is_an_exit_code(here: Path) -> None:
    said = checked(here, "my_hooks:LoudHook")
    assert (said.code, said.error) == (1, "")
    assert "failed       prints nothing\n               " in said.out
    assert said.out.endswith(f"{len(RULES) - 1} ok, 1 failed\n")


def test_a_program_gets_a_line_for_each_rule(here: Path) -> None:
    said = checked(here, "my_hooks:LoudHook", "--json")
    assert said.code == 1
    content = json.loads(said.out)
    assert content["hook"] == "my_hooks:LoudHook"
    assert [rule["rule"] for rule in content["rules"]] == list(RULES)
    (failed,) = [rule for rule in content["rules"] if rule["state"] == "failed"]
    assert failed["rule"] == "prints nothing"
    assert failed["message"]


def test_it_is_made_with_these_options(here: Path) -> None:
    said = checked(here, "my_hooks:Namespace.Inner", "--option", "needed=false", "--option", "limit=7")
    assert said.code == 1
    assert "failed       builds\n" in said.out
    assert "'limit': 7" in said.out
    assert "ValueError: it is needed" in said.out


def test_one_that_is_installed_goes_by_its_name(here: Path, install: Install, tmp_path: Path) -> None:
    install("tenterhooks-loud", {"loud": "my_hooks:LoudHook"}, my_hooks=GOOD)
    place = tmp_path / "installed-1"
    said = tenterhooks("check", "loud", "--json", path=place)
    assert said.code == 1
    assert [rule["rule"] for rule in json.loads(said.out)["rules"] if rule["state"] == "failed"] == ["prints nothing"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("my_hooks:GodHook",), 2, "check my_hooks:GodHook: my_hooks has no 'GodHook'; the nearest: 'GoodHook'"),
        (("my_hooks:",), 2, "check my_hooks:: write MODULE:CLASS, or the short name of a hook that is installed"),
        ((":GoodHook",), 2, "check :GoodHook: write MODULE:CLASS, or "),
        (("my_hooks:number",), 2, "check my_hooks:number: it is no class and no function, but 5"),
        (
            ("no_hooks:X",),
            1,
            "check no_hooks:X: no_hooks cannot be imported: ModuleNotFoundError: No module named 'no_hooks'",
        ),
        (("my_hooks:GoodHook", "--option", "limt=5"), 1, "--option limt=5: hook 'my_hooks:GoodHook' has no option "),
        (("my_hooks:GoodHook", "--option", "limit=x"), 1, "--option limit=x: option 'limit' of hook "),
        (("my_hooks:GoodHook", "--option", "limit"), 2, "--option limit: write NAME=VALUE"),
        (
            ("my_hooks:GoodHook", "--option", "limit=1", "--option", "limit=2"),
            2,
            "--option limit=2: the option 'limit' is given twice",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: tuple[str, ...], code: int, message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(here)
        said = said_in_process(capsys, "check", *arguments)
    assert (said.code, said.out, said.error.count("\n")) == (code, "", 1)
    assert said.error.startswith(f"tenterhooks: error: {message}")


def test_what_its_import_prints_is_not_among_the_json(here: Path) -> None:
    with (here / "my_hooks.py").open("a", encoding="utf-8") as source:
        source.write("print('imported')\n")
    said = checked(here, "my_hooks:GoodHook", "--json")
    assert [rule["rule"] for rule in json.loads(said.out)["rules"] if rule["state"] == "failed"] == [
        "imports without side effects"
    ]
    assert said.error == "imported\n"


@pytest.mark.parametrize("method", ["__init__(self)", "begin(self, graph)"])
def test_one_that_ends_the_program_breaks_a_rule(method: str, here: Path) -> None:
    source = f"import sys\nimport tenterhooks as th\nclass Ends(th.SessionRunHook):\n    def {method}: sys.exit(4)\n"
    (here / "my_hooks.py").write_text(source, "utf-8")
    said = checked(here, "my_hooks:Ends")
    assert (said.code, said.error) == (1, "")
    assert "SystemExit: 4" in said.out
