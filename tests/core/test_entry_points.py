"""What is installed is read, though some of it is broken."""

from pathlib import Path

import pytest

from tenterhooks import plugins
from tenterhooks.entry_points import entry_points, groups
from tenterhooks.testing import FakeDistributions as Install


def test_those_of_a_group_are_found(install: Install) -> None:
    install("tenterhooks-other", {"other": "other:thing"}, group="tenterhooks.others")
    (found,) = entry_points(group="tenterhooks.others")
    assert (found.name, found.value, found.group) == ("other", "other:thing", "tenterhooks.others")


def test_all_groups_of_this_project_are_known(install: Install) -> None:
    install("tenterhooks-other", {"other": "other:thing"}, group="tenterhooks.others")
    install("somebody-else", {"other": "other:thing"}, group="tenterhooks_others")
    assert "tenterhooks.others" in groups()
    assert "tenterhooks_others" not in groups()
    assert list(groups()) == sorted(set(groups()))


def test_one_that_cannot_be_read_hides_no_other(
    install: Install, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install("tenterhooks-guard", {"guard": "fake_guard:Guard"}, version="2.5")
    install("tenterhooks-guard", {"guard": "another_guard:Guard"}, version="1.0")
    install("tenterhooks-torn", {"torn": "torn:Torn"})
    (torn,) = tmp_path.rglob("tenterhooks_torn-1.0.dist-info/entry_points.txt")
    torn.write_bytes(b"\xff\xfe[tenterhooks.hooks]\n")
    plugins.refresh()
    # The one that stands first on the path is the one that is installed.
    assert plugins.find("guard").version == "1.0"
    (warning,) = caplog.messages
    assert str(torn.parents[1]) in warning
    assert "cannot be read: UnicodeDecodeError" in warning
