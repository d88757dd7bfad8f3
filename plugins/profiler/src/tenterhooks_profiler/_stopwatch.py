"""The time of each call of a stage, and what lies between the calls of a run."""

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Call", "Stopwatch", "Timing"]


class Timing(NamedTuple):
    """What a stage of a hook took.

    Attributes:
        hook: The hook's name in the session.
        stage: The stage.
        calls: How often it was called.
        seconds: What the calls took together.
    """

    hook: str
    stage: str
    calls: int
    seconds: float


class Call(NamedTuple):
    """One call.

    Attributes:
        hook: The hook's name in the session.
        stage: The stage.
        start: When it was made, in seconds of the stopwatch's clock.
        stop: When it was over.
    """

    hook: str
    stage: str
    start: float
    stop: float


class _Sum:
    """What the calls of one stage of one hook come to."""

    __slots__ = ("calls", "seconds")

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0


class Stopwatch:
    """Times the calls of a session.

    A run is what lies between the first hook's `before_run` and the last hook's `after_run`. One that failed between
    them is none.

    Args:
        clock: Gives the time in seconds.

    Attributes:
        clock: Gives the time in seconds.
        runs: The number of runs that are over.
        work_seconds: What these took between the last `before_run` and the first `after_run`.
        session_seconds: What they took beside that and the hooks.
        calls: Those of the run under way, or of the one that was last; None where they are not noted.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._sums: dict[tuple[str, str], _Sum] = {}
        self.reset()

    def reset(self) -> None:
        """Forget all calls so far."""
        for known in self._sums.values():
            known.calls, known.seconds = 0, 0.0
        self.runs = 0
        self.work_seconds = 0.0
        self.session_seconds = 0.0
        self.calls: list[Call] | None = None
        self._began = self._started = self.clock()
        self._over: float | None = None
        # Of the run under way: when the last hook was asked, what lay between that and the first one that was told,
        # when the last one was told, and what hooks took.
        self._asked: float | None = None
        self._work = 0.0
        self._told: float | None = None
        self._hooks = 0.0

    def start_run(self, *, noted: bool = False) -> None:
        """A run begins, and the one before is over.

        Args:
            noted: Whether to note its calls.
        """
        self._end_run()
        self.calls = [] if noted else None
        self._started, self._hooks = self.clock(), 0.0

    def _end_run(self) -> None:
        if self._told is None:
            return
        self.runs += 1
        self.work_seconds += self._work
        self.session_seconds += max(0.0, self._told - self._started - self._work - self._hooks)
        self._told = None

    def stop(self) -> None:
        """The session is over."""
        self._end_run()
        self._over = self.clock()

    @property
    def seconds(self) -> float:
        """The time since the last `reset`, until the session was over."""
        return (self.clock() if self._over is None else self._over) - self._began

    @property
    def timings(self) -> list[Timing]:
        """What was called, the longest first."""
        timings = [Timing(*key, known.calls, known.seconds) for key, known in self._sums.items() if known.calls]
        return sorted(timings, key=lambda timing: timing.seconds, reverse=True)

    def timed(self, hook: str, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call that is timed."""
        known = self._sums.setdefault((hook, stage), _Sum())
        clock = self.clock
        asks, tells = stage == "before_run", stage == "after_run"

        def timed(*arguments: Any) -> Any:
            start = clock()
            if tells and self._asked is not None:
                self._work, self._asked = start - self._asked, None
            try:
                return call(*arguments)
            finally:
                stop = clock()
                known.calls += 1
                known.seconds += stop - start
                if asks:
                    self._asked = stop
                    # The run began within the first of them.
                    self._hooks += stop - max(start, self._started)
                elif tells:
                    self._told = stop
                    self._hooks += stop - start
                if self.calls is not None:
                    self.calls.append(Call(hook, stage, start, stop))

        return timed
