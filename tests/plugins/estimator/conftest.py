"""Which tests can be made where the Estimator is installed alone, without a saver."""

from importlib.util import find_spec

# They train. Without tenterhooks-checkpoint the rest is left: the metrics, the specs, and what is refused.
TRAIN = ["checkpoints", "estimator", "evaluate", "model", "predict", "saving", "train", "training"]
collect_ignore = [] if find_spec("tenterhooks_checkpoint") else [f"test_{name}.py" for name in TRAIN]
