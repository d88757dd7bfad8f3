"""The hook that says what takes the time."""

import logging
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsIndex

import tenterhooks as th
from tenterhooks.timer import check_steps
from tenterhooks_profiler._stopwatch import Stopwatch, Timing
from tenterhooks_profiler._table import table
from tenterhooks_profiler._trace import trace_of, write_json

__all__ = ["ProfilerHook"]

_log = logging.getLogger("tenterhooks_profiler")

_TRACED = th.SessionRunArgs(options={"trace": True})


class ProfilerHook(th.SessionRunHook):
    """Measures what each stage of each hook takes, and traces chosen steps.

    At the end a table of it is logged, by the logger `tenterhooks_profiler` at the level INFO, and it stands in the
    session's `hooks_report`. The first run is not traced by a period, which counts from the session's start. Nothing of
    it is state.

    Args:
        save_steps: The global steps between two traces.
        save_secs: The seconds between two traces, in place of the steps. By default there is no period.
        trace_steps: The global steps to trace; the first one of a fresh session is 1.
        output_dir: The folder for the traces, one file `timeline-<step>.json` each, by default the session's
            `summary_dir`, where only the chief writes.
        clock: Gives the time in seconds.

    Raises:
        ValueError: Both periods were given, one that is none, or steps that are none. When the session is created:
            there is no folder for the traces.
        TypeError: `trace_steps` is no list of whole numbers, or a period no number.

    Example:
        >>> hook = ProfilerHook(trace_steps=range(100, 105), output_dir="profile")
    """

    def __init__(
        self,
        *,
        save_steps: int | None = None,
        save_secs: float | None = None,
        trace_steps: Iterable[int] = (),
        output_dir: str | Path | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if save_steps is not None and save_secs is not None:
            raise ValueError(f"only one of save_steps and save_secs can be given, not {save_steps=} and {save_secs=}")
        check_steps("save_steps", save_steps)
        # Not named `timer`, by which a session would leave out runs: all are measured.
        self._period: th.SecondOrStepTimer | None = None
        if save_steps is not None or save_secs is not None:
            self._period = th.SecondOrStepTimer(save_secs, save_steps, clock=clock)
        self._steps = _checked(trace_steps)
        self._traces = self._period is not None or len(self._steps) > 0
        if output_dir is not None and not self._traces:
            raise ValueError(
                f"nothing is traced into {output_dir=}: say which steps are, by save_steps, save_secs or trace_steps"
            )
        self._output_dir = output_dir
        self._watch = Stopwatch(clock)
        self._reset()

    def _reset(self) -> None:
        if self._period is not None:
            self._period.reset()
        self._open = False
        self._folder: Path | None = None
        self._work = "run"
        self._due = False
        # What is to be added to the clock of the nodes.
        self._offset = 0.0
        # The step of the trace that is to be written, and the time of its nodes.
        self._traced: tuple[int, Mapping[str, float]] | None = None

    @property
    def timings(self) -> list[Timing]:
        """What each stage of each hook took in the session, the longest first."""
        return self._watch.timings

    def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Time the calls of a stage."""
        return self._watch.timed(hook, stage, call)

    def report_on(self, hook: str) -> str:
        """What `hooks_report` says of a hook."""
        timings = [timing for timing in self.timings if timing.hook == hook]
        if not timings:
            return ""
        seconds, calls = sum(timing.seconds for timing in timings), sum(timing.calls for timing in timings)
        whole = self._watch.seconds
        share = f", {seconds / whole:.1%} of the time" if whole > 0 else ""
        return f"took {seconds * 1e3:.1f} ms in {calls} calls{share}"

    # First, so that all others' is measured.
    @th.hookimpl(tryfirst=True)
    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()
        self._watch.reset()
        self._open = True

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """See that there is a folder for the traces."""
        self._work = "run" if session.own_state is None else "body"
        if not self._traces:
            return
        folder = self._output_dir or session.summary_dir
        if self._output_dir is None and not session.is_chief:
            _log.info("no traces are written here, since the chief writes them: output_dir=... has them written")
            return
        if folder is None:
            raise ValueError(
                "there is no folder for the traces: give ProfilerHook an output_dir, or the session a checkpoint_dir"
            )
        # Whatever the working directory will be.
        self._folder = Path(folder).absolute()
        self._folder.mkdir(parents=True, exist_ok=True)

    @th.hookimpl(tryfirst=True)
    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Begin to measure a run, and ask for the time of its nodes if it is to be traced."""
        self._write()
        self._due = self._folder is not None and self._is_due(run_context.session.global_step)
        self._watch.start_run(noted=self._due)
        if not self._due:
            return None
        self._offset = self._watch.clock() - time.perf_counter()
        return _TRACED

    def _is_due(self, step: int) -> bool:
        """Whether the run after this step is to be traced."""
        if self._period is not None:
            if self._period.last_triggered_step() is None:
                self._period.update_last_triggered_step(step)
            elif self._period.should_trigger_for_step(step + 1):
                return True
        return step + 1 in self._steps

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Note what a traced run tells. It is written when the hooks after this one are measured, too."""
        if not self._due:
            return
        step = run_context.session.global_step
        self._traced = step, run_values.run_metadata.node_seconds
        if self._period is not None and self._period.should_trigger_for_step(step):
            self._period.update_last_triggered_step(step)

    def _write(self) -> None:
        """Write the trace of the run that is over, if it was traced."""
        if self._traced is None:
            return
        (step, nodes), self._traced = self._traced, None
        assert self._folder is not None
        trace = trace_of(self._watch.calls or (), step, self._work, nodes, self._offset)
        write_json(self._folder / f"timeline-{step}.json", trace)

    # As wrappers, so that what all others do at the end is measured, too.

    @th.hookimpl(specname="end", wrapper=True, tryfirst=True)
    def _around_end(self) -> Generator[None, Any, Any]:
        """Log what took the time."""
        try:
            return (yield)
        finally:
            self._finish()

    @th.hookimpl(specname="on_exception", wrapper=True, tryfirst=True)
    def _around_on_exception(self) -> Generator[None, Any, Any]:
        """Log what took the time."""
        try:
            return (yield)
        finally:
            self._finish()

    def _finish(self) -> None:
        if not self._open:
            return
        self._open = False
        self._watch.stop()
        _log.info("%s", table(self._watch, self._work))
        self._write()


def _checked(steps: Iterable[int]) -> Collection[int]:
    """Steps to look a step up in."""
    if not isinstance(steps, Iterable) or isinstance(steps, str):  # type: ignore[unreachable]
        raise TypeError(f"trace_steps is a list of steps, not {steps!r}: pass [{steps!r}] for one")
    # A range may be a long one.
    steps = steps if isinstance(steps, range) else frozenset(steps)
    for step in steps[:: max(1, len(steps) - 1)] if isinstance(steps, range) else steps:
        if isinstance(step, bool) or not isinstance(step, SupportsIndex):
            raise TypeError(f"trace_steps holds whole numbers, not {step!r}")
        if step < 1:
            raise ValueError(f"the steps in trace_steps are 1 or more, not {step}: the first one of a session is 1")
    return steps
