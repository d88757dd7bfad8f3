"""Faults of resuming that users met elsewhere, each shown to be absent in whole sessions and their files."""

import collections
import copy
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, Saver
from tenterhooks_stop_at_step import StopAtStepHook

Array = np.ndarray[Any, Any]
Log = list[tuple[int, list[int]]]

EPOCH = 5  # batches
LAST = 3 * EPOCH


class Loader:
    """Batches of three in another order in each epoch; it knows where it stands."""

    def __init__(self) -> None:
        self.epoch, self.position = 0, 0

    def __iter__(self) -> Iterator[list[int]]:
        while True:
            order = np.random.default_rng([7, self.epoch]).permutation(3 * EPOCH)
            while self.position < EPOCH:
                self.position += 1
                yield order[3 * self.position - 3 : 3 * self.position].tolist()
            self.epoch, self.position = self.epoch + 1, 0

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epoch, self.position = state["epoch"], state["position"]


def shuffled(order: np.random.Generator) -> Iterator[list[int]]:
    """Batches of three in another order in each epoch, by a generator that is a variable."""
    while True:
        ids = order.permutation(3 * EPOCH)
        yield from (ids[start : start + 3].tolist() for start in range(0, 3 * EPOCH, 3))


def training_graph(source: str, log: Log) -> th.Graph:
    """Weights with momentum and noise. Each step notes its number and its batch."""
    graph = th.Graph()
    graph.variable("order", lambda: np.random.default_rng(1))
    graph.variable("noise", lambda: np.random.default_rng(2))
    graph.variable("w", lambda: np.zeros(3))
    graph.variable("optimizer", lambda: {"velocity": np.zeros(3), "count": 0})
    graph.source("batch", Loader if source == "exact" else shuffled)
    # So the generator has moved when the source is begun.
    graph.train_op(lambda order: order.random(3), name="warm_up", advance=False)
    graph.tensor(lambda w, batch, noise: np.array(batch) - w + noise.normal(size=3), name="gradient")

    @graph.train_op
    def train(w: Array, optimizer: dict[str, Any], gradient: Array, batch: list[int], global_step: int) -> None:
        log.append((global_step, batch))
        optimizer["velocity"] *= 0.9
        optimizer["velocity"] += gradient
        optimizer["count"] += 1
        w += 0.1 * optimizer["velocity"]

    return graph


class CrashError(Exception):
    pass


def train(directory: Path, source: str, log: Log, *, until: int, crash: bool = False) -> dict[str, Any]:
    """Train up to a step, and give what a checkpoint of that step holds."""
    graph = training_graph(source, log)
    hooks = [StopAtStepHook(last_step=LAST if crash else until)]
    state: dict[str, Any] = {}
    with th.MonitoredTrainingSession(
        graph=graph, checkpoint_dir=directory, save_checkpoint_steps=4, max_to_keep=2, hooks=hooks
    ) as session:
        if session.global_step == 0:
            session.run("warm_up")
        while not session.should_stop():
            session.run("train")
            if crash and session.global_step == until:
                raise CrashError
        raw = session.raw_session()
        assert raw is not None
        state.update(copy.deepcopy(raw.state_dict()))
    return state


@pytest.mark.parametrize("source", ["exact", "wound"])
@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "crashed"])
@pytest.mark.parametrize("until", [1, 4, EPOCH - 1, EPOCH, EPOCH + 1, 2 * EPOCH - 2, 2 * EPOCH, 2 * EPOCH + 3])
def test_a_resumed_run_sees_the_batches_that_one_without_a_break_sees(
    tmp_path: Path, source: str, crash: bool, until: int
) -> None:
    expected_log: Log = []
    expected = train(tmp_path / "through", source, expected_log, until=LAST)
    first: Log = []
    if crash:
        with pytest.raises(CrashError):
            train(tmp_path / "resumed", source, first, until=until, crash=True)
    else:
        train(tmp_path / "resumed", source, first, until=until)
    found = Saver(tmp_path / "resumed").restore()
    assert found is not None
    saved = found[0].step
    assert saved == (until // 4 * 4 if crash else until)
    second: Log = []
    resumed = train(tmp_path / "resumed", source, second, until=LAST)
    assert [step for step, _ in second] == list(range(saved, LAST))
    assert first[:saved] + second == expected_log
    assert len({tuple(sorted(itertools.chain(*(ids for _, ids in epoch)))) for epoch in epochs(expected_log)}) == 1
    assert len({str([ids for _, ids in epoch]) for epoch in epochs(expected_log)}) == 3
    assert repr(resumed) == repr(expected)
    assert resumed["variables"]["w"].tobytes() == expected["variables"]["w"].tobytes()


def epochs(log: Log) -> list[Log]:
    return [log[start : start + EPOCH] for start in range(0, len(log), EPOCH)]


# Steps 2, 5 and 8 are better than all before; with a patience of 3 it is step 11 that stops.
LOSSES = [9.0, 8.0, 8.5, 8.2, 7.0, 7.5, 7.4, 6.0, 6.5, 6.4, 6.3, 1.0, 0.5, 0.2, 0.1]


class Patience(th.SessionRunHook):
    """Stops when the loss was not better for so many steps."""

    name = "patience"

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self.best, self.waited = float("inf"), 0

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs("loss")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        better = run_values.results < self.best
        self.best, self.waited = (run_values.results, 0) if better else (self.best, self.waited + 1)
        if self.waited >= self._patience:
            run_context.request_stop("no improvement")

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "waited": self.waited}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.best, self.waited = state["best"], state["waited"]


