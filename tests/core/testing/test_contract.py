"""The contract as tests to inherit: hooks that keep it, and that each of its tests fails where its rule is broken."""

import inspect
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, FakeDistributions, HookContract, ManualClock

from .hooks import VALUES, Runs, WatchLoss


class TestState(HookContract):
    hook_class = WatchLoss
    options = {"patience": 2}
    values = VALUES
    module = "tenterhooks.testing"


def made() -> WatchLoss:
    return WatchLoss(patience=1)


class TestFunction(HookContract):
    """A function that makes the hook is no method of the test."""

    hook_class = made
    values = VALUES
    loops = ("own",)
    module = "tenterhooks.testing"


class Written(th.SessionRunHook):
    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path = path
        self._clock = clock

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{run_context.session.global_step} ")
        logging.getLogger("written").info("at %s", self._clock())


class TestMade(HookContract):
    hook_class = Written
    module = "tenterhooks.testing"

    def make_hook(self, folder: Path, clock: ManualClock) -> Written:
        return Written(folder / "steps.txt", clock)

    def written(self, folder: Path) -> str:
        return (folder / "steps.txt").read_text(encoding="utf-8")

    def logged(self, record: logging.LogRecord) -> None:
        """The time of another process is another one."""


def test_there_is_a_test_for_each_rule() -> None:
    sources = [inspect.getsource(test) for name, test in vars(HookContract).items() if name.startswith("test_")]
    assert len(sources) == len(RULES)
    assert [rule for rule in RULES if not any(f'RULES["{rule}"](self.subject(), tmp_path)' in s for s in sources)] == []


class Unmade(Runs):
    def __init__(self) -> None:
        raise ValueError("no")


class TakesAll(Runs):
    def __init__(self, **options: object) -> None:
        self.options = options


class Misspelt(Runs):
    @th.hookimpl
    def at_end(self) -> None: ...


class SharesAll(Runs):
    seen: list[int] = []

    def act(self, run_context: th.SessionRunContext) -> None:
        self.seen.append(self.runs)


class ForgetsAll(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        if self.runs == 2:
            run_context.request_stop("two runs")


class ResetsNothing(WatchLoss):
    def begin(self, graph: th.Graph) -> None: ...


class EndsBadly(Runs):
    def end(self, session: th.Session) -> None:
        raise ValueError("no")


class Prints(Runs):
    def end(self, session: th.Session) -> None:
        print("over")


@pytest.mark.parametrize(
    ("test", "hook"),
    [
        ("test_it_builds", Unmade),
        ("test_it_refuses_unknown_options", TakesAll),
        ("test_its_stages_have_known_arguments", Misspelt),
        ("test_two_sessions_share_nothing", SharesAll),
        ("test_it_resumes_where_it_was", ForgetsAll),
        ("test_it_begins_anew_in_a_second_session", ResetsNothing),
        ("test_it_is_closed_once_whatever_fails", EndsBadly),
        ("test_it_prints_nothing", Prints),
    ],
)
def test_each_test_fails_where_its_rule_is_broken(test: str, hook: Any, tmp_path: Path) -> None:
    class Contract(HookContract):
        hook_class = hook
        values = VALUES

    with pytest.raises(AssertionError):
        getattr(Contract(), test)(tmp_path)


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("test_it_imports_nothing_heavy", "import wave"),
        ("test_it_imports_without_side_effects", "print('here')"),
    ],
)
def test_each_test_of_the_import_fails_where_its_rule_is_broken(test: str, source: str, tmp_path: Path) -> None:
    class Contract(HookContract):
        hook_class = WatchLoss
        heavy = frozenset({"wave"})
        module = "some_hooks"

    with FakeDistributions(tmp_path) as install:
        install("some-hooks", {}, some_hooks=source)
        with pytest.raises(AssertionError):
            getattr(Contract(), test)(tmp_path)


def test_what_counts_from_the_start_is_said_by_an_attribute(tmp_path: Path) -> None:
    class Contract(HookContract):
        hook_class = ForgetsAll
        counts_from_start = True

    Contract().test_it_resumes_where_it_was(tmp_path)
