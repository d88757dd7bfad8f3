"""The stages that a session with a saver has besides.

Any hook can implement them, marked `@hookimpl(optionalhook=True)`.
"""

from tenterhooks import Checkpoint, Session, hookspec

__all__ = ["after_save", "before_save"]


@hookspec
def before_save(session: Session, step: int) -> str | None:
    """Called before a save; a reason that is returned keeps the state from being saved."""


@hookspec
def after_save(session: Session, step: int, checkpoint: Checkpoint) -> None:
    """Called in the session's own thread after a checkpoint was committed: where a thread saves, in a later run."""
