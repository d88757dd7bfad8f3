"""The form of a scenario: its types, and a check that nothing in one would go unnoticed by the runner."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

__all__ = [
    "Action",
    "CheckpointSaver",
    "Driver",
    "FeedFn",
    "FinalOps",
    "Hook",
    "LoggingTensor",
    "NanTensor",
    "Outcome",
    "Phase",
    "PhaseRecord",
    "Record",
    "Scenario",
    "Scripted",
    "Session",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "unknown",
]

# The keys are names; typed so, since a mapping of nodes or names takes no mapping of just names.
Feed: TypeAlias = dict[Any, float]

# "raise" is a keyword, so these cannot be written as classes.
Stage = TypedDict("Stage", {"raise": NotRequired[str]})
AfterRun = TypedDict("AfterRun", {"raise": NotRequired[str], "request_stop": NotRequired[bool]})
Action = TypedDict(
    "Action",
    {
        "raise": NotRequired[str],
        "request_stop": NotRequired[bool],
        "fetches": NotRequired[Any],
        "feed": NotRequired[Feed],
    },
)


class Scripted(TypedDict):
    kind: Literal["Scripted"]
    name: str
    on: dict[str, dict[str, Action]]


class StopAtStep(TypedDict):
    kind: Literal["StopAtStep"]
    name: str
    num_steps: NotRequired[int]
    last_step: NotRequired[int]


class NanTensor(TypedDict):
    kind: Literal["NanTensor"]
    name: str
    fail_on_nan_loss: bool


class LoggingTensor(TypedDict):
    kind: Literal["LoggingTensor"]
    name: str
    tensors: list[str]
    every_n_iter: NotRequired[int]
    at_end: bool


class CheckpointSaver(TypedDict):
    kind: Literal["CheckpointSaver"]
    name: str
    dir: NotRequired[str]
    save_steps: int
    listener: bool
    stop_at: NotRequired[int]


class SummarySaver(TypedDict):
    kind: Literal["SummarySaver"]
    name: str
    save_steps: int


class StepCounter(TypedDict):
    kind: Literal["StepCounter"]
    name: str
    every_n_steps: int


class FinalOps(TypedDict):
    kind: Literal["FinalOps"]
    name: str
    fetches: Any
    feed: NotRequired[Feed]


class FeedFn(TypedDict):
    kind: Literal["FeedFn"]
    name: str
    feed: Feed


Hook: TypeAlias = (
    Scripted | StopAtStep | NanTensor | LoggingTensor | CheckpointSaver | SummarySaver | StepCounter | FinalOps | FeedFn
)


class MonitoredSession(TypedDict):
    kind: Literal["MonitoredSession"]
    dir: NotRequired[str]


class SingularMonitoredSession(TypedDict):
    kind: Literal["SingularMonitoredSession"]
    dir: NotRequired[str]


class MonitoredTrainingSession(TypedDict):
    kind: Literal["MonitoredTrainingSession"]
    save_checkpoint_steps: int
    save_summaries_steps: NotRequired[int]
    log_step_count_steps: int


Session: TypeAlias = MonitoredSession | SingularMonitoredSession | MonitoredTrainingSession


class Driver(TypedDict):
    fetches: Any
    feed: NotRequired[Feed]
    max_runs: int
    mode: NotRequired[Literal["step_fn"]]
    request_stop_at: NotRequired[int]
    raise_after: NotRequired[int]
    error: NotRequired[str]


class Phase(TypedDict):
    session: Session
    hooks: list[Hook]
    driver: Driver


class Outcome(TypedDict):
    exception: str | None
    runs: int
    should_stop: bool | None
    final_ops: dict[str, Any]


class PhaseRecord(TypedDict):
    events: list[list[Any]]
    outcome: Outcome


class Record(TypedDict):
    phases: list[PhaseRecord]
    summaries: dict[str, dict[str, list[int]]]
    checkpoints: dict[str, list[int]]


class Scenario(TypedDict):
    id: str
    batches: list[float | str] | None
    phases: list[Phase]
    expected: Record


_HOOKS = {
    "Scripted": Scripted,
    "StopAtStep": StopAtStep,
    "NanTensor": NanTensor,
    "LoggingTensor": LoggingTensor,
    "CheckpointSaver": CheckpointSaver,
    "SummarySaver": SummarySaver,
    "StepCounter": StepCounter,
    "FinalOps": FinalOps,
    "FeedFn": FeedFn,
}
_SESSIONS = {
    "MonitoredSession": MonitoredSession,
    "SingularMonitoredSession": SingularMonitoredSession,
    "MonitoredTrainingSession": MonitoredTrainingSession,
}
_ACTIONS = {
    "begin": Stage,
    "after_create_session": Stage,
    "before_run": Action,
    "after_run": AfterRun,
    "end": Stage,
}


def unknown(scenario: Mapping[str, Any], *, nodes: frozenset[str], errors: frozenset[str]) -> list[str]:
    """All in a scenario that the runner would not carry out as the scenario means it.

    Args:
        scenario: The scenario.
        nodes: The names of the model's nodes.
        errors: The names of the errors that may be raised.
    """
    return [problem for part in _parts(scenario) for problem in _problems(*part, nodes=nodes, errors=errors)]


def _parts(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Each object of a scenario with its place and the type that it must have."""
    yield "scenario", scenario, Scenario
    for i, phase in enumerate(scenario["phases"]):
        place = f"phases[{i}]"
        yield place, phase, Phase
        yield f"{place}.driver", phase["driver"], Driver
        yield f"{place}.session", phase["session"], _SESSIONS.get(phase["session"]["kind"])
        for hook in phase["hooks"]:
            at = f"{place}.{hook['name']}"
            yield at, hook, _HOOKS.get(hook["kind"])
            for stage, calls in hook.get("on", {}).items():
                for call, action in calls.items():
                    known = _ACTIONS.get(stage) if call == "*" or call.isdecimal() else None
                    yield f"{at}.{stage}[{call}]", action, known
    yield "expected", scenario["expected"], Record
    for i, record in enumerate(scenario["expected"]["phases"]):
        yield f"expected.phases[{i}]", record, PhaseRecord
        yield f"expected.phases[{i}].outcome", record["outcome"], Outcome


