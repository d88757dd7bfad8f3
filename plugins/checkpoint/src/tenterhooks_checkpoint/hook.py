"""Saves checkpoints while a session runs."""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import tenterhooks
from tenterhooks import Coordinator, SecondOrStepTimer, Session, SessionRunContext, SessionRunHook, SessionRunValues
from tenterhooks.graph import Graph
from tenterhooks_checkpoint import hookspecs
from tenterhooks_checkpoint.listener import CheckpointSaverListener
from tenterhooks_checkpoint.saver import Saver

__all__ = ["CheckpointSaverHook"]

_log = logging.getLogger(__name__)


class CheckpointSaverHook(SessionRunHook):
    """Saves at the session's creation, whenever a period is over, when somebody asked for it, and at a clean end.

    It acts after all other hooks at every stage, so a checkpoint holds what they left, and a run in which one of them
    failed is not saved. A step that is saved already is not written again.

    Args:
        checkpoint_dir: The folder; by default the session's.
        save_secs: The seconds between two saves.
        save_steps: The steps between two saves. At least one period is given; with both, the first that is over
            saves, and each save restarts both.
        listeners: Called around each save.
        max_to_keep: How many checkpoints are kept; None keeps all.
        saver: Writes the checkpoints; by default `Saver(checkpoint_dir, max_to_keep=max_to_keep)`.
        clock: Gives the time in seconds.

    Raises:
        ValueError: There is no period, or a folder beside a saver that has its own.
    """

    saves_state = True
    hookspecs = hookspecs

    def __init__(
        self,
        checkpoint_dir: str | Path | None = None,
        *,
        save_secs: float | None = None,
        save_steps: int | None = None,
        listeners: Iterable[CheckpointSaverListener] = (),
        max_to_keep: int | None = 5,
        saver: tenterhooks.Saver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if save_secs is None and save_steps is None:
            raise ValueError("a saver needs a period: give save_secs, save_steps or both")
        if saver is not None and checkpoint_dir is not None:
            raise ValueError("give either a checkpoint_dir or a saver, which has its own folder")
        if saver is not None:
            checkpoint_dir = getattr(saver, "directory", None)
        self.checkpoint_dir = None if checkpoint_dir is None else Path(checkpoint_dir)
        self._listeners = list(listeners)
        self._max_to_keep = max_to_keep
        self._given_saver = saver
        self._timers = [
            SecondOrStepTimer(every_secs, every_steps, clock=clock)
            for every_secs, every_steps in ((save_secs, None), (None, save_steps))
            if every_secs is not None or every_steps is not None
        ]

    def begin(self, graph: Graph) -> None:
        """Begin the listeners."""
        self._saver = self._given_saver
        self._done_step: int | None = None
        for timer in self._timers:
            timer.reset()
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Save, unless the session was just restored from what this saver has.

        Raises:
            ValueError: There is no folder.
            CheckpointError: The folder cannot be written.
        """
        if self._saver is None:
            directory = self.checkpoint_dir or session.checkpoint_dir
            if directory is None:
                raise ValueError("a saver needs a folder: pass checkpoint_dir to it or to the session")
            self._saver = Saver(directory, max_to_keep=self._max_to_keep)
        newest = self._saver.latest()
        restored = session.restored
        known = (
            newest is not None
            and restored is not None
            and newest.path.resolve() == Path(restored.checkpoint).resolve()
            # What was not in it is not saved yet.
            and not restored.not_restored
        )
        if self._save(session, write=not known):
            session.request_stop("a checkpoint listener asked for it")

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save if it is due."""
        session = run_context.session
        step = session.global_step
        due = session.checkpoint_requested or any(timer.should_trigger_for_step(step) for timer in self._timers)
        if due and step != self._done_step and self._save(session):
            run_context.request_stop("a checkpoint listener asked for it")

    def end(self, session: Session) -> None:
        """Save the last step, unless it is saved already."""
        if self._done_step != session.global_step:
            self._save(session)
        for listener in self._listeners:
            listener.end(session, session.global_step)

    def _save(self, session: Session, *, write: bool = True) -> bool:
        """Save, and say whether a listener asks for a stop."""
        assert self._saver is not None
        step = session.global_step
        objections = session.hook.before_save(session=session, step=step)
        if objections:
            _log.warning("global step %d is not saved: %s", step, "; ".join(map(str, objections)))
            return False
        for listener in self._listeners:
            listener.before_save(session, step)
        if write:
            checkpoint = self._saver.save(session.state_dict(), step=step)
            _log.info("saved global step %d to %s", step, checkpoint.path)
            session.hook.after_save(session=session, step=step, checkpoint=checkpoint)
        self._done_step = step
        for timer in self._timers:
            timer.update_last_triggered_step(step)
        wishes = [listener.after_save(session, step) for listener in self._listeners]
        return any(wishes)
