"""Stops a session at a step."""

import logging

from tenterhooks import Coordinator, Session, SessionRunContext, SessionRunHook, SessionRunValues
from tenterhooks.graph import Graph
from tenterhooks.timer import check_steps

__all__ = ["StopAtStepHook"]

_log = logging.getLogger(__name__)


class StopAtStepHook(SessionRunHook):
    """Requests a stop when the global step has reached a step, or after a number of steps.

    Args:
        num_steps: How many steps to make, counted from where the session starts. A session that is recovered keeps
            the step that this gave; one that is resumed counts anew.
        last_step: The global step to stop at. A session that starts there makes no step.

    Raises:
        ValueError: Both were given, or none.
        TypeError: The number is not whole.
    """

    def __init__(self, *, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ValueError(f"exactly one of num_steps and last_step must be given, not {num_steps=} and {last_step=}")
        check_steps("num_steps", num_steps, least=None)
        check_steps("last_step", last_step, least=None)
        self._num_steps = num_steps
        self._last_step = last_step
        self._target = last_step

    def begin(self, graph: Graph) -> None:
        """Forget where the session before this one was to stop."""
        self._target = self._last_step

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Work out the step to stop at; stop at once where it is reached."""
        if self._target is None:
            assert self._num_steps is not None
            self._target = session.global_step + self._num_steps
        if session.global_step >= self._target:
            reason = f"the session starts at global step {session.global_step}, and the last one is {self._target}"
            _log.info("nothing to do: %s", reason)
            session.request_stop(reason)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop where the step is reached."""
        assert self._target is not None
        if run_context.session.global_step >= self._target:
            run_context.request_stop(f"the last global step is {self._target}")
