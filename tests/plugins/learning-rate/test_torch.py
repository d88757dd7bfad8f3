"""With PyTorch: the numbers and decisions of its schedulers, and its optimizers, compiled ones among them."""

import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    set_param_groups,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
schedulers = torch.optim.lr_scheduler


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    # PyTorch's SequentialLR uses what PyTorch warns of.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="torch")
        yield


def make_optimizer(lr: Any = 0.4) -> Any:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)


PAIRS: dict[str, tuple[Callable[[int], float], Callable[[Any], Any]]] = {
    "exponential": (ExponentialDecay(0.4, decay_steps=1, decay_rate=0.9), lambda o: schedulers.ExponentialLR(o, 0.9)),
    "step": (
        ExponentialDecay(0.4, decay_steps=3, decay_rate=0.5, staircase=True),
        lambda o: schedulers.StepLR(o, 3, 0.5),
    ),
    "milestones": (
        PiecewiseConstantDecay(boundaries=[2, 5], values=[0.4, 0.04, 0.004]),
        lambda o: schedulers.MultiStepLR(o, [2, 5], 0.1),
    ),
    "polynomial": (PolynomialDecay(0.4, decay_steps=7, power=2), lambda o: schedulers.PolynomialLR(o, 7, 2)),
    "linear": (
        PolynomialDecay(0.4, decay_steps=7, end_learning_rate=0.1),
        lambda o: schedulers.LinearLR(o, 1.0, 0.25, 7),
    ),
    "cosine": (
        CosineDecay(0.4, decay_steps=20, end_learning_rate=0.01),
        lambda o: schedulers.CosineAnnealingLR(o, 20, 0.01),
    ),
    "restarts": (
        CosineDecayRestarts(0.4, decay_steps=3, end_learning_rate=0.01),
        lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    ),
    "restarts of one length": (
        CosineDecayRestarts(0.4, decay_steps=3, t_mul=1),
        lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3),
    ),
    "warm-up": (
        Warmup(CosineDecay(0.4, decay_steps=20), warmup_steps=4, initial_learning_rate=0.1),
        lambda o: schedulers.SequentialLR(
            o, [schedulers.LinearLR(o, 0.25, 1.0, 4), schedulers.CosineAnnealingLR(o, 20)], [4]
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_schedule_gives_the_numbers_of_its_scheduler(name: str) -> None:
    schedule, make = PAIRS[name]
    optimizer = make_optimizer()
    scheduler = make(optimizer)
    theirs = []
    for _ in range(20):
        theirs.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert [schedule(step) for step in range(20)] == pytest.approx(theirs, rel=1e-9, abs=1e-12)


LOSSES = st.lists(st.sampled_from([math.nan, math.inf, 0.0, 1.0, 1.05, 1.5, -1.0]) | st.floats(-2, 2), max_size=40)


@given(
    losses=LOSSES,
    factor=st.sampled_from([0.1, 0.5, 0.9]),
    patience=st.integers(0, 4),
    min_delta=st.sampled_from([0.0, 1e-4, 0.1]),
    cooldown=st.integers(0, 4),
    mode=st.sampled_from(["min", "max"]),
    min_value=st.sampled_from([0.0, 0.05]),
)
def test_it_decides_as_reduce_lr_on_plateau(
    losses: list[float], min_delta: float, min_value: float, **same: Any
) -> None:
    optimizer = make_optimizer()
    scheduler = schedulers.ReduceLROnPlateau(
        optimizer, threshold=min_delta, threshold_mode="abs", min_lr=min_value, eps=0.0, **same
    )
    hook = ReduceOnPlateauHook(learning_rate=0.4, min_delta=min_delta, min_value=min_value, **same)
    ours, theirs = [], []
    with th.MonitoredSession(hooks=[hook]) as session:
        for loss in session.steps(losses):
            ours.append(session.feeds["learning_rate"])
            theirs.append(optimizer.param_groups[0]["lr"])
            session.publish(loss=torch.tensor(loss, dtype=torch.float64))
            scheduler.step(loss)
    assert ours == pytest.approx(theirs, rel=1e-9)


def train(
    folder: Path | None,
    make: Callable[[list[Any]], Any],
    hook: Any,
    until: int | None = None,
) -> tuple[list[list[float]], list[Any]]:
    """Train a little; give the learning rates of each step, and the parameters at the end."""
    parameters = [torch.nn.Parameter(torch.linspace(-1, 1, n)) for n in (3, 2)]
    optimizer = make(parameters)
    state = {"parameters": parameters, "optimizer": optimizer}
    saving: dict[str, Any] = {} if folder is None else {"checkpoint_dir": folder, "save_checkpoint_steps": 1}
    rates = []
    with th.MonitoredTrainingSession(state=state, hooks=[hook], **saving) as session:
        for step in session.steps(range(8)):
            if step == until:
                break
            optimizer.zero_grad()
            loss = sum((parameter**4).sum() + parameter.sum() for parameter in parameters)
            loss.backward()
            optimizer.step()
            rates.append([float(group["lr"]) for group in optimizer.param_groups])
            session.publish(loss=loss)
    return rates, parameters


OPTIMIZERS: dict[str, Callable[[list[Any]], Any]] = {
    "one group": lambda p: torch.optim.Adam(p, lr=7.0),
    "groups": lambda p: torch.optim.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 14.0}], lr=7.0, momentum=0.9),
    "a tensor": lambda p: torch.optim.Adam(p, lr=torch.tensor(7.0)),
    "capturable": lambda p: torch.optim.AdamW([{"params": p[:1]}, {"params": p[1:]}], lr=torch.tensor(7.0)),
}

