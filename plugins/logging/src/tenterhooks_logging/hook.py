"""The hook that logs values."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import tenterhooks as th
from tenterhooks.fetches import Tensors, as_tensors, names_by_tag
from tenterhooks.timer import check_steps

__all__ = ["LoggingTensorHook"]

_log = logging.getLogger("tenterhooks_logging")


class LoggingTensorHook(th.SessionRunHook):
    """Logs values of the graph, such as the loss, with the logger `tenterhooks_logging` at the level INFO.

    The first run is logged, then one each period. The values are computed in the runs that are logged, and in no other.
    A run that is repeated after a recovery counts once.

    Args:
        tensors: A node or its name, several of them, or a dict of them by tag (what the log calls the value; otherwise
            the node's name). They are logged in their order, a dict's sorted by tag.
        every_n_iter: The period in runs of this session, whether they train or not.
        every_n_secs: The period in seconds. At most one of the two is given, none only with `at_end`.
        at_end: Whether to log at the clean end of the session too, even if its last run was logged. No input is drawn
            for that: a source gives its last item again, and what the last run was fed is fed again, but that a
            placeholder with a default has that, as in TensorFlow. Where nothing was fed or published, since no step
            was made, there is a warning in its place.
        formatter: Makes the message of the values by tag, in place of one such as
            `step 12: loss = 0.5, accuracy = 0.9 (1.2 s)`, in which the time is that since the message before.
        clock: Gives the time in seconds.

    Raises:
        ValueError: Not one of the periods was given, or one that is no period, or an empty list of tensors.
        TypeError: An option is of another type.
        UnknownNameError: When the session is created: a tensor does not exist.

    Example:
        >>> hook = LoggingTensorHook(["loss", "accuracy"], every_n_iter=100)
    """

    # Runs that do not train are logged too.
    timer_counts = "runs"

    def __init__(
        self,
        tensors: Tensors,
        *,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if every_n_iter is not None and every_n_secs is not None:
            raise ValueError(
                f"only one of every_n_iter and every_n_secs can be given, not {every_n_iter=} and {every_n_secs=}"
            )
        check_steps("every_n_iter", every_n_iter)
        self.timer: th.SecondOrStepTimer | None = None
        if every_n_iter is not None or every_n_secs is not None:
            self.timer = th.SecondOrStepTimer(every_n_secs, every_n_iter, clock=clock)
        elif not at_end:
            raise ValueError("nothing would be logged: give one of every_n_iter and every_n_secs, or at_end=True")
        self._tensors = as_tensors(tensors)
        if self._tensors in ([], {}):
            raise ValueError(f"nothing would be logged: tensors={tensors!r} names no value, such as 'loss'")
        if formatter is not None and not callable(formatter):
            raise TypeError(f"formatter is a function that makes a message of the values by tag, not {formatter!r}")
        self._at_end = at_end
        self._formatter = formatter
        self._reset()

    def _reset(self) -> None:
        if self.timer is not None:
            self.timer.reset()
        self._names: dict[str, str] = {}
        self._due = False

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Check the names."""
        self._first_step = session.global_step
        names = names_by_tag(session.graph, self._tensors)
        self._names = dict(sorted(names.items())) if isinstance(self._tensors, Mapping) else names

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Ask for the values if this run is due."""
        self._due = self.timer is not None and self.timer.should_trigger_for_step(run_context.completed_runs)
        return th.SessionRunArgs(self._names) if self._due else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Log what was asked for."""
        if self._due and self.timer is not None:
            elapsed, _ = self.timer.update_last_triggered_step(run_context.completed_runs)
            self._write(run_values.results, run_context.session.global_step, elapsed)

    def end(self, session: th.Session) -> None:
        """Log at the end, if that is wanted."""
        if not self._at_end:
            return
        inputs = session.inputs
        if session.gives(session.compile(self._names), inputs) or session.global_step != self._first_step:
            self._write(session.run(self._names, feed_dict=inputs), session.global_step, None)
        else:
            _log.warning("nothing is logged at the end: no step was made that gives %s", ", ".join(self._names))

    def _write(self, values: dict[str, Any], step: int, elapsed: float | None) -> None:
        if self._formatter is not None:
            message = self._formatter(values)
        else:
            message = f"step {step}: " + ", ".join(f"{tag} = {value}" for tag, value in values.items())
            if elapsed is not None:
                message += f" ({elapsed:.1f} s)"
        _log.info("%s", message)
