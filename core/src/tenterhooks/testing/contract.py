"""The contract as tests to inherit."""

import copy
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from tenterhooks.testing.rules import RULES
from tenterhooks.testing.sessions import Loop, Values
from tenterhooks.testing.subject import HEAVY, Subject, with_clock
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["HookContract"]


class HookContract:
    """Tests that a hook keeps the contract. A subclass says which hook, and what it needs.

    Attributes:
        hook_class: The hook's class, or a function that makes it.
        options: What it is made with; a copy for each hook.
        values: The values of each step by name, a list of dicts; or one dict for all steps.
        feeds: What the hook feeds, by name, with its default.
        steps: The number of steps that its sessions make, 3 or more.
        loops: The kinds of sessions that it is for.
        counts_from_start: Whether its periods count from the session's start and are no state. A resumed session is
            then to do what a fresh one does, counted from its start.
        heavy: The packages that its module is not to import.
        module: The module that brings it; by default that of `hook_class`.

    Example:
        A module of tests, for pytest::

            class TestContract(HookContract):
                hook_class = BestLossHook
                options = {"tensor": "loss"}
                values = [{"loss": 3.0}, {"loss": 1.0}, {"loss": 2.0}]
    """

    hook_class: ClassVar[Callable[..., object]]
    options: ClassVar[Mapping[str, Any]] = {}
    values: ClassVar[Values] = {}
    feeds: ClassVar[Mapping[str, Any]] = {}
    steps: ClassVar[int] = 5
    loops: ClassVar[tuple[Loop, ...]] = ("graph", "own")
    counts_from_start: ClassVar[bool] = False
    heavy: ClassVar[frozenset[str]] = HEAVY
    module: ClassVar[str | None] = None

    def make_hook(self, folder: Path, clock: ManualClock) -> object:
        """Make the hook; to be overridden where its options cannot be written down.

        Args:
            folder: For what it writes.
            clock: The clock of its session, for an option `clock`.
        """
        return type(self).hook_class(**with_clock(type(self).hook_class, copy.deepcopy(dict(self.options)), clock))

    def logged(self, record: logging.LogRecord) -> object:
        """What of a log record is compared between sessions; None: nothing of it.

        Args:
            record: What was logged, in a session whose folder is written as "<folder>".
        """
        return record.getMessage()

    def written(self, folder: Path) -> object:
        """What the hook wrote, to be compared between sessions: read it from its folder.

        Args:
            folder: Which it was given, and which is the session's.
        """
        return None

    def subject(self) -> Subject:
        """What is checked."""
        cls = type(self)
        return Subject(
            factory=cls.hook_class,
            options=self.options,
            make=self.make_hook,
            values=self.values,
            feeds=self.feeds,
            steps=self.steps,
            loops=self.loops,
            counts_from_start=self.counts_from_start,
            heavy=self.heavy,
            module=self.module,
            logged=self.logged,
            written=self.written,
        )

    def test_it_builds(self, tmp_path: Path) -> None:
        """It can be made with its options."""
        RULES["builds"](self.subject(), tmp_path)

    def test_it_refuses_unknown_options(self, tmp_path: Path) -> None:
        """An option that it does not have is an error."""
        RULES["refuses unknown options"](self.subject(), tmp_path)

    def test_its_stages_have_known_arguments(self, tmp_path: Path) -> None:
        """Its stages take what stages are called with."""
        RULES["stages have known arguments"](self.subject(), tmp_path)

    def test_two_sessions_share_nothing(self, tmp_path: Path) -> None:
        """Two hooks in sessions that take turns do what each does alone."""
        RULES["two sessions share nothing"](self.subject(), tmp_path)

    def test_it_resumes_where_it_was(self, tmp_path: Path) -> None:
        """State that is saved and restored at any step gives the decisions of an unbroken run."""
        RULES["resumes where it was"](self.subject(), tmp_path)

    def test_it_begins_anew_in_a_second_session(self, tmp_path: Path) -> None:
        """An object that was in one session does in the next one what a fresh object does."""
        RULES["begins anew in a second session"](self.subject(), tmp_path)

    def test_it_is_closed_once_whatever_fails(self, tmp_path: Path) -> None:
        """Whatever fails, it closes without an error and leaves nothing behind."""
        RULES["is closed once whatever fails"](self.subject(), tmp_path)

    def test_it_prints_nothing(self, tmp_path: Path) -> None:
        """It writes nothing to the standard output."""
        RULES["prints nothing"](self.subject(), tmp_path)

    def test_it_imports_nothing_heavy(self, tmp_path: Path) -> None:
        """Its module imports nothing that takes long."""
        RULES["imports nothing heavy"](self.subject(), tmp_path)

    def test_it_imports_without_side_effects(self, tmp_path: Path) -> None:
        """The import of its module defines things and does nothing else."""
        RULES["imports without side effects"](self.subject(), tmp_path)
