"""Optimizers and schedulers go on as if they had never been saved."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

schedulers = torch.optim.lr_scheduler

OPTIMIZERS = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=3),
    "groups": lambda p: torch.optim.Adam([{"params": p[:1]}, {"params": p[1:], "lr": 0.2}], lr=0.1),
    "tensor-lr": lambda p: torch.optim.Adam(p, lr=torch.tensor(0.1)),
}

SCHEDULERS = {
    "cosine": lambda o: schedulers.CosineAnnealingLR(o, 5),
    "lambda": lambda o: schedulers.LambdaLR(o, lambda step: 0.9**step),
    "multi-step": lambda o: schedulers.MultiStepLR(o, [2, 2, 4]),
    "one-cycle": lambda o: schedulers.OneCycleLR(o, 0.1, total_steps=20),
    "warm-restarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2),
    "chained": lambda o: schedulers.ChainedScheduler([schedulers.StepLR(o, 2), schedulers.ExponentialLR(o, 0.9)]),
    "sequential": lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o), schedulers.MultiStepLR(o, [1, 3])], milestones=[3]
    ),
}


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


class Training:
    """A small training whose every step depends on all that came before."""

    def __init__(self, optimizer: str, scheduler: str = "cosine", dtype: Any = None) -> None:
        self.parameters = [torch.nn.Parameter(torch.linspace(-1, 1, n, dtype=dtype)) for n in (3, 2)]
        self.optimizer = OPTIMIZERS[optimizer](self.parameters)
        self.scheduler = SCHEDULERS[scheduler](self.optimizer)

    def loss(self) -> Any:
        self.optimizer.zero_grad()
        loss = sum((parameter**4).sum() + parameter.sum() for parameter in self.parameters)
        loss.backward()
        return loss

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.step(self.loss)
            self.scheduler.step()

    @property
    def state(self) -> dict[str, Any]:
        return {"parameters": self.parameters, "optimizer": self.optimizer, "scheduler": self.scheduler}


def resumed(training: Training, fresh: Training, folder: Path) -> Training:
    saver = Saver(folder)
    saver.save(capture(training.state, "v"), step=1)
    saver.close()
    restored = Saver(folder).restore()
    assert restored is not None
    assert list(mismatches(fresh.state, restored[1], "v")) == []
    load(fresh.state, restored[1])
    return fresh


def equal(one: Training, other: Training) -> bool:
    return all(torch.equal(*pair) for pair in zip(one.parameters, other.parameters, strict=True))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_optimizer_goes_on(optimizer: str, tmp_path: Path) -> None:
    through, stopped = Training(optimizer), Training(optimizer)
    through.run(7)
    stopped.run(3)
    again = resumed(stopped, Training(optimizer), tmp_path)
    again.run(4)
    assert equal(again, through)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.filterwarnings("ignore:The epoch parameter:UserWarning")
def test_a_scheduler_goes_on(scheduler: str, tmp_path: Path) -> None:
    through, stopped = Training("sgd", scheduler), Training("sgd", scheduler)
    through.run(7)
    stopped.run(3)
    again = resumed(stopped, Training("sgd", scheduler), tmp_path)
    again.run(4)
    assert equal(again, through)
    assert again.scheduler.get_last_lr() == through.scheduler.get_last_lr()


def test_milestones_are_counted_again(tmp_path: Path) -> None:
    again = resumed(Training("sgd", "sequential"), Training("sgd", "sequential"), tmp_path)
    assert again.scheduler._schedulers[1].milestones == Counter([1, 3])
    assert type(again.scheduler._schedulers[1].milestones) is Counter


def test_a_plateau_is_remembered() -> None:
    def plateau() -> Any:
        return schedulers.ReduceLROnPlateau(torch.optim.SGD([torch.zeros(1)], lr=1.0), patience=1)

    one, other = plateau(), plateau()
    for _ in range(2):
        one.step(torch.tensor(3.0))
    saved = copy.deepcopy(capture(one, "v"))
    assert list(mismatches(other, saved, "v")) == []
    load(other, saved)
    other.step(torch.tensor(3.0))
    assert other.get_last_lr() == [0.1]


def test_what_an_optimizer_keeps_in_another_type_than_its_parameter_keeps_it() -> None:
    one, other = Training("adamw", dtype=torch.bfloat16), Training("adamw", dtype=torch.bfloat16)
    one.run(2)
    parameter, fresh = one.parameters[0], other.parameters[0]
    precise = one.optimizer.state[parameter]["exp_avg"].float() + 1e-6
    one.optimizer.state[parameter]["exp_avg"] = precise
    load(other.state, capture(one.state, "v"))
    assert other.optimizer.state[fresh]["exp_avg"].dtype is torch.float32
    assert torch.equal(other.optimizer.state[fresh]["exp_avg"], precise)
    assert other.optimizer.state[fresh]["exp_avg_sq"].dtype is torch.bfloat16


def test_a_learning_rate_that_is_a_tensor_stays_the_same_tensor() -> None:
    one, other = Training("tensor-lr"), Training("tensor-lr")
    one.optimizer.param_groups[0]["lr"].fill_(0.5)
    rate = other.optimizer.param_groups[0]["lr"]
    load(other.state, capture(one.state, "v"))
    assert other.optimizer.param_groups[0]["lr"] is rate
    assert rate == 0.5


def test_what_does_not_fit_is_named() -> None:
    saved = capture(Training("groups").optimizer, "v")
    optimizer = Training("adamw").optimizer
    assert list(mismatches(optimizer, saved, "v")) == ["v: groups of [2] parameters here, of [1, 1] in the checkpoint"]
    assert list(mismatches(optimizer, {"a": 1}, "v")) == ["v: an optimizer here, none in the checkpoint"]
    saved = capture(Training("adamw", "cosine").scheduler, "v")
    assert list(mismatches(Training("adamw", "multi-step").scheduler, saved, "v")) == [
        "v: a MultiStepLR here, one without ['gamma', 'milestones'] in the checkpoint"
    ]
    assert list(mismatches(Training("adamw").scheduler, 3, "v")) == [
        "v: a CosineAnnealingLR here, none in the checkpoint"
    ]


def test_a_grad_scaler_goes_on() -> None:
    one, other = torch.amp.GradScaler("cpu", init_scale=8.0), torch.amp.GradScaler("cpu")
    load(other, capture(one, "v"))
    assert other.get_scale() == 8.0
