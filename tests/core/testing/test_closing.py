"""The rule on how hooks end, with hooks that keep and that break it."""

import logging
import signal
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, TextIO

import pytest

import tenterhooks as th
from tenterhooks.testing import RULES, Subject
from tenterhooks.testing.process import ProcessState
from tenterhooks.testing.sessions import Loop

from .hooks import VALUES, Runs, WatchLoss

closed_once = RULES["is closed once whatever fails"]

both = pytest.mark.parametrize("loop", ["graph", "own"])
lists_files = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="this system does not list open files in /proc"
)


def check(factory: Any, loop: Loop, folder: Path) -> None:
    subject = Subject(factory=factory, make=lambda place, clock: factory(place), loops=(loop,), values=VALUES)
    assert closed_once(subject, folder) is None


# What the hooks here have opened, so that a test can close what they leave.
opened: list[TextIO] = []


class Table(th.SessionRunHook):
    """Writes a file, and closes it in any case: keeps the rule."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "table.txt"
        self._file: TextIO | None = None

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        # A session may be created anew.
        self._file = self._file or self._open()

    def _open(self) -> TextIO:
        opened.append(self._path.open("w", encoding="utf-8"))
        return opened[-1]

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        assert self._file is not None
        self._file.write(f"{run_context.session.global_step}\n")

    def end(self, session: th.Session | None) -> None:
        if self._file is not None:
            self._file.close()

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        self.end(session)


@both
def test_a_hook_that_closes_what_it_opened_keeps_the_rule(loop: Loop, tmp_path: Path) -> None:
    check(Table, loop, tmp_path)


@both
def test_a_hook_that_opens_nothing_keeps_the_rule(loop: Loop, tmp_path: Path) -> None:
    check(lambda folder: WatchLoss(), loop, tmp_path)


class NotAtAnError(Table):
    def on_exception(self, session: th.Session | None, exception: BaseException) -> None: ...


class OpensASecondOne(Table):
    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self._file = self._open()


@lists_files
@pytest.mark.parametrize(
    ("hook", "loop", "when"),
    [
        (NotAtAnError, "graph", "when a step fails"),
        (NotAtAnError, "own", "when a step fails"),
        (OpensASecondOne, "graph", "when a worker is lost in a step"),
    ],
)
def test_a_file_that_is_left_open_is_told(hook: Any, loop: Loop, when: str, tmp_path: Path) -> None:
    try:
        with pytest.raises(
            AssertionError, match=rf"{when}: .*table\.txt is open after the session\. Give back in end,"
        ):
            check(hook, loop, tmp_path)
    finally:
        for file in opened:
            file.close()
        opened.clear()


class HasAThread(th.SessionRunHook):
    def __init__(self, folder: Path) -> None:
        self._over = threading.Event()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self._over = threading.Event()
        threading.Thread(target=self._over.wait, name="of-the-hook", daemon=True).start()

    def end(self, session: th.Session) -> None:
        self._over.set()


class SetsASignal(th.SessionRunHook):
    def __init__(self, folder: Path) -> None:
        """It needs none."""

    def begin(self, graph: th.Graph) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class AddsAHandler(th.SessionRunHook):
    def __init__(self, folder: Path) -> None:
        self._handler = logging.NullHandler()

    def begin(self, graph: th.Graph) -> None:
        logging.getLogger("of.the.hook").addHandler(self._handler)

    def end(self, session: th.Session) -> None:
        logging.getLogger("of.the.hook").removeHandler(self._handler)


@both
@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (HasAThread, "when a step fails: the thread 'of-the-hook' is alive after the session"),
        (SetsASignal, "when nothing fails: the handler of SIGTERM changed"),
        (AddsAHandler, "when the session cannot be created: the handlers of the logger 'of.the.hook' changed"),
    ],
)
def test_what_is_left_in_the_process_is_told(hook: Any, told: str, loop: Loop, tmp_path: Path) -> None:
    earlier = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(AssertionError, match=told):
            check(hook, loop, tmp_path)
    finally:
        signal.signal(signal.SIGTERM, earlier)
        logging.getLogger("of.the.hook").handlers.clear()


class ClosesWhatItHasNot(Table):
    def end(self, session: th.Session | None) -> None:
        self._file.close()  # type: ignore[union-attr]


class FailsAtTheEnd(Runs):
    def __init__(self, folder: Path) -> None:
        """It needs none."""

    def end(self, session: th.Session) -> None:
        raise ValueError("at the end")


class FailsWhenAStepWasMade(FailsAtTheEnd):
    def end(self, session: th.Session) -> None: ...

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        if session is not None and session.global_step == 1:
            raise ValueError("because of that")


@both
@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (ClosesWhatItHasNot, "when the session cannot be created: while closing: AttributeError"),
        (FailsAtTheEnd, "when nothing fails: ValueError left the session: at the end; in end of hook"),
        (FailsWhenAStepWasMade, "when a step fails: while closing: ValueError: because of that"),
    ],
)
def test_an_error_while_closing_is_told(hook: Any, told: str, loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=told):
        check(hook, loop, tmp_path)


class Swallows(th.SessionRunHook):
    def __init__(self, folder: Path) -> None:
        """It needs none."""

    @th.hookimpl(wrapper=True, specname="before_run")
    def around(self) -> Generator[None, Any, Any]:
        try:
            return (yield)
        except RuntimeError:
            return []


@both
def test_a_failure_that_is_swallowed_is_told(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match="when before_run of another hook, before it, fails: the failure did not le"
    ):
        check(Swallows, loop, tmp_path)


class Meddles(th.SessionRunHook):
    """Ends other hooks itself."""

    def __init__(self, folder: Path) -> None:
        """It needs none."""

    def end(self, session: th.Session) -> None:
        for implementation in session.hook.end.get_hookimpls():
            if implementation.plugin.adapter.hook is not self:
                implementation.plugin.adapter.hook.end(session)


@both
def test_another_hook_that_is_closed_twice_is_told(loop: Loop, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the hook before it was closed 2 times, having been called in "):
        check(Meddles, loop, tmp_path)


@both
def test_a_real_interrupt_is_no_failure_of_the_hook(loop: Loop, tmp_path: Path) -> None:
    class Interrupted(Runs):
        def __init__(self, folder: Path) -> None:
            """It needs none."""

        def act(self, run_context: th.SessionRunContext) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(Interrupted, loop, tmp_path)


def test_the_check_itself_leaves_nothing_behind(tmp_path: Path) -> None:
    before = ProcessState.now()
    check(Table, "graph", tmp_path)
    assert before.changes(ProcessState.now()) == []
