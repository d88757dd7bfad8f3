"""`MonitoredTrainingSession`: a monitored session with the hooks that its arguments ask for."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tenterhooks.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator, graph_of
from tenterhooks.graph import Graph
from tenterhooks.monitored_session import MonitoredSession
from tenterhooks.training_hooks import MAX_TO_KEEP, SAVE_SECS, chiefs_lineup, workers_lineup

__all__ = ["MonitoredTrainingSession"]


def MonitoredTrainingSession(  # noqa: N802 - TensorFlow's name.
    *,
    graph: Graph | None = None,
    state: Mapping[str, Any] | None = None,
    is_chief: bool = True,
    checkpoint_dir: str | Path | None = None,
    hooks: Iterable[object] = (),
    chief_only_hooks: Iterable[object] = (),
    save_checkpoint_secs: float | None = SAVE_SECS,
    save_checkpoint_steps: int | None = None,
    save_summaries_steps: int | None = None,
    save_summaries_secs: float | None = None,
    log_step_count_steps: int | None = None,
    stop_grace_period_secs: float = 120.0,
    max_wait_secs: float = 7200.0,
    summary_dir: str | Path | None = None,
    max_to_keep: int | None = MAX_TO_KEEP,
    max_recoveries: int = 10,
    sleep: Callable[[float], object] = time.sleep,
) -> MonitoredSession:
    """Open a monitored session that restores, saves, writes summaries and counts steps as its arguments say.

    The order of the hooks: `chief_only_hooks`, step counter, summaries, `hooks`, those that are named in the file, the
    environment and on the command line, and the saver after all. A period of None or 0 switches its hook off. Each of
    them is the plugin of that short name: `step-counter`, `summary`, `checkpoint`.

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
        ConfigurationError: What is said of hooks outside of code is wrong.
        CheckpointError: The checkpoints cannot be restored, or the folder cannot be written.
    """
    graph = graph_of(None, graph, state)
    creator: SessionCreator
    if is_chief:
        creator = ChiefSessionCreator(graph, checkpoint_dir)
        lineup = chiefs_lineup(
            hooks,
            chief_only_hooks,
            checkpoint_dir=checkpoint_dir,
            save_checkpoint_secs=save_checkpoint_secs,
            save_checkpoint_steps=save_checkpoint_steps,
            save_summaries_steps=save_summaries_steps,
            save_summaries_secs=save_summaries_secs,
            log_step_count_steps=log_step_count_steps,
            max_to_keep=max_to_keep,
        )
    else:
        creator = WorkerSessionCreator(graph, checkpoint_dir, max_wait_secs=max_wait_secs)
        lineup = workers_lineup(hooks)
    return MonitoredSession(
        creator,
        lineup,
        stop_grace_period_secs=stop_grace_period_secs,
        max_recoveries=max_recoveries,
        sleep=sleep,
        summary_dir=summary_dir,
    )
