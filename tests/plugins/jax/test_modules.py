"""Flax's NNX: objects that change in place, restored in place."""

import copy
from typing import Any

import numpy as np
import pytest

from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches

WHY = "JAX is not installed: pip install -r requirements-jax.txt"
jax = pytest.importorskip("jax", reason=WHY)
nnx = pytest.importorskip("flax.nnx", reason=WHY)
optax = pytest.importorskip("optax", reason=WHY)

jnp = jax.numpy


def state(seed: int, features: int = 3) -> dict[str, Any]:
    rngs = nnx.Rngs(seed)
    layers = [nnx.Linear(2, features, rngs=rngs), nnx.BatchNorm(features, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)]
    model = nnx.Sequential(*layers, nnx.Linear(features, 1, rngs=rngs))
    return {"model": model, "optimizer": nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param), "rngs": rngs}


def train(entries: dict[str, Any], steps: int) -> None:
    def loss_of(model: Any, x: Any) -> Any:
        return (model(x) ** 2).mean()

    for _ in range(steps):
        x = jax.random.normal(entries["rngs"].params(), (8, 2))
        gradient = nnx.grad(loss_of)(entries["model"], x)
        entries["optimizer"].update(entries["model"], gradient)


def bits(entries: dict[str, Any]) -> list[bytes]:
    def of(leaf: Any) -> bytes:
        key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if key else leaf).tobytes()

    return [of(leaf) for entry in entries.values() for leaf in jax.tree_util.tree_leaves(nnx.state(entry))]


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(copy.deepcopy(saved)), ())


def test_a_training_goes_on_from_where_it_was_in_the_same_objects() -> None:
    through, resumed = state(0), state(1)
    train(through, 2)
    saved = capture(through, "v")
    objects = dict(resumed)
    kernel = resumed["model"].layers[0].kernel
    assert list(mismatches(resumed, saved, "v")) == []
    assert bits(resumed) != bits(through)
    load(resumed, saved)
    assert all(resumed[name] is objects[name] for name in objects)
    assert resumed["model"].layers[0].kernel is kernel
    assert bits(resumed) == bits(through)
    for entries in (through, resumed):
        train(entries, 2)
    assert bits(resumed) == bits(through)


def test_what_does_not_fit_is_named_by_the_attributes() -> None:
    problems = list(mismatches(state(0, features=4), capture(state(0), "v"), "v"))
    array = "an array of JAX of float32 and shape"
    assert f"v/model/layers/0/kernel: {array} [2, 4] here, {array} [2, 3] in the checkpoint" in problems
    assert f"v/optimizer/opt_state/0/mu/layers/0/bias: {array} [4] here, {array} [3] in the checkpoint" in problems
    assert list(mismatches(state(0)["model"], 3, "v")) == ["v: a dict here, a int in the checkpoint"]
