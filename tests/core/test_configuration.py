"""What is said of hooks outside of code, as it is read from the environment and the command line."""

import pytest

import tenterhooks as th
from tenterhooks.configuration import (
    CommandLine,
    Named,
    Setting,
    read_configuration,
    stray_variables,
    use_command_line,
)

from .configured import Project


class TestEnvironment:
    def test_hooks_are_named_with_commas_between(self, project: Project) -> None:
        project.environment({"HOOKS": " guard, stop-at-step ,"})
        where = "environment TENTERHOOKS_HOOKS"
        assert read_configuration().hooks == (Named("guard", where), Named("stop-at-step", where))

    def test_hooks_are_switched_off_in_the_same_way(self, project: Project) -> None:
        project.environment({"DISABLE": "guard,MyHook-2"})
        where = "environment TENTERHOOKS_DISABLE"
        assert read_configuration().disabled == (Named("guard", where), Named("MyHook-2", where))

    def test_an_option_has_two_underscores_between_hook_and_name(self, project: Project) -> None:
        project.environment({"STOP_AT_STEP__LAST_STEP": "5", "guard__a__b": ""})
        assert read_configuration().settings == (
            Setting("stop-at-step", "last_step", "5", True, "environment TENTERHOOKS_STOP_AT_STEP__LAST_STEP"),
            Setting("guard", "a__b", "", True, "environment TENTERHOOKS_guard__a__b"),
        )

    @pytest.mark.parametrize("name", ["FUZZ", "LOG_LEVEL", "__X", "X__"])
    def test_variables_of_others_are_left_alone(self, project: Project, name: str) -> None:
        project.environment({name: "1"})
        assert read_configuration().settings == ()

    @pytest.mark.parametrize(("name", "meant"), [("HOOK", "HOOKS"), ("DISABLED", "DISABLE")])
    def test_one_that_is_almost_named_as_one_of_this_package_is_an_error(
        self, project: Project, name: str, meant: str
    ) -> None:
        project.environment({name: "guard"})
        with pytest.raises(th.ConfigurationError) as caught:
            read_configuration()
        assert str(caught.value) == (
            f"environment TENTERHOOKS_{name}: there is no such variable; the nearest: 'TENTERHOOKS_{meant}'; "
            "options are given as TENTERHOOKS_<HOOK>__<OPTION>"
        )

    def test_those_that_may_be_meant_otherwise_can_be_listed(self, project: Project) -> None:
        project.environment({"HOOKS": "", "GUARD_LIMIT": "1", "GUARD__LIMIT": "1", "FUZZ": "1"})
        assert [name for name in stray_variables() if name[12:] in ("FUZZ", "GUARD_LIMIT")] == [
            "TENTERHOOKS_FUZZ",
            "TENTERHOOKS_GUARD_LIMIT",
        ]
        assert not [name for name in stray_variables() if "__" in name or name.endswith("HOOKS")]


class TestCommandLine:
    LINE = CommandLine([("guard", {"limit": "1"}), ("other", {})], {"guard": {"strict": "true"}}, ["nan"])

    def test_it_holds_within_the_block(self, project: Project) -> None:
        with use_command_line(self.LINE):
            inside = read_configuration()
        assert inside.hooks == (
            Named("guard", "command line --hook guard"),
            Named("other", "command line --hook other"),
        )
        assert inside.settings == (
            Setting("guard", "limit", "1", True, "command line --hook guard:limit=1"),
            Setting("guard", "strict", "true", True, "command line --set guard.strict=true"),
        )
        assert inside.disabled == (Named("nan", "command line --no-hook nan"),)
        assert read_configuration() == type(inside)()

    def test_it_is_undone_by_an_error(self, project: Project) -> None:
        with pytest.raises(KeyError), use_command_line(self.LINE):
            raise KeyError
        assert read_configuration().hooks == ()

    def test_the_innermost_one_holds(self, project: Project) -> None:
        with use_command_line(self.LINE):
            with use_command_line(CommandLine()):
                assert read_configuration().hooks == ()
            assert len(read_configuration().hooks) == 2


def test_the_file_comes_first_and_the_command_line_last(project: Project) -> None:
    project.file('hooks = ["a"]\ndisable = ["x"]\n[guard]\nlimit = 1')
    project.environment({"HOOKS": "b", "DISABLE": "y", "GUARD__LIMIT": "2"})
    with use_command_line(CommandLine([("c", {})], {"guard": {"limit": "3"}}, ["z"])):
        found = read_configuration()
    assert [named.name for named in found.hooks] == ["a", "b", "c"]
    assert [named.name for named in found.disabled] == ["x", "y", "z"]
    assert [setting.value for setting in found.settings] == [1, "2", "3"]


def test_names_are_compared_without_regard_to_dashes_and_capitals(project: Project) -> None:
    project.file('disable = ["Stop_At_Step"]\n[stop_at_step]\nlast_step = 3')
    found = read_configuration()
    assert found.off("another", "stop-at-step") == "tenterhooks.toml:1"
    assert found.off("stop-at-steps") is None
    assert [setting.value for setting in found.settings_of("stop-at-step")] == [3]
    assert found.settings_of("stop") == ()
