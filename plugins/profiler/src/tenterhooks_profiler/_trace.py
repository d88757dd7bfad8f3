"""The trace of one run, in the Trace Event Format that Perfetto and Chrome read."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tenterhooks.hooks import NodeSeconds
from tenterhooks_profiler._stopwatch import Call

__all__ = ["trace_of", "write_json"]

_NO_NODES: Mapping[str, float] = {}


def trace_of(
    calls: Sequence[Call], step: int, work: str, nodes: Mapping[str, float] = _NO_NODES, offset: float = 0.0
) -> dict[str, Any]:
    """Make the trace of a run, as slices within slices: the run, its parts, and in these hooks and nodes.

    Args:
        calls: The calls of hooks in it.
        step: The global step after it.
        work: What lies between the hooks.
        nodes: The time of each node, on the clock `time.perf_counter`; empty where none was computed.
        offset: What is to be added to that to get the time of the calls.
    """
    first = [call.stage for call in calls].index("after_run")
    # What follows may ask for the next run already.
    before = [call for call in calls[:first] if call.stage == "before_run"]
    after = [call for call in calls[first:] if call.stage == "after_run"]
    start, stop = before[0].start, after[-1].stop
    asked, told = before[-1].stop, after[0].start
    events = [
        {"ph": "M", "name": "process_name", "args": {"name": "tenterhooks"}},
        {"ph": "M", "name": "thread_name", "args": {"name": "session"}},
        _slice(f"step {step}", "run", start, stop, {"global_step": step}),
        *_stage(before),
        _slice(work, "work", asked, told),
        *(_slice(name, "node", begun, over) for name, begun, over in _spans(nodes, offset, asked, told)),
        *_stage(after),
    ]
    here = {"pid": os.getpid(), "tid": 1}
    return {"displayTimeUnit": "ms", "traceEvents": [{**event, **here} for event in events]}


def _stage(calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
    """A stage as a whole, and the hooks in it."""
    yield _slice(calls[0].stage, "stage", calls[0].start, calls[-1].stop)
    for call in calls:
        yield _slice(call.hook, "hook", call.start, call.stop, {"stage": call.stage})


def _spans(nodes: Mapping[str, float], offset: float, first: float, last: float) -> Iterator[tuple[str, float, float]]:
    """When each node was computed, within what lies between the hooks: clocks may differ by a little."""
    if not isinstance(nodes, NodeSeconds):
        return
    for name, seconds in nodes.items():
        start = nodes.began[name] + offset
        yield name, min(max(start, first), last), min(max(start + seconds, first), last)


def _slice(name: str, kind: str, start: float, stop: float, more: dict[str, Any] | None = None) -> dict[str, Any]:
    # Microseconds, to the nanosecond. Rounded ends, not lengths, so that what lies within another one stays there.
    ts, end = round(start * 1e6, 3), round(stop * 1e6, 3)
    return {"ph": "X", "name": name, "cat": kind, "ts": ts, "dur": round(end - ts, 3), "args": more or {}}


def write_json(path: Path, content: object) -> None:
    """Write a file as a whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(json.dumps(content), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
