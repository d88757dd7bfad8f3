"""What is installed is listed from metadata alone, with what is wrong with it."""

import json
import logging
import sys
from pathlib import Path

import pytest

from tenterhooks import plugins as installed_plugins
from tenterhooks.cli.plugins import GROUPS
from tenterhooks.testing import FakeDistributions as Install

from .commands import GUARD, said_in_process, tenterhooks, write


def listed(capsys: pytest.CaptureFixture[str], *names: str) -> list[dict[str, object]]:
    """The entries of these names as `--json` has them."""
    said = said_in_process(capsys, "plugins", "--json")
    assert (said.code, said.error) == (0, "")
    return [entry for entry in json.loads(said.out)["plugins"] if entry["name"] in names]


def install_guard(install: Install) -> None:
    install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"}, version="2.5", fake_guard=GUARD)


def test_each_is_listed_with_its_distribution_and_nothing_is_imported(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install_guard(install)
    said = said_in_process(capsys, "plugins")
    (line,) = [line.split() for line in said.out.splitlines() if line.startswith("  guard ")]
    assert line == ["guard", "tenterhooks-guard", "2.5", "fake_guard:GuardHook"]
    assert "hooks (tenterhooks.hooks):\n" in said.out
    assert "fake_guard" not in sys.modules


@pytest.mark.parametrize("group", GROUPS)
def test_all_groups_are_listed(group: str, install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("tenterhooks-other", {"other-thing": "other:thing"}, group=group)
    (entry,) = listed(capsys, "other-thing")
    assert entry == {
        "group": group,
        "name": "other-thing",
        "distribution": "tenterhooks-other",
        "version": "1.0",
        "target": "other:thing",
        "problems": [],
    }


def test_a_name_that_two_claim_is_marked(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install_guard(install)
    install("another-guard", {"guard": "another:Guard"})
    entries = listed(capsys, "guard")
    assert [entry["distribution"] for entry in entries] == ["another-guard", "tenterhooks-guard"]
    assert {str(entry["problems"]) for entry in entries} == {"['claimed by 2 distributions: uninstall all but one']"}
    assert said_in_process(capsys, "plugins").out.count("! claimed by 2 distributions") == 2


def test_a_target_that_is_none_is_marked(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("tenterhooks-odd", {"odd": "not a reference!"})
    (entry,) = listed(capsys, "odd")
    assert entry["problems"] == ["its target is no module:attribute: tell its author"]


def test_a_group_that_is_almost_one_is_marked_and_another_is_not(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("tenterhooks-odd", {"odd": "odd:Odd"}, group="tenterhooks.hook")
    install("tenterhooks-own", {"own": "own:Own"}, group="tenterhooks.something_of_a_plugin")
    odd, own = listed(capsys, "odd", "own")
    assert odd["problems"] == ["tenterhooks looks into tenterhooks.hooks, and not into this group: tell its author"]
    assert own["problems"] == []
    assert "others (tenterhooks.something_of_a_plugin):" in said_in_process(capsys, "plugins").out


def test_what_lacks_its_metadata_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "tenterhooks-torn", {"tenterhooks.hooks": {"torn": "torn:Torn"}})
    (tmp_path / "tenterhooks_torn-2.5.dist-info/METADATA").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    installed_plugins.refresh()
    (entry,) = listed(capsys, "torn")
    installed_plugins.refresh()
    assert entry["problems"] == ["the metadata of its distribution cannot be read: reinstall it"]


def test_one_whose_entry_points_cannot_be_read_hides_no_other(path: Path, tmp_path: Path) -> None:
    write(path, "tenterhooks-torn", {"tenterhooks.hooks": {"torn": "torn:Torn"}})
    (path / "tenterhooks_torn-2.5.dist-info/entry_points.txt").write_bytes(b"\xff\xfe[tenterhooks.hooks]\n")
    said = tenterhooks("plugins", path=path)
    assert said.code == 0
    assert "  guard " in said.out
    assert "the plugins of " in said.error
    assert "cannot be read: UnicodeDecodeError" in said.error


def test_names_cannot_command_the_terminal(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("tenterhooks-odd", {"odd\x1b[2J": "odd:Odd"})
    assert "odd\\x1b[2J" in said_in_process(capsys, "plugins").out


def test_nothing_installed_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from tenterhooks.cli import plugins

    monkeypatch.setattr(plugins, "installed", lambda group: ())
    with caplog.at_level(logging.WARNING):
        said = said_in_process(capsys, "plugins")
    assert said.out == "no plugins are installed: pip install tenterhooks-checkpoint, for one\n"