class Other(th.SessionRunHook):
    """Has a state of its own under its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.runs += 1

    def state_dict(self) -> dict[str, int]:
        return {self.name: self.runs}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.runs = state[self.name]


def stops_at(directory: Path | None, *hooks: object, runs: int | None = None) -> int:
    """The step at which a session of these hooks stops; with a number of runs it is left after these at the latest."""
    graph = th.Graph()
    graph.tensor(lambda global_step: LOSSES[global_step], name="loss")
    graph.train_op(lambda: None, name="train")
    steps = []
    period: dict[str, Any] = (
        {} if any(isinstance(hook, CheckpointSaverHook) for hook in hooks) else {"save_checkpoint_steps": 1}
    )
    with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=directory, hooks=hooks, **period) as session:
        while not session.should_stop() and runs != 0:
            session.run("train")
            runs = None if runs is None else runs - 1
        steps.append(session.global_step)
    return steps[-1]


@pytest.mark.parametrize("interrupted_at", range(1, 11))
def test_early_stopping_stops_an_interrupted_run_where_it_stops_one_without_a_break(
    tmp_path: Path, interrupted_at: int
) -> None:
    assert stops_at(None, Patience(3)) == 11
    assert stops_at(tmp_path, Patience(3), runs=interrupted_at) == interrupted_at
    assert stops_at(tmp_path, Patience(3)) == 11


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::4])
def test_a_hooks_state_does_not_go_by_its_place_in_the_list_nor_by_that_of_the_saver(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    def hooks() -> tuple[Patience, Other, Other, CheckpointSaverHook]:
        return Patience(3), Other("one"), Other("two"), CheckpointSaverHook(tmp_path, save_steps=1)

    first = hooks()
    first[2].runs = 100
    stops_at(tmp_path, *first, runs=9)
    again = hooks()
    stops_at(tmp_path, *(again[place] for place in order), runs=1)
    assert (again[0].best, again[0].waited) == (6.0, 2)
    assert (again[1].runs, again[2].runs) == (10, 110)


def test_what_hooks_are_told_in_the_new_run_holds_and_not_what_the_one_before_was_told(tmp_path: Path) -> None:
    first = [Patience(1), StopAtStepHook(last_step=3), CheckpointSaverHook(tmp_path, save_steps=1, max_to_keep=1)]
    assert stops_at(tmp_path, *first) == 3
    second = [Patience(9), StopAtStepHook(last_step=9), CheckpointSaverHook(tmp_path, save_steps=2, max_to_keep=None)]
    assert stops_at(tmp_path, *second) == 9
    assert [checkpoint.step for checkpoint in Saver(tmp_path).list()] == [3, 5, 7, 9]


def test_resumed_at_its_last_step_again_and_again_a_run_trains_and_saves_nothing_more(tmp_path: Path) -> None:
    assert stops_at(tmp_path, StopAtStepHook(last_step=5)) == 5
    before = Saver(tmp_path).list()
    for last_step in (5, 5, 4, 3):
        assert stops_at(tmp_path, StopAtStepHook(last_step=last_step)) == 5
    assert Saver(tmp_path).list() == before


def test_a_mapping_of_another_kind_comes_back_in_place_or_is_refused(tmp_path: Path) -> None:
    def train(state: dict[str, Any], steps: int) -> None:
        with th.MonitoredTrainingSession(state=state, checkpoint_dir=tmp_path) as session:
            for _ in session.steps(range(steps)):
                state["counts"]["n"] = state["counts"].get("n", 0) + 1

    train({"counts": collections.UserDict()}, 2)
    counts: Any = collections.UserDict()
    train({"counts": counts}, 2)
    assert isinstance(counts, collections.UserDict)
    assert counts["n"] == 2
    with pytest.raises(
        th.CheckpointError, match="variables/fixed: a mappingproxy, which cannot be filled at a restore"
    ):
        th.MonitoredTrainingSession(state={"fixed": MappingProxyType({"a": 1})}, checkpoint_dir=tmp_path / "other")
