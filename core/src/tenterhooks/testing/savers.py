"""Checkpoints in memory: for tests of what is saved and restored, with nothing installed and nothing written."""

import copy
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from tenterhooks.hooks import SessionRunContext, SessionRunHook, SessionRunValues
from tenterhooks.savers import Checkpoint

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.session import Session

__all__ = ["KeepEachStep", "MemorySaver"]

_NO_METRICS: Mapping[str, float] = MappingProxyType({})


class MemorySaver:
    """A `tenterhooks.Saver` that keeps all checkpoints in memory.

    Attributes:
        saved: Each checkpoint, with what was saved in it, in the order in which they were committed.
        closed: Whether `close` was called last, and not `open`.
    """

    def __init__(self) -> None:
        self.saved: list[tuple[Checkpoint, dict[str, Any]]] = []
        self.closed = False

    def save(self, state: Mapping[str, object], *, step: int, metrics: Mapping[str, float] = _NO_METRICS) -> Checkpoint:
        """Keep a copy of the state."""
        checkpoint = Checkpoint(Path(f"memory-{len(self.saved)}"), step, len(self.saved), metrics)
        self.saved.append((checkpoint, copy.deepcopy(dict(state))))
        return checkpoint

    def restore(self, checkpoint: Checkpoint | None = None) -> tuple[Checkpoint, dict[str, Any]] | None:
        """A checkpoint, by default the newest, and a copy of what was saved in it."""
        for found, state in reversed(self.saved):
            if checkpoint in (None, found):
                return found, copy.deepcopy(state)
        return None

    def verify(self, checkpoint: Checkpoint) -> str | None:
        """Say whether it is here."""
        return None if checkpoint in self.list() else "it is not here"

    def list(self) -> "list[Checkpoint]":
        """All checkpoints."""
        return [checkpoint for checkpoint, _ in self.saved]

    def latest(self) -> Checkpoint | None:
        """The newest."""
        return self.saved[-1][0] if self.saved else None

    def best(self, metric: str | None = None, mode: Literal["min", "max"] | None = None) -> Checkpoint | None:
        """The one with the least or greatest value of a metric."""
        name = metric or ""
        values = [(found.metrics[name], found) for found in self.list() if name in found.metrics]
        values.sort(key=lambda value: value[0], reverse=mode == "max")
        return values[0][1] if values else None

    def open(self) -> None:
        """There is nothing to take."""
        self.closed = False

    def close(self) -> None:
        """There is nothing to give back."""
        self.closed = True

    def until(self, step: int) -> "MemorySaver":
        """One with the checkpoints up to this step alone: what a session that was killed then has left."""
        other = MemorySaver()
        other.saved = [(checkpoint, state) for checkpoint, state in self.saved if checkpoint.step <= step]
        return other


class KeepEachStep(SessionRunHook):
    """Saves at a session's start and after each run, unless a hook objects.

    Hooks that listen to `before_save` and `after_save`, as a saver calls them, are called.

    Args:
        saver: Where it saves.

    Attributes:
        objections: What was said by hooks that objected, by the step that was not saved.
        requested: The steps at which somebody asked for a checkpoint.
    """

    name = "keep-each-step"
    saves_state = True

    def __init__(self, saver: MemorySaver) -> None:
        self._saver = saver
        self.objections: dict[int, list[object]] = {}
        self.requested: list[int] = []

    def after_create_session(self, session: "Session", coord: "Coordinator") -> None:
        """Save, unless the session was restored."""
        if session.restored is None:
            self._save(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save."""
        if run_context.session.checkpoint_requested:
            self.requested.append(run_context.session.global_step)
        self._save(run_context.session)

    def _save(self, session: "Session") -> None:
        step = session.global_step
        # Nobody specifies them where no saver is in the session, and they are called all the same.
        before, after = (getattr(session.hook, name, None) for name in ("before_save", "after_save"))
        objections = [] if before is None else before(session=session, step=step)
        if objections:
            self.objections[step] = objections
            return
        checkpoint = self._saver.save(session.state_dict(), step=step)
        if after is not None:
            after(session=session, step=step, checkpoint=checkpoint)
