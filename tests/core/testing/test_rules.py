"""The rules on how a hook is made, what it implements, prints and imports, with hooks that keep and that break them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, FakeDistributions, NotCheckedError, Subject
from tenterhooks.testing.sessions import Loop

from .hooks import VALUES, Runs, WatchLoss

both = pytest.mark.parametrize("loop", ["graph", "own"])

builds = RULES["builds"]
refuses_unknown_options = RULES["refuses unknown options"]
has_known_arguments = RULES["stages have known arguments"]
prints_nothing = RULES["prints nothing"]
imports_nothing_heavy = RULES["imports nothing heavy"]
imports_without_effects = RULES["imports without side effects"]


@pytest.mark.parametrize("rule", ["builds", "refuses unknown options", "stages have known arguments", "prints nothing"])
def test_a_good_hook_keeps_the_rule(rule: str, tmp_path: Path) -> None:
    assert RULES[rule](Subject(factory=WatchLoss, options={"patience": 1}, values=VALUES), tmp_path) is None


# Builds


class Needs(th.SessionRunHook):
    def __init__(self, *, tensor: str) -> None:
        if not tensor:
            raise ValueError("tensor is a name")

    def begin(self, graph: th.Graph) -> None: ...


@pytest.mark.parametrize(
    ("factory", "options", "told"),
    [
        (Needs, {}, "TypeError: .*missing 1 required keyword-only argument: 'tensor': give options with which it can"),
        (Needs, {"tensor": ""}, "Needs cannot be made with the options {'tensor': ''}; ValueError: tensor is a name"),
        (lambda: None, {}, "makes None, which is no hook"),
        (lambda: WatchLoss, {}, "makes <class .*WatchLoss'>, which is no hook: return an object"),
    ],
)
def test_what_makes_no_hook_does_not_build(
    factory: Callable[..., object], options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match=told):
        builds(Subject(factory=factory, options=options), tmp_path)


# Options


class TakesAll(Runs):
    def __init__(self, **options: Any) -> None:
        self.options = options


class RefusesNameless(Runs):
    def __init__(self, **options: Any) -> None:
        if options:
            raise TypeError("wrong options")


class RefusesByName(Runs):
    def __init__(self, **options: Any) -> None:
        if options.keys() - {"known"}:
            raise TypeError(f"there is known, and no {sorted(options.keys() - {'known'})}")


@pytest.mark.parametrize(
    ("factory", "told"),
    [(TakesAll, "takes the option 'an_option_.*' in its .* and says nothing"), (RefusesNameless, "does not name it")],
)
def test_an_unknown_option_that_is_not_refused_is_told(factory: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=told):
        refuses_unknown_options(Subject(factory=factory), tmp_path)


def test_an_unknown_option_may_be_refused_by_hand(tmp_path: Path) -> None:
    assert refuses_unknown_options(Subject(factory=RefusesByName, options={"known": 1}), tmp_path) is None


# Arguments


class OtherArguments(th.SessionRunHook):
    def end(self, sess: th.Session) -> None: ...


class NoStage(th.SessionRunHook):
    pass


class Misspelt(Runs):
    @th.hookimpl
    def after_runs(self) -> None: ...


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (OtherArguments, r"end\(sess: tenterhooks.session.Session\): rename sess; it is called with session"),
        (NoStage, "implements no stage"),
        (Misspelt, "implements 'after_runs', which no hook of this session specifies; the nearest: 'after_run'"),
    ],
)
def test_stages_that_are_not_as_specified_are_told(factory: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=told):
        has_known_arguments(Subject(factory=factory), tmp_path)


# Output


class PrintsInARun(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        print("run", self.runs)


class PrintsFromBelow(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        os.write(1, b"from below")


class PrintsWhenMade(Runs):
    def __init__(self) -> None:
        print("made")


class PrintsErrors(Runs):
    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        print("it failed")


@both
@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (PrintsInARun, r"'run 1\\n"),
        (PrintsFromBelow, "'from below"),
        (PrintsWhenMade, r"'made\\n'"),
        (PrintsErrors, r"'it failed\\n'"),
    ],
)
def test_what_is_printed_is_told(hook: Any, told: str, loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"it writes to the standard output: {told}.*; log it"):
        prints_nothing(Subject(factory=hook, loops=(loop,)), tmp_path)


# Imports


def imported(source: str, folder: Path, rule: str, **attributes: Any) -> str | None:
    with FakeDistributions(folder) as install:
        install("some-hooks", {}, some_hooks=source)
        subject = Subject(factory=Runs, **{"module": "some_hooks", **attributes})
        return RULES[rule](subject, folder)


def test_a_module_that_defines_things_keeps_the_rules(tmp_path: Path) -> None:
    source = "import tenterhooks as th\n\n\ndef late():\n    import wave\n"
    heavy = frozenset({"wave"})
    assert imported(source, tmp_path / "a", "imports nothing heavy", heavy=heavy) is None
    assert imported(source, tmp_path / "b", "imports without side effects") is None


def test_a_heavy_import_is_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the import of some_hooks imports wave: import it in the function that"):
        imported("import wave", tmp_path, "imports nothing heavy", heavy=frozenset({"wave", "torch"}))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import logging\nlogging.basicConfig()", "the handlers of the logger 'root' changed"),
        ("print('welcome')", r"it writes 'welcome\\n'"),
        ("import warnings\nwarnings.warn('old', stacklevel=2)", "it writes '.*UserWarning: old"),
        ("open('a.txt', 'w').close()", "it makes the file a.txt"),
    ],
)
def test_an_effect_of_the_import_is_told(source: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"the import of some_hooks has effects: {told}"):
        imported(source, tmp_path, "imports without side effects")


@pytest.mark.parametrize("rule", ["imports nothing heavy", "imports without side effects"])
def test_a_module_that_is_found_nowhere_is_not_checked(rule: str, tmp_path: Path) -> None:
    with pytest.raises(NotCheckedError):
        RULES[rule](Subject(factory=Runs, module="no_such_module"), tmp_path)
