"""The rules on sessions that follow each other, with hooks that keep and that break them."""

import itertools
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, Subject
from tenterhooks.testing.sessions import Loop

from .hooks import VALUES, Runs, WatchLoss, log

resumes, begins_anew = RULES["resumes where it was"], RULES["begins anew in a second session"]

both = pytest.mark.parametrize("loop", ["graph", "own"])


def subject(factory: Any, loop: Loop, **attributes: Any) -> Subject:
    return Subject(**{"factory": factory, "loops": (loop,), "values": VALUES, "feeds": {"rate": 1.0}, **attributes})


class Stops(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        if self.runs == 3:
            run_context.request_stop("three runs")


class Asks(Runs):
    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs("loss") if self.runs % 3 == 1 else None


class Feeds(Runs):
    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(feed_dict={"rate": 0.5**self.runs})


class FeedsAtFirst(Runs):
    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs(feed_dict={"rate": 0.5}) if self.runs == 1 else None


class HasOptions(Runs):
    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(options={"trace": self.runs > 2})


class Logs(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        log.info("run %d", self.runs)


class LogsAtFirst(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        if self.runs == 1:
            log.info("the first run")


class LogsAtTheEnd(Runs):
    def end(self, session: th.Session) -> None:
        log.info("%d runs", self.runs)


class Requests(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        if self.runs == 2:
            run_context.session.request_checkpoint()


class Objects(Runs):
    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> str | None:
        return "not now" if self.runs == 3 else None


class Fails(Runs):
    def act(self, run_context: th.SessionRunContext) -> None:
        if self.runs == 4:
            raise ValueError("four runs")


class Writes(Runs):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def end(self, session: th.Session) -> None:
        with (self.folder / "runs.txt").open("a", encoding="utf-8") as file:
            file.write(f"{self.runs} ")


FROM_THE_START = [Stops, Asks, FeedsAtFirst, HasOptions, LogsAtFirst, Requests, Objects]


@both
@pytest.mark.parametrize("hook", [*FROM_THE_START, Feeds, Logs, LogsAtTheEnd, Fails])
def test_what_counts_runs_and_keeps_no_state_does_not_resume(hook: type[Runs], loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"restored at global step [0-5], it does otherwise than .*state_dict"):
        resumes(subject(hook, loop), tmp_path)


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (Stops, "at global step 3, stop: (), not ('three runs',)"),
        (Asks, "at global step 2, asked: [{'fetches': 'loss', 'feeds': {}, 'options': {}}], not []"),
        (Feeds, "fed: {'rate': 0.5}, not {'rate': 0.25}"),
        (HasOptions, "'options': {'trace': False}}], not [{'fetches': None, 'feeds': {}, 'options': {'trace': True}}]"),
        (Logs, "at global step 2, logged: ('run 1',), not ('run 2',)"),
        (LogsAtTheEnd, "at the end: ((), ('4 runs',)), not ((), ('5 runs',))"),
        (Requests, "at global step 2, requested: False, not True"),
        (Objects, "at global step 3, objected: (), not ('not now',)"),
        (Fails, "3 steps, not 2"),
    ],
)
def test_the_message_says_what_is_otherwise(hook: type[Runs], told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as raised:
        resumes(subject(hook, "graph"), tmp_path)
    assert "in a graph session, restored at global step 1, it does otherwise than " in str(raised.value)
    assert told in str(raised.value)


def test_what_it_computes_itself_is_compared(tmp_path: Path) -> None:
    class RunsItself(Runs):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if self.runs == 2:
                run_context.session.run("loss")

    with pytest.raises(AssertionError, match="computed: "):
        resumes(subject(RunsItself, "graph"), tmp_path)


@both
def test_what_it_wrote_is_compared(loop: Loop, tmp_path: Path) -> None:
    def written(folder: Path) -> str:
        return (folder / "runs.txt").read_text(encoding="utf-8")

    with pytest.raises(AssertionError, match="written: '4 ', not '5 '"):
        resumes(subject(Writes, loop, make=lambda folder, clock: Writes(folder), written=written), tmp_path)
    assert resumes(subject(Writes, loop, make=lambda folder, clock: Writes(folder)), tmp_path / "again") is None


@both
def test_a_hook_with_state_resumes(loop: Loop, tmp_path: Path) -> None:
    assert resumes(subject(WatchLoss, loop), tmp_path) is None


class LoadsWrongly(WatchLoss):
    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict({**state, "waited": 0})


class SavesItsPatience(WatchLoss):
    """Forgets the best loss, which matters at some steps alone."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict({**state, "best": 6.5})


class StopsNoSecondTime(WatchLoss):
    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None: ...


@both
@pytest.mark.parametrize("hook", [LoadsWrongly, SavesItsPatience])
def test_a_hook_whose_state_is_wrong_does_not_resume(hook: type[WatchLoss], loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="logged: "):
        resumes(subject(hook, loop), tmp_path)


@both
def test_a_hook_that_had_stopped_is_to_stop_again(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"restored at global step 4, .*it asks for no stop when the session is"):
        resumes(subject(StopsNoSecondTime, loop), tmp_path)


@both
@pytest.mark.parametrize("hook", FROM_THE_START)
def test_what_counts_from_the_start_says_so(hook: type[Runs], loop: Loop, tmp_path: Path) -> None:
    assert resumes(subject(hook, loop, counts_from_start=True), tmp_path) is None
    remark = resumes(subject(hook, loop, counts_from_start=None), tmp_path / "again")
    assert remark == "its periods count from the session's start, and are not resumed"


@both
def test_what_is_said_to_count_from_the_start_does_so(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="though counts_from_start says that it counts from there"):
        resumes(subject(WatchLoss, loop, counts_from_start=True), tmp_path)


@both
def test_a_hook_that_does_neither_fails_whatever_is_said(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="than a session that was not interrupted"):
        resumes(subject(LoadsWrongly, loop, counts_from_start=None), tmp_path)


@both
def test_a_hook_that_lets_nothing_be_saved_cannot_be_checked(loop: Loop, tmp_path: Path) -> None:
    class Never(th.SessionRunHook):
        @th.hookimpl(optionalhook=True)
        def before_save(self, session: th.Session, step: int) -> str:
            return "never"

    with pytest.raises(AssertionError, match="lets nothing be saved"):
        resumes(subject(Never, loop), tmp_path)


@both
def test_a_hook_that_makes_no_step_cannot_be_checked(loop: Loop, tmp_path: Path) -> None:
    class AtOnce(th.SessionRunHook):
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            session.request_stop()

    with pytest.raises(AssertionError, match="it stops before the first step: give it options"):
        resumes(subject(AtOnce, loop), tmp_path)


class ClockOfItsOwn(th.SessionRunHook):
    """Compares times of two processes."""

    def __init__(self, *, clock: Any) -> None:
        self._clock = clock
        self._began: float | None = None

    def begin(self, graph: th.Graph) -> None:
        self._began = None

    def state_dict(self) -> dict[str, Any]:
        return {"began": self._began}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._began = state["began"]

    def before_run(self, run_context: th.SessionRunContext) -> None:
        if self._began is None:
            self._began = self._clock()
        log.info("%.0f s", self._clock() - self._began)


@both
def test_the_time_of_another_process_is_another_one(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"logged: \('1000 s',\), not \('1 s',\)"):
        resumes(subject(ClockOfItsOwn, loop), tmp_path)


class KeepsCounting(Stops):
    def begin(self, graph: th.Graph) -> None: ...


class KeepsCountingAfterAnError(WatchLoss):
    """Resets at its clean end alone."""

    def begin(self, graph: th.Graph) -> None: ...

    def end(self, session: th.Session) -> None:
        self._reset()


@both
@pytest.mark.parametrize(
    ("hook", "told"),
    [(KeepsCounting, "another one that ended"), (KeepsCountingAfterAnError, "another one that an error ended")],
)
def test_a_hook_that_does_not_reset_does_not_begin_anew(hook: Any, told: str, loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=f"after {told}, the same object does otherwise .*Reset in begin"):
        begins_anew(subject(hook, loop), tmp_path)


class KeepsItsTarget(th.SessionRunHook):
    """Counts from where its first session started."""

    target: int | None = None

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        if self.target is None:
            self.target = session.global_step + 2

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self.target:
            run_context.request_stop("two steps")


@both
def test_a_hook_that_keeps_where_it_started_does_not_begin_anew(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match=r", restored, after another one that ended, the same object does otherwise"
    ):
        begins_anew(subject(KeepsItsTarget, loop), tmp_path)


@both
@pytest.mark.parametrize("hook", [WatchLoss, Stops, Logs, LogsAtTheEnd])
def test_a_hook_that_resets_begins_anew(hook: Any, loop: Loop, tmp_path: Path) -> None:
    assert begins_anew(subject(hook, loop), tmp_path) is None


@both
def test_a_hook_that_fails_by_itself_is_said_to(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="it raises ValueError: four runs; give it the options, values and feeds"):
        begins_anew(subject(Fails, loop), tmp_path)


@both
def test_an_error_that_it_raises_anew_is_told(loop: Loop, tmp_path: Path) -> None:
    class FailsWhenRestored(th.SessionRunHook):
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            if session.global_step == 2:
                raise ValueError("not here")

    with pytest.raises(AssertionError, match=r"it ends with ValueError\('not here'\), not cleanly"):
        resumes(subject(FailsWhenRestored, loop), tmp_path)


def test_a_hook_that_objects_now_and_then_is_told(tmp_path: Path) -> None:
    numbers = itertools.count(1)

    class NowAndThen(th.SessionRunHook):
        def __init__(self) -> None:
            self.number = next(numbers)

        @th.hookimpl(optionalhook=True)
        def before_save(self, session: th.Session, step: int) -> str | None:
            # After the one of the unbroken session, and two for each step, of which one is killed.
            return "not now" if self.number == 4 else None

    with pytest.raises(AssertionError, match=r"step 1, .* it now keeps this step from being saved, and did not before"):
        resumes(subject(NowAndThen, "graph"), tmp_path)
