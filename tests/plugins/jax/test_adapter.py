"""What the adapter handles, and what it says where JAX is missing. These tests run without it."""

import dataclasses
import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_jax import JaxAdapter

WHY = "JAX is not installed: pip install -r requirements-jax.txt"


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(th.PluginError, match="needs JAX, which is not installed: pip install jax"):
        JaxAdapter()


def test_it_is_there_for_each_module_that_values_come_from() -> None:
    found = {entry.name for entry in entry_points(group="tenterhooks.state") if entry.module == "tenterhooks_jax"}
    assert found == {"equinox", "flax", "jax", "jaxlib", "optax"}


def test_a_session_without_values_of_jax_does_not_import_it() -> None:
    program = """
import sys, tenterhooks as th, tenterhooks_jax
class Own: pass
with th.MonitoredSession(state={"x": 1.0}) as session:
    for _ in session.steps(range(2)):
        session.publish(own=Own())
sys.exit("jax" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_it_handles_what_has_a_handler_and_leaves_the_rest_alone() -> None:
    jax = pytest.importorskip("jax", reason=WHY)

    @dataclasses.dataclass
    class Plain:
        w: Any

    registered = jax.tree_util.register_dataclass(dataclasses.make_dataclass("Registered", ["w"]))
    adapter = JaxAdapter()
    for value in (jax.numpy.zeros(2), jax.random.key(0), jax.ShapeDtypeStruct((), "float32")):
        assert adapter.handler(type(value)) is adapter.values()
    assert adapter.handler(registered) not in (None, adapter.values())
    for other in (Plain, dict, list, tuple, int, type(jax.numpy.float32)):
        assert adapter.handler(other) is None
    assert adapter.global_generators() == {}


def test_adapters_for_several_modules_have_the_same_handlers() -> None:
    jax = pytest.importorskip("jax", reason=WHY)
    assert JaxAdapter().handler(type(jax.numpy.zeros(2))) is JaxAdapter().values()