HOOKS: dict[str, Callable[[], Any]] = {
    "schedule": lambda: LearningRateHook(CosineDecay(0.125, decay_steps=8), setter="optimizer", warmup_steps=2),
    "constant": lambda: LearningRateHook("constant", learning_rate=0.125, setter="optimizer"),
    "plateau": lambda: ReduceOnPlateauHook(
        "loss", learning_rate=0.125, factor=0.5, patience=0, min_delta=0.5, setter="optimizer"
    ),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_each_step_of_an_optimizer_has_its_value(make: Callable[[list[Any]], Any]) -> None:
    rates, _ = train(None, make, LearningRateHook(lambda step: 0.125 * step, setter="optimizer"))
    scale = 2.0 if make is OPTIMIZERS["groups"] else 1.0
    assert [row[0] for row in rates] == [0.125 * step for step in range(8)]
    assert [row[-1] for row in rates] == [0.125 * step * scale for step in range(8)]


@pytest.mark.parametrize("interrupt", range(1, 8))
@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_interrupted_training_ends_with_the_same_bits(
    make: Callable[[list[Any]], Any], hook: Callable[[], Any], interrupt: int, tmp_path: Path
) -> None:
    pytest.importorskip("tenterhooks_torch", reason="tenterhooks-torch is not installed")
    pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed")
    rates, parameters = train(None, make, hook())
    first, _ = train(tmp_path, make, hook(), until=interrupt)
    rest, resumed = train(tmp_path, make, hook())
    assert first + rest == rates
    assert all(map(torch.equal, parameters, resumed))


def test_what_an_optimizer_was_restored_with_does_not_hold(tmp_path: Path) -> None:
    pytest.importorskip("tenterhooks_torch", reason="tenterhooks-torch is not installed")
    pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed")
    make = OPTIMIZERS["groups"]
    train(tmp_path, make, LearningRateHook("constant", learning_rate=0.5, setter="optimizer"), until=3)
    rates, _ = train(tmp_path, make, LearningRateHook("constant", learning_rate=0.25, setter="optimizer"))
    assert rates == [[0.25, 0.5]] * 5


def test_a_tensor_stays_the_tensor_that_a_compiled_step_holds() -> None:
    rate = torch.tensor(7.0)
    optimizer = make_optimizer(rate)
    set_param_groups(optimizer, 0.25)
    assert optimizer.param_groups[0]["lr"] is rate
    assert float(rate) == 0.25


def test_pytorchs_schedulers_take_the_proportions_for_their_own() -> None:
    optimizer = OPTIMIZERS["groups"]([torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))])
    schedulers.LambdaLR(optimizer, lambda step: 0.001)
    set_param_groups(optimizer, 0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 1.0]
