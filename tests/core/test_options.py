"""What a plugin's options are, as its constructor says, and what may be given for them outside of code."""

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import tenterhooks as th
from tenterhooks.options import REQUIRED, Option, converted, option_named, options_of, parsed

if TYPE_CHECKING:
    from decimal import Decimal


class Hook(th.SessionRunHook):
    """Does something.

    Args:
        every: The period
            in steps.
        path: Where to.
    """

    def __init__(
        self,
        every: int,
        *,
        path: "str | Path | None" = None,
        mode: Literal["min", "max"] = "min",
        money: "Decimal | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None: ...


def untyped(bare=1):  # type: ignore[no-untyped-def]
    return Hook(bare)


OPTIONS = {option.name: option for of in (Hook, untyped) for option in options_of(of)}


class TestWhatTheyAre:
    def test_they_are_the_constructors_parameters_in_order(self) -> None:
        assert list(OPTIONS) == ["every", "path", "mode", "money", "clock", "bare"]

    def test_each_has_its_type_default_and_help(self) -> None:
        assert OPTIONS["every"] == Option("every", int, REQUIRED, "The period in steps.")
        assert OPTIONS["mode"] == Option("mode", Literal["min", "max"], "min", "")

    def test_a_type_that_is_written_as_a_string_is_resolved(self) -> None:
        assert OPTIONS["path"].annotation == str | Path | None

    def test_one_that_cannot_be_resolved_stays_a_string(self) -> None:
        assert OPTIONS["money"].annotation == "Decimal | None"

    def test_the_type_reads_as_one_would_write_it(self) -> None:
        assert [OPTIONS[name].type for name in ("path", "mode", "clock", "bare")] == [
            "str | Path | None",
            "Literal['min', 'max']",
            "Callable[[], float]",
            "",
        ]

    def test_what_is_allowed_reads_well(self) -> None:
        assert {name: option.allowed for name, option in OPTIONS.items()} == {
            "every": "int",
            "path": "str or a path or none",
            "mode": '"min" or "max"',
            "money": None,
            "clock": None,
            "bare": None,
        }

    def test_those_of_a_function_are_its_parameters(self) -> None:
        def make(limit: float, *more: int, **others: int) -> Hook:
            """Make it.

            Args:
                limit: The most.
                more: Not an option.
                others: Not an option.
            """
            return Hook(1)

        assert options_of(make) == (Option("limit", float, REQUIRED, "The most."),)

    def test_those_of_a_partial_function_are_resolved_too(self) -> None:
        assert options_of(functools.partial(Hook, 3))[0].annotation == str | Path | None

    def test_those_of_a_dataclass_are_its_fields(self) -> None:
        @dataclass
        class Made:
            limit: "float" = 1.0

        assert options_of(Made) == (Option("limit", float, 1.0, ""),)

    def test_what_c_code_does_not_tell_are_none(self) -> None:
        assert options_of(dict) == ()

    def test_what_cannot_be_called_has_none(self) -> None:
        with pytest.raises(th.PluginError, match=r"^hook 'seven' is 7, which cannot be called: an entry point names a"):
            options_of(7, "hook 'seven'")  # type: ignore[arg-type]

    def test_those_of_what_is_installed_are_resolved(self) -> None:
        options = [option for plugin in th.plugins.installed() for option in options_of(plugin.load())]
        assert [option.name for option in options if isinstance(option.annotation, str)] == []


class TestNames:
    @pytest.mark.parametrize("name", ["last_step", "last-step", "LAST_STEP"])
    def test_one_may_be_written_with_dashes_and_in_capitals(self, name: str) -> None:
        option = Option("last_step", int, 1, "")
        assert option_named([option], name, "there", "hook 'x'") is option

    def test_an_unknown_one_is_an_error_with_the_nearest(self) -> None:
        with pytest.raises(th.ConfigurationError) as caught:
            option_named(options_of(Hook), "EVRY", "environment X", "hook 'x'")
        assert str(caught.value) == "environment X: hook 'x' has no option 'EVRY'; the nearest: 'every'"
        assert caught.value.where == "environment X"

    def test_one_of_two_that_are_written_alike_is_named_as_it_is(self) -> None:
        both = [Option("a_b", int, 1, ""), Option("A_b", int, 1, "")]
        assert option_named(both, "A_b", "there", "hook 'x'") is both[1]
        with pytest.raises(th.ConfigurationError, match="there: by 'A-B' hook 'x' may mean 'a_b' or 'A_b': write it"):
            option_named(both, "A-B", "there", "hook 'x'")


class TestCodeOnly:
    @pytest.mark.parametrize("convert", [converted, parsed])
    @pytest.mark.parametrize(("name", "why"), [("clock", r"Callable\[\[\], float\]"), ("money", r"Decimal \| None")])
    def test_a_type_that_cannot_come_from_outside_is_refused(
        self, convert: Callable[..., Any], name: str, why: str
    ) -> None:
        message = f"there: option '{name}' of hook 'x' can be given in code only, since its type is {why}$"
        with pytest.raises(th.ConfigurationError, match=message):
            convert(OPTIONS[name], "time.time", "there", "hook 'x'")

    def test_an_option_without_a_type_is_refused(self) -> None:
        with pytest.raises(th.ConfigurationError, match="can be given in code only, since it has no type"):
            converted(OPTIONS["bare"], 1, "there")


def test_a_wrong_value_is_an_error_that_says_where_whose_what_is_allowed_and_the_nearest() -> None:
    with pytest.raises(th.ConfigurationError) as caught:
        converted(OPTIONS["mode"], "mix", "a.toml:3", "hook 'x' (tenterhooks-x 1.0)")
    assert str(caught.value) == (
        'a.toml:3: option \'mode\' of hook \'x\' (tenterhooks-x 1.0) is "min" or "max", not "mix" (str); '
        "the nearest: 'min', 'max'"
    )


def test_the_default_of_an_option_that_has_none_says_so() -> None:
    assert repr(REQUIRED) == "required"
    assert OPTIONS["every"].default is not inspect.Parameter.empty
