"""The Estimator: one model function, and what is done with it."""

import copy
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from tenterhooks.savers import default_saver
from tenterhooks_estimator import _evaluate, _predict, _train
from tenterhooks_estimator._arguments import check_whole, listed, named
from tenterhooks_estimator._checkpoints import RestoredSessionCreator, read
from tenterhooks_estimator._input import InputFn, check_input_fn
from tenterhooks_estimator._model import MODEL_FN_ARGUMENTS, Model, build
from tenterhooks_estimator._saving import SavingListener
from tenterhooks_estimator.run_config import RunConfig
from tenterhooks_estimator.spec import EstimatorSpec, ModeKeys

__all__ = ["Estimator"]

_log = logging.getLogger("tenterhooks_estimator")


class Estimator:
    """Trains, evaluates and uses a model that a function builds, with its checkpoints in one folder.

    Each call builds the model anew, on a graph of its own, which is the default graph while the model function runs:
    `th.get_default_graph()` gives it. The function adds variables, tensors and training ops to it. The input is there
    already, as the nodes `input` (a batch), `features` and `labels`. It takes the arguments that it names of these:

    - `features`, `labels`: the nodes of these names. In PREDICT `labels` is None.
    - `mode`: the `ModeKeys` of the call.
    - `params`: a copy of the Estimator's.
    - `config`: the Estimator's `RunConfig`.

    An input function takes `mode`, `params` and `config`, if it names them. It gives an iterable of batches, each a
    pair of features and labels, or features alone: arrays, or dicts of them. It is called once for each session. A
    training that is resumed goes on with the batch after the last one, as with any source of a graph.

    Args:
        model_fn: The model function; it returns an `EstimatorSpec`.
        model_dir: The folder of checkpoints; by default the configuration's, and without one a new temporary folder,
            which stays.
        params: What the model function gets as `params`, such as sizes.
        config: How to train; see `RunConfig`.

    Attributes:
        model_dir: The folder of checkpoints.
        config: How to train.

    Raises:
        TypeError: The model function is none, or `params` no mapping.
        ValueError: The model function needs an argument that it cannot have, or does not take `params` that are given;
            or two folders are given.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: str | Path | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        config: RunConfig | None = None,
    ) -> None:
        names = named(model_fn, "model_fn", MODEL_FN_ARGUMENTS)
        if not isinstance(params, Mapping | None):
            raise TypeError(f"params is a dict, not {params!r:.60} of type {type(params).__name__}")
        if params is not None and "params" not in names:
            raise ValueError(f"params are given, and model_fn {model_fn!r} takes none: give it an argument params")
        self.config = config if config is not None else RunConfig()
        if not isinstance(self.config, RunConfig):
            raise TypeError(f"config is a RunConfig, not {config!r:.60} of type {type(config).__name__}")
        self.model_dir = self.config.folder(model_dir)
        self._model_fn = model_fn
        self._params = dict(copy.deepcopy(params or {}))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {str(self.model_dir)!r}>"

    @property
    def params(self) -> dict[str, Any]:
        """A copy of what the model function gets as `params`."""
        return copy.deepcopy(self._params)

    def latest_checkpoint(self) -> Path | None:
        """The folder of the newest checkpoint; None if there is none."""
        newest = default_saver(self.model_dir).latest()
        return None if newest is None else newest.path

    def metric_names(self, input_fn: InputFn) -> list[str]:
        """The names of the model's metrics, of an evaluation with an input function."""
        return list(self._build(input_fn, ModeKeys.EVAL).spec.eval_metric_ops)

    def train(
        self,
        input_fn: InputFn,
        *,
        hooks: Iterable[object] = (),
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[SavingListener] = (),
    ) -> Self:
        """Train, from the newest checkpoint on, until the input ends, a hook asks for a stop, or the steps are made.

        The order of the hooks: the model's `training_chief_hooks`, summaries, `hooks`, the record of the loss, the
        model's `training_hooks`, those that are named outside of code, and the saver.

        Args:
            input_fn: The input function.
            hooks: Hooks: objects, or short names of installed plugins.
            steps: How many steps to make, from the newest checkpoint on.
            max_steps: The global step to stop at. A model that is there already is not built, and no hook is called.
            saving_listeners: Told of each save, which then waits until it is on the disk: objects such as a
                `CheckpointSaverListener` of tenterhooks-checkpoint.

        Returns:
            This Estimator.

        Raises:
            ValueError: Both numbers of steps are given, or one is not at least 1; or listeners are given, and there
                is no saver, or one in `hooks`.
            CheckpointError: The checkpoint is of another model, or cannot be read or written.
        """
        check_input_fn(input_fn)
        hooks, listeners = listed("hooks", hooks), listed("saving_listeners", saving_listeners)
        if steps is not None and max_steps is not None:
            raise ValueError(f"give either steps, from here on, or max_steps, in all, not {steps=} and {max_steps=}")
        check_whole(1, steps=steps, max_steps=max_steps)
        newest = default_saver(self.model_dir).latest() if max_steps is not None else None
        if newest is not None and max_steps is not None and newest.step >= max_steps:
            _log.info(
                "nothing to train: %s is at global step %d, and max_steps is %d", newest.path, newest.step, max_steps
            )
            return self
        model = self._build(input_fn, ModeKeys.TRAIN)
        _train.train(model, self.model_dir, self.config, hooks, listeners, steps=steps, max_steps=max_steps)
        return self

    def evaluate(
        self,
        input_fn: InputFn,
        *,
        steps: int | None = None,
        hooks: Iterable[object] = (),
        checkpoint_path: str | Path | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluate a checkpoint. A training that goes on is not disturbed.

        The results that are numbers are written into `eval_dir(name)`, too, if a summary writer is installed
        (tenterhooks-summary).

        Args:
            input_fn: The input function.
            steps: The number of batches; by default all.
            hooks: Hooks, called before those of the model.
            checkpoint_path: The folder of the checkpoint; by default the newest one's in `model_dir`.
            name: Tells several evaluations apart: that of training data, say.

        Returns:
            The model's metrics by name, `loss` (the mean over batches), and `global_step`.

        Raises:
            ValueError: There was no batch, the loss of one is not one number, `steps` is not at least 1, or `name`
                cannot be part of a folder's name.
            CheckpointError: There is no checkpoint, or it is of another model.
        """
        check_input_fn(input_fn)
        hooks = listed("hooks", hooks)
        check_whole(1, steps=steps)
        folder = self.eval_dir(name)
        model, creator = self._restored(input_fn, ModeKeys.EVAL, checkpoint_path, folder)
        results = _evaluate.evaluate(model, creator, [*hooks, *model.spec.evaluation_hooks], steps)
        _evaluate.write_summaries(results, folder)
        return results

    def eval_dir(self, name: str | None = None) -> Path:
        """The folder of an evaluation's summaries.

        Args:
            name: The evaluation's name.

        Raises:
            ValueError: It cannot be part of a folder's name.
        """
        if name is not None and (not isinstance(name, str) or not name or Path(name).name != name):
            raise ValueError(f"the name of an evaluation is a part of a folder's name, not {name!r}")
        return self.model_dir / ("eval" if name is None else f"eval_{name}")

    def predict(
        self,
        input_fn: InputFn,
        *,
        predict_keys: Iterable[str] | None = None,
        hooks: Iterable[object] = (),
        checkpoint_path: str | Path | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Give the model's predictions, one example after the other, as long as there is input.

        The session is opened when the first one is wanted, and closed with the last one, or when the iterator is
        dropped or closed. A run is made for each batch, when its first example is wanted.

        Args:
            input_fn: The input function. Labels that it gives are not looked at.
            predict_keys: The predictions that are wanted, where they are a dict; by default all.
            hooks: Hooks, called before those of the model.
            checkpoint_path: The folder of the checkpoint; by default the newest one's in `model_dir`.
            yield_single_examples: Whether to split batches along their first axis; else they are given as they are.

        Yields:
            What the model's `predictions` are of one example, a dict where they are one.

        Raises:
            ValueError: There is no such prediction, or one cannot be split.
            CheckpointError: There is no checkpoint, or it is of another model.
        """
        check_input_fn(input_fn)
        hooks = listed("hooks", hooks)
        return self._predictions(input_fn, predict_keys, hooks, checkpoint_path, single=yield_single_examples)

    def _predictions(
        self,
        input_fn: InputFn,
        keys: Iterable[str] | None,
        hooks: list[object],
        checkpoint_path: str | Path | None,
        *,
        single: bool,
    ) -> Iterator[Any]:
        model, creator = self._restored(input_fn, ModeKeys.PREDICT, checkpoint_path, None)
        fetches = _predict.chosen(model.spec.predictions, keys)
        hooks += model.spec.prediction_hooks
        yield from _predict.predict(fetches, creator, hooks, single_examples=single)

    def _build(self, input_fn: InputFn, mode: ModeKeys) -> Model:
        return build(self._model_fn, input_fn, mode, self.params, self.config)

    def _restored(
        self, input_fn: InputFn, mode: ModeKeys, checkpoint_path: str | Path | None, summary_dir: Path | None
    ) -> tuple[Model, RestoredSessionCreator]:
        """A model, and what makes sessions on it from a checkpoint."""
        checkpoint, state = read(self.model_dir, checkpoint_path)
        model = self._build(input_fn, mode)
        return model, RestoredSessionCreator(model, checkpoint, state, summary_dir)
