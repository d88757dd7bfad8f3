"""The rules on sessions that follow each other: a hook that is restored goes on, and one that is reused begins anew."""

from dataclasses import replace
from pathlib import Path

from tenterhooks.testing.savers import MemorySaver
from tenterhooks.testing.sessions import Loop
from tenterhooks.testing.stories import Story, Teller
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["alone", "begins_anew", "resumes"]

# Another process has another idea of the time.
_OTHER_TIME = 1000.0


def alone(subject: Subject, loop: Loop, where: str, folder: Path) -> Teller:
    """What a hook does in a session of its own, from its start to its clean end; told, with what was saved.

    Raises:
        AssertionError: It fails, or makes no step.
    """
    clock = ManualClock()
    teller = Teller(subject, subject.hook(folder, clock), loop, folder, clock)
    story = teller.tell()
    if story.error is not None:
        raise AssertionError(
            f"in {where} it raises {type(story.error).__name__}: {story.error}; give it the options, values and feeds "
            "with which it works"
        ) from story.error
    if not story.decisions:
        raise AssertionError(f"in {where} it stops before the first step: give it options with which it makes some")
    return teller


def resumes(subject: Subject, folder: Path) -> str | None:
    """State that is saved and restored at any step gives the decisions of an unbroken run.

    Raises:
        AssertionError: It does not.
    """
    remarks = [_resumes(subject, loop, where, folder / loop) for loop, where in subject.places()]
    return next(filter(None, remarks), None)


def _resumes(subject: Subject, loop: Loop, where: str, folder: Path) -> str | None:
    clock, place = ManualClock(), folder / "unbroken"
    unbroken = Teller(subject, subject.hook(place, clock), loop, place, clock)
    wanted = unbroken.tell()
    saved = [checkpoint.step for checkpoint in unbroken.saver.list()]
    if not wanted.decisions or not saved:
        alone(subject, loop, where, folder / "alone")
        raise AssertionError(f"in {where} it lets nothing be saved, so that nothing can be resumed")
    # By what it is compared with: the step of the first difference, and what is otherwise.
    exact: dict[int, list[str]] = {}
    anew: dict[int, list[str]] = {}
    for step in saved:
        found = _resumed(subject, loop, step, folder / f"resumed-{step}")
        if found is None:
            exact[step] = anew[step] = ["it now keeps this step from being saved, and did not before"]
        else:
            exact[step] = _differences(found, wanted, step, loop)
            anew[step] = _differences_from_a_start(found, wanted, subject.steps - step)
    differs, differs_anew = _first(exact), _first(anew)
    if subject.counts_from_start is True and differs_anew:
        raise AssertionError(
            f"in {where}, restored at global step {differs_anew[0]}, it does otherwise than in its first steps, though "
            f"counts_from_start says that it counts from there: {differs_anew[1]}"
        )
    if differs is None or subject.counts_from_start is True:
        return None
    if subject.counts_from_start is None and differs_anew is None:
        return "its periods count from the session's start, and are not resumed"
    raise AssertionError(
        f"in {where}, restored at global step {differs[0]}, it does otherwise than a session that was not interrupted: "
        f"{differs[1]}. Keep what that depends on in state_dict and load_state_dict; or, if its periods are to count "
        "from the session's start, say so: counts_from_start = True"
    )


def begins_anew(subject: Subject, folder: Path) -> str | None:
    """An object that was in one session does in the next one what a fresh object does.

    Raises:
        AssertionError: It does not.
    """
    for loop, where in subject.places():
        fresh = alone(subject, loop, where, folder / loop / "fresh")
        clock, place = ManualClock(), folder / loop / "restored"
        restored = Teller(subject, subject.hook(place, clock), loop, place, clock, fresh.saver.until(1)).tell()
        _same_again(subject, loop, where, folder / loop / "ended", fresh.story)
        _same_again(subject, loop, where, folder / loop / "failed", fresh.story, until=1)
        _same_again(subject, loop, where, folder / loop / "resumed", restored, saver=fresh.saver.until(1))
    return None


def _same_again(
    subject: Subject,
    loop: Loop,
    where: str,
    folder: Path,
    wanted: Story,
    *,
    until: int | None = None,
    saver: MemorySaver | None = None,
) -> None:
    """Compare what an object does in its second session with what a fresh one does."""
    clock = ManualClock()
    hook = subject.hook(folder, clock)
    Teller(subject, hook, loop, folder, clock).tell(until)
    again = Teller(subject, hook, loop, folder, clock, saver).tell()
    # Its folder holds what both have written.
    found = replace(again, written=wanted.written).differences(wanted)
    if found:
        before = "ended" if until is None else "an error ended"
        start = "" if saver is None else ", restored"
        raise AssertionError(
            f"in {where}{start}, after another one that {before}, the same object does otherwise than a fresh one: "
            f"{'; '.join(found[:3])}. Reset in begin what belongs to one session"
        )


def _resumed(subject: Subject, loop: Loop, step: int, folder: Path) -> Story | None:
    """What it does in a session that goes on from this step; None where this time the step was not saved."""
    clock = ManualClock()
    killed = Teller(subject, subject.hook(folder, clock), loop, folder, clock)
    killed.tell(until=step)
    if [checkpoint.step for checkpoint in killed.saver.list()][-1:] != [step]:
        return None
    clock = ManualClock(_OTHER_TIME)
    return Teller(subject, subject.hook(folder, clock), loop, folder, clock, killed.saver).tell()


def _first(differences: dict[int, list[str]]) -> tuple[int, str] | None:
    """The first step at which there are some, and what these are."""
    for step, found in differences.items():
        if found:
            return step, "; ".join(found[:3])
    return None


def _differences(found: Story, unbroken: Story, step: int, loop: Loop) -> list[str]:
    """In what it differs from the rest of the unbroken session."""
    rest = [decisions for decisions in unbroken.decisions if decisions.step > step]
    # What had stopped is to stop again before it makes a step.
    stopped = not rest and any(decisions.stop for decisions in unbroken.decisions)
    # A loop of the program's own that makes no pass has published nothing that could be had at its end.
    whole = bool(rest) or loop == "graph"
    return found.differences(replace(unbroken, decisions=rest, stopped_at_once=stopped), whole=whole)


def _differences_from_a_start(found: Story, unbroken: Story, most: int) -> list[str]:
    """In what it differs from the beginning of the unbroken session, as far as there are steps."""
    first = [decisions.in_outline() for decisions in unbroken.decisions[:most]]
    outline = replace(found, decisions=[decisions.in_outline() for decisions in found.decisions])
    # An error that it raises at a step of its own is one that it may not come to.
    error = found.error if unbroken.error is not None else None
    return outline.differences(replace(unbroken, decisions=first, error=error), whole=False)
