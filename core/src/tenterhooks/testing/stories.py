"""What a hook does in a session: told step by step, so that two sessions can be compared."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tenterhooks.stop import StopRequest
from tenterhooks.testing.savers import KeepEachStep, MemorySaver
from tenterhooks.testing.sessions import FakeSession, Loop, Run
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock
from tenterhooks.testing.watching import Watcher, plain

__all__ = ["Decisions", "Story", "Teller"]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a hook decided in one step.

    Attributes:
        step: The global step after it.
        asked: What it asked for: fetches, feeds and options.
        computed: The values that were computed, for what it asked and for what it ran itself.
        fed: What it fed.
        stop: The reasons with which it asked for a stop.
        objected: With what it kept savers from saving.
        requested: Whether it asked for a checkpoint.
        logged: What it logged.
    """

    step: int
    asked: Any
    computed: tuple[str, ...]
    fed: Any
    stop: tuple[str | None, ...]
    objected: tuple[str, ...]
    requested: bool
    logged: tuple[object, ...]

    def differences(self, other: "Decisions") -> list[str]:
        """Say in what this differs from what should have been."""
        names = ("asked", "computed", "fed", "stop", "objected", "requested", "logged")
        return [
            f"{name}: {getattr(self, name)!r:.300}, not {getattr(other, name)!r:.300}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]

    def in_outline(self) -> "Decisions":
        """The same without step, values and texts: what counts where periods count from the session's start."""
        asked = [{**wish, "feeds": sorted(wish["feeds"]), "options": sorted(wish["options"])} for wish in self.asked]
        return replace(
            self,
            step=0,
            asked=asked,
            fed=sorted(self.fed),
            stop=("...",) * len(self.stop),
            objected=("...",) * len(self.objected),
            logged=("...",) * len(self.logged),
        )


@dataclass(slots=True)
class Story:
    """What a hook did in one session.

    Attributes:
        stopped_at_once: Whether it asked for a stop when the session was created.
        decisions: What it decided in each step.
        at_end: What was computed and logged at the end.
        written: What it wrote.
        error: What left the session.
    """

    stopped_at_once: bool = False
    decisions: list[Decisions] = field(default_factory=list)
    at_end: tuple[object, ...] = ()
    written: object = None
    error: BaseException | None = None

    def differences(self, wanted: "Story", *, whole: bool = True) -> list[str]:
        """Say in what this differs from what should have been; nothing where it does not.

        Args:
            wanted: What should have been.
            whole: Whether the end, and what was written, are compared too.
        """
        found = []
        for here, there in zip(self.decisions, wanted.decisions, strict=False):
            found += [f"at global step {here.step}, {what}" for what in here.differences(there)]
        if len(self.decisions) != len(wanted.decisions):
            found.append(f"{len(self.decisions)} steps, not {len(wanted.decisions)}")
        if self.stopped_at_once != wanted.stopped_at_once:
            asks = "asks for a stop" if self.stopped_at_once else "asks for no stop"
            found.append(f"it {asks} when the session is created")
        if type(self.error) is not type(wanted.error):
            ends = [f"with {error!r}" if error else "cleanly" for error in (self.error, wanted.error)]
            found.append(f"it ends {ends[0]}, not {ends[1]}")
        if whole and self.at_end != wanted.at_end:
            found.append(f"at the end: {self.at_end!r:.300}, not {wanted.at_end!r:.300}")
        if whole and self.written != wanted.written:
            found.append(f"written: {self.written!r:.300}, not {wanted.written!r:.300}")
        return found


class Teller:
    """Makes one session of one hook, and tells what the hook does.

    Args:
        subject: What the hook is.
        hook: The hook.
        loop: The kind of session.
        folder: The session's folder.
        clock: The clock of the session.
        saver: What the session is restored from, and keeps each step in.

    Attributes:
        fake: The session; it is a context.
        story: What is told so far.
        keeper: What keeps each step.
    """

    def __init__(
        self,
        subject: Subject,
        hook: object,
        loop: Loop,
        folder: Path,
        clock: ManualClock | None = None,
        saver: MemorySaver | None = None,
    ) -> None:
        self._subject = subject
        self._folder = folder
        self._watcher = Watcher()
        self.saver = saver or MemorySaver()
        self.keeper = KeepEachStep(self.saver)
        self.story = Story()
        self.fake = FakeSession(
            [self._watcher, hook, self.keeper],
            loop=loop,
            values=subject.values,
            feeds=subject.feeds,
            clock=clock,
            checkpoint_dir=folder,
            saver=self.saver,
        )

    def tell(self, until: int | None = None) -> Story:
        """Make the session as a whole.

        Args:
            until: The global step after which it is ended by an error, as a process that is killed; by default it goes
                on to its clean end.
        """
        try:
            with self.fake:
                self.begin()
                while self.goes_on and until != self.fake.global_step:
                    self.step()
                if until is not None:
                    raise _KilledError
        except _KilledError:
            return self.story
        except Exception as error:
            self.story.error = error
        self.end()
        return self.story

    def begin(self) -> None:
        """The session is open."""
        self.story.stopped_at_once = bool(self.fake.stop)

    @property
    def goes_on(self) -> bool:
        """Whether there is another step."""
        return not self.fake.session.should_stop() and self.fake.global_step < self._subject.steps

    def step(self) -> None:
        """Make one step."""
        self.fake.step()
        self.story.decisions.append(self._decisions(self.fake.runs[-1]))

    def end(self) -> None:
        """The session is closed."""
        computed = tuple(sorted(set(self.fake.computed)))
        self.story.at_end = computed, self._logged(self.fake.log_of_end)
        self.story.written = self._subject.written(self._folder)

    def _decisions(self, run: Run) -> Decisions:
        return Decisions(
            run.step,
            self._watcher.take(),
            run.computed,
            plain(run.fed),
            tuple(self._reason(request) for request in run.stop),
            tuple(map(str, self.keeper.objections.get(run.step, ()))),
            run.step in self.keeper.requested,
            self._logged(run.log),
        )

    def _reason(self, request: StopRequest) -> str | None:
        return None if request.reason is None else self._without_folder(request.reason)

    def _logged(self, records: Sequence[logging.LogRecord]) -> tuple[object, ...]:
        told = (self._subject.logged(record) for record in records)
        return tuple(self._without_folder(text) if isinstance(text, str) else text for text in told if text is not None)

    def _without_folder(self, text: str) -> str:
        # What it calls its files there is no decision.
        return re.sub(re.escape(str(self._folder)) + r"[^\s,;'\")\]]*", "<folder>", text)


class _KilledError(BaseException):
    """Stands for the end of a process."""
