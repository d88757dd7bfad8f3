"""How a learning rate gets into an optimizer, on what has the form of PyTorch's and Optax's and needs neither."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_learning_rate import LearningRateHook, set_hyperparams, set_param_groups


class Tensor:
    """A number that is changed in place."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def fill_(self, value: float) -> None:
        self.value = value


def optimizer(*rates: Any) -> Any:
    return SimpleNamespace(param_groups=[{"params": [], "lr": rate} for rate in rates])


def lrs(of: Any) -> list[float]:
    return [float(group["lr"]) for group in of.param_groups]


def test_all_groups_get_it() -> None:
    one = optimizer(0.1, 0.1)
    set_param_groups(one, 0.3)
    assert lrs(one) == [0.3, 0.3]


def test_groups_keep_their_proportion_to_the_first() -> None:
    one = optimizer(0.5, 1.0, 0.0)
    for value in (0.25, 4.0):
        set_param_groups(one, value)
        assert lrs(one) == [value, 2 * value, 0.0]


def test_a_proportion_survives_a_learning_rate_of_0() -> None:
    one = optimizer(0.5, 1.0)
    set_param_groups(one, 0.0)
    set_param_groups(one, 1.0)
    assert lrs(one) == [1.0, 2.0]


def test_a_tensor_is_changed_in_place() -> None:
    one = optimizer(Tensor(0.5), Tensor(1.0))
    tensors = [group["lr"] for group in one.param_groups]
    set_param_groups(one, 0.25)
    assert [group["lr"] for group in one.param_groups] == tensors
    assert lrs(one) == [0.25, 0.5]


def test_groups_that_began_with_0_alone_get_it() -> None:
    one = optimizer(0.0, 0.0)
    set_param_groups(one, 0.3)
    assert lrs(one) == [0.3, 0.3]


def test_a_first_group_of_0_has_no_proportion_to_another() -> None:
    with pytest.raises(ValueError, match=r"group 0 began with the learning rate 0 and group 1 with 0.5: there is no"):
        set_param_groups(optimizer(0.0, 0.5), 0.3)


class Injected(NamedTuple):
    """Of the form of an Optax state."""

    step: int
    hyperparams: dict[str, Any]
    hyperparams_states: dict[str, Any]
    inner_state: Any


def injected(**hyperparams: Any) -> Injected:
    return Injected(0, hyperparams, {}, {"mu": np.zeros(2)})


@dataclass(frozen=True)
class TrainState:
    opt_state: Any
    params: Any = field(default_factory=lambda: {"w": np.zeros(2)})


@pytest.mark.parametrize(
    "nest",
    [
        lambda one: one,
        lambda one: (None, one, ()),
        lambda one: [(one,)],
        lambda one: {"params": {"w": np.ones(3)}, "opt": {"a": one}},
        lambda one: Injected(0, {"decay": 0.5}, {}, one),
        lambda one: TrainState((one,)),
    ],
)
def test_it_is_found_wherever_it_lies(nest: Callable[[Any], Any]) -> None:
    one = injected(learning_rate=0.1, b1=0.9)
    set_hyperparams(nest(one), 0.3)
    assert one.hyperparams == {"learning_rate": 0.3, "b1": 0.9}


def test_an_array_gives_way_to_one_like_it() -> None:
    class Array:
        def __init__(self, value: float) -> None:
            self.value = value
            self.at = {...: SimpleNamespace(set=Array)}

    first = Array(0.1)
    one = injected(learning_rate=first)
    set_hyperparams(one, 0.3)
    assert (one.hyperparams["learning_rate"].value, first.value) == (0.3, 0.1)


WRONG: list[tuple[Any, type[Exception], str]] = [
    (
        {"w": np.zeros(2)},
        TypeError,
        "dict has no learning rate to set: it is a PyTorch optimizer or the state of optax",
    ),
    (None, TypeError, "NoneType has no learning rate to set"),
    (injected(b1=0.9, b2=0.99), TypeError, "Injected has the hyperparameters b1, b2, and no learning_rate"),
    (
        (injected(learning_rate=0.1), injected(learning_rate=0.2)),
        ValueError,
        "'state' has 2 injected learning rates, at '0', '1': give setter='state/0' for one of them, or set each by a",
    ),
    (
        Injected(0, {"learning_rate": 0.1}, {"learning_rate": ()}, None),
        TypeError,
        "Optax computes the learning rate itself, from the schedule that inject_hyperparams was given",
    ),
]


@pytest.mark.parametrize(("state", "error", "message"), WRONG)
def test_what_is_wrong_is_said(state: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        set_hyperparams(state, 0.3)
    assert message in str(caught.value)


def test_an_entry_that_is_replaced_in_each_pass_is_set_in_each() -> None:
    used = []
    first = {"opt": [injected(learning_rate=-1.0)]}
    hook = LearningRateHook(lambda step: 10.0 * step, setter="train")
    state = {"train": first}
    with th.MonitoredSession(hooks=[hook], state=state) as session:
        s = session.state
        for _ in session.steps(range(3)):
            now = s["train"]["opt"][0].hyperparams["learning_rate"]
            used.append(now)
            s["train"]["opt"] = [injected(learning_rate=now)]
    assert used == [0.0, 10.0, 20.0]


def of_labels() -> dict[str, Any]:
    return {"slow": [injected(learning_rate=0.1)], "fast": Injected(0, {"decay": 1.0}, {}, injected(learning_rate=0.2))}


def rates_of(state: Any) -> list[float]:
    return [state["slow"][0].hyperparams["learning_rate"], state["fast"].inner_state.hyperparams["learning_rate"]]


def test_of_several_one_is_named_by_what_is_its_own() -> None:
    state = {"opt": of_labels(), "a/b": injected(learning_rate=0.1)}
    hooks = [
        LearningRateHook(lambda step: 1.0 + step, setter="opt/fast", placeholder="lr/fast"),
        LearningRateHook(lambda step: 3.0 + step, setter="opt/slow", placeholder="lr/slow"),
        LearningRateHook(lambda step: 5.0 + step, setter="a/b"),
    ]
    with th.MonitoredSession(hooks=hooks, state=state) as session:
        for step in session.steps(range(2)):
            assert rates_of(session.state["opt"]) == [3.0 + step, 1.0 + step]
            assert session.state["a/b"].hyperparams == {"learning_rate": 5.0 + step}


@pytest.mark.parametrize(
    ("state", "setter", "message"),
    [
        (of_labels(), "opt", "'slow/0', 'fast/inner_state': give setter='opt/slow' for one of them, or set each by a"),
        (
            of_labels(),
            "opt/quick",
            "'opt' has no injected learning rate at 'quick'; there are: 'slow/0', 'fast/inner_s",
        ),
        (
            Injected(0, {"learning_rate": 0.1}, {}, injected(learning_rate=0.2)),
            "opt",
            "at '', 'inner_state': give setter='opt/inner_state' for one of them, or set each by a function",
        ),
        (of_labels(), "opd/fast", "the setter 'opd/fast' is no entry of the session's state; the nearest: 'opt'"),
        (optimizer(0.1), "opt/0", "the setter 'opt/0' names a part of a PyTorch optimizer, whose parameter groups are"),
    ],
)
def test_of_several_a_wrong_name_is_told(state: Any, setter: str, message: str) -> None:
    hook = LearningRateHook(lambda step: 1.0, setter=setter)
    with pytest.raises((th.UnknownNameError, TypeError, ValueError)) as caught:
        th.MonitoredSession(hooks=[hook], state={"opt": state})
    assert message in str(caught.value)
