"""Checks of a hook without a test runner."""

from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, FakeDistributions, RuleResult, Subject, check, check_hook

from .hooks import Runs, WatchLoss


def failed(results: list[RuleResult]) -> list[str]:
    return [result.rule for result in results if result.state == "failed"]


def test_a_good_hook_keeps_all_rules() -> None:
    results = check_hook(WatchLoss, patience=3)
    assert [result.rule for result in results] == list(RULES)
    assert failed(results) == []


def test_what_cannot_be_checked_is_said_to_be() -> None:
    class Here(WatchLoss):
        __module__ = "no_such_module"

    states = {result.rule: (result.state, result.message) for result in check_hook(Here)}
    state, message = states["imports nothing heavy"]
    assert state == "not checked"
    assert "no_such_module is found by its name in no other process" in message


def test_what_cannot_be_made_breaks_one_rule_and_no_other_is_checked() -> None:
    (result,) = check_hook(WatchLoss, patients=3)
    assert (result.rule, result.state) == ("builds", "failed")
    assert "unexpected keyword argument 'patients'" in result.message


class Broken(th.SessionRunHook):
    """Breaks several rules."""

    runs = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        type(self).runs += 1
        print(self.runs)


def test_all_rules_that_are_broken_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert failed(check_hook(Broken)) == ["two sessions share nothing", "prints nothing"]
    assert capfd.readouterr().out == ""


def test_a_rule_that_raises_is_broken() -> None:
    class NoCopy(Runs):
        def __init__(self, *, path: Path) -> None:
            if not path.name:
                raise ValueError("no name")

    def make(folder: Path, clock: object) -> object:
        if "graph" in folder.parts:
            raise RuntimeError("made no second time")
        return Runs()

    results = check(Subject(factory=NoCopy, make=make))
    message = next(result.message for result in results if result.rule == "two sessions share nothing")
    assert message == "it raises RuntimeError: made no second time"


class AsksAndFeeds(th.SessionRunHook):
    """Asks for what only its options tell."""

    def __init__(self, *, tensors: tuple[str, ...] = ("a", "b")) -> None:
        self._tensors = tensors
        self.seen: list[Any] = []

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(list(self._tensors), {"rate": 0.5})

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if not all(isinstance(value, float) for value in run_values.results):
            raise TypeError("these are no numbers")


def test_what_it_asks_for_and_feeds_is_found_out() -> None:
    assert failed(check_hook(AsksAndFeeds)) == []
    assert failed(check_hook(AsksAndFeeds, tensors=("c", "d", "e"))) == []


class GoesWithout(th.SessionRunHook):
    """Asks for what need not be there, and insists that it is a node of the graph."""

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        assert session.graph["score"].name == "score"

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs("score", {"rate": 0.5}, optional=True)


def test_what_it_can_go_without_is_found_out_too() -> None:
    assert failed(check_hook(GoesWithout)) == []


class EveryThird(Runs):
    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs("loss") if self.runs % 3 == 1 else None


def test_that_it_counts_from_the_start_is_found_out_and_said() -> None:
    results = check_hook(EveryThird)
    assert failed(results) == []
    remarks = {result.rule: result.message for result in results if result.state == "ok" and result.message}
    assert remarks == {"resumes where it was": "its periods count from the session's start, and are not resumed"}


HOOK = """
import tenterhooks as th


class Loud(th.SessionRunHook):
    def __init__(self, *, word: str = "hello", clock=None) -> None:
        self.word, self.clock = word, clock

    def end(self, session):
        print(self.word, self.clock is not None)
"""


def test_an_installed_plugin_is_checked_by_its_name(tmp_path: Path) -> None:
    with FakeDistributions(tmp_path) as install:
        install("tenterhooks-loud", {"loud": "loud_hook:Loud"}, loud_hook=HOOK)
        results = {result.rule: result for result in check_hook("loud", word="bye")}
        assert failed(list(results.values())) == ["prints nothing"]
        # It was given the clock that it takes.
        assert "'bye True\\n'" in results["prints nothing"].message
        assert results["imports nothing heavy"].state == "ok"
        (wrong,) = check_hook("loud", wort="bye")
        assert "hook 'loud' (tenterhooks-loud 1.0) has no option 'wort'; the nearest: 'word'" in wrong.message


def test_a_plugin_that_is_missing_is_an_error() -> None:
    with pytest.raises(th.PluginError, match="'no-such-hook'"):
        check_hook("no-such-hook")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (RuleResult("builds", "ok"), "ok: builds"),
        (RuleResult("builds", "failed", "it does not"), "failed: builds: it does not"),
        (RuleResult("builds", "not checked", "there is none"), "not checked: builds: there is none"),
    ],
)
def test_a_result_reads_as_a_line(result: RuleResult, text: str) -> None:
    assert str(result) == text