def _problems(
    place: str, part: Mapping[str, Any], form: Any, *, nodes: frozenset[str], errors: frozenset[str]
) -> Iterator[str]:
    if form is None:
        yield f"{place}: of a kind that the runner does not know"
        return
    required, optional = form.__required_keys__, form.__optional_keys__
    yield from (f"{place}: no {key!r}" for key in sorted(required - part.keys()))
    yield from (f"{place}: unknown key {key!r}" for key in sorted(part.keys() - required - optional))
    named = {*_names(part.get("fetches")), *part.get("feed", ()), *part.get("tensors", ())}
    yield from (f"{place}: unknown node {name!r}" for name in sorted(named - nodes))
    raised = {part[key] for key in ("raise", "error") if key in part}
    yield from (f"{place}: unknown error {name!r}" for name in sorted(raised - errors))
    if part.get("mode", "step_fn") != "step_fn":
        yield f"{place}: unknown mode {part['mode']!r}"
    for key, needs in (("request_stop_at", "mode"), ("raise_after", "error"), ("error", "raise_after")):
        if key in part and needs not in part:
            yield f"{place}: {key!r} without {needs!r}"
    if "stop_at" in part and not part["listener"]:
        yield f"{place}: 'stop_at' without a listener"


def _names(fetches: Any) -> Iterator[str]:
    """The names in a structure of fetches."""
    match fetches:
        case None:
            return
        case str():
            yield fetches
        case list():
            for fetch in fetches:
                yield from _names(fetch)
        case dict():
            for fetch in fetches.values():
                yield from _names(fetch)
        case _:
            yield repr(fetches)
