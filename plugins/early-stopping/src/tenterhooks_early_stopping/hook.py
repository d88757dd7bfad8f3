"""The hook that stops a session when a metric gets no better."""

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tenterhooks import Coordinator, Node, Session, hookimpl
from tenterhooks.generators import all_states, set_all
from tenterhooks.graph import Graph
from tenterhooks.timer import check_steps
from tenterhooks_early_stopping._metric import MetricHook
from tenterhooks_early_stopping._progress import Progress, Rule

__all__ = ["EarlyStoppingHook"]

_log = logging.getLogger("tenterhooks_early_stopping")


class EarlyStoppingHook(MetricHook):
    """Stops a session when a metric has got no better for some checks, or some steps.

    A check is a run in which the metric has a new value: the run computed it or its pass published it, or it was
    published since the last check for all runs to come, as an evaluation does. Where there is no new value nothing is
    counted, and where there never is one the log says so at the end. There is one check at each global step.

    The stop comes at the check number `patience` after the last improvement, as in Keras and Lightning. NaN is never an
    improvement, and anything is one on NaN. The best value, its step and the count are in the checkpoints, so that a
    session that was interrupted stops where it would have; what the hook was told is not, and may be changed.

    With `restore_best` the variables are those of the best check when the session ends cleanly, but for random
    generators: other hooks see these in their `end`, and savers save them. It copies all variables, as a checkpoint
    holds them, into the memory of the host at each improvement. The copy is in the checkpoints too, and so are the last
    variables where they were replaced: a session that goes on from there goes on from these. The best variables are as
    the run of the check left them; a value from before the update of its run, such as its loss, is of those before.

    Args:
        metric: The metric's name or node: one number.
        patience: How many checks in a row without an improvement stop the session, 1 or more.
        patience_steps: How many global steps since the last improvement stop it, at the next check. Exactly one of the
            two is given.
        mode: Whether lower values are better ("min") or higher ones ("max").
        min_delta: A value is an improvement if it is better than the best so far by more than this.
        relative: Whether `min_delta` is a share of the best value, and not an amount.
        baseline: Improvements that are not better than this, by `min_delta`, do not restart the patience.
        start_from_step: Values of steps before this one are not looked at.
        restore_best: Whether the variables of the best check are put back at the end.
        check_finite: Whether NaN or infinity stops the session at once. The state is condemned then: savers that ask
            (`before_save` of tenterhooks-checkpoint) are told not to save it, unless the best was put back.
        every_n_steps: The steps between two looks at the metric, for one that is dear to compute. None: each run.
        every_n_secs: The seconds between two looks; an interrupted session may then stop at another step.
        clock: Gives the time in seconds.

    Attributes:
        best: The best value, None before there was one.
        best_step: The global step of its check.

    Raises:
        ValueError: Not one of `patience` and `patience_steps` was given, or something that is not in its range.
        TypeError: The metric is no name and no node, or a patience no whole number; in a check: its value is not one
            number.

    Example:
        >>> hook = EarlyStoppingHook("eval/accuracy", mode="max", patience=3, restore_best=True)
    """

    def __init__(
        self,
        metric: str | Node,
        *,
        patience: int | None = None,
        patience_steps: int | None = None,
        mode: Literal["min", "max"] = "min",
        min_delta: float = 0.0,
        relative: bool = False,
        baseline: float | None = None,
        start_from_step: int = 0,
        restore_best: bool = False,
        check_finite: bool = False,
        every_n_steps: int | None = None,
        every_n_secs: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (patience is None) == (patience_steps is None):
            raise ValueError(
                f"exactly one of patience (checks) and patience_steps must be given, not {patience=} and "
                f"{patience_steps=}"
            )
        for name, number in (("patience", patience), ("patience_steps", patience_steps)):
            check_steps(name, number, least=None)
            if number is not None and number < 1:
                raise ValueError(f"{name} is 1 or more, not {number}: 1 stops at the first check without improvement")
        self._patience = patience
        self._patience_steps = patience_steps
        self._rule = Rule(mode, min_delta, relative, baseline)
        self._restore_best = restore_best
        self._check_finite = check_finite
        self._reset()
        super().__init__(
            metric,
            start_from_step=start_from_step,
            every_n_steps=every_n_steps,
            every_n_secs=every_n_secs,
            clock=clock,
        )

    def _reset(self) -> None:
        self._progress = Progress(self._rule)
        # The variables of the best check; and those of the end, where the best were put in their place.
        self._best_variables: dict[str, Any] | None = None
        self._last_variables: dict[str, Any] | None = None
        self._is_best = False
        # Where the session stood when the best were copied, if it was this one.
        self._copied_at: tuple[int, int] | None = None

    @property
    def best(self) -> float | None:
        """The best value, None before there was one."""
        return self._progress.best

    @property
    def best_step(self) -> int | None:
        """The global step of its check."""
        return self._progress.best_step

    def begin(self, graph: Graph) -> None:
        """Forget the session before."""
        self._reset()
        super().begin(graph)

    @hookimpl(trylast=True)
    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Go on from the last variables, unless the session is over already."""
        super().after_create_session(session, coord)
        self._copied_at = None
        goes_on = self._at_end or self.reason() is None
        if self._is_best and goes_on:
            if self._last_variables is not None:
                session.state.put_back(self._last_variables)
            self._last_variables, self._is_best = None, False
        if self._restore_best and goes_on and self.best is not None and self._best_variables is None:
            _log.warning(
                "the checkpoint holds the best %r, %s at global step %s, and not its variables, since restore_best was "
                "not set: they are put back only if there is a better one",
                self._name,
                self.best,
                self.best_step,
            )

    def check(self, session: Session, value: float, step: int) -> None:
        """Take a new value, and copy the variables if it is the best.

        Raises:
            RuntimeError: They are not those of the value any more.
        """
        if not self._progress.check(value, step) or not self._restore_best:
            return
        if self.timer is not None and step != session.global_step:
            raise RuntimeError(
                f"{self._name!r} was published at global step {step}, and is looked at when the variables are those of "
                f"step {session.global_step}: leave out the period, a value that is published is checked as it comes"
            )
        self._best_variables = session.state.copied()
        self._copied_at = _place(session)

    def reason(self) -> str | None:
        """Why the session is to stop; None while it is not."""
        progress = self._progress
        if progress.value is None or progress.step is None or progress.since is None:
            return None
        if self._condemns():
            return f"{self._name!r} is {progress.value} at global step {progress.step}"
        steps = progress.step - progress.since
        if self._patience is not None and progress.checks >= self._patience:
            patience = f"patience={self._patience}"
        elif self._patience_steps is not None and steps >= self._patience_steps:
            patience = f"patience_steps={self._patience_steps}"
        else:
            return None
        best = "none" if self.best is None else f"{self.best:.6g} at global step {self.best_step}"
        return (
            f"{self._name!r} has not improved for {_number(progress.checks, 'check')} and {_number(steps, 'step')} "
            f"({patience}): it is {progress.value:.6g} at global step {progress.step}, the best was {best}"
        )

    @hookimpl(tryfirst=True)
    def end(self, session: Session) -> None:
        """Put the variables of the best check back, for those who look at them and save."""
        super().end(session)
        if not self._restore_best or self._best_variables is None or self._is_best:
            return
        if self._copied_at == _place(session):
            return
        # What is condemned is nothing to go on from.
        last = None if self._condemns() or session.torn is not None else session.state.copied()
        generators = all_states(session.state)
        session.state.put_back(self._best_variables)
        # A source that draws from them is not put back either.
        set_all(session.state, generators)
        self._last_variables, self._is_best = last, True
        if self.best_step is not None and session.published_at(self._name) is not None:
            # Who saves the variables with it has the one of these. To others it is no new value.
            session.publish_again({self._name: self.best}, step=self.best_step)
        _log.info("put back the variables of global step %s, where %r was %s", self.best_step, self._name, self.best)

    @hookimpl(optionalhook=True)
    def before_save(self, session: Session, step: int) -> str | None:
        """Keep savers from saving a state that gave NaN or infinity."""
        return self.reason() if self._condemns() and not self._is_best else None

    def state_dict(self) -> dict[str, Any]:
        """The best value, the count, and the variables that are kept."""
        return {
            **super().state_dict(),
            "progress": self._progress.state_dict(),
            "best_variables": self._best_variables,
            "last_variables": self._last_variables,
            "is_best": self._is_best,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        super().load_state_dict(state)
        self._progress.load_state_dict(state["progress"])
        self._best_variables = state["best_variables"] if self._restore_best else None
        self._last_variables = state["last_variables"]
        self._is_best = state["is_best"]

    def _condemns(self) -> bool:
        value = self._progress.value
        return self._check_finite and value is not None and not math.isfinite(value)


def _place(session: Session) -> tuple[int, int]:
    """What tells whether variables were updated."""
    return session.global_step, session.state.updates


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
