"""Who wants to know of each save of one saver."""

from tenterhooks import Session

__all__ = ["CheckpointSaverListener"]


class CheckpointSaverListener:
    """Called around the saves of the `CheckpointSaverHook` that it was given to. Override what you want.

    A saver with listeners waits in each save until it is on the disk, as TensorFlow's did. A hook that wants to know of
    all saves in its session, and needs no wait, implements `before_save` and `after_save` instead
    (`tenterhooks_checkpoint.hookspecs`).
    """

    def begin(self) -> None:
        """Called in the saver's `begin`."""

    def before_save(self, session: Session, step: int) -> None:
        """Called before a save."""

    def after_save(self, session: Session, step: int) -> object:
        """Called after a save, which is on the disk; something true asks for a stop."""
        return None

    def end(self, session: Session, step: int) -> None:
        """Called in the saver's `end`, after its last save."""
