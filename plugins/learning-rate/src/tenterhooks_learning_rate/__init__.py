"""The hooks `learning-rate` and `reduce-on-plateau`, schedules, and what sets the learning rate of optimizers."""

from tenterhooks_learning_rate._setters import set_hyperparams, set_param_groups
from tenterhooks_learning_rate.decays import CosineDecay, CosineDecayRestarts, ExponentialDecay, PolynomialDecay
from tenterhooks_learning_rate.hook import LearningRateHook
from tenterhooks_learning_rate.plateau import ReduceOnPlateauHook
from tenterhooks_learning_rate.schedules import Constant, PiecewiseConstantDecay, Warmup

__all__ = [
    "Constant",
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "LearningRateHook",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "ReduceOnPlateauHook",
    "Warmup",
    "set_hyperparams",
    "set_param_groups",
]
