"""What the flags that name hooks say, and what is wrong with them."""

import argparse
import re

import pytest

from tenterhooks import ConfigurationError
from tenterhooks.cli.hook_flags import add_hook_flags, command_line, hook_flag, set_flag
from tenterhooks.cli.output import UsageError
from tenterhooks.configuration import CommandLine
from tenterhooks.testing import FakeDistributions as Install

from .commands import GUARD


@pytest.fixture
def guard(install: Install) -> Install:
    """Has a hook `guard`."""
    install("tenterhooks-guard", {"guard": "fake_guard:GuardHook"}, version="2.5", fake_guard=GUARD)
    return install


def said(*flags: str) -> CommandLine:
    parser = argparse.ArgumentParser()
    add_hook_flags(parser)
    return command_line(parser.parse_args(flags))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nan", ("nan", {})),
        ("nan:limit=1", ("nan", {"limit": "1"})),
        ("nan:limit=1,strict=true", ("nan", {"limit": "1", "strict": "true"})),
        ("nan:names=a,b,limit=1", ("nan", {"names": "a,b", "limit": "1"})),
        ('nan:names=["a","b"]', ("nan", {"names": '["a","b"]'})),
        ("nan:path=C:\\runs", ("nan", {"path": "C:\\runs"})),
        ("nan:name=", ("nan", {"name": ""})),
        ("nan:text=a=b", ("nan", {"text": "a=b"})),
        (" nan : limit=1, strict=true", ("nan", {"limit": "1", "strict": "true"})),
    ],
)
def test_a_hook_comes_with_its_options(text: str, wanted: object) -> None:
    assert hook_flag(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nan.limit=1", ("nan", "limit", "1")),
        ("nan.text=a=b,c=d", ("nan", "text", "a=b,c=d")),
        ("nan.text=", ("nan", "text", "")),
        ("nan.part.inner=1", ("nan", "part.inner", "1")),
    ],
)
def test_one_option_is_set_with_a_value_that_may_hold_anything(text: str, wanted: object) -> None:
    assert set_flag(text) == wanted


def test_all_flags_together_are_the_command_line(guard: Install) -> None:
    line = said("--hook", "guard:limit=2,names=a,b", "--set", "guard.strict=true", "--no-hook", "nan", "--no-hook", "x")
    assert line == CommandLine(
        hooks=[("guard", {"limit": "2", "names": "a,b"})], options={"guard": {"strict": "true"}}, disabled=["nan", "x"]
    )


def test_names_may_be_written_as_elsewhere_outside_of_code(guard: Install) -> None:
    assert said("--hook", "Guard:STRICT=true").hooks == [("Guard", {"STRICT": "true"})]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--hook", ":limit=1"), "--hook :limit=1: the name of a hook is missing; write NAME or NAME:OPTION=VALUE,..."),
        (("--hook", "guard:limit"), "--hook guard:limit: 'limit' is no option with a value; write NAME or "),
        (("--hook", "guard:"), "--hook guard:: '' is no option with a value; write NAME or "),
        (("--hook", "guard:limit=1,limit=2"), "--hook guard:limit=1,limit=2: the option 'limit' is given twice"),
        (("--hook", "guard", "--hook", "guard"), "--hook guard is given twice: give all its options at once"),
        (("--hook", "guard", "--no-hook", "guard"), "--hook guard and --no-hook guard: give one of the two"),
        (("--hook", "guard", "--hook", "Guard"), "--hook guard is given twice: give all its options at once"),
        (("--hook", "guard", "--no-hook", "GUARD"), "--hook guard and --no-hook GUARD: give one of the two"),
        (("--set", "guard"), "--set guard: write HOOK.OPTION=VALUE, as in "),
        (("--set", "guard.=1"), "--set guard.=1: write HOOK.OPTION=VALUE, as in "),
        (("--set", "limit=1"), "--set limit=1: write HOOK.OPTION=VALUE, as in "),
    ],
)
def test_a_flag_of_another_form_is_wrong_usage(flags: tuple[str, ...], message: str, guard: Install) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        said(*flags)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--hook", "guardd"), r"--hook guardd: no plugin named 'guardd' is installed; the nearest: 'guard'"),
        (("--set", "guardd.limit=1"), r"--set guardd: no plugin named 'guardd' is installed; the nearest: 'guard'"),
        (("--hook", "guard:limt=1"), r"--hook guard:limt=1: .*has no option 'limt'; the nearest: 'limit'"),
        (("--set", "guard.limt=1"), r"--set guard.limt=1: .*has no option 'limt'; the nearest: 'limit'"),
        (
            ("--hook", "guard:strict=yess"),
            r"--hook guard:strict=yess: option 'strict' of .*is true or false, not \"yess\"",
        ),
        (("--hook", "guard:limit=much"), r"--hook guard:limit=much: option 'limit' of .*is float, not \"much\""),
        (("--set", "guard.inspect=min"), r"--set guard.inspect=min: .* can be given in code only"),
    ],
)
def test_what_a_hook_does_not_take_names_the_flag(flags: tuple[str, ...], message: str, guard: Install) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        said(*flags)
    assert caught.value.where.startswith(flags[0])
