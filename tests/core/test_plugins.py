"""What is installed: found by its short name, made with its options, and nothing imported before it is wanted."""

import gc
import inspect
import logging
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks import plugins
from tenterhooks.testing import FakeDistributions as Install

from .recorders import Recorder, counting_graph, raising, training

HOOK = """
import tenterhooks as th

class GuardHook(th.SessionRunHook):
    '''Guards.'''

    def __init__(self, limit: float = 1.0, *, strict: bool = False) -> None:
        self.limit = limit
        self.strict = strict

    def before_run(self, run_context):
        if self.strict:
            raise ValueError("too strict")
"""
NEEDY = """
import tenterhooks as th

class NeedyHook(th.SessionRunHook):
    def __init__(self, path, *, every, mode="a"):
        self.path, self.every = path, every

    def end(self, session): ...
"""
BROKEN = "import a_library_that_is_not_installed\n"


def install_guard(install: Install) -> None:
    install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"}, version="2.5", fake_guard=HOOK)


class TestDiscovery:
    def test_what_is_installed_is_found_with_its_distribution_and_version(self, install: Install) -> None:
        install_guard(install)
        (plugin,) = [plugin for plugin in plugins.installed() if plugin.name == "guard"]
        assert (plugin.target, plugin.distribution, plugin.version) == (
            "fake_guard:GuardHook",
            "tenterhooks-guard",
            "2.5",
        )

    def test_nothing_is_imported_by_it(self, install: Install) -> None:
        install_guard(install)
        plugins.installed()
        assert "fake_guard" not in sys.modules

    def test_it_is_sorted_by_name(self, install: Install) -> None:
        install("zeta", {"b-hook": "zeta:A", "d-hook": "zeta:A"})
        install("alpha", {"c-hook": "alpha:A", "a-hook": "alpha:A"})
        names = [plugin.name for plugin in plugins.installed() if plugin.name.endswith("-hook")]
        assert names == ["a-hook", "b-hook", "c-hook", "d-hook"]

    def test_which_distribution_brings_one_is_read_when_it_is_asked_for(self, install: Install, tmp_path: Path) -> None:
        install_guard(install)
        plugin = plugins.find("guard")
        (metadata,) = tmp_path.rglob("tenterhooks_guard-2.5.dist-info/METADATA")
        metadata.write_text("Metadata-Version: 2.1\nName: renamed\nVersion: 3.0\n", "utf-8")
        assert (plugin.distribution, plugin.version) == ("renamed", "3.0")

    def test_what_is_found_anew_is_equal_to_what_was_found(self, install: Install) -> None:
        install("tenterhooks-guard", {"guard": "fake_guard:GuardHook", "other": "fake_guard:GuardHook"})
        before = plugins.find("guard")
        plugins.refresh()
        assert plugins.find("guard") is not before
        assert {plugins.find("guard")} == {before}
        assert plugins.find("other") != before
        assert before != "guard"

    def test_all_groups_are_read_together(self, install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
        install("some-parts", {"guard": "parts:Guard"}, more_groups={"a.group": {"one": "parts:x", "other": "parts:y"}})
        plugins.installed()
        monkeypatch.setattr(sys, "path", [])
        assert [plugin.name for plugin in plugins.installed("a.group")] == ["one", "other"]

    def test_other_groups_are_apart(self, install: Install) -> None:
        install("tenterhooks-other", {"other": "other:thing"}, group="tenterhooks.savers")
        assert "other" not in [plugin.name for plugin in plugins.installed()]
        assert "other" in [plugin.name for plugin in plugins.installed("tenterhooks.savers")]

    def test_one_without_metadata_is_known_as_such(self, install: Install, tmp_path: Path) -> None:
        install_guard(install)
        install("tenterhooks-torn", {"torn": "torn:Torn"})
        (tmp_path / "installed-2/tenterhooks_torn-1.0.dist-info/METADATA").unlink()
        plugins.refresh()
        assert plugins.find("torn").is_nameless
        assert not plugins.find("guard").is_nameless

    def test_it_is_read_once(self) -> None:
        assert plugins.installed() is plugins.installed()

    def test_refresh_has_it_read_again(self, install: Install) -> None:
        plugins.installed()
        install_guard(install)  # Which calls refresh.
        assert plugins.find("guard").distribution == "tenterhooks-guard"

    def test_a_plugin_shows_name_distribution_and_version(self, install: Install) -> None:
        install_guard(install)
        assert str(plugins.find("guard")) == "'guard' (tenterhooks-guard 2.5)"


class TestShortNames:
    def test_a_hook_may_be_given_by_its_short_name(self, install: Install) -> None:
        install_guard(install)
        with training("guard") as session:
            session.run("train")
        assert "fake_guard" in sys.modules

    def test_names_and_objects_may_be_mixed_and_keep_their_order(self, install: Install) -> None:
        install(
            "tenterhooks-stopping",
            {"stopping": "fake_stopping:Stopping"},
            fake_stopping="""
import tenterhooks as th

class Stopping(th.SessionRunHook):
    def before_run(self, run_context):
        run_context.request_stop()
""",
        )
        seen: list[bool] = []
        hooks = [
            Recorder(name, before_run=lambda context: seen.append(context.stop_requested))
            for name in ["before", "after"]
        ]
        with training(hooks[0], "stopping", hooks[1]) as session:
            session.run("train")
        assert seen == [False, True]

    def test_it_is_the_name_of_the_hook(self, install: Install) -> None:
        install(
            "tenterhooks-stopping",
            {"stopping": "fake_stopping:Stopping"},
            fake_stopping="""
import tenterhooks as th

class Stopping(th.SessionRunHook):
    def after_create_session(self, session, coord):
        session.request_stop()
""",
        )
        with training("stopping") as session:
            assert [request.hook for request in session.stop] == ["stopping"]

    def test_it_is_the_name_of_an_object_of_its_class_too(self, install: Install) -> None:
        install_guard(install)
        hook = type(th.make_hook("guard"))(strict=True)
        session = training(hook)
        with pytest.raises(ValueError, match="too strict") as caught:
            session.run("train")
        session.close()
        assert "hook 'guard' (tenterhooks-guard 2.5)" in caught.value.__notes__[0]

    def test_it_is_the_name_of_what_a_factory_makes(self, install: Install) -> None:
        install(
            "tenterhooks-guard",
            {"strict-guard": "fake_guard:strict", "guard": "fake_guard:GuardHook"},
            version="2.5",
            fake_guard=HOOK + "\n\ndef strict(limit=1.0):\n    return GuardHook(limit, strict=True)\n",
        )
        session = training("strict-guard")
        with pytest.raises(ValueError, match="too strict") as caught:
            session.run("train")
        session.close()
        assert "hook 'strict-guard' (tenterhooks-guard 2.5)" in caught.value.__notes__[0]

    def test_the_hooks_own_name_goes_before_it(self, install: Install) -> None:
        install_guard(install)
        hook = th.make_hook("guard", strict=True)
        hook.name = "mine"
        session = training(hook)
        with pytest.raises(ValueError, match="too strict") as caught:
            session.run("train")
        session.close()
        assert "hook 'mine' (tenterhooks-guard 2.5)" in caught.value.__notes__[0]

    def test_it_is_not_the_name_of_a_class_that_is_only_named_alike(self, install: Install) -> None:
        install_guard(install)

        class GuardHook(Recorder):
            pass

        GuardHook.__qualname__, GuardHook.__module__ = "GuardHook", "another_guard"
        assert plugins.plugin_of(GuardHook("")) is None

    def test_a_class_in_another_module_of_its_package_is_known(self, install: Install) -> None:
        class GuardHook(Recorder):
            pass

        install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"})
        GuardHook.__qualname__, GuardHook.__module__ = "GuardHook", "fake_guard.inner"
        plugin = plugins.plugin_of(GuardHook(""))
        assert plugin is not None
        assert plugin.name == "guard"

    def test_two_by_one_name_are_told_apart_by_a_number(
        self, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        install_guard(install)
        training("guard", "guard").close()
        assert "several hooks are named 'guard'; this one is called 'guard-2'" in caplog.text


class TestMissing:
    def test_one_is_an_error_with_the_line_that_brings_it(self) -> None:
        with pytest.raises(th.PluginError, match=r"no plugin named 'gurd' is installed.*pip install tenterhooks-gurd$"):
            training("gurd")

    def test_what_is_installed_and_offers_no_hook_is_not_to_be_installed(self, install: Install) -> None:
        install("tenterhooks-kit", {})
        with pytest.raises(
            th.PluginError,
            match=r"no plugin named 'kit' is installed.*; tenterhooks-kit is installed, and offers none",
        ):
            training("kit")

    def test_of_what_is_misspelt_most_likely_nothing_is_to_be_installed(self, install: Install) -> None:
        install_guard(install)
        with pytest.raises(th.PluginError, match=r"no plugin named 'gurd' is installed; the nearest: 'guard'$"):
            training("gurd")

    @pytest.mark.parametrize("name", ["", "a b", "x; y"])
    def test_nor_is_what_can_be_no_name(self, name: str) -> None:
        with pytest.raises(th.PluginError, match=f"no plugin named '{name}' is installed") as caught:
            training(name)
        assert "pip install" not in str(caught.value)

    def test_the_nearest_names_are_listed(self, install: Install) -> None:
        install_guard(install)
        with pytest.raises(th.PluginError, match=r"no plugin named 'gaurd' is installed; the nearest: 'guard'"):
            th.make_hook("gaurd")

    def test_it_is_found_before_any_hook_has_begun(self) -> None:
        hook = Recorder("a")
        with pytest.raises(th.PluginError):
            training(hook, "gurd")
        assert hook.calls == []


class TestClaimedTwice:
    def test_it_is_an_error_that_names_both_when_the_name_is_used(self, install: Install) -> None:
        install_guard(install)
        install("guards-of-others", {"guard": "other_guard:GuardHook"}, version="0.1", other_guard=HOOK)
        message = (
            r"the name 'guard' is claimed by guards-of-others 0\.1 and tenterhooks-guard 2\.5: uninstall all but one"
        )
        with pytest.raises(th.PluginError, match=message):
            training("guard")

    def test_they_are_named_in_order_wherever_they_lie(self, install: Install) -> None:
        install("guards-of-others", {"guard": "fake_guard:GuardHook"}, fake_guard=HOOK)
        install_guard(install)
        with pytest.raises(th.PluginError, match=r"claimed by guards-of-others 1\.0 and tenterhooks-guard 2\.5"):
            training("guard")

    def test_neither_is_imported(self, install: Install) -> None:
        install_guard(install)
        install("guards-of-others", {"guard": "other_guard:GuardHook"}, other_guard=HOOK)
        with pytest.raises(th.PluginError):
            th.make_hook("guard")
        assert {"fake_guard", "other_guard"}.isdisjoint(sys.modules)

    def test_it_does_no_harm_where_the_name_is_not_used(self, install: Install) -> None:
        install_guard(install)
        install(
            "guards-of-others", {"guard": "other_guard:GuardHook", "free": "other_guard:GuardHook"}, other_guard=HOOK
        )
        with training("free") as session:
            assert session.run("w") == 0.0

    def test_one_distribution_that_is_found_twice_on_the_path_counts_once(self, install: Install) -> None:
        install_guard(install)
        install_guard(install)
        assert plugins.find("guard").version == "2.5"

    def test_one_entry_that_stands_twice_in_the_metadata_counts_once(self, install: Install) -> None:
        twice = "fake_guard:GuardHook\nguard = fake_guard:GuardHook"
        install("tenterhooks-guard", {"guard": twice}, version="2.5", fake_guard=HOOK)
        assert plugins.find("guard").target == "fake_guard:GuardHook"


class TestBroken:
    def test_it_is_an_error_that_names_the_distribution_with_the_cause_chained(self, install: Install) -> None:
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, version="3.1", fake_broken=BROKEN)
        message = (
            r"plugin 'broken' \(tenterhooks-broken 3\.1\) cannot be imported from 'fake_broken:Hook': ModuleNotFound"
        )
        with pytest.raises(th.PluginError, match=message) as caught:
            training("broken")
        assert isinstance(caught.value.__cause__, ModuleNotFoundError)

    def test_it_says_what_to_do(self, install: Install) -> None:
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, fake_broken=BROKEN)
        with pytest.raises(
            th.PluginError, match=r"reinstall or remove it \(pip install --force-reinstall tenterhooks-br"
        ):
            th.make_hook("broken")

    def test_a_module_that_ends_the_program_is_the_same(self, install: Install) -> None:
        leaving = "raise SystemExit('a licence is missing')\n"
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, version="3.1", fake_broken=leaving)
        message = r"plugin 'broken' \(tenterhooks-broken 3\.1\) cannot be imported .* SystemExit: a licence is missing"
        with pytest.raises(th.PluginError, match=message) as caught:
            th.make_hook("broken")
        assert isinstance(caught.value.__cause__, SystemExit)

    def test_an_interrupt_of_an_import_passes(self, install: Install) -> None:
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, fake_broken="raise KeyboardInterrupt\n")
        with pytest.raises(KeyboardInterrupt):
            th.make_hook("broken")

    def test_an_attribute_that_is_not_there_is_the_same(self, install: Install) -> None:
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, fake_broken="x = 1\n")
        with pytest.raises(th.PluginError, match="cannot be imported") as caught:
            th.make_hook("broken")
        assert isinstance(caught.value.__cause__, AttributeError)

    def test_it_does_no_harm_where_it_is_not_named(self, install: Install) -> None:
        install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, fake_broken=BROKEN)
        install_guard(install)
        with training("guard") as session:
            assert session.run("w") == 0.0
        assert "fake_broken" not in sys.modules


