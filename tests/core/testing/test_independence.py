"""The rule that two sessions share nothing, with hooks that keep and that break it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, Subject
from tenterhooks.testing.sessions import Loop

from .hooks import VALUES, Runs, WatchLoss, log

share_nothing = RULES["two sessions share nothing"]

both = pytest.mark.parametrize("loop", ["graph", "own"])


def subject(factory: Any, loop: Loop, **attributes: Any) -> Subject:
    return Subject(**{"factory": factory, "loops": (loop,), "values": VALUES, **attributes})


@both
@pytest.mark.parametrize("hook", [WatchLoss, Runs])
def test_hooks_that_keep_all_in_the_object_share_nothing(hook: Any, loop: Loop, tmp_path: Path) -> None:
    assert share_nothing(subject(hook, loop), tmp_path) is None


class NumberOfTheClass(th.SessionRunHook):
    runs = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        type(self).runs += 1


class ListOfTheClass(th.SessionRunHook):
    seen: list[int] = []

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen.append(run_context.session.global_step)


class ListOfABase(ListOfTheClass):
    """Has it from its base class."""


@both
@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (NumberOfTheClass, "NumberOfTheClass.runs"),
        (ListOfTheClass, "ListOfTheClass.seen"),
        (ListOfABase, "ListOfTheClass.seen"),
    ],
)
def test_a_class_attribute_that_changes_is_told(hook: Any, told: str, loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=rf"sessions change what all hooks .*: the class attribute {told}\. Keep"):
        share_nothing(subject(hook, loop), tmp_path)


SHARED = np.zeros(1)


class DefaultArgument(th.SessionRunHook):
    def __init__(self, *, seen: list[int] = []) -> None:  # noqa: B006 - that is what is found.
        self.seen = seen

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen.append(run_context.session.global_step)


class ArrayOfTheModule(th.SessionRunHook):
    def __init__(self) -> None:
        self.seen = SHARED

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen += 1


@both
@pytest.mark.parametrize("hook", [DefaultArgument, ArrayOfTheModule])
def test_an_object_that_both_have_and_that_changes_is_told(hook: Any, loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the attribute seen, which is one object in both"):
        share_nothing(subject(hook, loop), tmp_path)


def test_what_both_have_and_nobody_changes_is_fine(tmp_path: Path) -> None:
    class Fine(th.SessionRunHook):
        names = ["loss"]

        def __init__(self) -> None:
            self.shared = self.names

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs(self.shared)

    assert share_nothing(subject(Fine, "graph"), tmp_path) is None


_open: dict[str, Any] = {}


class GlobalOfTheModule(Runs):
    """Where it is now is kept outside of all classes, begun anew by each session."""

    def begin(self, graph: th.Graph) -> None:
        _open["runs"] = 0

    def act(self, run_context: th.SessionRunContext) -> None:
        _open["runs"] += 1
        log.info("run %d", _open["runs"])


class ClosesForAll(th.SessionRunHook):
    """Ends what another one still uses."""

    def begin(self, graph: th.Graph) -> None:
        _open["file"] = "open"

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        log.info("%s", _open["file"])

    def end(self, session: th.Session) -> None:
        _open.pop("file")


@both
def test_what_is_kept_elsewhere_shows_in_what_it_does(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match=r"takes turns with another one, the (first|second) of two hooks does other"
    ):
        share_nothing(subject(GlobalOfTheModule, loop), tmp_path)


@both
def test_an_error_that_one_alone_does_not_raise_is_told(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match=r"takes turns with another one, it raises KeyError: 'file'; one alone does"
    ):
        share_nothing(subject(ClosesForAll, loop), tmp_path)
