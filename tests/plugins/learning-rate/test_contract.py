"""The hooks keep the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_learning_rate import LearningRateHook, ReduceOnPlateauHook

LOSSES = [{"loss": loss} for loss in (3.0, 1.0, 1.0, 2.0, float("nan"), 0.5, 0.5, 0.6)]


class TestNamed(HookContract):
    hook_class = LearningRateHook
    options = {"schedule": "cosine", "learning_rate": 0.1, "decay_steps": 3, "warmup_steps": 2}
    feeds = {"learning_rate": 1.0}


class TestSetter(HookContract):
    hook_class = LearningRateHook
    options = {"schedule": "exponential", "learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5, "setter": print}

    def make_hook(self, folder: object, clock: object) -> LearningRateHook:
        return LearningRateHook(**{**self.options, "setter": lambda session, value: None})


class TestStateful(HookContract):
    hook_class = LearningRateHook
    options = {"schedule": None}
    feeds = {"learning_rate": 1.0}

    def make_hook(self, folder: object, clock: object) -> LearningRateHook:
        return LearningRateHook(Counts(), warmup_steps=0)


class TestPlateau(HookContract):
    hook_class = ReduceOnPlateauHook
    options = {"metric": "loss", "learning_rate": 0.1, "patience": 1, "cooldown": 1, "factor": 0.5}
    values = LOSSES
    steps = len(LOSSES)
    feeds = {"learning_rate": 1.0}


class TestPlateauOfASchedule(HookContract):
    hook_class = ReduceOnPlateauHook
    values = LOSSES
    steps = len(LOSSES)
    feeds = {"learning_rate": 1.0}

    def make_hook(self, folder: object, clock: object) -> ReduceOnPlateauHook:
        return ReduceOnPlateauHook(learning_rate=Counts(), patience=0, every_n_steps=2)


class Counts:
    """A schedule that knows how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, step: int) -> float:
        self.calls += 1
        return 1.0 / self.calls

    def state_dict(self) -> dict[str, int]:
        return {"calls": self.calls}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.calls = state["calls"]