class TestMade:
    def test_how_a_hook_was_made_is_known(self, install: Install) -> None:
        install_guard(install)
        hook = th.make_hook("guard", limit=[1.0, object()], strict=True)
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
        assert plugins.made(hook) == (
            plugins.find("guard"),
            {"limit": [1.0, "<object>"], "strict": True},
            f"{__file__}:{line}",
        )
        assert plugins.made(object()) is None

    def test_a_hook_that_its_own_option_refers_to_can_be_dropped(self, install: Install) -> None:
        install_guard(install)
        options: list[Any] = []
        hook = th.make_hook("guard", limit=options.append)
        options.append(hook)
        watched = weakref.ref(hook)
        del hook, options
        gc.collect()
        assert watched() is None


class TestOptions:
    def test_they_are_those_of_the_constructor(self, install: Install) -> None:
        install_guard(install)
        hook = th.make_hook("guard", limit=3.0, strict=True)
        assert (hook.limit, hook.strict) == (3.0, True)

    def test_an_unknown_one_is_an_error_with_the_nearest(self, install: Install) -> None:
        install_guard(install)
        message = r"hook 'guard' \(tenterhooks-guard 2\.5\) has no option 'limt'; the nearest: 'limit'"
        with pytest.raises(th.PluginError, match=message):
            th.make_hook("guard", limt=3.0)

    def test_missing_ones_are_an_error_that_shows_all_of_them(self, install: Install) -> None:
        install("tenterhooks-needy", {"needy": "fake_needy:NeedyHook"}, fake_needy=NEEDY)
        message = r"needs the options path, every: make_hook\('needy', path=\.\.\., every=\.\.\.\)"
        with pytest.raises(th.PluginError, match=message):
            training("needy")

    def test_none_is_missing_that_was_given(self, install: Install) -> None:
        install("tenterhooks-needy", {"needy": "fake_needy:NeedyHook"}, fake_needy=NEEDY)
        assert th.make_hook("needy", path="p", every=2).every == 2

    def test_a_factory_that_takes_any_gets_all(self, install: Install) -> None:
        source = NEEDY + "\n\ndef make(**options):\n    return NeedyHook(options.pop('path'), **options)\n"
        install("tenterhooks-needy", {"needy": "fake_needy:make"}, fake_needy=source)
        assert th.make_hook("needy", path="p", every=5).every == 5

    def test_an_error_of_the_constructor_names_the_plugin_and_its_options(self, install: Install) -> None:
        source = "def make(limit):\n    raise ValueError(f'{limit} is too much')\n"
        install("tenterhooks-guard", {"guard": "fake_guard:make"}, fake_guard=source)
        with pytest.raises(ValueError, match="3 is too much") as caught:
            th.make_hook("guard", limit=3)
        assert caught.value.__notes__ == ["while making hook 'guard' (tenterhooks-guard 1.0) with {'limit': 3}"]

    def test_what_a_factory_makes_has_to_be_a_hook(self, install: Install) -> None:
        install("tenterhooks-odd", {"odd": "fake_odd:dict"}, fake_odd="dict = lambda: {}\n")
        with pytest.raises(th.HookError, match="implements no stage"):
            training("odd")


