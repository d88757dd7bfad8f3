"""Arrays and random keys of every kind, saved and restored bit for bit."""

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks import adapted
from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches
from tenterhooks.updates import fits, outline

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install -r requirements-jax.txt")
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

jnp = jax.numpy

NUMBERS = ["bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32", "complex64"]
NUMBERS += ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
NUMBERS += ["float8_e3m4", "float4_e2m1fn", "int4", "uint4", "int2"]


class Keeper:
    """An object of the program's that gives what it keeps."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept = state["kept"]


class Moments(NamedTuple):
    """As an optimizer keeps them."""

    first: Any
    second: Any


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


def some(dtype: str, *shape: int) -> Any:
    """An array of all kinds of bits."""
    kind = jnp.dtype(dtype)
    drawn = np.random.default_rng(1).integers(0, 256, (*shape, kind.itemsize), dtype=np.uint8)
    if dtype == "bool":
        return jnp.array(drawn[..., 0] > 100)
    if kind.itemsize == 1 and "8" not in dtype:
        drawn = drawn % (4 if dtype == "int2" else 16)
        return jnp.array(drawn[..., 0].view(np.int8)).astype(kind)
    return jnp.array(np.ascontiguousarray(drawn).view(kind)[..., 0])


def bits(value: Any) -> Any:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return str(value.dtype), bits(jax.random.key_data(value))
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tobytes(), value.weak_type


def through_a_checkpoint(state: Any, folder: Path) -> Any:
    saver = Saver(folder)
    saver.save({"state": capture(state, "v")}, step=1)
    saver.close()
    restored = Saver(folder).restore()
    assert restored is not None
    return restored[1]["state"]


@pytest.mark.parametrize("shape", [(3, 4), (), (0, 5)])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_dtype_is_restored_in_its_place_and_anew(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = some(dtype, *shape)
    saved = through_a_checkpoint({"a": array, "k": Keeper([array])}, tmp_path)
    current: dict[str, Any] = {"a": jnp.zeros(shape, dtype), "k": Keeper(None)}
    assert list(mismatches(current, saved, "v")) == []
    load(current, saved)
    for restored in (current["a"], current["k"].kept[0]):
        assert isinstance(restored, jax.Array)
        assert bits(restored) == bits(array)
        assert not restored.committed


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(lambda: jax.random.key(7), id="typed"),
        pytest.param(lambda: jax.random.key(7, impl="rbg"), id="rbg"),
        pytest.param(lambda: jax.random.split(jax.random.key(7), (2, 3)), id="several"),
        pytest.param(lambda: jax.random.PRNGKey(7), id="uint32"),
    ],
)
def test_keys_give_the_same_numbers(key: Any, tmp_path: Path) -> None:
    def numbers(key: Any) -> bytes:
        first = key.ravel()[0] if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
        return np.asarray(jax.random.normal(first, (4,))).tobytes()

    saved = through_a_checkpoint({"key": key(), "k": Keeper(key())}, tmp_path)
    current: dict[str, Any] = {"key": jax.tree_util.tree_map(lambda k: k, key()), "k": Keeper(None)}
    load(current, saved)
    for restored in (current["key"], current["k"].kept):
        assert bits(restored) == bits(key())
        assert numbers(restored) == numbers(key())


@pytest.mark.parametrize("value", [lambda: jnp.asarray(1.5), lambda: jnp.full((2, 3), 7), lambda: jnp.asarray(2j)])
def test_weak_types_stay_weak(value: Any) -> None:
    array = value()
    assert array.weak_type
    strong = jnp.zeros(array.shape, array.dtype)
    assert bits(load(strong, capture(array, "v"))) == bits(array)
    assert not load(array, capture(strong, "v")).weak_type


def test_what_does_not_fit_is_named() -> None:
    array, key = jnp.zeros((2, 3)), jax.random.key(0)
    here = {"a": array, "b": array, "c": key, "d": array, "e": key, "f": np.zeros(1)}
    there = {"a": jnp.zeros(3), "b": array.astype(jnp.bfloat16), "c": jax.random.key(0, impl="rbg")}
    there |= {"d": np.zeros((2, 3)), "e": jax.random.key_data(key), "f": array}
    array = "an array of JAX of"
    assert [problem.removesuffix(" in the checkpoint") for problem in mismatches(here, capture(there, "v"), "v")] == [
        f"v/a: {array} float32 and shape [2, 3] here, {array} float32 and shape [3]",
        f"v/b: {array} float32 and shape [2, 3] here, {array} bfloat16 and shape [2, 3]",
        f"v/c: {array} key<fry> and shape [] here, {array} key<rbg> and shape []",
        f"v/d: {array} float32 and shape [2, 3] here, an array of float64 and shape (2, 3)",
        f"v/e: {array} key<fry> and shape [] here, {array} uint32 and shape [2]",
        "v/f: an array here, a value of jax",
    ]


def test_an_outline_has_the_form_and_no_memory() -> None:
    for value in (jnp.zeros((2, 3), jnp.bfloat16), jax.random.key(0)):
        known = outline(value)
        assert isinstance(known, jax.ShapeDtypeStruct)
        assert fits(known, value)
        assert not fits(known, value[None])
        assert list(mismatches(known, capture(value, "v"), "v")) == []
    assert not fits(outline(jnp.zeros(2)), jnp.zeros(2, int))
    assert not fits(outline(jnp.zeros(2)), np.zeros(2, np.float32))


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ({"type": "Array", "dtype": "float32", "shape": [1], "data": np.zeros(1)}, "float64 where float32 is held"),
        ({"type": "Array", "dtype": "bfloat16", "shape": [1], "data": [0]}, "list of None where uint16 is held"),
        ({"type": "Array", "dtype": "no", "shape": [1], "data": np.zeros(1)}, "TypeError"),
        ({"type": "Array", "dtype": 3, "shape": [1], "data": np.zeros(1)}, "has a name, not 3"),
        ({"type": "Array", "dtype": "float32", "shape": [1]}, "KeyError: 'data'"),
        ({"type": "Array", "dtype": "float64", "shape": [1], "data": np.zeros(1)}, "jax_enable_x64"),
        ({"type": "key", "dtype": "key<fry>", "shape": [], "data": np.zeros(2, np.uint32), "impl": "no"}, "ValueError"),
        (
            {"type": "key", "dtype": "key<fry>", "shape": [], "data": np.zeros((2, 2), np.uint32), "impl": "fry"},
            "Error",
        ),
        (
            {
                "type": "key",
                "dtype": "key<fry>",
                "shape": [],
                "data": np.zeros((3, 2), np.uint32),
                "impl": "threefry2x32",
            },
            r"a key of key<fry> and shape \(3,\)",
        ),
        ({"type": "Bag"}, "no value is a 'Bag'"),
        ({}, "KeyError: 'type'"),
    ],
)
def test_what_is_not_as_it_was_written_is_an_error(saved: dict[str, Any], message: str) -> None:
    with pytest.raises(th.CheckpointError, match=f"a value of jax that is not as it was written: .*{message}"):
        decoded({adapted.TAG: "jax", **saved})


def test_a_tracer_and_a_form_without_numbers_are_refused() -> None:
    def leak(x: Any) -> Any:
        with pytest.raises(th.CheckpointError, match=r"v/x is a .*Tracer that stands for a value while JAX traces"):
            capture({"x": x}, "v")
        return x

    jax.jit(leak)(jnp.zeros(2))
    with pytest.raises(th.CheckpointError, match=r"v is a jax.*ShapeDtypeStruct that has a shape and no numbers"):
        capture(jax.ShapeDtypeStruct((2,), jnp.float32), "v")


def test_a_restored_array_has_memory_of_its_own() -> None:
    saved = capture(jnp.zeros(1000), "v")
    # Where it lies so, JAX would take it as it is.
    memory = np.zeros(1000 * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    saved["data"] = memory[start : start + 4000].view(np.float32)
    restored = load(jnp.ones(1000), saved)
    saved["data"][:] = 5
    assert float(restored.sum()) == 0.0
    grown = jax.jit(lambda a: a + 1, donate_argnums=0)(load(jnp.ones(1000), saved))
    assert saved["data"].sum() == 5000
    assert float(grown[0]) == 6.0


class TestDonation:
    def test_a_save_holds_what_was_there_before_the_memory_was_given_away(self, tmp_path: Path) -> None:
        update = jax.jit(lambda w, key: (w + 1, jax.random.split(key, 1)[0]), donate_argnums=(0, 1))
        state = {"w": jnp.zeros(100_000), "key": jax.random.key(0)}
        with th.MonitoredTrainingSession(state=state, checkpoint_dir=tmp_path, save_checkpoint_steps=1) as session:
            s = session.state
            for _ in session.steps(range(6)):
                s["w"], s["key"] = update(s["w"], s["key"])
        saver = Saver(tmp_path)
        found = {checkpoint.step: saver.restore(checkpoint)[1]["variables"]["w"]["data"] for checkpoint in saver.list()}
        assert len(found) >= 3
        for step, numbers in found.items():
            assert (numbers == step).all()

    def test_an_entry_that_was_donated_and_not_assigned_is_named(self, tmp_path: Path) -> None:
        update = jax.jit(lambda w: w + 1, donate_argnums=0)
        # Its error in the pass ends the session without another save.
        session = th.MonitoredTrainingSession(
            state={"w": jnp.zeros(3)}, checkpoint_dir=tmp_path, save_checkpoint_steps=1
        )
        with pytest.raises(th.CheckpointError, match=r"variables/w is a .*that was donated to a function"), session:
            for _ in session.steps(range(2)):
                w = jax.random.uniform(jax.random.key(0), (3,))
                session.state["w"] = w
                update(w)
                assert w.is_deleted()

    def test_a_variable_that_is_fetched_beside_what_donates_it_can_be_read(self) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: jnp.zeros(1000) + 1)
        update = jax.jit(lambda w: w + 1, donate_argnums=0)
        graph.train_op(lambda w: {"w": update(w)}, name="train")
        with th.MonitoredSession(graph=graph) as session:
            before, _ = session.run(["w", "train"])
            assert float(before.sum()) == 1000.0
            assert float(session.state["w"].sum()) == 2000.0


class Reader(th.SessionRunHook):
    """Asks for all values of a pass, and keeps them as it gets them."""

    fetched: Any = None

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs({"all": "*", "loss": "loss"})

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.fetched = run_values.results


class TestDispatch:
    """In a function that is being traced a value has no numbers: JAX raises an error where somebody asks for them."""

    def test_what_is_published_assigned_and_fetched_is_not_made_concrete(self) -> None:
        state = {"w": jnp.zeros(3), "moments": Moments(jnp.zeros(3), {"m": [jnp.zeros(3)]})}

        def traced(x: Any) -> Any:
            hook = Reader()
            with th.MonitoredSession(state=dict(state), hooks=[hook]) as session:
                s = session.state
                for _ in session.steps(range(2)):
                    s["w"] = s["w"] + x
                    s["moments"] = Moments(s["w"], {"m": [x]})
                    assert fits(outline(state["moments"]), s["moments"])
                    session.publish(loss=s["w"], parts={"a": [x]}, later=lambda: x + 1)
                session.publish(after=x)
            with pytest.raises(jax.errors.TracerArrayConversionError):
                np.asarray(hook.fetched["loss"])
            return hook.fetched

        fetched = jax.jit(traced)(jnp.ones(3))
        assert fetched["loss"].tolist() == [2.0, 2.0, 2.0]
        assert fetched["all"]["parts"]["a"][0].tolist() == [1.0, 1.0, 1.0]

    def test_nor_is_what_a_graph_computes(self) -> None:
        def traced(x: Any) -> Any:
            graph = th.Graph()
            graph.variable("w", lambda: x)
            graph.tensor(lambda w: w + 2, name="loss")
            graph.train_op(lambda loss: {"w": loss}, name="train")
            with th.MonitoredSession(graph=graph) as session:
                fetched = session.run(["w", "loss", "train"])[:2]
                with pytest.raises(jax.errors.TracerArrayConversionError):
                    np.asarray(fetched[0])
                return fetched

        w, loss = jax.jit(traced)(jnp.zeros(3))
        assert w.tolist() == [0.0, 0.0, 0.0]
        assert loss.tolist() == [2.0, 2.0, 2.0]


class TestOwnState:
    def run(self, state: dict[str, Any], folder: Path, **assigned: Any) -> None:
        with th.MonitoredTrainingSession(state=state, checkpoint_dir=folder, save_checkpoint_steps=1) as session:
            for _ in session.steps(range(3)):
                session.state.update(assigned)

    def test_an_array_that_was_never_assigned_is_warned_of(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        array = jnp.zeros(2)
        state = {"w": array, "key": jax.random.key(0), "params": {"w": array}, "other": array}
        self.run(state, tmp_path, other=jnp.ones(2))
        (warning,) = [record.getMessage() for record in caplog.records if "never assigned" in record.getMessage()]
        assert warning.startswith("state entry 'w' and state entry 'key' cannot change in place")

    def test_a_value_of_another_form_is_refused_where_it_is_assigned(self) -> None:
        params = {"w": jnp.zeros(2), "b": jnp.zeros(1)}
        with th.MonitoredSession(state={"params": params}) as session:
            with pytest.raises(
                ValueError, match=r"params/w: an array of JAX of float32 and shape \[2\] here, .* \[3\]"
            ):
                session.state["params"] = {"w": jnp.zeros(3), "b": jnp.zeros(1)}
            with pytest.raises(ValueError, match=r"params: the keys \['b', 'w'\] here, \['w'\] from the loop"):
                session.state["params"] = {"w": jnp.zeros(2)}
            session.state["params"] = {"b": jnp.ones(1), "w": jnp.ones(2)}


SHARDED = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import tenterhooks as th

assert len(jax.devices()) == 4
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
def fresh(value, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))

spec = ("x", "y") if sys.argv[2] == "first" else ("y",)
state = {
    "w": fresh(jnp.zeros((4, 8), jnp.bfloat16), *spec),
    "everywhere": fresh(jnp.zeros(3)),
    "keys": fresh(jax.random.split(jax.random.key(0), 4), "x"),
    "third": jax.device_put(jnp.zeros(2), jax.devices()[2]),
    "free": jnp.zeros(2),
}
placed = {name: value.sharding for name, value in state.items()}
with th.MonitoredTrainingSession(checkpoint_dir=sys.argv[1], state=state) as session:
    s = session.state
    if sys.argv[2] == "first":
        for _ in session.steps(range(1)):
            s["w"] = s["w"] + jnp.arange(32, dtype=jnp.bfloat16).reshape(4, 8)
            s["keys"] = jax.vmap(lambda k: jax.random.split(k)[0])(s["keys"])
            for name in ("everywhere", "third", "free"):
                s[name] = s[name] + 1
    for name, value in s.items():
        assert value.sharding.is_equivalent_to(placed[name], value.ndim), (name, value.sharding)
        assert value.committed == (name != "free"), name
        data = jax.random.key_data(value) if name == "keys" else value
        print(name, value.dtype, np.asarray(data).astype(float).ravel().tolist())
"""


def test_arrays_on_several_devices_come_back_as_the_fresh_ones_lie(tmp_path: Path) -> None:
    def run(life: str) -> str:
        flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, "-c", SHARDED, str(tmp_path), life]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **flags}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run("first")
    assert "w bfloat16 [0.0, 1.0, 2.0" in first
    # Otherwise divided, the values are the same.
    assert run("second") == first


def test_a_state_with_values_of_jax_can_be_copied() -> None:
    saved = capture({"a": jnp.ones(2), "key": jax.random.key(0)}, "v")
    again = load({"a": jnp.zeros(2), "key": jax.random.key(1)}, copy.deepcopy(saved))
    assert bits(again["a"]) == bits(jnp.ones(2))
