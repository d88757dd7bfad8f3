"""What the stopwatch makes of calls, on a clock that they advance."""

import pytest

from tenterhooks.testing import ManualClock
from tenterhooks_profiler import Timing
from tenterhooks_profiler._stopwatch import Call, Stopwatch


class Day:
    """Calls that take as long as they are told."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.watch = Stopwatch(self.clock)

    def call(self, hook: str, stage: str, seconds: float) -> None:
        self.watch.timed(hook, stage, self.clock.advance)(seconds)

    def run(self, before: float, work: float, after: float, *, noted: bool = False) -> None:
        """A run of two hooks, with a second of the session's own between any two of them."""
        self.watch.start_run(noted=noted)
        for stage, seconds in (("before_run", before), ("after_run", after)):
            self.call("a", stage, seconds)
            self.clock.advance(1.0)
            self.call("b", stage, seconds)
            self.clock.advance(work if stage == "before_run" else 0.0)


def test_calls_are_summed_up_by_hook_and_stage_the_longest_first() -> None:
    day = Day()
    day.call("a", "begin", 1.0)
    day.call("b", "begin", 4.0)
    day.call("a", "end", 2.0)
    day.call("a", "begin", 2.0)
    assert day.watch.timings == [Timing("b", "begin", 1, 4.0), Timing("a", "begin", 2, 3.0), Timing("a", "end", 1, 2.0)]


def test_a_call_gets_its_arguments_and_gives_its_result() -> None:
    timed = Stopwatch(ManualClock()).timed("a", "end", lambda *arguments: arguments)
    assert timed(1, 2) == (1, 2)


def test_a_call_that_raises_is_timed_and_its_error_let_through() -> None:
    day = Day()

    def fail() -> None:
        day.clock.advance(2.0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        day.watch.timed("a", "end", fail)()
    assert day.watch.timings == [Timing("a", "end", 1, 2.0)]


def test_a_run_is_what_hooks_take_the_work_and_the_session() -> None:
    day = Day()
    for _ in range(2):
        day.run(10.0, 100.0, 20.0)
        day.clock.advance(1000.0)
    day.watch.stop()
    assert (day.watch.runs, day.watch.work_seconds, day.watch.session_seconds) == (2, 200.0, 4.0)
    assert sum(timing.seconds for timing in day.watch.timings) == 120.0
    assert day.watch.seconds == 2 * 1162.0


def test_a_run_that_was_not_over_is_none() -> None:
    day = Day()
    day.watch.start_run()
    day.call("a", "before_run", 5.0)
    day.clock.advance(1000.0)
    day.run(10.0, 100.0, 20.0)
    day.watch.stop()
    assert (day.watch.runs, day.watch.work_seconds, day.watch.session_seconds) == (1, 100.0, 2.0)
    assert Timing("a", "before_run", 2, 15.0) in day.watch.timings


def test_what_the_first_call_did_before_the_run_began_is_none_of_it() -> None:
    day = Day()

    def first(seconds: float) -> None:
        day.clock.advance(seconds)
        day.watch.start_run()
        day.clock.advance(1.0)

    day.watch.timed("a", "before_run", first)(50.0)
    day.clock.advance(3.0)
    day.call("b", "before_run", 1.0)
    day.call("b", "after_run", 1.0)
    day.watch.stop()
    assert (day.watch.session_seconds, day.watch.timings[0].seconds) == (3.0, 51.0)


def test_the_calls_of_a_run_are_noted_where_that_is_wanted() -> None:
    day = Day()
    day.run(1.0, 2.0, 3.0)
    assert day.watch.calls is None
    start = day.clock()
    day.run(1.0, 2.0, 3.0, noted=True)
    assert day.watch.calls is not None
    assert [(hook, stage, begun - start, over - start) for hook, stage, begun, over in day.watch.calls] == [
        ("a", "before_run", 0.0, 1.0),
        ("b", "before_run", 2.0, 3.0),
        ("a", "after_run", 5.0, 8.0),
        ("b", "after_run", 9.0, 12.0),
    ]
    assert isinstance(day.watch.calls[0], Call)


def test_a_reset_forgets_all_and_goes_on_timing() -> None:
    day = Day()
    timed = day.watch.timed("a", "end", day.clock.advance)
    timed(1.0)
    day.run(1.0, 2.0, 3.0, noted=True)
    day.watch.reset()
    assert (day.watch.timings, day.watch.runs, day.watch.seconds, day.watch.calls) == ([], 0, 0.0, None)
    timed(2.0)
    day.watch.stop()
    assert (day.watch.timings, day.watch.runs, day.watch.seconds) == ([Timing("a", "end", 1, 2.0)], 0, 2.0)


def test_time_stands_still_when_the_session_is_over() -> None:
    day = Day()
    day.clock.advance(3.0)
    day.watch.stop()
    day.clock.advance(3.0)
    assert day.watch.seconds == 3.0
