"""Learning rates as functions of the global step. They have no state: the step says it all."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

from tenterhooks.state import Stateful
from tenterhooks.timer import check_steps
from tenterhooks_learning_rate._checks import check_number, checked_tuple

__all__ = ["Constant", "PiecewiseConstantDecay", "Schedule", "Warmup"]

Schedule = Callable[[int], float]
"""Gives the learning rate of the run that leads from a global step to the next one."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same at each step.

    Args:
        learning_rate: It.

    Example:
        >>> Constant(0.1)(1000)
        0.1
    """

    learning_rate: float

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        return self.learning_rate


@dataclass(frozen=True, slots=True)
class PiecewiseConstantDecay:
    """One value after the other: `tf.compat.v1.train.piecewise_constant`, `torch.optim.lr_scheduler.MultiStepLR`.

    Args:
        boundaries: The first step of each value but the first one, as in PyTorch and Optax. In TensorFlow it is the
            last step of the value before.
        values: The learning rates, one more than there are boundaries.

    Example:
        >>> schedule = PiecewiseConstantDecay(boundaries=[10], values=[0.1, 0.01])
        >>> schedule(9), schedule(10)
        (0.1, 0.01)
    """

    _: KW_ONLY
    boundaries: Sequence[int]
    values: Sequence[float]

    def __post_init__(self) -> None:
        # Nobody changes what is checked.
        object.__setattr__(self, "boundaries", checked_tuple("boundaries", self.boundaries))
        object.__setattr__(self, "values", checked_tuple("values", self.values))
        for boundary in self.boundaries:
            check_steps("each of boundaries", boundary, least=1)
        if any(one >= other for one, other in pairwise(self.boundaries)):
            raise ValueError(f"boundaries are steps, each later than the one before, not {list(self.boundaries)}")
        for value in self.values:
            check_number("each of values", value)
        if len(self.values) != len(self.boundaries) + 1:
            raise ValueError(
                f"values has one more than boundaries, for the steps before the first one: {len(self.boundaries) + 1}, "
                f"not {len(self.values)}"
            )

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        return self.values[sum(step >= boundary for boundary in self.boundaries)]


@dataclass(frozen=True, slots=True)
class Warmup:
    """Up to another schedule in a straight line, and then that one, counted from the end of the warm-up.

    Args:
        then: The other schedule. It begins when the warm-up is over: at the step `warmup_steps` it is asked about step
            0, as in `optax.warmup_cosine_decay_schedule` and PyTorch's `SequentialLR`.
        warmup_steps: How many steps it takes; 0: none.
        initial_learning_rate: The learning rate at step 0.

    Example:
        >>> from tenterhooks_learning_rate import CosineDecay
        >>> schedule = Warmup(CosineDecay(0.1, decay_steps=90), warmup_steps=10)
        >>> schedule(0), schedule(5), schedule(10), schedule(100)
        (0.0, 0.05, 0.1, 0.0)
    """

    then: Schedule
    _: KW_ONLY
    warmup_steps: int
    initial_learning_rate: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.then):
            raise TypeError(f"then is a schedule, a function of the step, not {self.then!r:.60}")
        if isinstance(self.then, Stateful):
            raise TypeError(
                f"then has a state ({self.then!r:.60}), and is asked about step 0 again and again while it warms up: "
                "warm up in it"
            )
        check_steps("warmup_steps", self.warmup_steps, least=0)
        check_number("initial_learning_rate", self.initial_learning_rate)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        if step >= self.warmup_steps:
            return self.then(step - self.warmup_steps)
        first = self.initial_learning_rate
        return first + (self.then(0) - first) * (step / self.warmup_steps)
