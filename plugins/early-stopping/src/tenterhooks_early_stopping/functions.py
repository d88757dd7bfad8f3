"""TensorFlow's five functions that make a hook for early stopping."""

import math
import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

from tenterhooks import (
    Node,
    OutOfRangeError,
    SecondOrStepTimer,
    Session,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tenterhooks.graph import Graph
from tenterhooks_early_stopping._metric import MetricHook
from tenterhooks_early_stopping.hook import EarlyStoppingHook

__all__ = [
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]


def stop_if_higher_hook(
    metric_name: str | Node,
    threshold: float,
    *,
    min_steps: int = 0,
    run_every_secs: float | None = None,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Make a hook that stops a session when a metric is higher than a threshold.

    As TensorFlow's function of this name, which took an estimator and read what its evaluations had written. Here the
    metric is a value of the session: that of a node, or one that a loop or an evaluation publishes.

    Args:
        metric_name: The metric's name or node.
        threshold: A value above it stops the session; one that is equal does not.
        min_steps: Values of steps before this one are not looked at.
        run_every_secs: The seconds between two looks, in place of each run.
        run_every_steps: The steps between two looks.

    Example:
        >>> hook = stop_if_higher_hook("eval/accuracy", 0.99, min_steps=1000)
    """
    return _ThresholdHook("stop-if-higher", metric_name, threshold, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    metric_name: str | Node,
    threshold: float,
    *,
    min_steps: int = 0,
    run_every_secs: float | None = None,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Make a hook that stops a session when a metric is lower than a threshold; see `stop_if_higher_hook`."""
    return _ThresholdHook("stop-if-lower", metric_name, threshold, min_steps, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    metric_name: str | Node,
    max_steps_without_increase: int,
    *,
    min_steps: int = 0,
    run_every_secs: float | None = None,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Make a hook that stops a session when a metric has not become higher than its highest for some steps.

    It is an `EarlyStoppingHook` with the mode "max", `patience_steps` and `start_from_step`.

    Args:
        metric_name: The metric's name or node.
        max_steps_without_increase: How many steps after the highest value a check stops the session.
        min_steps: Values of steps before this one are not looked at.
        run_every_secs: The seconds between two looks, in place of each run.
        run_every_steps: The steps between two looks.

    Example:
        >>> hook = stop_if_no_increase_hook("eval/accuracy", 5000)
    """
    return EarlyStoppingHook(
        metric_name,
        mode="max",
        patience_steps=max_steps_without_increase,
        start_from_step=min_steps,
        every_n_secs=run_every_secs,
        every_n_steps=run_every_steps,
    )


def stop_if_no_decrease_hook(
    metric_name: str | Node,
    max_steps_without_decrease: int,
    *,
    min_steps: int = 0,
    run_every_secs: float | None = None,
    run_every_steps: int | None = None,
) -> EarlyStoppingHook:
    """Make a hook that stops a session when a metric has not become lower than its lowest for some steps.

    The same as `stop_if_no_increase_hook`, with the mode "min".
    """
    return EarlyStoppingHook(
        metric_name,
        mode="min",
        patience_steps=max_steps_without_decrease,
        start_from_step=min_steps,
        every_n_secs=run_every_secs,
        every_n_steps=run_every_steps,
    )


def make_early_stopping_hook(
    should_stop_fn: Callable[[], bool],
    *,
    run_every_secs: float | None = None,
    run_every_steps: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SessionRunHook:
    """Make a hook that stops a session when a function says so.

    As TensorFlow's function of this name, but for the estimator. What the function goes by is its own: it is not in
    the checkpoints, and it is asked anew in a session that was restored.

    Args:
        should_stop_fn: Is called after a run, without arguments; true stops the session.
        run_every_secs: The seconds between two calls; 60 where no period is given.
        run_every_steps: The steps between two calls. The first run is followed by one.
        clock: Gives the time in seconds.

    Raises:
        TypeError: `should_stop_fn` cannot be called.
        ValueError: Both periods were given.
        RuntimeError: In a run: the function raised what would pass for the end of the input.

    Example:
        >>> hook = make_early_stopping_hook(lambda: False, run_every_steps=100)
    """
    if not callable(should_stop_fn):
        raise TypeError(
            f"should_stop_fn is a function without arguments, not {should_stop_fn!r:.60} of type "
            f"{type(should_stop_fn).__name__}; no estimator is passed"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(f"only one of the periods can be given, not {run_every_secs=} and {run_every_steps=}")
    if run_every_secs is None and run_every_steps is None:
        run_every_secs = 60.0
    return _PredicateHook(should_stop_fn, SecondOrStepTimer(run_every_secs, run_every_steps, clock=clock))


class _ThresholdHook(MetricHook):
    """Stops a session when a metric is past a threshold; `name` says in which direction."""

    def __init__(
        self,
        name: str,
        metric: str | Node,
        threshold: float,
        min_steps: int,
        run_every_secs: float | None,
        run_every_steps: int | None,
    ) -> None:
        if math.isnan(threshold):
            raise ValueError("the threshold is a number, not NaN: nothing would be past it")
        self.name = name
        self._threshold = threshold
        self._value: float | None = None
        super().__init__(metric, start_from_step=min_steps, every_n_steps=run_every_steps, every_n_secs=run_every_secs)

    def begin(self, graph: Graph) -> None:
        self._value = None
        super().begin(graph)

    def check(self, session: Session, value: float, step: int) -> None:
        self._value = value

    def reason(self) -> str | None:
        is_past, word = (operator.gt, "higher") if self.name == "stop-if-higher" else (operator.lt, "lower")
        if self._value is None or not is_past(self._value, self._threshold):
            return None
        return f"{self._name!r} is {self._value}, {word} than {self._threshold}"

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "value": self._value}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self._value = state["value"]


class _PredicateHook(SessionRunHook):
    """Stops a session when a function says so."""

    name = "make-early-stopping"

    def __init__(self, should_stop_fn: Callable[[], bool], timer: SecondOrStepTimer) -> None:
        self._should_stop_fn = should_stop_fn
        self.timer = timer

    def begin(self, graph: Graph) -> None:
        self.timer.reset()

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self.timer.update_last_triggered_step(run_context.session.global_step)
        try:
            stops = self._should_stop_fn()
        except (StopIteration, OutOfRangeError) as error:
            raise RuntimeError(
                f"{self._should_stop_fn!r} raised {type(error).__name__}, which would pass for the end of the input: "
                "give true or false"
            ) from error
        if stops:
            run_context.request_stop(f"{self._should_stop_fn!r} says so")
