"""Fake distributions: found as installed ones are, and gone after the block."""

import sys
from pathlib import Path

import pytest

import tenterhooks as th
from tenterhooks import plugins
from tenterhooks.testing import FakeDistributions

HOOK = "import tenterhooks as th\n\n\nclass Quiet(th.SessionRunHook):\n    def begin(self, graph): ...\n"


def test_a_distribution_is_found_within_the_block_alone(tmp_path: Path) -> None:
    path = list(sys.path)
    with FakeDistributions(tmp_path) as install:
        install("tenterhooks-quiet", {"quiet": "quiet_hook:Quiet"}, version="2.3", quiet_hook=HOOK)
        plugin = plugins.find("quiet")
        assert (plugin.distribution, plugin.version) == ("tenterhooks-quiet", "2.3")
        assert type(th.make_hook("quiet")).__name__ == "Quiet"
        assert "quiet_hook" in sys.modules
    assert sys.path == path
    assert "quiet_hook" not in sys.modules
    with pytest.raises(th.PluginError, match="'quiet'"):
        plugins.find("quiet")


def test_one_of_the_same_name_stands_in_its_place(tmp_path: Path) -> None:
    with FakeDistributions(tmp_path) as install:
        install("tenterhooks-quiet", {"quiet": "old:Quiet"}, version="1.0")
        install("tenterhooks-quiet", {"quiet": "new:Quiet"}, version="2.0")
        assert plugins.find("quiet").target == "new:Quiet"


def test_there_are_other_groups(tmp_path: Path) -> None:
    with FakeDistributions(tmp_path) as install:
        install("one", {"default": "one:save"}, group="tenterhooks.savers", more_groups={"other": {"a": "one:b"}})
        assert "one:save" in [plugin.target for plugin in plugins.installed("tenterhooks.savers")]
        assert [plugin.target for plugin in plugins.installed("other")] == ["one:b"]


def test_metadata_may_be_broken(tmp_path: Path) -> None:
    with FakeDistributions(tmp_path) as install:
        install("broken", {"broken": "broken:Hook"}, metadata="Metadata-Version: 2.1\n")
        assert plugins.find("broken").version != "1.0"


def test_what_was_read_before_is_read_anew(tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "late-1.0.dist-info").mkdir(parents=True)
    (place / "late-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n", "utf-8")
    with pytest.MonkeyPatch.context() as monkeypatch:
        plugins.installed(plugins.HOOKS_GROUP)
        monkeypatch.syspath_prepend(place)
        (place / "late-1.0.dist-info" / "entry_points.txt").write_text("[tenterhooks.hooks]\nlate = a:B\n", "utf-8")
        with FakeDistributions(tmp_path / "fakes"):
            assert plugins.find("late").target == "a:B"
    plugins.refresh()