class TestUnused:
    def test_what_is_installed_is_not_active(self, install: Install) -> None:
        install_guard(install)
        with training() as session:
            session.run("train")
        assert "fake_guard" not in sys.modules

    def test_it_is_said_once_what_is_installed_and_not_used(
        self, install: Install, caplog: pytest.LogCaptureFixture
    ) -> None:
        install("tenterhooks-idle", {"idle-one": "fake_idle:Hook"})
        with caplog.at_level(logging.INFO, "tenterhooks"):
            training().close()
            training().close()
        assert caplog.text.count("idle-one") == 1
        assert "installed and not used here" in caplog.text

    def test_what_is_used_is_not_said(self, install: Install, caplog: pytest.LogCaptureFixture) -> None:
        install_guard(install)
        install("tenterhooks-idle", {"idle-two": "fake_idle:Hook"})
        with caplog.at_level(logging.INFO, "tenterhooks"):
            training("guard").close()
        (message,) = [message for message in caplog.messages if "not used here" in message]
        names = message.split(": ")[1].split(", ")
        assert "idle-two" in names
        assert "guard" not in names


class TestDefaults:
    def test_one_is_the_entry_point_of_that_name(self, install: Install) -> None:
        install(
            "some-parts",
            {"default": "fake_parts:part", "other": "fake_parts:x"},
            group="a.group",
            fake_parts="part = 7\n",
        )
        assert plugins.load_default("a.group", distribution="some-parts", purpose="to count") == 7

    def test_none_is_an_error_with_the_line_that_brings_it(self) -> None:
        message = r"nothing is installed to count \(group a\.group\): pip install some-parts"
        with pytest.raises(th.PluginError, match=message):
            plugins.load_default("a.group", distribution="some-parts", purpose="to count")

    def test_two_are_an_error_that_names_both(self, install: Install) -> None:
        for distribution in ["some-parts", "more-parts"]:
            install(distribution, {"default": "fake_parts:part"}, group="a.group")
        with pytest.raises(th.PluginError, match=r"claimed by more-parts 1\.0 and some-parts 1\.0"):
            plugins.load_default("a.group", distribution="some-parts", purpose="to count")


