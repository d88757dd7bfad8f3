"""TensorFlow's Estimator on tenterhooks: `train`, `evaluate` and `predict` with one model function."""

from tenterhooks_estimator.estimator import Estimator
from tenterhooks_estimator.run_config import RunConfig
from tenterhooks_estimator.spec import EstimatorSpec, ModeKeys
from tenterhooks_estimator.training import EvalSpec, TrainSpec, train_and_evaluate

__all__ = ["Estimator", "EstimatorSpec", "EvalSpec", "ModeKeys", "RunConfig", "TrainSpec", "train_and_evaluate"]
