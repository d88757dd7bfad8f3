"""Pytrees: registered dataclasses, Optax's states, Equinox's modules and Flax's structures."""

import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches
from tenterhooks.updates import fits, misfits, outline

WHY = "JAX is not installed: pip install -r requirements-jax.txt"
jax = pytest.importorskip("jax", reason=WHY)
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

jnp = jax.numpy


@dataclasses.dataclass(frozen=True)
class Params:
    w: Any
    b: Any
    name: str = "plain"


@dataclasses.dataclass
class Mutable:
    w: Any
    rest: Any


class Point:
    """Registered with functions of its own, which give its parts no names."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


jax.tree_util.register_dataclass(Params, data_fields=["w", "b"], meta_fields=["name"])
jax.tree_util.register_dataclass(Mutable, data_fields=["w", "rest"], meta_fields=[])
jax.tree_util.register_pytree_node(Point, lambda p: ((p.x, p.y), None), lambda _, parts: Point(*parts))
jax.tree_util.register_pytree_node(Slotted, lambda s: ((s.x,), None), lambda _, parts: Slotted(*parts))


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(copy.deepcopy(saved)), ())


def same(one: Any, other: Any) -> bool:
    """Whether two trees have the same structure and the same bits."""
    here, structure = jax.tree_util.tree_flatten(one)
    there, other_structure = jax.tree_util.tree_flatten(other)
    return bool(structure == other_structure) and all(map(same_leaf, here, there))


def same_leaf(one: Any, other: Any) -> bool:
    if not hasattr(one, "dtype"):
        return bool(one is other or (type(one) is type(other) and one == other))
    if type(one) is not type(other) or one.dtype != other.dtype:
        return False
    if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
        one, other = jax.random.key_data(one), jax.random.key_data(other)
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def zeroed(tree: Any) -> Any:
    """The same with other numbers, as a fresh program has them."""

    def fresh(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array):
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(jnp.zeros_like(jax.random.key_data(leaf)))
        return jnp.zeros_like(leaf)

    return jax.tree_util.tree_map(fresh, tree)


def equinox_modules() -> Any:
    eqx = pytest.importorskip("equinox", reason=WHY)
    norm, statistics = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="b", mode="batch")
    return [eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(0)), norm, statistics, eqx.nn.Dropout(0.5)]


def optax_states() -> Any:
    optax = pytest.importorskip("optax", reason=WHY)
    params = {"w": jnp.ones(3), "v": jnp.ones((2, 2), jnp.bfloat16)}
    parts = {"a": optax.adam(optax.cosine_decay_schedule(0.1, 10)), "b": optax.sgd(0.1, momentum=0.9)}
    optimizers = [
        optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1)),
        optax.inject_hyperparams(optax.adam)(0.1),
        optax.multi_transform(parts, {"w": "a", "v": "b"}),
        optax.MultiSteps(optax.adam(0.1), 4),
        optax.add_noise(0.1, 0.5, 1),
    ]
    states = []
    for optimizer in optimizers:
        state = optimizer.init(params)
        states.append(optimizer.update(params, state, params)[1])
    return states


def flax_structures() -> Any:
    flax = pytest.importorskip("flax", reason=WHY)
    optax = pytest.importorskip("optax", reason=WHY)
    train_state = pytest.importorskip("flax.training.train_state", reason=WHY).TrainState
    nnx = pytest.importorskip("flax.nnx", reason=WHY)
    return [
        train_state.create(apply_fn=len, params={"w": jnp.ones(3)}, tx=optax.adam(0.1)),
        flax.core.freeze({"a": jnp.ones(2)}),
        nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0))),
    ]


TREES = [
    pytest.param(lambda: Params(jnp.arange(3), Params(jax.random.key(3), 1.5, "inner")), id="dataclass"),
    pytest.param(lambda: Mutable({"a": [jnp.ones(2)]}, (1, None, "text", jnp.ones(()))), id="mutable"),
    pytest.param(lambda: [Point(jnp.ones(1), 2), Slotted(jnp.ones(2))], id="functions"),
    pytest.param(lambda: jax.tree_util.Partial(max, jnp.ones(2)), id="partial"),
    pytest.param(equinox_modules, id="equinox"),
    pytest.param(optax_states, id="optax"),
    pytest.param(flax_structures, id="flax"),
]


@pytest.mark.parametrize("tree_of", TREES)
def test_it_comes_back_as_it_was_by_the_structure_of_the_fresh_one(tree_of: Any, tmp_path: Path) -> None:
    tree = tree_of()
    saver = Saver(tmp_path)
    saver.save({"state": capture(tree, "v")}, step=1)
    saver.close()
    restored = Saver(tmp_path).restore()
    assert restored is not None
    saved = restored[1]["state"]
    known, fresh = outline(tree), zeroed(tree)
    assert not same(fresh, tree)
    assert list(mismatches(fresh, saved, "v")) == []
    assert fits(known, tree)
    assert list(misfits(known, tree, capture(tree, "v"), "v")) == []
    assert same(load(fresh, saved), tree)


def test_what_is_static_and_functions_are_the_programs() -> None:
    eqx = pytest.importorskip("equinox", reason=WHY)
    saved = capture(Params(jnp.ones(2), 1, "old"), "v")
    assert saved.keys() == {"w", "b"}
    assert load(Params(jnp.zeros(2), 0, "new"), saved).name == "new"
    mlp = eqx.nn.MLP(2, 3, 4, 1, activation=jax.nn.gelu, key=jax.random.key(0))
    assert "activation" not in capture(mlp, "v")
    other = eqx.nn.MLP(2, 3, 4, 1, activation=jax.nn.relu, key=jax.random.key(1))
    loaded = load(other, capture(mlp, "v"))
    assert loaded.activation is other.activation
    assert np.array_equal(loaded.layers[1].weight, mlp.layers[1].weight)


def test_one_that_can_change_is_restored_in_place_and_another_is_not() -> None:
    mutable, point, slotted = Mutable(jnp.zeros(1), [jnp.zeros(1)]), Point(jnp.zeros(1), 0), Slotted(jnp.zeros(1))
    inner, frozen = mutable.rest, Params(jnp.zeros(1), mutable)
    saved = capture([Params(jnp.ones(1), Mutable(jnp.ones(1), [jnp.ones(1)])), Point(jnp.ones(1), 2)], "v")
    loaded = load([frozen, point], saved)
    assert loaded[0] is not frozen
    assert float(frozen.w[0]) == 0.0
    assert loaded[0].b is mutable
    assert mutable.rest is inner
    assert float(mutable.w[0]) == float(inner[0][0]) == 1.0
    assert loaded[1] is point
    assert (float(point.x[0]), point.y) == (1.0, 2)
    assert load(slotted, capture(Slotted(jnp.ones(1)), "v")) is not slotted


def test_parts_with_the_same_name_are_told_apart() -> None:
    class Odd:
        def __init__(self, *parts: Any) -> None:
            self.all = parts

    key = jax.tree_util.GetAttrKey("x")
    jax.tree_util.register_pytree_with_keys(
        Odd, lambda o: ([(key, part) for part in o.all], None), lambda _, p: Odd(*p)
    )
    saved = capture(Odd(1, 2), "v")
    assert saved == {"0:x": 1, "1:x": 2}
    assert load(Odd(0, 0), saved).all == (1, 2)


def test_all_that_does_not_fit_is_named_in_one_error_and_nothing_is_restored(tmp_path: Path) -> None:
    optax = pytest.importorskip("optax", reason=WHY)
    eqx = pytest.importorskip("equinox", reason=WHY)

    def state(width: int, dtype: str, layers: int, **more: Any) -> dict[str, Any]:
        params = {"w": jnp.zeros((width, 2)), **more}
        key = jax.random.key(0)
        return {
            "params": params,
            "moments": optax.adam(0.1).init(params),
            "model": Params(jnp.zeros(2, dtype), [jnp.zeros(1)] * layers),
            "mlp": eqx.nn.MLP(2, 3, 4, 1, use_bias=layers == 1, key=key),
        }

    with th.MonitoredTrainingSession(checkpoint_dir=tmp_path, state=state(3, "float32", 1)):
        pass
    fresh = state(4, "bfloat16", 2, b=jnp.zeros(1))
    with pytest.raises(th.CheckpointError) as caught:
        th.MonitoredTrainingSession(checkpoint_dir=tmp_path, state=fresh)
    array = "an array of JAX of"
    for line in (
        "params: the keys ['b', 'w'] here, ['w'] in the checkpoint",
        f"params/w: {array} float32 and shape [4, 2] here, {array} float32 and shape [3, 2] in the checkpoint",
        f"moments/0/1/w: {array} float32 and shape [4, 2] here, {array} float32 and shape [3, 2] in the checkpoint",
        f"model/w: {array} bfloat16 and shape [2] here, {array} float32 and shape [2] in the checkpoint",
        "model/b: 2 entries here, 1 in the checkpoint",
        "mlp/layers/0/bias: None here, a value of jax in the checkpoint",
    ):
        assert f"  {line}\n" in str(caught.value)


class TestAssigned:
    def test_one_of_another_structure_is_refused(self) -> None:
        with th.MonitoredSession(state={"p": Params(jnp.zeros(2), jnp.zeros(1))}) as session:
            for wrong, message in (
                (Params(jnp.zeros(3), jnp.zeros(1)), r"p/w: .*shape \[2\] here, .*shape \[3\] from the loop"),
                (Params(jnp.zeros(2), None), "p/b: .* here, None from the loop"),
                ({"w": jnp.zeros(2)}, "p/b: it is here, and not from the loop"),
                (3, "p: a Params here, a int from the loop"),
            ):
                with pytest.raises(ValueError, match=message):
                    session.state["p"] = wrong
            session.state["p"] = Params(jnp.ones(2), jnp.ones(1), "another name")

    def test_one_that_fits_is_not_made_concrete(self) -> None:
        states = [Params(jnp.zeros(2), 1.0), *optax_states()[:2], equinox_modules()[0]]

        def traced(x: Any) -> Any:
            with th.MonitoredSession(state={str(n): state for n, state in enumerate(states)}) as session:
                for _ in session.steps(range(1)):
                    for name, value in session.state.items():
                        new = jax.tree_util.tree_map(
                            lambda a: a + x.astype(a.dtype) if hasattr(a, "dtype") else a, value
                        )
                        assert fits(outline(value), new)
                        session.state[name] = new
                        session.publish({f"of/{name}": new})
                return [leaf for leaf in jax.tree_util.tree_leaves(dict(session.state)) if isinstance(leaf, jax.Array)]

        assert jax.jit(traced)(jnp.ones(()))[0].tolist() == [1.0, 1.0]

    def test_one_that_is_frozen_and_was_never_assigned_is_warned_of(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        w = jnp.zeros(1)
        state = {"frozen": Params(w, w), "mutable": Mutable(w, w), "point": Point(w, w), "dict": Params(w, {"b": w})}
        state |= {"mlp": equinox_modules()[0].layers[0], "freeze": flax_structures()[1]}
        with th.MonitoredTrainingSession(state=state, checkpoint_dir=tmp_path, save_checkpoint_steps=1) as session:
            for _ in session.steps(range(3)):
                pass
        (warning,) = [record.getMessage() for record in caplog.records if "never assigned" in record.getMessage()]
        named = [name for name in state if f"state entry {name!r}" in warning]
        assert named == ["frozen", "mlp", "freeze"]


def test_what_is_not_there_at_first_is_refused_at_the_save(tmp_path: Path) -> None:
    message = "variables/p: a Params that was not there at first, and would come back as a dict of its parts"
    session = th.MonitoredTrainingSession(state={"p": None}, checkpoint_dir=tmp_path, save_checkpoint_steps=1)
    with pytest.raises(th.CheckpointError, match=message), session:
        for _ in session.steps(range(2)):
            session.state["p"] = Params(jnp.zeros(1), 1)


def test_an_object_gets_one_as_a_dict_of_its_parts() -> None:
    class Keeper:
        kept: Any = Params(jnp.ones(1), 2)

        def state_dict(self) -> dict[str, Any]:
            return {"kept": self.kept}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.kept = state["kept"]

    keeper = Keeper()
    load(keeper, capture(keeper, "v"))
    assert keeper.kept.keys() == {"w", "b"}
    assert isinstance(keeper.kept["w"], jax.Array)


def test_nan_in_one_is_found(tmp_path: Path) -> None:
    hook = pytest.importorskip("tenterhooks_nan", reason="tenterhooks-nan is not installed").NanTensorHook()
    state = {"model": Params(jnp.zeros(2), {"b": jnp.zeros(1, jnp.bfloat16)}), "key": jax.random.key(0)}
    with th.MonitoredSession(state=state, hooks=[hook]) as session:
        raw = session.raw_session()
        for _ in session.steps(range(1)):
            session.publish(loss=jnp.ones(()))
            assert hook.before_save(raw, 1) is None
            session.state["model"] = Params(jnp.zeros(2), {"b": jnp.full(1, jnp.nan, jnp.bfloat16)})
            assert hook.before_save(raw, 1) == "NaN in 'model/b/b'"
