"""What an Estimator itself hooks into a training."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from tenterhooks import (
    Coordinator,
    Graph,
    SecondOrStepTimer,
    Session,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tenterhooks.fetches import Fetches
from tenterhooks_estimator._checkpoints import missing_variables

__all__ = ["EvaluationResults", "LossLogger", "RestoreCheck"]

_log = logging.getLogger("tenterhooks_estimator")


class EvaluationResults(SessionRunHook):
    """Publishes in a training what evaluations beside it find, in the run after each.

    Not at once: what is published after a save is a state that is not saved.

    Args:
        names: The names of the results.
    """

    name = "estimator-results"

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._results: Mapping[str, object] = {}
        self._new = False
        self._published_at = 0

    def take(self, results: Mapping[str, object]) -> None:
        """Take what was found, by these names."""
        self._results, self._new = results, True

    def begin(self, graph: Graph) -> None:
        """Add a node for each name."""
        for name in self._names:
            graph.published(name)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Publish again what was published before the session was created anew."""
        if self._results and not self._new:
            session.publish_again(self._results, step=self._published_at)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Publish what is new."""
        if self._new:
            self._new, self._published_at = False, run_context.session.global_step
            run_context.session.publish(self._results)


class RestoreCheck(SessionRunHook):
    """Raises an error where a training would go on with variables that its checkpoint has not.

    Args:
        variables: The names of the model's variables; those of hooks may be new.
    """

    name = "estimator-restore-check"

    def __init__(self, variables: tuple[str, ...]) -> None:
        self._variables = variables

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Look at what was restored.

        Raises:
            CheckpointError: Variables were not.
        """
        restored = session.restored
        if restored is None:
            return
        missing = [name for name in self._variables if f"variables/{name}" in restored.not_restored]
        if missing:
            raise missing_variables(missing, restored.checkpoint)


class LossLogger(SessionRunHook):
    """Logs the loss of the first run, and then of one each period.

    Args:
        loss: The node.
        every_n_steps: The period in steps.
        clock: Gives the time in seconds.
    """

    name = "estimator-loss"

    def __init__(self, loss: Fetches, every_n_steps: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.timer = SecondOrStepTimer(every_steps=every_n_steps, clock=clock)
        self._args = SessionRunArgs(loss)

    def begin(self, graph: Graph) -> None:
        """Forget the session before."""
        self.timer.reset()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return self._args

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log it."""
        step = run_context.session.global_step
        elapsed, _ = self.timer.update_last_triggered_step(step)
        seconds = "" if elapsed is None else f" ({elapsed:.1f} s)"
        _log.info("step %d: loss = %s%s", step, run_values.results, seconds)
