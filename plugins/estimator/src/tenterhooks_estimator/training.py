"""`train_and_evaluate`: a training that is evaluated on its way, and at its end."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tenterhooks as th
from tenterhooks.generators import all_states, set_all
from tenterhooks_estimator._arguments import check_seconds, check_whole, listed
from tenterhooks_estimator._hooks import EvaluationResults
from tenterhooks_estimator._input import InputFn, check_input_fn
from tenterhooks_estimator._saving import SavingListener
from tenterhooks_estimator.estimator import Estimator

__all__ = ["EvalSpec", "TrainSpec", "train_and_evaluate"]

_log = logging.getLogger("tenterhooks_estimator")


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """What is trained with.

    Attributes:
        input_fn: The input function.
        max_steps: The global step to stop at; by default the input's end.
        hooks: Hooks of the training; one that asks for a stop ends it, early stopping for instance.
        saving_listeners: Told of each save.

    Raises:
        TypeError: The input function is none, or something is of another kind.
        ValueError: The number is not at least 1, or the input function needs an argument that it cannot have.
    """

    input_fn: InputFn
    max_steps: int | None = None
    hooks: Iterable[object] = ()
    saving_listeners: Iterable[SavingListener] = ()

    def __post_init__(self) -> None:
        check_input_fn(self.input_fn)
        check_whole(1, max_steps=self.max_steps)
        # Lists of their own: a spec may be used again.
        for name in ("hooks", "saving_listeners"):
            object.__setattr__(self, name, tuple(listed(name, getattr(self, name))))


@dataclass(frozen=True, slots=True)
class EvalSpec:
    """What is evaluated with, and how often.

    Attributes:
        input_fn: The input function.
        steps: The number of batches; None for all.
        name: Tells several evaluations apart.
        hooks: Hooks of the evaluations; each evaluation is a session of its own, with these same objects.
        start_delay_secs: The seconds from the training's start before which nothing is evaluated.
        throttle_secs: The seconds from the start of one evaluation to that of the next, at least.

    Raises:
        TypeError: The input function is none, or something is of another kind.
        ValueError: A number is too small, or the input function needs an argument that it cannot have.
    """

    input_fn: InputFn
    steps: int | None = 100
    name: str | None = None
    hooks: Iterable[object] = ()
    start_delay_secs: float = 120.0
    throttle_secs: float = 600.0

    def __post_init__(self) -> None:
        check_input_fn(self.input_fn)
        check_whole(1, steps=self.steps)
        check_seconds(start_delay_secs=self.start_delay_secs, throttle_secs=self.throttle_secs)
        object.__setattr__(self, "hooks", tuple(listed("hooks", self.hooks)))


def train_and_evaluate(
    estimator: Estimator,
    train_spec: TrainSpec,
    eval_spec: EvalSpec,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Train, evaluate new checkpoints on the way, and the last one at the end. The training waits for each evaluation.

    Run again after an interrupt, it goes on, and evaluates the checkpoint that it starts from too, as one without an
    interrupt did; where `max_steps` is reached, it just evaluates. The random numbers of the process are after an
    evaluation what they were before, so the training does not depend on when it is evaluated.

    What an evaluation finds is published in the training's session, under the names that its folder tells, such as
    `eval/accuracy` and `eval/loss`: its hooks can ask for it, early stopping for instance. It is there from the first
    evaluation on, in the next run, and is no part of a checkpoint.

    There are no exporters: load what is wanted from a checkpoint.

    Args:
        estimator: The Estimator.
        train_spec: What to train with.
        eval_spec: What to evaluate with, and how often.
        clock: Gives the time in seconds.

    Returns:
        What the last evaluation gave; see `Estimator.evaluate`.

    Raises:
        TypeError: Something is of another kind.
        CheckpointError: Nothing was saved that could be evaluated.
    """
    for name, value, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} is an object of {kind.__name__}, not {value!r:.60} of type {type(value).__name__}")
    evaluations = _Evaluations(estimator, eval_spec, clock)
    estimator.train(
        train_spec.input_fn,
        hooks=[evaluations.published, *train_spec.hooks],
        max_steps=train_spec.max_steps,
        saving_listeners=[*train_spec.saving_listeners, evaluations],
    )
    return evaluations.last()


class _Evaluations:
    """Evaluates after saves: a saving listener.

    Attributes:
        published: The hook that publishes what it finds in the training.
    """

    def __init__(self, estimator: Estimator, spec: EvalSpec, clock: Callable[[], float]) -> None:
        self._estimator = estimator
        self._spec = spec
        self._clock = clock
        self._next_time = 0.0
        self._evaluated: tuple[Path, dict[str, Any]] | None = None
        self._prefix = estimator.eval_dir(spec.name).name
        # For their names the model is built once here: what is wrong with it shows before the training.
        names = ("loss", *estimator.metric_names(spec.input_fn))
        self.published = EvaluationResults([f"{self._prefix}/{name}" for name in names])

    def begin(self) -> None:
        self._next_time = self._clock() + self._spec.start_delay_secs

    def before_save(self, session: th.Session, step: int) -> None:
        """Nothing is to be done."""

    def after_save(self, session: th.Session, step: int) -> None:
        """Evaluate what was saved, if it is time."""
        # What a fresh training starts from is no news. What a resumed one starts from was to be evaluated when the one
        # before was interrupted, and its hooks do not know yet what was found.
        if step > 0 and self._clock() >= self._next_time:
            self._next_time = self._clock() + self._spec.throttle_secs
            try:
                with session.pause_clock(clock=self._clock):
                    self._evaluate()
            except (StopIteration, th.OutOfRangeError) as error:
                raise RuntimeError(
                    f"the evaluation at global step {step} raised {type(error).__name__} ({error}), where it would "
                    "pass for the end of the training's input: catch it where it comes from"
                ) from error

    def end(self, session: th.Session, step: int) -> None:
        """The last evaluation comes after the training."""

    def last(self) -> dict[str, Any]:
        """What the newest checkpoint's evaluation gives."""
        self._evaluate()
        assert self._evaluated is not None
        return self._evaluated[1]

    def _evaluate(self) -> None:
        """Evaluate the newest checkpoint, unless that is done."""
        checkpoint = self._estimator.latest_checkpoint()
        if checkpoint is None:
            raise th.CheckpointError(
                f"there is nothing to evaluate: the training saved no checkpoint in {self._estimator.model_dir}"
            )
        if self._evaluated is not None and self._evaluated[0] == checkpoint:
            return
        spec, states = self._spec, all_states({})
        try:
            found = self._estimator.evaluate(
                spec.input_fn, steps=spec.steps, hooks=spec.hooks, checkpoint_path=checkpoint, name=spec.name
            )
        finally:
            set_all({}, states)
        self._evaluated = checkpoint, found
        self.published.take({f"{self._prefix}/{name}": found[name] for name in found if name != "global_step"})
