"""Learning rates that decay, as functions of the global step."""

import math
from dataclasses import KW_ONLY, dataclass

from tenterhooks.timer import check_steps
from tenterhooks_learning_rate._checks import check_number

__all__ = ["CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "PolynomialDecay"]


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
        check_steps("decay_steps", self.decay_steps, least=1)
        check_number("decay_rate", self.decay_rate, above=0)

    def __call__(self, step: int) -> float:
        """The learning rate at a step."""
        times = step // self.decay_steps if self.staircase else step / self.decay_steps
        return float(self.learning_rate * self.decay_rate**times)


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
        check_steps("decay_steps", self.decay_steps, least=1)
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
        check_steps("decay_steps", self.decay_steps, least=1)
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
        check_steps("decay_steps", self.decay_steps, least=1)
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


def _cosine(top: float, end: float, part: float) -> float:
    return float(end + (top - end) * 0.5 * (1 + math.cos(math.pi * part)))
