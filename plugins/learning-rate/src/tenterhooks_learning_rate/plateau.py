"""The hook that lowers the learning rate when a value gets no better."""

import logging
import math
from collections.abc import Mapping
from typing import Any, Literal

import tenterhooks as th
from tenterhooks.timer import check_steps
from tenterhooks_learning_rate._checks import check_number
from tenterhooks_learning_rate._setters import Setter
from tenterhooks_learning_rate.hook import LearningRateHook
from tenterhooks_learning_rate.schedules import Constant, Schedule

__all__ = ["ReduceOnPlateauHook"]

_log = logging.getLogger("tenterhooks_learning_rate")


class ReduceOnPlateauHook(LearningRateHook):
    """Feeds or sets a learning rate, and lowers it when a value has not got better for some checks.

    It decides as `torch.optim.lr_scheduler.ReduceLROnPlateau` with `threshold_mode="abs"`. The first run after a
    reduction is the next one. NaN is never better. Two hooks cannot feed one placeholder, so what is lowered may be a
    schedule.

    Args:
        metric: The value to watch, a number. A check is made where it has a new value: one that a run computed or its
            pass published, or that was published for all runs to come, as an evaluation does. Where there never is one,
            the end says so.
        learning_rate: What is lowered: a number, or a schedule, whose values are multiplied by what is left of 1.
        factor: What it is multiplied by, between 0 and 1.
        patience: How many checks in a row may be no better: one more lowers it. As in PyTorch; in Keras the last of
            `patience` checks does.
        min_delta: By how much a value has to differ from the best one to be better.
        mode: Whether less or more is better.
        cooldown: For how many checks after a reduction none counts as no better.
        min_value: What it is not lowered below. A schedule may be lower itself.
        every_n_steps: Values of runs are looked at in those that lead to a multiple of it; what an evaluation publishes
            is checked as it comes.
        placeholder: What is fed, a placeholder or its name; with a setter, the name under which the value is published.
        setter: What sets the value, in place of the feed: a function of the session and the value, or the name of an
            entry of the session's state, which is a PyTorch optimizer, or an Optax state with injected hyperparameters.
            Where several learning rates are injected in it, "moments/fast" is the one on whose way there is "fast".

    Attributes:
        learning_rate: The value that was fed or set last, also before a restart; None before the first run.

    Raises:
        TypeError: An option is of a wrong type; in a run: the metric is no number, or the schedule gave none.
        ValueError: An option has a wrong value; or in a run the schedule gave one that is not finite.
        UnknownNameError: When the session is created: there is no such metric, placeholder or state entry.

    Example:
        >>> hook = ReduceOnPlateauHook("loss", learning_rate=0.1, factor=0.5, patience=200)
    """

    def __init__(
        self,
        metric: str | th.Node = "loss",
        *,
        learning_rate: float | Schedule,
        factor: float = 0.1,
        patience: int = 10,
        min_delta: float = 1e-4,
        mode: Literal["min", "max"] = "min",
        cooldown: int = 0,
        min_value: float = 0.0,
        every_n_steps: int = 1,
        placeholder: str | th.Node = "learning_rate",
        setter: Setter | str | None = None,
    ) -> None:
        schedule = learning_rate if callable(learning_rate) else Constant(learning_rate)
        super().__init__(schedule, placeholder=placeholder, setter=setter)
        check_number("factor", factor, above=0)
        if factor >= 1:
            raise ValueError(f"factor is below 1, so that it lowers the learning rate, not {factor}")
        check_steps("patience", patience, least=0)
        check_number("min_delta", min_delta, low=0)
        if mode not in ("min", "max"):
            raise ValueError(f'mode is "min" or "max", not {mode!r}')
        check_steps("cooldown", cooldown, least=0)
        check_number("min_value", min_value, low=0)
        check_steps("every_n_steps", every_n_steps, least=1)
        self._metric = metric
        self._factor = factor
        self._patience = patience
        self._min_delta = min_delta
        self._sign = 1 if mode == "min" else -1
        self._cooldown = cooldown
        self._min_value = min_value
        self._every = every_n_steps
        self._reset()

    def _reset(self) -> None:
        self._best = self._sign * math.inf
        # The step of the last check.
        self._step: int | None = None
        self._bad = 0
        self._cooling = 0
        self._scale = 1.0

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        super().begin(graph)
        self._reset()

    def state_dict(self) -> dict[str, Any]:
        """What was best, what was counted since, and how far the learning rate is lowered."""
        return {
            **super().state_dict(),
            "best": self._best,
            "step": self._step,
            "bad_checks": self._bad,
            "cooldown_left": self._cooling,
            "scale": self._scale,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        super().load_state_dict(state)
        self._best = state["best"]
        self._step = state["step"]
        self._bad = state["bad_checks"]
        self._cooling = state["cooldown_left"]
        self._scale = state["scale"]

    # After whoever publishes again what the lost session knew, which is no new value.
    @th.hookimpl(trylast=True)
    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Check the names."""
        super().after_create_session(session, coord)
        self._metric_name = session.graph[session.graph.name_of(self._metric)].name
        self._args_of_check = th.SessionRunArgs(self._metric_name, self._feeds, optional=True)
        self._first_step = session.global_step
        again = None if session.restored is None else session.published_at(self._metric_name)
        if again is not None:
            self._step = again if self._step is None else max(again, self._step)

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Check what was published since the last run; feed or set the value, and ask for the metric."""
        session = run_context.session
        super()._value(session.global_step)
        self._check_kept(session)
        args = super().before_run(run_context)
        self._next_step = session.global_step + 1
        return args if self._next_step % self._every else self._args_of_check

    # After whoever evaluates in this step, so that what is saved in it knows of the check.
    @th.hookimpl(trylast=True)
    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Check the metric.

        Raises:
            TypeError: It is no number.
        """
        session = run_context.session
        if session.published_at(self._metric_name) is not None:
            self._check_kept(session)
        # A run that did not train is no step.
        elif run_values.results is not None and session.global_step == self._next_step:
            self._check(run_values.results, session.global_step)

    # Before whoever evaluates at the end, which a session that is not interrupted would not do at this step.
    @th.hookimpl(tryfirst=True)
    def end(self, session: th.Session) -> None:
        """Check what was published after the last run, and say so where there was never a check."""
        self._check_kept(session)
        if self._step is None and session.global_step != self._first_step:
            every = "" if self._every == 1 else f" that leads to a multiple of {self._every} steps"
            _log.warning("%r was given in no run%s, so the learning rate was never lowered", self._metric_name, every)

    def _check_kept(self, session: th.Session) -> None:
        """Check a value that all runs see until it is replaced, once."""
        step = session.published_at(self._metric_name)
        if step is not None:
            self._check(session.kept[self._metric_name], step)

    def _check(self, given: Any, step: int) -> None:
        if self._step is not None and step <= self._step:
            return
        value = self._number(given)
        self._step = step
        if self._sign * value < self._sign * self._best - self._min_delta:
            self._best, self._bad = value, 0
        else:
            self._bad += 1
        if self._cooling:
            self._cooling, self._bad = self._cooling - 1, 0
        if self._bad > self._patience:
            self._reduce(step)

    def _reduce(self, step: int) -> None:
        before, self._scale = self._lowered(), self._scale * self._factor
        now = self._lowered()
        if now != before:
            _log.info(
                "step %d: %s was not better than %g for %d check%s, so the learning rate goes from %g to %g",
                *(step, self._metric_name, self._best, self._bad, "s" * (self._bad > 1), before, now),
            )
        self._bad, self._cooling = 0, self._cooldown

    def _value(self, step: int) -> float:
        super()._value(step)
        return self._lowered()

    def _lowered(self) -> float:
        _, scheduled = self._asked
        return max(scheduled * self._scale, min(scheduled, self._min_value))

    def _number(self, value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self._metric_name!r} is {value!r:.60} of type {type(value).__name__}: watch one number, such as a "
                "mean"
            ) from error
