"""What the word that is being typed may become."""

import sys
from pathlib import Path

import pytest

from tenterhooks.cli import plugin_commands
from tenterhooks.cli.candidates import FILES, candidates
from tenterhooks.cli.command import build_parser
from tenterhooks.testing import FakeDistributions as Install

from .commands import GUARD, said_in_process


@pytest.fixture(autouse=True)
def guard(install: Install) -> Install:
    """Has a hook `guard`, and a subcommand `guards`."""
    install(
        "tenterhooks-guard",
        {"guard": "fake_guard:GuardHook"},
        more_groups={plugin_commands.GROUP: {"guards": "fake_guard:main"}},
        fake_guard=GUARD,
    )
    return install


def found(*words: str) -> list[str]:
    return [candidate for candidate, _ in candidates(build_parser(), words)]


def test_a_subcommand() -> None:
    assert found("")[: len(plugin_commands.BUILT_IN)] == [*plugin_commands.BUILT_IN]
    assert {"guards", "--help"} <= set(found(""))
    assert found("li") == ["lifecycle"]
    assert found("guar") == ["guards"]


def test_a_subcommand_that_cannot_be_used_is_none(install: Install) -> None:
    thief = {"plugins": "fake_thief:main", "guards": "fake_thief:main"}
    install("tenterhooks-thief", thief, group=plugin_commands.GROUP)
    assert found("plu") == ["plugins"]
    assert found("guar") == []


def test_a_flag_of_the_command_and_of_a_subcommand() -> None:
    assert found("--v") == ["--version"]
    assert found("run", "--") == ["--help", "--hook", "--set", "--no-hook"]
    assert found("run", "train.py", "--h") == ["--help", "--hook"]
    assert found("new", "x", "--in") == ["--in-repo"]


def test_the_name_of_a_hook_and_nothing_is_imported() -> None:
    assert found("show", "gua") == ["guard"]
    assert found("check", "gua") == ["guard"]
    assert found("run", "--no-hook", "gua") == ["guard"]
    assert found("run", "--hook", "gua") == ["guard"]
    assert found("run", "--hook=gua") == ["--hook=guard"]
    assert found("run", "--set", "gua") == ["guard."]
    assert "fake_guard" not in sys.modules


def test_a_name_that_is_whole_may_go_on_with_options() -> None:
    assert found("run", "--hook", "guard") == ["guard", "guard:"]


def test_an_option_that_can_be_given_outside_of_code() -> None:
    assert found("run", "--hook", "guard:") == ["guard:limit=", "guard:strict=", "guard:names="]
    assert found("run", "--hook", "guard:s") == ["guard:strict="]
    assert found("lifecycle", "--hook=guard:s") == ["--hook=guard:strict="]
    assert found("run", "--set", "guard.l") == ["guard.limit="]
    assert found("check", "guard", "--option", "l") == ["limit="]


def test_a_further_option_that_is_not_given_yet() -> None:
    assert found("run", "--hook", "guard:limit=1,") == ["guard:limit=1,strict=", "guard:limit=1,names="]


def test_a_truth_value() -> None:
    assert found("run", "--hook", "guard:limit=1,strict=") == [
        "guard:limit=1,strict=true",
        "guard:limit=1,strict=false",
    ]
    assert found("run", "--set", "guard.strict=f") == ["guard.strict=false"]
    assert found("run", "--hook", "guard:limit=") == []


def test_the_options_of_a_hook_that_cannot_be_had_are_none(install: Install) -> None:
    install("tenterhooks-bad", {"bad": "fake_bad:Bad"}, fake_bad="1 / 0\n")
    assert found("run", "--hook", "bad:") == []
    assert found("run", "--hook", "missing:") == []


def test_what_the_import_of_a_hook_prints_is_no_candidate(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    source = "print('imported')\ndef loud(level: int = 1): ...\n"
    install("tenterhooks-loud", {"loud": "fake_loud:loud"}, fake_loud=source)
    assert found("run", "--hook", "loud:") == ["loud:level="]
    assert capsys.readouterr() == ("", "imported\n")


def test_a_file_where_a_script_or_a_folder_stands() -> None:
    assert found("run", "tr") == [FILES]
    assert found("run", "--hook", "guard", "tr") == [FILES]
    assert found("lifecycle", "") == [FILES]
    assert found("new", "best-loss", "") == [FILES]
    assert found("run", "train.py", "--", "--da") == [FILES]
    assert found("guards", "x") == [FILES]


def test_a_script_stands_once() -> None:
    assert found("run", "train.py", "x") == []


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("trainer.py", "trial/__init__.py", "trunk/other.py"):
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_text("", "utf-8")
    monkeypatch.chdir(tmp_path / "here")
    assert found("run", "-m", "tr") == ["trainer", "trial"]


def test_one_of_a_few() -> None:
    assert found("completion", "") == ["bash", "zsh", "fish"]


def test_the_name_of_what_is_new_is_anybodys() -> None:
    assert found("new", "") == []


def test_each_has_its_meaning_in_one_line() -> None:
    meanings = dict(candidates(build_parser(), ["run", "--hook", "guard:"]))
    assert meanings["guard:limit="] == "What is too much."
    assert dict(candidates(build_parser(), ["sho"])) == {"show": "show the options and the stages of a hook"}


def test_a_shell_gets_them_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_in_process(capsys, "--complete", "run", "--hook", "guard:s")
    assert (said.code, said.out) == (0, "guard:strict=\tWhether it is.\n")
    assert said_in_process(capsys, "--complete", "run", "").out == ":files\n"
    assert said_in_process(capsys, "--complete").out.startswith("run\trun a script")
