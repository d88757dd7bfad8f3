"""Metrics over the batches of an evaluation: each is updated with one batch after the other; parts can be merged."""

from tenterhooks_estimator.metrics._auc import AUC, BinnedAUC
from tenterhooks_estimator.metrics._ops import Metric, MetricOp, accuracy, auc, mean, precision, recall
from tenterhooks_estimator.metrics._ratios import Accuracy, Mean, Precision, Recall

__all__ = [
    "AUC",
    "Accuracy",
    "BinnedAUC",
    "Mean",
    "Metric",
    "MetricOp",
    "Precision",
    "Recall",
    "accuracy",
    "auc",
    "mean",
    "precision",
    "recall",
]
