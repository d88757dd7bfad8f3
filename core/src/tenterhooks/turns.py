"""Which hooks are called in which run: those that have a timer only where they are due."""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenterhooks.calls import Calls
from tenterhooks.errors import note
from tenterhooks.hooks import SessionRunHook

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter
    from tenterhooks.merged_run import MergedRun
    from tenterhooks.timer import Timer

__all__ = ["Turn", "Turns", "timer_of"]

_STAGES = ("before_run", "after_run")
# So many sets of hooks that were due together are kept.
_KEPT = 64

_Order = Sequence[tuple["Adapter", Callable[..., Any]]] | None


class Turn:
    """The hooks that are called in a run.

    Attributes:
        before: Their calls before it, in order; None where pluggy makes them, since there are wrappers.
        after: The same after it.
        concerns: Whether there is anything to call.
        last: What they asked for at last, if it can be asked for again.
    """

    __slots__ = ("after", "before", "concerns", "last")

    def __init__(self, before: Calls[Any] | None, after: Calls[Any] | None) -> None:
        self.before = before
        self.after = after
        self.concerns = before is None or after is None or bool(before or after)
        self.last: MergedRun | None = None


class Turns:
    """The turns of a session.

    Args:
        adapters: All hooks.
        before: The calls of `before_run`, with whose they are, in order; None where pluggy makes them.
        after: The same of `after_run`.

    Attributes:
        quiet: The turn in which all timers sleep; that of each run where no hook has one.
        until: The global step before which that is the turn, and nothing else has to be looked at; -inf where runs or
            seconds decide too.
    """

    def __init__(self, adapters: "Sequence[Adapter]", before: _Order, after: _Order) -> None:
        self._order = before, after
        self._timed = [adapter for adapter in adapters if adapter.timed]
        self._made: dict[frozenset[Adapter], Turn] = {}
        self.quiet = self._turn(frozenset(self._timed))
        self.ask_anew()

    def ask_anew(self) -> None:
        """Have all timers asked in the next run, whatever they said before."""
        self.until = -math.inf if self._timed else math.inf
        self._step = self._run = self._time = -math.inf
        self._clock: Callable[[], float] | None = None

    def begin_anew(self) -> None:
        """Forget what hooks asked for and what timers said, for another raw session."""
        self.ask_anew()
        for turn in (self.quiet, *self._made.values()):
            turn.last = None

    def next(self, step: int, runs: int) -> Turn:
        """The turn of the run that begins.

        Args:
            step: The global step before it.
            runs: How many the session has completed.
        """
        if step < self._step and runs < self._run and (self._clock is None or self._clock() < self._time):
            return self.quiet
        # What is due now has a new time to tell after this run.
        self.ask_anew()
        asleep = frozenset(adapter for adapter in self._timed if not self._is_due(adapter, step, runs))
        if len(asleep) == len(self._timed):
            self._sleep()
        return self._turn(asleep)

    def _is_due(self, adapter: "Adapter", step: int, runs: int) -> bool:
        """Ask a timer."""
        try:
            adapter.asleep = not adapter.timer.should_trigger_for_step(runs if adapter.counts_runs else step + 1)
        except BaseException as error:
            note(error, f"in the timer of hook {adapter.title}, at global step {step}")
            raise
        return not adapter.asleep

    def _sleep(self) -> None:
        """Work out until when no timer needs to be asked."""
        self._step = self._run = math.inf
        times: dict[Callable[[], float], float] = {}
        for adapter in self._timed:
            counted, at = _next_trigger(adapter.timer)
            if adapter.counts_runs:
                self._run = min(self._run, counted)
            else:
                self._step = min(self._step, counted - 1)
            if at == -math.inf:
                self._step = at
            elif at < math.inf:
                clock = adapter.timer.clock
                times[clock] = min(at, times.get(clock, math.inf))
        if len(times) == 1:
            ((self._clock, self._time),) = times.items()
        elif times:
            self._clock, self._time = lambda: max(clock() - at for clock, at in times.items()), 0.0
        if self._run == math.inf and not times:
            self.until = self._step

    def _turn(self, asleep: "frozenset[Adapter]") -> Turn:
        """The turn without those that are asleep."""
        turn = self._made.get(asleep)
        if turn is None:
            before, after = (None if order is None else _calls(order, asleep) for order in self._order)
            turn = Turn(before, after)
            if len(self._made) < _KEPT:
                self._made[asleep] = turn
        return turn


def _calls(order: "Sequence[tuple[Adapter, Callable[..., Any]]]", asleep: "frozenset[Adapter]") -> Calls[Any]:
    awake = [(adapter, call) for adapter, call in order if adapter not in asleep]
    return Calls([adapter for adapter, _ in awake], [call for _, call in awake])


def timer_of(hook: object) -> "Timer | None":
    """The timer by which a hook is called; None for one that is called in each run.

    That is its attribute `timer`, unless a class below the one that brings the timer has a `before_run` or `after_run`
    of its own, and does not speak of the timer: it does not expect to be called in some runs only.
    """
    timer: Timer | None = getattr(hook, "timer", None)
    if not callable(getattr(timer, "should_trigger_for_step", None)):
        return None
    overridden = False
    for cls in type(hook).__mro__:
        if _speaks_of_timer(cls):
            return None if overridden else timer
        overridden |= cls is not SessionRunHook and any(stage in vars(cls) for stage in _STAGES)
    # It was given to the hook from outside.
    return timer


def _next_trigger(timer: "Timer") -> tuple[float, float]:
    """What a timer says, or that it is to be asked in each run, as one that does not say."""
    for cls in type(timer).__mro__:
        if "next_trigger" in vars(cls):
            return timer.next_trigger()
        if "should_trigger_for_step" in vars(cls):
            break
    return -math.inf, -math.inf


def _speaks_of_timer(cls: type) -> bool:
    """Whether a class declares the attribute `timer`, or one of its methods uses it."""
    if "timer" in vars(cls) or "timer" in inspect.get_annotations(cls):
        return True
    functions = [getattr(value, "__func__", value) for value in vars(cls).values()]
    return any("timer" in f.__code__.co_names for f in functions if inspect.isfunction(f))
