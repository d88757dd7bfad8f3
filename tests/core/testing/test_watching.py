"""What hooks ask for, in a form that can be compared."""

import math

import numpy as np

import tenterhooks as th
from tenterhooks.testing import Recorder, run_hooks
from tenterhooks.testing.watching import Watcher, plain


def test_what_all_ask_for_is_taken_once() -> None:
    watcher = Watcher()
    hooks = [Recorder(before_run=lambda context: th.SessionRunArgs("loss", {"rate": 0.5}, {"trace": True})), Recorder()]
    run_hooks([watcher, *hooks], {"loss": 1.0}, steps=1, feeds={"rate": 0.1})
    assert watcher.take() == [{"fetches": "loss", "feeds": {"rate": 0.5}, "options": {"trace": True}}]
    assert watcher.take() == []


def test_nodes_stand_as_their_names_and_arrays_as_lists() -> None:
    graph = th.Graph()
    node = graph.placeholder("x")
    assert plain({node: [node, (1, "a", None)]}) == {"x": ["x", [1, "a", None]]}
    assert plain(np.array([1.0, math.nan])) == [1.0, "nan"]
    assert plain(np.float64(2.0)) == 2.0


def test_nan_is_the_same_as_nan() -> None:
    assert plain(float("nan")) == plain(math.nan)


def test_other_objects_stand_as_their_types() -> None:
    assert plain([object(), th.Graph()]) == ["object", "Graph"]
