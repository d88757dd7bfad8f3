"""`MonitoredTrainingSession`: a monitored session with the hooks that its arguments ask for."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tenterhooks.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator, graph_of
from tenterhooks.graph import Graph
from tenterhooks.monitored_session import MonitoredSession
from tenterhooks.plugins import make_hook, make_hooks

__all__ = ["MonitoredTrainingSession"]


class _Default(float):
    """A period that holds where no other one is given, and reads so."""

    def __repr__(self) -> str:
        return f"{float(self)} unless save_checkpoint_steps is given"


_SAVE_SECS = _Default(600.0)


def MonitoredTrainingSession(  # noqa: N802 - TensorFlow's name.
    *,
    graph: Graph | None = None,
    state: Mapping[str, Any] | None = None,
    is_chief: bool = True,
    checkpoint_dir: str | Path | None = None,
    hooks: Iterable[object] = (),
    chief_only_hooks: Iterable[object] = (),
    save_checkpoint_secs: float | None = _SAVE_SECS,
    save_checkpoint_steps: int | None = None,
    save_summaries_steps: int | None = None,
    save_summaries_secs: float | None = None,
    log_step_count_steps: int | None = None,
    stop_grace_period_secs: float = 120.0,
    max_wait_secs: float = 7200.0,
    summary_dir: str | Path | None = None,
    max_to_keep: int | None = 5,
    max_recoveries: int = 10,
    sleep: Callable[[float], object] = time.sleep,
) -> MonitoredSession:
    """Open a monitored session that restores, saves, writes summaries and counts steps as its arguments say.

    The order of the hooks: `chief_only_hooks`, step counter, summaries, `hooks`, and the saver after all. A period of
    None or 0 switches its hook off. Each of them is the plugin of that short name: `step-counter`, `summary`,
    `checkpoint`.

    Args:
        graph: The graph; by default the one that is the default graph. Without one, `steps` and `publish` are the loop.
        state: What a loop of the program's own saves and restores, by name, in place of a graph.
        is_chief: Whether this process initialises and saves. Any other restores what the chief has saved, and gets
            just `hooks`.
        checkpoint_dir: The folder of the checkpoints: the newest whole one is restored, and new ones are saved into it.
        hooks: Hooks: objects, or short names of installed plugins.
        chief_only_hooks: Hooks that only the chief gets.
        save_checkpoint_secs: The seconds between two checkpoints: by default 600, none if `save_checkpoint_steps` is
            given, none if a hook among `hooks` saves into `checkpoint_dir`.
        save_checkpoint_steps: The steps between two checkpoints. Both periods may be given.
        save_summaries_steps: The steps between two writes of the collection `summaries`.
        save_summaries_secs: The seconds between two of them, in place of the steps.
        log_step_count_steps: The steps between two measurements of the steps per second.
        stop_grace_period_secs: How many seconds threads of the coordinator have at the end.
        max_wait_secs: How many seconds a process that is not the chief waits for a checkpoint.
        summary_dir: The folder for summaries; by default `checkpoint_dir`.
        max_to_keep: How many checkpoints are kept; None keeps all.
        max_recoveries: After how many failures without progress it gives up.
        sleep: Sleeps for a number of seconds.

    Raises:
        HookError: Something in the hooks is no hook, or belongs to another open session.
        PluginError: A plugin that is asked for is missing, broken or claimed twice.
        CheckpointError: The checkpoints cannot be restored, or the folder cannot be written.
    """
    active = make_hooks(hooks)
    graph = graph_of(None, graph, state)
    creator: SessionCreator
    if is_chief:
        creator = ChiefSessionCreator(graph, checkpoint_dir)
        defaults: list[object] = make_hooks(chief_only_hooks)
        if log_step_count_steps:
            defaults.append(make_hook("step-counter", every_n_steps=log_step_count_steps))
        if save_summaries_steps or save_summaries_secs:
            defaults.append(
                make_hook("summary", save_steps=save_summaries_steps or None, save_secs=save_summaries_secs or None)
            )
        active = defaults + active
        if save_checkpoint_secs is _SAVE_SECS:
            saved = any(_saves_into(hook, checkpoint_dir) for hook in active)
            save_checkpoint_secs = None if save_checkpoint_steps is not None or saved else float(_SAVE_SECS)
        if checkpoint_dir is not None and (save_checkpoint_secs or save_checkpoint_steps):
            active.append(
                make_hook(
                    "checkpoint",
                    checkpoint_dir=checkpoint_dir,
                    save_secs=save_checkpoint_secs or None,
                    save_steps=save_checkpoint_steps or None,
                    max_to_keep=max_to_keep,
                )
            )
    else:
        creator = WorkerSessionCreator(graph, checkpoint_dir, max_wait_secs=max_wait_secs)
    return MonitoredSession(
        creator,
        active,
        stop_grace_period_secs=stop_grace_period_secs,
        max_recoveries=max_recoveries,
        sleep=sleep,
        summary_dir=summary_dir,
    )


def _saves_into(hook: object, checkpoint_dir: str | Path | None) -> bool:
    """Whether a hook is a saver with that folder, or with the session's, which it is."""
    if not getattr(hook, "saves_state", False) or checkpoint_dir is None:
        return False
    directory = getattr(hook, "checkpoint_dir", None)
    return directory is None or Path(directory).resolve() == Path(checkpoint_dir).resolve()
