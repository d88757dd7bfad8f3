"""The hooks of a scenario: the scripted one, and the built-in ones made as it says."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, assert_never

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, CheckpointSaverListener
from tenterhooks_feed_fn import FeedFnHook
from tenterhooks_final_ops import FinalOpsHook
from tenterhooks_logging import LoggingTensorHook
from tenterhooks_nan import NanTensorHook
from tenterhooks_step_counter import StepCounterHook
from tenterhooks_stop_at_step import StopAtStepHook
from tenterhooks_summary import SummarySaverHook

from . import form
from .values import plain

__all__ = ["ERRORS", "ON_PURPOSE", "Events", "build_hook", "error_named"]

Events = list[list[Any]]

ERRORS: Mapping[str, type[BaseException]] = {
    "Aborted": th.AbortedError,
    "KeyboardInterrupt": KeyboardInterrupt,
    "OutOfRange": th.OutOfRangeError,
    "StopIteration": StopIteration,
    "Unavailable": th.UnavailableError,
    "Value": ValueError,
}
# Tells the interrupts of a scenario from that of somebody who waits for the tests.
ON_PURPOSE = "raised by the scenario"


def error_named(name: str) -> BaseException:
    return ERRORS[name](ON_PURPOSE)


class Scripted(th.SessionRunHook):
    """Records each call, then does what the scenario says for that call."""

    def __init__(self, hook: form.Scripted, events: Events) -> None:
        self.name = hook["name"]
        self._on = hook["on"]
        self._events = events
        self._calls: Counter[str] = Counter()

    def begin(self, graph: th.Graph) -> None:
        self._act("begin")

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self._act("after_create_session", session.global_step)

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        original = run_context.original_args
        seen = {
            "original_fetches": plain(original.fetches),
            "original_feed": plain(original.feed_dict),
            "stop_requested": run_context.stop_requested,
        }
        action = self._act("before_run", seen, run_context=run_context)
        if not action.keys() & {"fetches", "feed"}:
            return None
        return th.SessionRunArgs(action.get("fetches"), action.get("feed"))

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        seen = {"results": plain(run_values.results), "stop_requested": run_context.stop_requested}
        self._act("after_run", seen, run_context=run_context)

    def end(self, session: th.Session) -> None:
        self._act("end", session.global_step)

    def _act(self, stage: str, *seen: object, run_context: th.SessionRunContext | None = None) -> form.Action:
        self._events.append([self.name, stage, *seen])
        call = self._calls[stage]
        self._calls[stage] += 1
        actions = self._on.get(stage, {})
        action = actions.get(str(call), actions.get("*", {}))
        if action.get("request_stop"):
            assert run_context is not None
            run_context.request_stop()
        if "raise" in action:
            raise error_named(action["raise"])
        return action


class _Listener(CheckpointSaverListener):
    """Records each call, and asks for a stop once a step is reached."""

    def __init__(self, name: str, stop_at: int | None, events: Events) -> None:
        self._name = name
        self._stop_at = stop_at
        self._events = events

    def begin(self) -> None:
        self._events.append([self._name, "begin"])

    def before_save(self, session: th.Session, step: int) -> None:
        self._events.append([self._name, "before_save", step])

    def after_save(self, session: th.Session, step: int) -> bool:
        self._events.append([self._name, "after_save", step])
        return self._stop_at is not None and step >= self._stop_at

    def end(self, session: th.Session, step: int) -> None:
        self._events.append([self._name, "end", step])


def _recording_formatter(name: str, events: Events) -> Callable[[Mapping[str, object]], str]:
    def record(values: Mapping[str, object]) -> str:
        events.append([name, "log", plain(values)])
        return ""

    return record


def build_hook(hook: form.Hook, *, phase: int, folder: Path, events: Events) -> th.SessionRunHook:
    """A hook as the scenario says.

    Args:
        hook: What the scenario says.
        phase: The number of the phase.
        folder: The scenario's folder.
        events: Where the hook records.
    """
    match hook["kind"]:
        case "Scripted":
            return Scripted(hook, events)
        case "StopAtStep":
            return StopAtStepHook(num_steps=hook.get("num_steps"), last_step=hook.get("last_step"))
        case "NanTensor":
            return NanTensorHook("loss", fail_on_nan_loss=hook["fail_on_nan_loss"])
        case "LoggingTensor":
            return LoggingTensorHook(
                hook["tensors"],
                every_n_iter=hook.get("every_n_iter"),
                at_end=hook["at_end"],
                formatter=_recording_formatter(hook["name"], events),
            )
        case "CheckpointSaver":
            listener = _Listener(f"{hook['name']}.listener", hook.get("stop_at"), events)
            return CheckpointSaverHook(
                folder / hook.get("dir", hook["name"]),
                save_steps=hook["save_steps"],
                listeners=[listener] if hook["listener"] else [],
                max_to_keep=None,
            )
        case "SummarySaver":
            return SummarySaverHook(
                save_steps=hook["save_steps"],
                output_dir=folder / f"{hook['name']}.{phase}",
                tensors=["loss"],
            )
        case "StepCounter":
            return StepCounterHook(every_n_steps=hook["every_n_steps"], output_dir=folder / f"{hook['name']}.{phase}")
        case "FinalOps":
            return FinalOpsHook(hook["fetches"], final_ops_feed_dict=hook.get("feed"))
        case "FeedFn":
            feed = hook["feed"]
            return FeedFnHook(lambda: feed)
        case kind:
            assert_never(kind)
