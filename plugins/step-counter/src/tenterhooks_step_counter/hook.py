"""The hook that measures steps per second."""

import logging
import math
import time
from collections.abc import Callable
from pathlib import Path

import tenterhooks as th
from tenterhooks.summaries import (
    SummaryWriter,
    check_summary_writer,
    leave_summary_writer,
    open_summary_writer,
    summary_writer_installed,
)

__all__ = ["StepCounterHook"]

_log = logging.getLogger("tenterhooks_step_counter")

_TAG = "global_step/sec"
_DEFAULT_STEPS = 100
_MAX_WARNINGS = 5


class _Timer(th.SecondOrStepTimer):
    """Due when the period is over, and in each run until it is known whether runs train."""

    watches_runs = True

    def is_over(self, step: int) -> bool:
        """Whether the period is over at this step."""
        return super().should_trigger_for_step(step)

    def should_trigger_for_step(self, step: int) -> bool:
        return self.watches_runs or self.is_over(step)

    def next_trigger(self) -> tuple[float, float]:
        return (-math.inf, -math.inf) if self.watches_runs else super().next_trigger()


class StepCounterHook(th.SessionRunHook):
    """Logs how many global steps a second are made (level INFO), and writes it as the summary `global_step/sec`.

    The first run starts the clock, so the steps of a run before this one, from which it was restored, do not count. Nor
    does the time of an evaluation, or of what else runs within `session.pause_clock()`.
    Where the first runs do not train, that is warned of, five times at most.

    Args:
        every_n_steps: The global steps between two measurements; 100 if no period is given.
        every_n_secs: The seconds between two measurements, in place of the steps.
        output_dir: The folder for the summary; by default the session's `summary_dir`, where only the chief writes.
            Without a folder it is only logged.
        summary_writer: Where to write, in place of a folder. It is flushed, and closed by whoever made it.
        clock: Gives the time in seconds.

    Raises:
        TypeError: `summary_writer` is no `tenterhooks.summaries.SummaryWriter`.
        ValueError: Both periods were given.
        PluginError: When the session is created: `output_dir` was given, and no summary writer is installed.

    Example:
        >>> hook = StepCounterHook(every_n_secs=60)
    """

    def __init__(
        self,
        *,
        every_n_steps: int | None = None,
        every_n_secs: float | None = None,
        output_dir: str | Path | None = None,
        summary_writer: SummaryWriter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if every_n_steps is not None and every_n_secs is not None:
            raise ValueError(
                f"only one of every_n_steps and every_n_secs can be given, not {every_n_steps=} and {every_n_secs=}"
            )
        if every_n_secs is None and every_n_steps is None:
            every_n_steps = _DEFAULT_STEPS
        self.timer = _Timer(every_n_secs, every_n_steps, clock=clock)
        self._output_dir = output_dir
        check_summary_writer(summary_writer)
        self._given_writer = summary_writer
        self._reset()

    def _reset(self) -> None:
        self.timer.reset()
        self._writer: SummaryWriter | None = None
        self._created = False
        self._last_step: int | None = None
        self._paused_secs = 0.0
        self._warnings = 0
        self.timer.watches_runs = True

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Open the writer, once, and tell it from which step on."""
        # A session that is created anew may be at the very step of the run before.
        self._last_step = None
        if not self._created:
            self._writer = self._open_writer(session)
            self._created = True
        if self._writer is not None:
            self._writer.start(session.global_step + 1)

    def _open_writer(self, session: th.Session) -> SummaryWriter | None:
        if self._given_writer is not None:
            return self._given_writer
        if self._output_dir is not None:
            return open_summary_writer(self._output_dir)
        if session.summary_dir is None or not session.is_chief:
            return None
        if not summary_writer_installed():
            _log.info("%s is logged only: to have it in TensorBoard too, pip install tenterhooks-summary", _TAG)
            return None
        return open_summary_writer(session.summary_dir)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Measure if the step is due."""
        session = run_context.session
        step = session.global_step
        if self.timer.is_over(step):
            secs, steps = self.timer.update_last_triggered_step(step)
            before, self._paused_secs = self._paused_secs, session.paused_secs
            self._report(step, None if secs is None else secs - (self._paused_secs - before), steps)
        if self.timer.watches_runs:
            self._watch(step)

    def _watch(self, step: int) -> None:
        """Warn where runs do not train, until one has."""
        if step == self._last_step:
            self._warnings += 1
            _log.warning(
                "the global step is still %d after another run: steps per second can only be counted if runs train; "
                "if it is right that they do not, leave this hook out",
                step,
            )
        self.timer.watches_runs = self._warnings < _MAX_WARNINGS and self._last_step in (None, step)
        self._last_step = step

    def _report(self, step: int, secs: float | None, steps: int | None) -> None:
        # Not at the first trigger; not where the clock stood still; not where a recovery went back behind the last one.
        if secs is None or secs <= 0 or not steps or steps < 0:
            return
        rate = steps / secs
        _log.info("%s: %g, at step %d", _TAG, rate, step)
        if self._writer is not None:
            self._writer.add_scalar(_TAG, rate, step)

    def end(self, session: th.Session) -> None:
        """Tell the writer, and flush and close it."""
        self._close(None)

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        """Tell the writer, and flush and close it."""
        self._close(exception)

    def _close(self, exception: BaseException | None) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            leave_summary_writer(writer, exception, close=writer is not self._given_writer)