def test_a_hook_that_cannot_be_referred_to_weakly_may_be_made_too(install: Install) -> None:
    source = """
import tenterhooks as th

class Slotted:
    __slots__ = ()

    @th.hookimpl
    def end(self): ...
"""
    install("tenterhooks-slotted", {"slotted": "fake_slotted:Slotted"}, fake_slotted=source)
    with training("slotted") as session:
        assert session.run("w") == 0.0


def test_an_error_of_a_hook_of_no_plugin_names_its_class(install: Install) -> None:
    install_guard(install)
    hook: Any = SimpleNamespace(end=th.hookimpl(raising(ValueError("no end"))))
    with pytest.raises(ValueError, match="no end") as caught, th.MonitoredSession(graph=counting_graph(), hooks=[hook]):
        pass
    assert "hook 'SimpleNamespace' (types.SimpleNamespace)" in caught.value.__notes__[0]


def test_metadata_that_an_uninstallation_left_half_done_stops_no_session(
    install: Install, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install_guard(install)
    (metadata,) = tmp_path.rglob("tenterhooks_guard-2.5.dist-info/METADATA")
    metadata.unlink()
    plugins.refresh()
    with training(Recorder("a")) as session:
        session.run("train")
        assert "the metadata of the plugin" not in caplog.text
        (row,) = [row for row in session.hooks_report if row.name == "guard"]
    assert (row.distribution, row.version) == ("an unknown distribution", "of unknown version")
    assert "the metadata of the plugin 'guard' cannot be read" in caplog.text
