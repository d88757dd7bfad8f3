"""Plays a scenario with the classes of this project."""

import logging
from pathlib import Path
from typing import Any, assert_never

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

import tenterhooks as th
from tenterhooks_checkpoint import Saver
from tenterhooks_final_ops import FinalOpsHook

from . import form
from .hooks import ON_PURPOSE, Events, build_hook, error_named
from .model import build_graph
from .values import plain

__all__ = ["play"]

_log = logging.getLogger(__name__)

_AnySession = th.MonitoredSession | th.SingularMonitoredSession


def play(scenario: form.Scenario, folder: Path) -> form.Record:
    """What happened in a scenario, in the form of its `expected`.

    Args:
        scenario: The scenario.
        folder: An empty folder for it.
    """
    return {
        "phases": [_play_phase(scenario, number, folder) for number in range(len(scenario["phases"]))],
        "summaries": _summaries(folder),
        "checkpoints": _checkpoints(folder),
    }


def _play_phase(scenario: form.Scenario, number: int, folder: Path) -> form.PhaseRecord:
    phase = scenario["phases"][number]
    events: Events = []
    final_ops: dict[str, FinalOpsHook] = {}
    hooks: list[th.SessionRunHook] = []
    session: _AnySession | None = None
    error: BaseException | None = None
    try:
        graph = build_graph(scenario["batches"])
        for described in phase["hooks"]:
            hook = build_hook(described, phase=number, folder=folder, events=events)
            hooks.append(hook)
            if isinstance(hook, FinalOpsHook):
                final_ops[described["name"]] = hook
        session = _open_session(phase["session"], graph, hooks, number=number, folder=folder)
        with session:
            _drive(session, phase["driver"], events)
    # An interrupt, too, is an outcome of a scenario.
    except BaseException as caught:
        if isinstance(caught, KeyboardInterrupt) and caught.args != (ON_PURPOSE,):
            raise
        # For whoever asks why a scenario differs: pytest shows it with --log-level=INFO.
        _log.info("%s, phase %d ended with an exception", scenario["id"], number, exc_info=caught)
        error = caught
    return {
        "events": events,
        "outcome": {
            "exception": None if error is None else type(error).__name__,
            "runs": sum(event[:2] == ["driver", "run"] for event in events),
            "should_stop": None if session is None else session.should_stop(),
            "final_ops": {name: plain(hook.final_ops_values) for name, hook in final_ops.items()},
        },
    }


def _open_session(
    session: form.Session,
    graph: th.Graph,
    hooks: list[th.SessionRunHook],
    *,
    number: int,
    folder: Path,
) -> _AnySession:
    match session["kind"]:
        case "MonitoredSession":
            creator = th.ChiefSessionCreator(graph, _start(session.get("dir"), folder))
            return th.MonitoredSession(creator, hooks, sleep=_no_sleep)
        case "SingularMonitoredSession":
            return th.SingularMonitoredSession(hooks, graph=graph, checkpoint_dir=_start(session.get("dir"), folder))
        case "MonitoredTrainingSession":
            return th.MonitoredTrainingSession(
                graph=graph,
                checkpoint_dir=folder / "run",
                summary_dir=folder / f"run.{number}",
                hooks=hooks,
                save_checkpoint_steps=session["save_checkpoint_steps"],
                save_summaries_steps=session.get("save_summaries_steps"),
                log_step_count_steps=session["log_step_count_steps"],
                max_to_keep=None,
                sleep=_no_sleep,
            )
        case kind:
            assert_never(kind)


def _start(name: str | None, folder: Path) -> Path | None:
    """The folder whose newest checkpoint a session starts from."""
    return None if name is None else folder / name


def _no_sleep(seconds: float) -> None:
    """In place of the pauses between recoveries."""


def _drive(session: _AnySession, driver: form.Driver, events: Events) -> None:
    """Run as the scenario's program does."""
    runs = 0

    def step_fn(step_context: th.StepContext) -> Any:
        if runs == driver.get("request_stop_at"):
            return step_context.request_stop()
        return step_context.run_with_hooks(driver["fetches"], feed_dict=driver.get("feed"))

    while not session.should_stop() and runs < driver["max_runs"]:
        if "mode" in driver:
            result = session.run_step_fn(step_fn)
        else:
            result = session.run(driver["fetches"], feed_dict=driver.get("feed"))
        events.append(["driver", "run", plain(result)])
        runs += 1
        if runs == driver.get("raise_after"):
            raise error_named(driver["error"])


def _summaries(folder: Path) -> dict[str, dict[str, list[int]]]:
    """For each folder with points in event files, the steps of each tag, as TensorBoard reads them."""
    summaries: dict[str, dict[str, list[int]]] = {}
    for file in sorted(folder.rglob("*tfevents*")):
        for event in EventFileLoader(str(file)).Load():
            for value in event.summary.value:
                tags = summaries.setdefault(file.parent.relative_to(folder).as_posix(), {})
                tags.setdefault(value.tag, []).append(event.step)
    return summaries


def _checkpoints(folder: Path) -> dict[str, list[int]]:
    """For each folder with checkpoints, the steps that are there, each as often as it is there."""
    kept = {path.name: Saver(path).list() for path in sorted(folder.iterdir()) if path.is_dir()}
    return {name: sorted(checkpoint.step for checkpoint in saved) for name, saved in kept.items() if saved}
