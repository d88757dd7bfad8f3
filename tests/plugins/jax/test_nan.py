"""The NaN guard on arrays of JAX."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

import tenterhooks as th

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install -r requirements-jax.txt")
jnp = jax.numpy
nan = pytest.importorskip("tenterhooks_nan", reason="tenterhooks-nan is not installed")

FLOATS = ["float16", "bfloat16", "float32"]


def ended_by(*values: Any, **options: Any) -> str | None:
    """What a guard says of a loop that publishes these; None if it says nothing."""
    hook = nan.NanTensorHook("value", **options)
    try:
        with th.MonitoredSession(state={}, hooks=[hook]) as session:
            for value in session.steps(values):
                session.publish(value=value)
    except nan.NanLossDuringTrainingError as error:
        return str(error).partition(":")[0].replace(" in the run that led to global step", ", step")
    return None


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "float8_e5m2", "complex64"])
def test_an_array_of_any_floats_is_looked_at(dtype: str, deferred: bool) -> None:
    fine = jnp.ones((2, 3), dtype)
    bad = jnp.array([[1.0, 1.0], [1.0, math.nan]]).astype(dtype)
    assert ended_by(fine, fine[0, 0], bad, deferred=deferred) == "'value' is NaN at [1, 1], step 3"
    assert ended_by(fine, bad[1, 1], deferred=deferred) == "'value' is NaN, step 2"
    infinite = jnp.array([1.0, -math.inf]).astype(dtype)
    assert ended_by(infinite, infinite[1], deferred=deferred) is None
    said = ended_by(fine, infinite, check="non-finite", deferred=deferred)
    assert said == "'value' is not finite at [1], step 2"
    assert ended_by(infinite[1], check="non-finite", deferred=deferred) == "'value' is not finite, step 1"


def test_keys_and_whole_numbers_are_fine() -> None:
    assert ended_by(jnp.arange(3), {"key": jax.random.key(0), "n": jnp.array(True)}) is None


@pytest.mark.parametrize("deferred", [False, True])
def test_registered_classes_are_trees(deferred: bool) -> None:
    @jax.tree_util.register_dataclass
    @dataclass
    class Gradients:
        w: Any
        b: list[Any]

    tree = Gradients(jnp.ones((2, 2)), [jnp.zeros(3), jnp.array([0.0, math.nan])])
    assert ended_by({"all": tree}, deferred=deferred) == "'value/all/b/[1]' is NaN at [1], step 1"


def test_of_all_arrays_on_a_device_one_truth_value_is_moved() -> None:
    tree = [jnp.ones(2), {"a": jnp.array(1.0), "n": jnp.arange(2)}, (jnp.ones((1, 3), jnp.bfloat16),)]
    moved: list[Any] = []
    array = type(tree[0])
    plain = array.__bool__

    def counting(self: Any) -> bool:
        moved.append(self)
        return bool(plain(self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array, "__bool__", counting)
        assert ended_by(tree, tree) is None
    assert len(moved) == 2


@pytest.mark.parametrize("bad", [False, True])
def test_an_array_whose_memory_was_given_away_was_looked_at_before(bad: bool) -> None:
    update = jax.jit(lambda w: w + 1, donate_argnums=0)
    w = jnp.array([1.0, math.nan if bad else 1.0])
    hook = nan.NanTensorHook("w", deferred=True)
    said = None
    try:
        with th.MonitoredSession(state={}, hooks=[hook]) as session:
            for step in session.steps(range(3)):
                if step:
                    w = update(w)
                session.publish(w=w)
    except nan.NanLossDuringTrainingError as error:
        said = str(error).partition(":")[0]
    assert said == ("'w' is NaN in the run that led to global step 1" if bad else None)


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_on_the_host_too_it_is_of_jaxs_own_floats(dtype: str, deferred: bool) -> None:
    fine, bad = (jax.device_get(jnp.array([[1.0, 1.0], [1.0, last]]).astype(dtype)) for last in (2.0, math.nan))
    assert ended_by(fine, fine[1, 1], [fine, bad[0]], deferred=deferred) is None
    assert ended_by(fine, bad, deferred=deferred) == "'value' is NaN at [1, 1], step 2"
    assert ended_by(fine, {"last": bad[1, 1]}, deferred=deferred) == "'value/last' is NaN, step 2"
    assert ended_by(fine, bad, check="non-finite", deferred=deferred) == "'value' is not finite at [1, 1], step 2"


def test_whole_numbers_on_the_host_are_fine() -> None:
    assert ended_by(jax.device_get(jnp.array([1, 2], "int4")), jax.device_get(jnp.zeros(0, "bfloat16"))) is None


@pytest.mark.parametrize("deferred", [False, True])
def test_of_a_sparse_array_what_it_stores_is_looked_at(deferred: bool) -> None:
    sparse = pytest.importorskip("jax.experimental.sparse")
    pytest.importorskip("tenterhooks_jax", reason="tenterhooks-jax is not installed")
    fine, bad = (sparse.BCOO.fromdense(jnp.array([[0.0, last], [1.0, 2.0]])) for last in (3.0, math.nan))
    assert ended_by(fine, bad, deferred=deferred) == "'value/0' is NaN at [0], step 2"
