"""`run_hooks`: what hooks do in a session whose values are given."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenterhooks.stop import StopRequest
from tenterhooks.testing.savers import KeepEachStep, MemorySaver
from tenterhooks.testing.sessions import FakeSession, Loop, Run, Values
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["Outcome", "run_hooks"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened in a session.

    Attributes:
        runs: Each step that was completed.
        global_step: The global step at its end.
        stop: All requests to stop: who, why and at which step.
        error: The error that was asked for and left the session; None if it ended cleanly.
        log: What was logged meanwhile, at INFO or above and not by the core.
        saver: The checkpoints, if there is a saver.
    """

    runs: tuple[Run, ...]
    global_step: int
    stop: tuple[StopRequest, ...]
    error: BaseException | None
    log: tuple[logging.LogRecord, ...]
    saver: MemorySaver | None

    @property
    def messages(self) -> list[str]:
        """The texts that were logged."""
        return [record.getMessage() for record in self.log]


def run_hooks(
    hooks: Iterable[object],
    values: Values = (),
    *,
    steps: int | None = None,
    loop: Loop = "graph",
    feeds: Mapping[str, Any] | None = None,
    fail_at: Mapping[Any, BaseException] | None = None,
    clock: ManualClock | None = None,
    checkpoint_dir: Path | None = None,
    saver: MemorySaver | None = None,
    catch: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> Outcome:
    """Run hooks in a real session, on a graph or in a loop of the program's own, whose values are given.

    It goes on until the global step has come to the number of steps, a stop was requested, or something failed. A hook
    of another kind that fails in a stage of its choice is `Recorder("other", after_run=raising(error))`.

    Args:
        hooks: The hooks.
        values: The values of each step by name, a list of dicts; or one dict for all steps. One that can be called is
            what computes it, where a hook asks for it.
        steps: The number of steps; by default as many as `values` has, 3 where that is one dict.
        loop: "graph" for a session that runs a graph, "own" for a loop that publishes.
        feeds: What hooks may feed, by name, with its default. A loop of the program's own reads whatever is fed.
        fail_at: What to raise in the step that would lead to this global step, or with the key "creation" when the
            session is created; each once. The session recovers from an `AbortedError`, unless it comes in the body of
            a loop of the program's own.
        clock: Is advanced by one second at each step, and by what the session sleeps: give it to the hooks too.
        checkpoint_dir: The session's folder, for hooks that write there.
        saver: Restores the newest checkpoint, and keeps one of each step: the same saver in a second call resumes.
        catch: Errors that a hook is to raise. They are kept in the outcome, as those of `fail_at` are; others are
            raised.

    Returns:
        What happened.

    Raises:
        ValueError: There is no such loop, or no such place to fail at.
        BaseException: What left the session and was not asked for.

    Example:
        >>> import tenterhooks as th
        >>> class StopWhenGood(th.SessionRunHook):
        ...     def before_run(self, run_context):
        ...         return th.SessionRunArgs("loss")
        ...
        ...     def after_run(self, run_context, run_values):
        ...         if run_values.results < 1:
        ...             run_context.request_stop("good")
        >>> outcome = run_hooks([StopWhenGood()], [{"loss": 2.0}, {"loss": 0.5}, {"loss": 0.1}])
        >>> outcome.global_step, outcome.stop[0].reason, outcome.error
        (2, 'good', None)
    """
    hooks = list(hooks)
    fake = FakeSession(
        hooks if saver is None else [*hooks, KeepEachStep(saver)],
        loop=loop,
        values=values,
        feeds=feeds,
        fail_at=fail_at,
        clock=clock,
        checkpoint_dir=checkpoint_dir,
        saver=saver,
    )
    error = None
    try:
        with fake:
            fake.go_to(steps)
    except BaseException as raised:
        if not (any(raised is asked for asked in fake.raised) or isinstance(raised, catch)):
            raise
        error = raised
    return Outcome(
        tuple(fake.runs),
        fake.global_step,
        fake.stop,
        error,
        tuple(fake.log),
        saver,
    )
