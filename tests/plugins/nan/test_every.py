"""When a guard that does not look at each step is due."""

import math

from tenterhooks_nan._every import EveryNSteps


def test_it_is_due_at_multiples() -> None:
    timer = EveryNSteps(3)
    assert [step for step in range(1, 10) if timer.should_trigger_for_step(step)] == [3, 6, 9]


def test_it_says_before_what_nothing_is_due() -> None:
    timer = EveryNSteps(3)
    timer.arrived(0)
    assert timer.next_trigger() == (3, math.inf)
    timer.arrived(3)
    assert timer.next_trigger() == (6, math.inf)
    timer.arrived(4)
    assert timer.next_trigger() == (6, math.inf)


def test_while_something_waits_each_run_is_due() -> None:
    timer = EveryNSteps(3)
    timer.arrived(3)
    timer.waits = True
    assert timer.should_trigger_for_step(4)
    assert not timer.is_multiple(4)
    assert timer.next_trigger() == (-math.inf, math.inf)
