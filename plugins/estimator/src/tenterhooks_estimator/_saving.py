"""Who is told of the saves of a training, and the saver that tells them."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import tenterhooks as th
from tenterhooks_estimator.run_config import RunConfig

__all__ = ["SavingListener", "saver_for"]


@runtime_checkable
class SavingListener(Protocol):
    """What is told of each save: `CheckpointSaverListener` of tenterhooks-checkpoint, for instance."""

    def begin(self) -> None:
        """Called when the session begins."""

    def before_save(self, session: th.Session, step: int) -> None:
        """Called before a save."""

    def after_save(self, session: th.Session, step: int) -> object:
        """Called after a save, which is on the disk; something true asks for a stop."""

    def end(self, session: th.Session, step: int) -> None:
        """Called at a clean end, after the last save."""


def saver_for(listeners: list[SavingListener], hooks: Iterable[object], config: RunConfig) -> object:
    """The hook `checkpoint`, with listeners.

    Args:
        listeners: Those.
        hooks: The other hooks of the training.
        config: How often to save.

    Raises:
        TypeError: Something is no listener.
        ValueError: There is a saver among the hooks, or none is wanted.
        PluginError: The hook is not installed.
    """
    for listener in listeners:
        if not isinstance(listener, SavingListener):
            raise TypeError(
                f"{listener!r:.60} is no saving listener: it has the methods begin, before_save, after_save and end"
            )
    for hook in hooks:
        if (isinstance(hook, str) and hook == "checkpoint") or getattr(hook, "saves_state", False):
            raise ValueError(
                f"saving listeners are told by the saver, and the hooks have one already, {hook!r}: give them to that "
                "one, as listeners="
            )
    periods = {name.replace("save_checkpoint_", "save_"): period for name, period in config.save_periods.items()}
    if periods and not any(periods.values()):
        raise ValueError("saving listeners are given, and the RunConfig switches saving off: nothing would tell them")
    periods = {name: period or None for name, period in periods.items()}
    return th.make_hook("checkpoint", listeners=listeners, max_to_keep=config.keep_checkpoint_max or None, **periods)
