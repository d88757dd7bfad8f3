"""Learning rates as functions of the global step. They have no state: the step says it all."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

from tenterhooks.state import Stateful
from tenterhooks_learning_rate._checks import check_count, check_number

__all__ = [
    "Constant",
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "Schedule",
    "Warmup",
]

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
class ExponentialDecay:
    """Multiplied by `decay_rate` each `decay_steps`, smoothly or at once: `tf.compat.v1.train.exponential_decay`.

    Args:
        learning_rate: The one at step 0.
        decay_steps: After how many steps it is `decay_rate` times what it was.
        decay_rate: The factor, above 0.
        staircase: Whether it changes only at each `decay_steps`th step, as `torch.optim.lr_scheduler.StepLR`.

    Example:
        >>> ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5, staircase=True)(25)
        0.025
    """

    learning_rate: float
    _: KW_ONLY
    decay_steps: int
    decay_rate: float
    staircase: bool = False

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_count("decay_steps", self.decay_steps, low=1)
        check_number("decay_rate", self.decay_rate, above=0)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        times = step // self.decay_steps if self.staircase else step / self.decay_steps
        return float(self.learning_rate * self.decay_rate**times)


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
        for boundary in self.boundaries:
            check_count("each of boundaries", boundary, low=1)
        if any(one >= other for one, other in pairwise(self.boundaries)):
            raise ValueError(f"boundaries are steps, each later than the one before, not {list(self.boundaries)}")
        for value in self.values:
            check_number("each of values", value)
        if len(self.values) != len(self.boundaries) + 1:
            raise ValueError(
                f"values has one more than boundaries, for the steps before the first one: {len(self.boundaries) + 1}, "
                f"not {len(self.values)}"
            )
        # Nobody changes what was checked.
        object.__setattr__(self, "boundaries", tuple(self.boundaries))
        object.__setattr__(self, "values", tuple(self.values))

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        return self.values[sum(step >= boundary for boundary in self.boundaries)]


@dataclass(frozen=True, slots=True)
class PolynomialDecay:
    """Down to an end by a power of the steps that are left: `tf.compat.v1.train.polynomial_decay`.

    Args:
        learning_rate: The one at step 0.
        decay_steps: The step at which the end is reached.
        end_learning_rate: The end, which stays. TensorFlow's default is 0.0001.
        power: The exponent, above 0; 1 is a straight line.
        cycle: Whether it starts again, in place of staying at the end, from where a decay to the next multiple of
            `decay_steps` would be.

    Example:
        >>> PolynomialDecay(0.1, decay_steps=10)(5)
        0.05
    """

    learning_rate: float
    _: KW_ONLY
    decay_steps: int
    end_learning_rate: float = 0.0
    power: float = 1.0
    cycle: bool = False

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_count("decay_steps", self.decay_steps, low=1)
        check_number("end_learning_rate", self.end_learning_rate)
        check_number("power", self.power, above=0)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        decay_steps = self.decay_steps * max(1, -(-step // self.decay_steps)) if self.cycle else self.decay_steps
        left = 1 - min(step, decay_steps) / decay_steps
        return float((self.learning_rate - self.end_learning_rate) * left**self.power + self.end_learning_rate)


@dataclass(frozen=True, slots=True)
class CosineDecay:
    """Down to an end by half a cosine: `tf.compat.v1.train.cosine_decay`.

    Args:
        learning_rate: The one at step 0.
        decay_steps: The step at which the end is reached.
        end_learning_rate: The end, which stays. PyTorch's `eta_min`; TensorFlow's and Optax's `alpha` is this
            as a fraction of `learning_rate`.

    Example:
        >>> CosineDecay(0.1, decay_steps=10)(5)
        0.05
    """

    learning_rate: float
    _: KW_ONLY
    decay_steps: int
    end_learning_rate: float = 0.0

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_count("decay_steps", self.decay_steps, low=1)
        check_number("end_learning_rate", self.end_learning_rate)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        return _cosine(self.learning_rate, self.end_learning_rate, min(step, self.decay_steps) / self.decay_steps)


@dataclass(frozen=True, slots=True)
class CosineDecayRestarts:
    """Down by half a cosine, again and again: `tf.compat.v1.train.cosine_decay_restarts` (SGDR).

    Args:
        learning_rate: The one at step 0.
        decay_steps: The steps until the first restart. TensorFlow's `first_decay_steps`.
        end_learning_rate: What each decay goes down to.
        t_mul: How many times as long as the one before each decay is, 1 or more. PyTorch's default is 1.
        m_mul: How many times as high above `end_learning_rate` as the one before each decay begins.

    Example:
        >>> schedule = CosineDecayRestarts(0.1, decay_steps=10)
        >>> schedule(5), schedule(10), schedule(20)
        (0.05, 0.1, 0.05)
    """

    learning_rate: float
    _: KW_ONLY
    decay_steps: int
    end_learning_rate: float = 0.0
    t_mul: float = 2.0
    m_mul: float = 1.0

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_count("decay_steps", self.decay_steps, low=1)
        check_number("end_learning_rate", self.end_learning_rate)
        check_number("t_mul", self.t_mul, low=1)
        check_number("m_mul", self.m_mul, above=0)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        restarts, since, length = 0, float(step), float(self.decay_steps)
        if self.t_mul == 1:
            restarts, since = divmod(step, self.decay_steps)
        else:
            # By a logarithm the step of a restart itself might be missed.
            while since >= length:
                since -= length
                length *= self.t_mul
                restarts += 1
        top = self.end_learning_rate + (self.learning_rate - self.end_learning_rate) * self.m_mul**restarts
        return _cosine(top, self.end_learning_rate, since / length)


@dataclass(frozen=True, slots=True)
class Warmup:
    """Up to another schedule in a straight line, and then that one, counted from the end of the warm-up.

    Args:
        then: The other schedule. It begins when the warm-up is over: at the step `warmup_steps` it is asked about step
            0, as in `optax.warmup_cosine_decay_schedule` and PyTorch's `SequentialLR`.
        warmup_steps: How many steps it takes; 0: none.
        initial_learning_rate: The learning rate at step 0.

    Example:
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
        check_count("warmup_steps", self.warmup_steps, low=0)
        check_number("initial_learning_rate", self.initial_learning_rate)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        if step >= self.warmup_steps:
            return self.then(step - self.warmup_steps)
        first = self.initial_learning_rate
        return first + (self.then(0) - first) * (step / self.warmup_steps)


def _cosine(top: float, end: float, part: float) -> float:
    return float(end + (top - end) * 0.5 * (1 + math.cos(math.pi * part)))
