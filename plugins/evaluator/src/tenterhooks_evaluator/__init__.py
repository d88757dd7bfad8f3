"""Evaluations beside the training."""

from tenterhooks_evaluator.evaluation import Evaluation
from tenterhooks_evaluator.hook import EvaluatorHook

__all__ = ["Evaluation", "EvaluatorHook"]
