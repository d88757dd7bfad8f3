"""With Optax: the numbers of its schedules, and injected hyperparameters in its states."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_learning_rate import (
    CosineDecay,
    CosineDecayRestarts,
    ExponentialDecay,
    LearningRateHook,
    PiecewiseConstantDecay,
    PolynomialDecay,
    ReduceOnPlateauHook,
    Warmup,
    set_hyperparams,
)

WHY = "JAX is not installed: pip install -r requirements-jax.txt"
jax = pytest.importorskip("jax", reason=WHY)
optax = pytest.importorskip("optax", reason=WHY)
jnp = jax.numpy

PAIRS: dict[str, tuple[Callable[[int], float], Any]] = {
    "exponential": (
        ExponentialDecay(0.4, decay_steps=3, decay_rate=0.5),
        lambda: optax.exponential_decay(0.4, 3, 0.5),
    ),
    "staircase": (
        ExponentialDecay(0.4, decay_steps=3, decay_rate=0.5, staircase=True),
        lambda: optax.exponential_decay(0.4, 3, 0.5, staircase=True),
    ),
    "piecewise": (
        PiecewiseConstantDecay(boundaries=[2, 5], values=[0.4, 0.04, 0.004]),
        lambda: optax.piecewise_constant_schedule(0.4, {2: 0.1, 5: 0.1}),
    ),
    "polynomial": (
        PolynomialDecay(0.4, decay_steps=7, end_learning_rate=0.1, power=2),
        lambda: optax.polynomial_schedule(0.4, 0.1, 2, 7),
    ),
    "cosine": (
        CosineDecay(0.4, decay_steps=7, end_learning_rate=0.1),
        lambda: optax.cosine_decay_schedule(0.4, 7, alpha=0.25),
    ),
    "restarts": (
        CosineDecayRestarts(0.4, decay_steps=3),
        lambda: optax.sgdr_schedule(
            [
                {"init_value": 0.4, "peak_value": 0.4, "decay_steps": steps, "warmup_steps": 0, "end_value": 0.0}
                for steps in (3, 6, 12)
            ]
        ),
    ),
    "warm-up": (
        Warmup(CosineDecay(0.4, decay_steps=7, end_learning_rate=0.1), warmup_steps=4, initial_learning_rate=0.2),
        lambda: optax.warmup_cosine_decay_schedule(0.2, 0.4, 4, 11, 0.1),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_schedule_gives_the_numbers_of_its_own(name: str) -> None:
    schedule, make = PAIRS[name]
    theirs = make()
    assert [schedule(step) for step in range(20)] == pytest.approx(
        [float(theirs(step)) for step in range(20)], rel=1e-5
    )


def test_a_schedule_of_optax_is_one() -> None:
    hook = LearningRateHook(optax.linear_schedule(0.5, 0.25, 2))
    got = []
    with th.MonitoredSession(hooks=[hook]) as session:
        for _ in session.steps(range(3)):
            got.append(session.feeds["learning_rate"])
    assert got == [0.5, 0.375, 0.25]


def inject(optimizer: Any = None) -> Any:
    return optax.inject_hyperparams(optimizer or optax.adam)(learning_rate=7.0)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "alone": inject,
    "in a chain": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.chain(inject(optax.sgd))),
    "masked": lambda: optax.masked(inject(optax.sgd), {"a": True, "b": False}),
    "for some parameters": lambda: optax.multi_transform(
        {"a": inject(), "b": optax.set_to_zero()}, {"a": "a", "b": "b"}
    ),
    "every other step": lambda: optax.MultiSteps(inject(optax.sgd), 2),
}

HOOKS: dict[str, Callable[[], Any]] = {
    "schedule": lambda: LearningRateHook(CosineDecay(0.125, decay_steps=8), setter="moments", warmup_steps=2),
    "constant": lambda: LearningRateHook("constant", learning_rate=0.125, setter="moments"),
    "plateau": lambda: ReduceOnPlateauHook(
        "loss", learning_rate=0.125, factor=0.5, patience=0, min_delta=0.5, setter="moments"
    ),
}

_PARAMS = {"a": [1.0, -2.0], "b": [0.5]}


def rate_in(state: Any) -> float:
    (found,) = [
        float(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(state)
        if "'learning_rate'" in jax.tree_util.keystr(path)
    ]
    return found


def train(folder: Path | None, make: Callable[[], Any], hook: Any, until: int | None = None) -> tuple[list[float], Any]:
    """Train a little; give the learning rates of each step, and the parameters at the end."""
    optimizer, compiled = make(), []

    def step_of(params: Any, moments: Any) -> Any:
        compiled.append(1)
        loss, gradient = jax.value_and_grad(lambda p: sum((x**4).sum() for x in jax.tree.leaves(p)))(params)
        change, moments = optimizer.update(gradient, moments, params)
        return optax.apply_updates(params, change), moments, loss

    update = jax.jit(step_of, donate_argnums=(0, 1))
    params = {name: jnp.array(value) for name, value in _PARAMS.items()}
    state = {"params": params, "moments": optimizer.init(params)}
    saving: dict[str, Any] = {} if folder is None else {"checkpoint_dir": folder, "save_checkpoint_steps": 1}
    rates = []
    with th.MonitoredTrainingSession(state=state, hooks=[hook], **saving) as session:
        s = session.state
        for step in session.steps(range(8)):
            if step == until:
                break
            rates.append(rate_in(s["moments"]))
            s["params"], s["moments"], loss = update(s["params"], s["moments"])
            session.publish(loss=loss)
        at_end = jax.device_get(s["params"])
    assert len(compiled) == 1, "what is set makes JAX compile again"
    return rates, at_end


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_each_step_has_its_value_and_is_compiled_once(make: Callable[[], Any]) -> None:
    rates, _ = train(None, make, LearningRateHook(lambda step: 0.125 * step, setter="moments"))
    assert rates == [0.125 * step for step in range(8)]


@pytest.mark.parametrize("interrupt", [1, 4, 7])
@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("make", [OPTIMIZERS["alone"], OPTIMIZERS["in a chain"]], ids=["alone", "in a chain"])
def test_an_interrupted_training_ends_with_the_same_bits(
    make: Callable[[], Any], hook: Callable[[], Any], interrupt: int, tmp_path: Path
) -> None:
    pytest.importorskip("tenterhooks_jax", reason="tenterhooks-jax is not installed")
    pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed")
    rates, params = train(None, make, hook())
    first, _ = train(tmp_path, make, hook(), until=interrupt)
    rest, resumed = train(tmp_path, make, hook())
    assert first + rest == rates
    assert all((params[name] == resumed[name]).all() for name in params)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_type_of_the_value_stays(dtype: str) -> None:
    optimizer = optax.inject_hyperparams(optax.sgd, hyperparam_dtype=jnp.dtype(dtype))(learning_rate=1.0)
    state = optimizer.init({"w": jnp.zeros(2, dtype)})
    before = state.hyperparams["learning_rate"]
    set_hyperparams(state, 0.25)
    after = state.hyperparams["learning_rate"]
    assert (after.dtype, after.weak_type, after.shape) == (before.dtype, before.weak_type, before.shape)
    assert float(after) == 0.25


def test_of_several_one_is_named_by_its_label() -> None:
    groups = {name: optax.inject_hyperparams(optax.sgd)(learning_rate=1.0) for name in ("fast", "slow")}
    optimizer = optax.multi_transform(groups, {"a": "fast", "b": "slow"})
    state = {"moments": optimizer.init({"a": jnp.zeros(2), "b": jnp.zeros(2)})}
    message = r"'inner_states/fast/inner_state', 'inner_states/slow/inner_state': give setter='moments/fast' for one"
    with pytest.raises(ValueError, match=message):
        th.MonitoredSession(state=state, hooks=[LearningRateHook(lambda step: 0.5, setter="moments")])
    hooks = [
        LearningRateHook(lambda step: 0.5, setter="moments/fast", placeholder="fast"),
        LearningRateHook(lambda step: 0.25, setter="moments/slow", placeholder="slow"),
    ]
    hooks[1].name = "slow"  # type: ignore[attr-defined]
    with th.MonitoredSession(state=state, hooks=hooks) as session:
        s = session.state
        for _ in session.steps(range(2)):
            gradient = {"a": jnp.ones(2), "b": jnp.ones(2)}
            change, s["moments"] = optimizer.update(gradient, s["moments"])
            assert (float(change["a"][0]), float(change["b"][0])) == (-0.5, -0.25)


def test_a_schedule_that_optax_follows_is_told() -> None:
    optimizer = optax.inject_hyperparams(optax.sgd)(learning_rate=optax.constant_schedule(0.1))
    with pytest.raises(TypeError, match="Optax computes the learning rate itself"):
        set_hyperparams(optimizer.init({"w": jnp.zeros(2)}), 0.25)


def test_a_state_without_injection_is_told() -> None:
    with pytest.raises(TypeError, match=r"tuple has no learning rate to set: .* optax.inject_hyperparams\(\.\.\.\)"):
        set_hyperparams(optax.adam(0.1).init({"w": jnp.zeros(2)}), 0.25)
