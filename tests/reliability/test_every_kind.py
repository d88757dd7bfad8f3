"""State of every kind goes through the files of a checkpoint, and a session that is resumed from it goes on alike."""

import copy
import random
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.generators import copied, is_generator
from tenterhooks_checkpoint import Saver

ROWS = np.dtype([("x", "<f8"), ("n", ">i2"), ("s", "S3"), ("v", "<f4", (2,))])


def graph() -> th.Graph:
    graph = th.Graph()
    graph.variable("rng", lambda: np.random.default_rng(1))
    graph.variable("bits", lambda: np.random.Generator(np.random.SFC64(1)))
    graph.variable("old", lambda: np.random.RandomState(1))
    graph.variable("python", lambda: random.Random(1))
    graph.variable("own", lambda: {"data": random.Random(2)})
    graph.variable("rows", lambda: np.array([(1.5, 2, b"ab", (1, 2)), (np.nan, -2, b"abc", (3, np.inf))], ROWS))
    graph.variable("point", lambda: np.full((), 3.5))
    graph.variable("none", lambda: np.zeros((0, 3), np.float16))
    graph.variable("big", lambda: np.arange(6, dtype=">i4").reshape(2, 3))
    graph.variable("columns", lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    graph.variable("gaps", lambda: np.arange(24.0).reshape(4, 6)[::-2, ::3])
    graph.variable("phase", 1j)
    graph.variable("huge", 2**70)
    graph.variable("table", lambda: {1: "a", None: 2.5, b"k": [np.float32(1)], 0.5: (1, None)})
    graph.variable("weights", lambda: OrderedDict(b=np.ones(2), a=OrderedDict()))
    graph.variable("counts", lambda: Counter("ab"))
    graph.source("batch", lambda own: (own["data"].gauss(0, 1) for _ in range(99)))

    @graph.train_op
    def train(rng: Any, bits: Any, old: Any, python: Any, rows: Any, big: Any, columns: Any, gaps: Any) -> None:
        rows["x"] += rng.random()
        big += int(bits.integers(9))
        columns *= old.normal()
        gaps += python.gauss(0, 1)

    @graph.train_op
    def replace(point: Any, phase: Any, huge: Any, table: Any, batch: Any) -> dict[str, Any]:
        table[len(table)] = batch
        return {"phase": phase * 1j, "huge": huge + 1, "point": point + 1}

    return graph


def looks(value: Any) -> Any:
    """A value with its types, its layout aside, and the next numbers of its generators."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if is_generator(value):
        twin = copied(value)
        return (
            type(value),
            [twin.uniform(0, 1) for _ in range(5)],
            repr(twin.normal() if hasattr(twin, "normal") else 0),
        )
    if isinstance(value, dict):
        return type(value), [(type(key), key, looks(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [looks(entry) for entry in value]
    return type(value), repr(value)


@pytest.mark.parametrize("interrupted_at", [0, 1, 4])
def test_a_resumed_session_has_state_of_every_kind_as_it_was_and_goes_on_alike(
    tmp_path: Path, interrupted_at: int
) -> None:
    whole = th.Session(graph())
    for _ in range(interrupted_at):
        whole.run(["train", "replace"])
    saver = Saver(tmp_path)
    saver.save(copy.deepcopy(whole.state_dict()), step=interrupted_at)
    resumed = th.ChiefSessionCreator(graph(), tmp_path).create_session()
    assert resumed.restored is not None
    assert resumed.restored.not_exact == ()
    for _ in range(4):
        assert looks(resumed.state) == looks(whole.state)
        whole.run(["train", "replace"])
        resumed.run(["train", "replace"])
