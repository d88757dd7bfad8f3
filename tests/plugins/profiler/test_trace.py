"""The traces: read strictly, by what the Trace Event Format asks for, and nested as a viewer nests them."""

import json
import math
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import ManualClock, MemorySaver, Recorder
from tenterhooks.testing.savers import KeepEachStep
from tenterhooks_profiler import ProfilerHook
from tenterhooks_profiler._trace import write_json

Tree = list[tuple[str, "Tree"]]

KEYS = {"X": {"ph", "name", "cat", "ts", "dur", "pid", "tid", "args"}, "M": {"ph", "name", "pid", "tid", "args"}}
# Microseconds, which are written to the nanosecond.
CLOSE = 1e-4


def events_of(path: Path) -> list[dict[str, Any]]:
    """The events of a trace, each of which is well-formed."""

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is no JSON")

    trace = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert trace.keys() == {"displayTimeUnit", "traceEvents"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = trace["traceEvents"]
    for event in events:
        assert event.keys() == KEYS[event["ph"]], event
        assert isinstance(event["name"], str), event
        assert type(event["pid"]) is type(event["tid"]) is int, event
        assert isinstance(event["args"], dict), event
        if event["ph"] == "X":
            assert all(math.isfinite(event[key]) and event[key] >= 0.0 for key in ("ts", "dur")), event
        else:
            assert event["name"] in ("process_name", "thread_name"), event
            assert isinstance(event["args"]["name"], str), event
    return events


def slices(path: Path) -> list[dict[str, Any]]:
    return [event for event in events_of(path) if event["ph"] == "X"]


def tree_of(path: Path) -> Tree:
    """The slices of a trace as a viewer nests them: any two lie one after the other, or one within the other."""
    tree: Tree = []
    around: list[tuple[float, Tree]] = [(math.inf, tree)]
    last = -math.inf
    for event in slices(path):
        start, stop = event["ts"], event["ts"] + event["dur"]
        assert start >= last, f"{event} begins before the one that is noted before it"
        last = start
        while stop > around[-1][0] + CLOSE:
            assert start >= around[-1][0] - CLOSE, f"{event} begins in one that it does not end in"
            around.pop()
        inner: Tree = []
        around[-1][1].append((event["name"], inner))
        around.append((stop, inner))
    return tree


def graph(clock: Callable[[float], object]) -> th.Graph:
    """A graph of a loss, which takes three seconds, and a training op, which takes two."""
    graph = th.Graph()
    graph.variable("w", 1.0)

    def loss(w: float) -> float:
        clock(3.0)
        return w * w

    def train(w: float, loss: float) -> dict[str, float]:
        clock(2.0)
        return {"w": 0.9 * w}

    graph.tensor(loss, name="loss")
    graph.train_op(train, name="train")
    return graph


class Takes(th.SessionRunHook):
    """Takes its time around each run."""

    def __init__(self, name: str, clock: ManualClock) -> None:
        self.name = name
        self._clock = clock

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self._clock.advance(1.0)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._clock.advance(1.0)


class Ticking(ManualClock):
    """Goes on by a millisecond whenever it is read, so that nothing takes no time at all."""

    def __call__(self) -> float:
        self.advance(0.001)
        return super().__call__()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """One clock for hooks and nodes."""
    clock = Ticking()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def hooks(folder: Path, clock: ManualClock) -> list[th.SessionRunHook]:
    return [
        Takes("a", clock),
        ProfilerHook(trace_steps=[2], output_dir=folder, clock=clock),
        Takes("b", clock),
    ]


def test_a_run_is_traced_with_its_hooks_and_nodes(tmp_path: Path, clock: ManualClock) -> None:
    with th.MonitoredSession(graph=graph(clock.advance), hooks=hooks(tmp_path, clock)) as session:
        for _ in range(3):
            session.run("train")
    assert tree_of(tmp_path / "timeline-2.json") == [
        (
            "step 2",
            [
                ("before_run", [("profiler", []), ("a", []), ("b", [])]),
                ("run", [("loss", []), ("train", [])]),
                ("after_run", [("a", []), ("profiler", []), ("b", [])]),
            ],
        )
    ]
    seconds = [
        (event["name"], round(event["ts"] / 1e6), round(event["dur"] / 1e6))
        for event in slices(tmp_path / "timeline-2.json")
    ]
    assert seconds == [
        ("step 2", 9, 9),
        ("before_run", 9, 2),
        ("profiler", 9, 0),
        ("a", 9, 1),
        ("b", 10, 1),
        ("run", 11, 5),
        ("loss", 11, 3),
        ("train", 14, 2),
        ("after_run", 16, 2),
        ("a", 16, 1),
        ("profiler", 17, 0),
        ("b", 17, 1),
    ]


def test_a_pass_is_traced_with_its_body(tmp_path: Path, clock: ManualClock) -> None:
    with th.MonitoredSession(state={}, hooks=hooks(tmp_path, clock)) as session:
        for item in session.steps([1, 2, 3]):
            clock.advance(7.0)
            session.publish(item=item)
    ((_, parts),) = tree_of(tmp_path / "timeline-2.json")
    assert [name for name, _ in parts] == ["before_run", "body", "after_run"]
    (body,) = (event for event in slices(tmp_path / "timeline-2.json") if event["name"] == "body")
    assert round(body["dur"] / 1e6) == 7


def test_the_nodes_of_a_pass_lie_in_its_body(tmp_path: Path, clock: ManualClock) -> None:
    class Doubles(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            graph.tensor(lambda loss: 2 * loss, name="double", inputs=["loss"])

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs("double")

    with th.MonitoredSession(state={}, hooks=[*hooks(tmp_path, clock), Doubles()]) as session:
        for _ in session.steps(range(3)):
            session.publish(loss=1.0)
    ((_, parts),) = tree_of(tmp_path / "timeline-2.json")
    assert ("body", [("double", [])]) in parts


def test_a_saver_is_in_the_trace_though_it_comes_last(tmp_path: Path, clock: ManualClock) -> None:
    saver = KeepEachStep(MemorySaver())
    with th.MonitoredSession(graph=graph(clock.advance), hooks=[saver, *hooks(tmp_path, clock)]) as session:
        for _ in range(2):
            session.run("train")
    ((_, (*_, (_, told))),) = tree_of(tmp_path / "timeline-2.json")
    assert [name for name, _ in told] == ["a", "profiler", "b", "keep-each-step"]


def test_wrappers_are_in_the_trace(tmp_path: Path, clock: ManualClock) -> None:
    class Around:
        name = "around"

        @th.hookimpl(wrapper=True)
        def before_run(self) -> Generator[None, Any, Any]:
            clock.advance(1.0)
            result = yield
            clock.advance(1.0)
            return result

        after_run = before_run

    with th.MonitoredSession(graph=graph(clock.advance), hooks=[Around(), *hooks(tmp_path, clock)]) as session:
        for _ in range(3):
            session.run("train")
    ((_, (asked, _, told)),) = tree_of(tmp_path / "timeline-2.json")
    # The run begins with the profiler, and so within them.
    assert [name for name, _ in asked[1]] == ["profiler", "a", "b", "around"]
    assert [name for name, _ in told[1]] == ["around", "a", "profiler", "b", "around"]


def test_process_and_thread_have_names(tmp_path: Path) -> None:
    with th.MonitoredSession(graph=graph(lambda seconds: None), hooks=hooks(tmp_path, ManualClock())) as session:
        for _ in range(2):
            session.run("train")
    events = events_of(tmp_path / "timeline-2.json")
    assert {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"} == {
        "process_name": "tenterhooks",
        "thread_name": "session",
    }
    assert {(event["pid"], event["tid"]) for event in events} == {(os.getpid(), 1)}


def test_on_the_clock_of_the_machine_slices_lie_within_each_other(tmp_path: Path) -> None:
    hooks = [Recorder("a"), ProfilerHook(save_steps=1, output_dir=tmp_path), Recorder("b")]
    with th.MonitoredSession(graph=graph(lambda seconds: None), hooks=hooks) as session:
        for _ in range(30):
            session.run("train")
    trees = [tree_of(tmp_path / f"timeline-{step}.json") for step in range(2, 31)]
    assert [tree[0][0] for tree in trees] == [f"step {step}" for step in range(2, 31)]
    for ((_, parts),) in trees:
        assert [(name, [inner for inner, _ in within]) for name, within in parts] == [
            ("before_run", ["profiler", "a", "b"]),
            ("run", ["loss", "train"]),
            ("after_run", ["a", "profiler", "b"]),
        ]


def test_nodes_stay_within_their_run_on_a_clock_of_another_pace(tmp_path: Path) -> None:
    with th.MonitoredSession(graph=graph(lambda seconds: None), hooks=hooks(tmp_path, ManualClock())) as session:
        for _ in range(2):
            session.run("train")
    assert len(tree_of(tmp_path / "timeline-2.json")) == 1


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "timeline-1.json"
    write_json(path, {"whole": True})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_json(path, {"whole": object()})
    assert [(each.name, json.loads(each.read_text())) for each in tmp_path.iterdir()] == [(path.name, {"whole": True})]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "timeline-1.json").mkdir()
    with pytest.raises(OSError, match=r"timeline-1\.json"):
        write_json(tmp_path / "timeline-1.json", {})
    assert [each.name for each in tmp_path.iterdir()] == ["timeline-1.json"]
