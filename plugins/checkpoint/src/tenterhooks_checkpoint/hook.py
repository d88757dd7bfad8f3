"""Saves checkpoints while a session runs."""

import dataclasses
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import tenterhooks
from tenterhooks import (
    Coordinator,
    Node,
    Session,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tenterhooks.errors import note
from tenterhooks.graph import Graph
from tenterhooks.savers import folder_of
from tenterhooks_checkpoint import hookspecs
from tenterhooks_checkpoint._background import BackgroundSaver
from tenterhooks_checkpoint._metric import measured
from tenterhooks_checkpoint._numbers import ProcessNumbers
from tenterhooks_checkpoint._periods import Periods
from tenterhooks_checkpoint._retention import Mode, Retention
from tenterhooks_checkpoint.listener import CheckpointSaverListener
from tenterhooks_checkpoint.saver import Saver

__all__ = ["CheckpointSaverHook"]

_log = logging.getLogger(__name__)


class CheckpointSaverHook(SessionRunHook):
    """Saves at the session's creation, whenever a period is over, when somebody asked for it, and at a clean end.

    It acts after all other hooks at every stage, so a checkpoint holds what they left, and a run in which one of them
    failed is not saved. A step that is saved already is not written again.

    The save at the creation and the one at the end are on the disk when these are over, and so is each save of a hook
    with listeners. Others are copied and written by a thread, one at a time; the next save waits for it. What fails
    there is raised by the next run, or at the session's end.

    The process's random generators, those of the modules `random` and `numpy.random`, are in its state as far as they
    were used since its session began. So it is the session that saves that restores them, and no other one.

    Args:
        checkpoint_dir: The folder; by default the session's.
        save_secs: The seconds between two saves; 600 if no period is given.
        save_steps: The steps between two saves. With both periods the first that is over saves, and each save restarts
            both.
        listeners: Called around each save.
        max_to_keep: How many checkpoints are kept, those saved last; None keeps all.
        best: What is computed at each save, of the inputs of the last run and without a call of hooks: those with its
            best values are kept, too.
        mode: "min" or "max", which of its values are better. NaN is never better than anything.
        keep_best: How many of those are kept.
        keep_every_n_steps: Those whose step is a multiple of this are kept, too.
        asynchronous: Whether a thread writes while the training goes on.
        saver: Writes the checkpoints, and has its own folder and its own rules of what it keeps.
        clock: Gives the time in seconds.

    Raises:
        ValueError: There is a folder, or a rule of what is kept, beside a saver that has its own, or a number that is
            less than 1.
    """

    saves_state = True
    hookspecs = hookspecs
    # Without a timer: a checkpoint may be asked for in any run, and what a thread has saved is told of in the next one.

    def __init__(
        self,
        checkpoint_dir: str | Path | None = None,
        *,
        save_secs: float | None = None,
        save_steps: int | None = None,
        listeners: Iterable[CheckpointSaverListener] = (),
        max_to_keep: int | None = 5,
        best: str | Node | None = None,
        mode: Mode = "min",
        keep_best: int = 1,
        keep_every_n_steps: int | None = None,
        asynchronous: bool = True,
        saver: tenterhooks.Saver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if saver is not None and checkpoint_dir is not None:
            raise ValueError("give either a checkpoint_dir or a saver, which has its own folder")
        # At once, so that what is wrong with it is said here.
        self._retention = Retention(max_to_keep, None, mode, keep_best, keep_every_n_steps)
        if saver is not None and self._retention != Retention():
            raise ValueError(
                "a saver has its own rules of what it keeps: give it max_to_keep, mode, keep_best and "
                "keep_every_n_steps; best= says here what is measured"
            )
        if saver is not None:
            checkpoint_dir = getattr(saver, "directory", None)
        # Whatever the working directory will be.
        self.checkpoint_dir = None if checkpoint_dir is None else folder_of(checkpoint_dir).absolute()
        self._listeners = list(listeners)
        self._best = best
        self._asynchronous = asynchronous and not self._listeners
        self._given_saver = saver
        self._periods = Periods(save_secs, save_steps, clock)

    def begin(self, graph: Graph) -> None:
        """Begin the listeners."""
        self._numbers = ProcessNumbers()
        self._saver = self._given_saver
        self._background: BackgroundSaver | None = None
        self._done: tuple[int, ...] | None = None
        self._periods.reset()
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Save, unless the session was just restored from what this saver has.

        Raises:
            ValueError: There is no folder.
            CheckpointError: The folder cannot be written, another process saves there, or something in the state cannot
                be saved.
        """
        self._done = None
        self._said_unmeasured = False
        self._metric = None if self._best is None else session.graph[session.graph.name_of(self._best)].name
        if self._saver is None:
            directory = self.checkpoint_dir or session.checkpoint_dir
            if directory is None:
                raise ValueError("a saver needs a folder: pass checkpoint_dir to it or to the session")
            self._saver = Saver(
                directory, **dataclasses.asdict(dataclasses.replace(self._retention, best=self._metric))
            )
        if self._background is None:
            self._background = BackgroundSaver(self._saver)
        self._saver.open()
        self._background.raise_failure()
        newest = self._saver.latest()
        restored = session.restored
        if newest is not None and restored is None:
            _log.warning(
                "%s holds checkpoints up to global step %d, and this session was not restored from them: it begins at "
                "global step %d, and they are deleted as new ones come. Give the session that checkpoint_dir to go on",
                newest.path.parent,
                newest.step,
                session.global_step,
            )
        known = (
            newest is not None
            and restored is not None
            and newest.path.resolve() == restored.checkpoint.resolve()
            # What was not in it is not saved yet.
            and not restored.not_restored
        )
        if self._save(session, write=not known, wait=True):
            session.request_stop("a checkpoint listener asked for it")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Tell of what was saved beside the training, or raise what that raised."""
        assert self._background is not None
        if self._background.has_news:
            self._announce(run_context.session, self._background)
            self._background.raise_failure()

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save if it is due."""
        session = run_context.session
        step = session.global_step
        due = self._periods.are_over(step) or (session.checkpoint_requested and self._done != session.position)
        if due and self._save(session):
            run_context.request_stop("a checkpoint listener asked for it")

    def end(self, session: Session) -> None:
        """Save the last step, unless it is saved already, and wait until it is on the disk."""
        try:
            if self._done != session.position:
                self._save(session, wait=True)
            for listener in self._listeners:
                listener.end(session, session.global_step)
        except BaseException as error:
            try:
                self._close(session)
            except Exception as other:
                note(error, f"then: {type(other).__name__}: {other}")
            raise
        self._close(session)

    def on_exception(self, session: Session | None, exception: BaseException) -> None:
        """Wait until what was being saved is on the disk."""
        self._close(session)

    def state_dict(self) -> dict[str, Any]:
        """The random numbers of the process, as far as they were used since `begin`."""
        return self._numbers.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with these random numbers.

        Raises:
            CheckpointError: They are none.
        """
        self._numbers.load_state_dict(state)

    def _save(self, session: Session, *, write: bool = True, wait: bool = False) -> bool:
        """Save, and say whether a listener asks for a stop."""
        assert self._saver is not None
        assert self._background is not None
        step = session.global_step
        objections = session.hook.before_save(session=session, step=step)
        if session.torn is not None:
            objections = [*objections, session.torn]
        if objections:
            _log.warning("global step %d is not saved: %s", step, "; ".join(map(str, objections)))
            # Asked again when the period is over, and at the end: to look at the state may take its time.
            self._periods.restart(step)
            return False
        for listener in self._listeners:
            listener.before_save(session, step)
        if write:
            metrics = measured(session, self._metric)
            if self._metric is not None and not metrics and self._done is not None and not self._said_unmeasured:
                self._said_unmeasured = True
                _log.warning(
                    "best=%r has no value at global step %d, since what it needs was not published or fed yet: "
                    "checkpoints without it are not among the best",
                    self._metric,
                    step,
                )
            state = session.state_dict()
            if self._asynchronous and not wait:
                self._background.save(state, step=step, metrics=metrics)
            else:
                self._background.save_now(state, step=step, metrics=metrics)
            self._announce(session, self._background)
        self._done = session.position
        self._periods.restart(step)
        wishes = [listener.after_save(session, step) for listener in self._listeners]
        return any(wishes)

    def _announce(self, session: Session, background: BackgroundSaver) -> None:
        """Tell of what was committed, in the session's own thread."""
        for checkpoint in background.committed():
            _log.info("saved global step %d to %s", checkpoint.step, checkpoint.path)
            session.hook.after_save(session=session, step=checkpoint.step, checkpoint=checkpoint)

    def _close(self, session: Session | None) -> None:
        """Wait for the save that is under way, and give back the folder and the memory."""
        background, self._background = self._background, None
        if background is None or self._saver is None:
            return
        try:
            background.wait()
            background.raise_failure()
        finally:
            self._saver.close()
            if session is not None:
                self._announce(session, background)
