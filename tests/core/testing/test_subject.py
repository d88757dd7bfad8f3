"""How what is checked is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tenterhooks as th
from tenterhooks.testing import FakeDistributions, ManualClock, Subject


class Given(th.SessionRunHook):
    def __init__(self, *, names: list[str] | None = None, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.names = names
        self.clock = clock


def made(subject: Subject, folder: Path, clock: ManualClock | None = None) -> Any:
    return subject.hook(folder, clock)


def test_each_hook_has_a_copy_of_the_options(tmp_path: Path) -> None:
    subject = Subject(factory=Given, options={"names": ["a"]})
    hooks = [made(subject, tmp_path), made(subject, tmp_path)]
    assert hooks[0].names == hooks[1].names == ["a"]
    assert hooks[0].names is not hooks[1].names


def test_a_hook_that_takes_a_clock_gets_that_of_its_session(tmp_path: Path) -> None:
    clock, other = ManualClock(), ManualClock(7.0)
    assert made(Subject(factory=Given), tmp_path, clock).clock is clock
    assert made(Subject(factory=Given, options={"clock": other}), tmp_path, clock).clock() == 7.0


def test_it_may_be_made_by_hand_in_a_folder_that_exists(tmp_path: Path) -> None:
    folders = []

    def make(folder: Path, clock: ManualClock) -> object:
        folders.append((folder, folder.is_dir()))
        return Given(clock=clock)

    assert isinstance(made(Subject(factory=Given, make=make), tmp_path / "a" / "b"), Given)
    assert folders == [(tmp_path / "a" / "b", True)]


def test_an_installed_one_is_made_by_its_name(tmp_path: Path) -> None:
    source = "import tenterhooks as th\n\n\nclass Named(th.SessionRunHook):\n    def begin(self, graph): ...\n"
    with FakeDistributions(tmp_path) as install:
        install("tenterhooks-named", {"named": "named_hook:Named"}, named_hook=source)
        subject = Subject.named("named", steps=4)
        assert (subject.title, subject.module, subject.steps) == ("Named", "named_hook", 4)
        assert th.make_hook("named").__class__ is made(subject, tmp_path).__class__
