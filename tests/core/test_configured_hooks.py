"""How a hook is made with options that are given outside of code."""

import pytest

import tenterhooks as th
from tenterhooks.configuration import Named, Setting
from tenterhooks.configured_hooks import make_configured, options_named, plugin_named
from tenterhooks.plugins import find
from tenterhooks.testing import FakeDistributions as Install

from .configured import Project, training_session


class TestPluginNamed:
    @pytest.mark.parametrize("name", ["step-counter", "step_counter", "STEP_COUNTER"])
    def test_it_may_be_written_in_several_ways(self, project: Project, name: str) -> None:
        assert plugin_named(Named(name, "there")).name == "step-counter"

    def test_one_of_two_that_are_written_alike_is_named_as_it_is(self, project: Project, install: Install) -> None:
        install("two", {"a-b": "fake_hooks:Guard", "a_b": "fake_hooks:Needy"})
        assert plugin_named(Named("a_b", "there")).target == "fake_hooks:Needy"

    def test_one_that_is_claimed_twice_is_an_error(self, project: Project, install: Install) -> None:
        install("others", {"guard": "fake_hooks:Guard"})
        message = r"^there: the name 'guard' is claimed by others 1\.0 and tenterhooks-guard 1\.5: uninstall"
        with pytest.raises(th.ConfigurationError, match=message):
            plugin_named(Named("GUARD", "there"))


class TestMade:
    def make(
        self, *settings: Setting, where: str | None = "there", **given: object
    ) -> tuple[object, object, list[str]]:
        return make_configured(find("guard"), given, ["steps"], settings, where)

    def test_all_that_it_was_given_and_where_that_stands_is_told(self, project: Project) -> None:
        hook, options, notes = self.make(
            Setting("guard", "strict", "true", True, "X"),
            Setting("guard", "strict", False, False, "Y"),
            Setting("guard", "limit", 3, False, "Z"),
            Setting("guard", "mode", "min", True, "V"),
            Setting("guard", "steps", 3, False, "W"),
            mode="max",
        )
        assert type(hook).__name__ == "Guard"
        assert options == {"strict": False, "limit": 3.0, "mode": "max"}
        assert notes == [
            "mode of V has no effect, since code decides it",
            "steps of W has no effect, since code decides it",
            "strict by Y",
            "limit by Z",
        ]

    def test_what_code_decides_is_checked_too(self, project: Project) -> None:
        with pytest.raises(th.ConfigurationError, match=r"^Y: option 'mode' of hook 'guard'"):
            self.make(Setting("guard", "mode", "middle", True, "Y"), mode="max")

    def test_what_code_alone_has_said_is_blamed_on_nobody_else(self, project: Project) -> None:
        with pytest.raises(ValueError, match="limit is 0 or more") as caught:
            self.make(where=None, limit=-1.0)
        assert not isinstance(caught.value, th.ConfigurationError)


def test_a_plugin_that_cannot_be_imported_keeps_its_cause(project: Project, install: Install) -> None:
    install("tenterhooks-lost", {"lost": "no_such_module:Hook"})
    project.environment({"HOOKS": "lost"})
    message = (
        r"^environment TENTERHOOKS_HOOKS: plugin 'lost' .* cannot be imported from 'no_such_module:Hook': ModuleNot"
    )
    with pytest.raises(th.ConfigurationError, match=message) as caught:
        training_session()
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_the_options_of_a_plugin_are_those_of_what_it_points_to(project: Project) -> None:
    assert [option.name for option in options_named(find("guard"), "there")][:2] == ["limit", "steps"]


def test_a_plugin_that_makes_no_hook(project: Project, install: Install) -> None:
    install("tenterhooks-number", {"number": "fake_number:seven"}, fake_number="seven = 7")
    project.environment({"HOOKS": "number"})
    message = r"^environment TENTERHOOKS_HOOKS: hook 'number' \(tenterhooks-number .*\) is 7, which cannot be called"
    with pytest.raises(th.ConfigurationError, match=message):
        training_session()


def test_two_plugins_that_are_written_alike(project: Project, install: Install) -> None:
    install("two", {"a-b": "fake_hooks:Guard", "a_b": "fake_hooks:Guard"})
    project.environment({"HOOKS": "A-B"})
    message = "^environment TENTERHOOKS_HOOKS: by 'A-B' 'a-b' or 'a_b' may be meant: write it as it is$"
    with pytest.raises(th.ConfigurationError, match=message):
        training_session()


def test_a_hook_that_code_names_blames_those_who_gave_the_options(project: Project) -> None:
    project.file("[guard]\nlimit = -1")
    with pytest.raises(
        th.ConfigurationError, match=r"^tenterhooks\.toml:2: hook 'guard' .* cannot be made with limit=-1"
    ):
        training_session(hooks=["guard"])
