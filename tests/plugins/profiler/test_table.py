"""The table: rows in their order, in columns, with shares that come to the whole."""

import re

from tenterhooks.testing import ManualClock
from tenterhooks_profiler._stopwatch import Stopwatch
from tenterhooks_profiler._table import table


def watch() -> Stopwatch:
    clock = ManualClock()
    watch = Stopwatch(clock)
    watch.timed("checkpoint", "begin", clock.advance)(0.5)
    for _ in range(2):
        watch.start_run()
        watch.timed("nan", "before_run", clock.advance)(0.001)
        clock.advance(0.25)
        watch.timed("nan", "after_run", clock.advance)(0.124)
        clock.advance(0.125)
        watch.timed("b", "after_run", clock.advance)(0.0)
    clock.advance(0.5)
    watch.stop()
    return watch


def test_it_reads_so() -> None:
    assert table(watch(), "body") == (
        "2 runs in 2.000 s\n"
        "hook                    stage       calls  total ms   mean us  share\n"
        "checkpoint              begin           1   500.000  500000.0  25.0%\n"
        "nan                     after_run       2   248.000  124000.0  12.4%\n"
        "nan                     before_run      2     2.000    1000.0   0.1%\n"
        "b                       after_run       2     0.000       0.0   0.0%\n"
        "(body)                                  2   500.000  250000.0  25.0%\n"
        "(the session, in runs)                  2   250.000  125000.0  12.5%\n"
        "(outside of runs)                           500.000            25.0%"
    )


def test_its_shares_come_to_the_whole() -> None:
    shares = re.findall(r"([\d.]+)%", table(watch(), "run"))
    assert sum(map(float, shares)) == 100.0


def test_of_no_time_at_all_there_are_no_shares() -> None:
    still = Stopwatch(ManualClock())
    still.timed("a", "begin", lambda: None)()
    still.stop()
    assert "%" not in table(still, "run")
