"""The rule on how hooks end: whatever fails, every hook that has begun is closed once, and leaves nothing behind."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tenterhooks.errors import AbortedError, OutOfRangeError
from tenterhooks.hookspecs import STAGES
from tenterhooks.testing.process import ProcessState, left_behind
from tenterhooks.testing.recorder import Recorder
from tenterhooks.testing.savers import KeepEachStep, MemorySaver
from tenterhooks.testing.sessions import FakeSession, Loop
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["closed_once"]

_INJECTED = "failing on purpose"


class _Failing:
    """Raises an error when it is called so many times.

    Args:
        at: The number of that call, from 1.
        error: The error.

    Attributes:
        raised: Whether it has.
    """

    def __init__(self, at: int = 1, error: BaseException | None = None) -> None:
        self.raised = False
        self._error = error or _error()
        self._left = at

    def __call__(self, *arguments: object) -> None:
        self._left -= 1
        if self._left == 0:
            self.raised = True
            raise self._error


@dataclass(frozen=True, slots=True)
class _Point:
    """Where a session fails.

    Attributes:
        what: It, in words.
        hook: Which other hook fails: "first", which comes before the one that is checked, or "last".
        stage: In which stage.
        failing: What that does.
        body: What is raised in the second step.
        creation: What is raised when the session is created.
        clean: Whether the session ends cleanly all the same.
    """

    what: str
    hook: str = ""
    stage: str = ""
    failing: _Failing = field(default_factory=_Failing)
    body: BaseException | None = None
    creation: BaseException | None = None
    clean: bool = False

    def recorder(self, hook: str, name: str) -> Recorder:
        """One of the other hooks."""
        on: dict[str, Any] = {self.stage: self.failing} if hook == self.hook else {}
        return Recorder(name, **on)


def _points(loop: Loop) -> Iterator[_Point]:
    yield _Point("when nothing fails", clean=True)
    over = _Failing(2, OutOfRangeError("over"))
    yield _Point("when the input runs out", "first", "before_run", over, clean=True)
    yield _Point("when the session cannot be created", creation=_error())
    yield _Point("when a step fails", body=_error())
    yield _Point("when Ctrl-C interrupts a step", body=KeyboardInterrupt(_INJECTED))
    yield _Point("when a step exits the program", body=SystemExit(_INJECTED))
    yield _Point("when a worker is lost in a step", body=AbortedError(_INJECTED), clean=loop == "graph")
    yield _Point("when a worker is lost at the creation", creation=AbortedError(_INJECTED), clean=True)
    for stage in STAGES:
        for hook, place in (("first", "before"), ("last", "after")):
            yield _Point(
                f"when {stage} of another hook, {place} it, fails",
                hook,
                stage,
                # In the stages of a run it fails in the second one.
                _Failing(2 if stage.endswith("_run") else 1),
                body=_error() if stage == "on_exception" else None,
            )


def _error() -> Exception:
    return RuntimeError(_INJECTED)


def closed_once(subject: Subject, folder: Path) -> str | None:
    """Whatever fails, the failure leaves the session, all hooks are closed once, and nothing is left in the process.

    Raises:
        AssertionError: The failure does not get out, closing fails, or something is left.
    """
    for loop, where in subject.places():
        for number, point in enumerate(_points(loop)):
            before = ProcessState.now()
            place, clock = folder / loop / str(number), ManualClock()
            hook = subject.hook(place, clock)
            others = [point.recorder("first", "the hook before it"), point.recorder("last", "the hook after it")]
            saver = MemorySaver()
            errors: dict[Any, BaseException | None] = {2: point.body, "creation": point.creation}
            fake = FakeSession(
                [others[0], hook, others[1], KeepEachStep(saver)],
                loop=loop,
                values=subject.values,
                feeds=subject.feeds,
                fail_at={step: error for step, error in errors.items() if error is not None},
                clock=clock,
                checkpoint_dir=place,
                saver=saver,
            )
            error = _ended(fake, subject.steps)
            faults = [*_faults(point, error, bool(fake.raised) or point.failing.raised)]
            faults += [fault for other in others for fault in _not_closed_once(other, point)]
            faults += [f"{what} after the session" for what in left_behind(before)]
            if faults:
                raise AssertionError(
                    f"in {where}, {point.what}: {'; '.join(faults)}. Give back in end, and in on_exception, all that "
                    "was taken, also where begin or after_create_session never came to it; on_exception may call end"
                ) from error
            # Until here, so that what it holds is not given back by the collector.
            del hook
    return None


def _ended(fake: FakeSession, steps: int) -> BaseException | None:
    """Make all steps, and give what left the session."""
    try:
        with fake:
            fake.go_to(steps)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and _INJECTED not in str(error):
            raise
        return error
    return None


def _faults(point: _Point, error: BaseException | None, failed: bool) -> Iterator[str]:
    """What is wrong with the error that left the session."""
    if error is None:
        if failed and not point.clean:
            yield "the failure did not leave the session"
        return
    if point.clean or _INJECTED not in str(error) or isinstance(error, BaseExceptionGroup):
        yield f"{type(error).__name__} left the session: {_told(error)}"
    for text in getattr(error, "__notes__", ()):
        if text.startswith("while closing: ") and _INJECTED not in text:
            yield text


def _told(error: BaseException) -> str:
    errors = error.exceptions if isinstance(error, BaseExceptionGroup) else (error,)
    return " and ".join("; ".join([f"{one}", *getattr(one, "__notes__", ())]) for one in errors)


def _not_closed_once(recorder: Recorder, point: _Point) -> Iterator[str]:
    """What is wrong with how another hook was closed."""
    stages = recorder.stages
    begun = "begin" in stages and not (point.stage == "begin" and point.failing.raised and stages == ["begin"])
    closed = stages.count("end") + stages.count("on_exception")
    if closed != begun:
        yield f"{recorder.name} was closed {closed} times, having been called in {recorder.story}"
