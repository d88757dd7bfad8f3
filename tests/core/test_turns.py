"""Which hooks are called in which run: those with a timer where it says that they are due."""

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.turns import timer_of

from .recorders import Transparent, counting_graph


class Clock:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        return self.now


class Asked(th.SecondOrStepTimer):
    """Notes what it is asked about."""

    def __init__(self, **period: Any) -> None:
        super().__init__(**period)
        self.asked: list[int] = []

    def should_trigger_for_step(self, step: int) -> bool:
        self.asked.append(step)
        return super().should_trigger_for_step(step)

    def next_trigger(self) -> tuple[float, float]:
        return super().next_trigger()


class Periodic(th.SessionRunHook):
    """Acts whenever it is called, and notes the global step after the run."""

    timer: Any

    def __init__(self, timer: Any) -> None:
        self.timer = timer
        self.asked_at: list[int] = []
        self.called_at: list[int] = []
        self.got: list[Any] = []

    def counted(self, run_context: th.SessionRunContext) -> int:
        return run_context.session.global_step

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        self.asked_at.append(run_context.session.global_step)
        return th.SessionRunArgs("x")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.called_at.append(run_context.session.global_step)
        self.got.append(run_values.results)
        self.timer.update_last_triggered_step(self.counted(run_context))


class EveryRun(Periodic):
    timer_counts = "runs"

    def counted(self, run_context: th.SessionRunContext) -> int:
        return run_context.completed_runs


def run(*hooks: object, runs: int = 10, fetches: str = "train", between: Callable[[], object] = lambda: None) -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        for _ in range(runs):
            session.run(fetches)
            between()


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_hook_with_a_timer_is_called_where_it_is_due(wrapped: bool) -> None:
    hook = Periodic(th.SecondOrStepTimer(every_steps=4))
    run(hook, *([Transparent()] if wrapped else []))
    assert (hook.asked_at, hook.called_at, hook.got) == ([0, 4, 8], [1, 5, 9], [1.0, 1.0, 1.0])


def test_it_is_so_in_a_loop_of_the_programs_own() -> None:
    hook = Periodic(th.SecondOrStepTimer(every_steps=4))
    wanted = []
    with th.MonitoredSession(hooks=[hook]) as session:
        for step in session.steps(range(10)):
            wanted.append(session.wants("x"))
            session.publish(x=step)
    assert (hook.called_at, hook.got) == ([1, 5, 9], [0, 4, 8])
    assert [step for step, wants in enumerate(wanted) if wants] == [0, 4, 8]


def test_several_are_called_in_their_order_each_with_what_it_asked_for() -> None:
    calls: list[tuple[str, int, Any]] = []

    class Noting(Periodic):
        timer: Any

        def __init__(self, name: str, every_steps: int, fetches: Any) -> None:
            super().__init__(th.SecondOrStepTimer(every_steps=every_steps))
            self.name = name
            self.fetches = fetches

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs(self.fetches)

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            super().after_run(run_context, run_values)
            calls.append((self.name, run_context.session.global_step, run_values.results))

    run(Noting("a", 2, "x"), Noting("b", 3, ["y"]), Noting("c", 2, "double_x"), runs=5)
    assert calls == [
        *(("a", 1, 1.0), ("b", 1, [2.0]), ("c", 1, 2.0)),
        *(("a", 3, 1.0), ("c", 3, 2.0)),
        ("b", 4, [2.0]),
        *(("a", 5, 1.0), ("c", 5, 2.0)),
    ]


def test_a_timer_that_is_not_due_is_not_asked() -> None:
    timers = [Asked(every_steps=4), Asked(every_steps=1000)]
    run(*map(Periodic, timers))
    # Each is asked where one of them is due, and in the run after that.
    assert timers[0].asked == timers[1].asked == [1, 2, 5, 6, 9, 10]


def test_a_timer_may_count_runs_whether_they_train_or_not() -> None:
    steps, runs = Periodic(th.SecondOrStepTimer(every_steps=4)), EveryRun(th.SecondOrStepTimer(every_steps=4))
    run(steps, runs, fetches="x")
    # The global step stays 0, so that the run that leads to step 1 does not come.
    assert (len(steps.called_at), len(runs.called_at)) == (1, 3)


def test_seconds_count_by_the_clock_of_the_timer() -> None:
    clock = Clock()
    hook = Periodic(th.SecondOrStepTimer(every_secs=3.0, clock=clock))

    def tick() -> None:
        clock.now += 1.0

    run(hook, between=tick)
    assert hook.called_at == [1, 4, 7, 10]


def test_timers_with_clocks_of_their_own_are_each_on_time() -> None:
    fast, slow = Clock(), Clock()
    hooks = [Periodic(th.SecondOrStepTimer(every_secs=3.0, clock=clock)) for clock in (fast, slow)]

    def tick() -> None:
        fast.now += 1.0
        slow.now += 0.5

    run(*hooks, between=tick)
    assert [hook.called_at for hook in hooks] == [[1, 4, 7, 10], [1, 7]]


def test_many_timers_with_one_clock_ask_it_once_a_run() -> None:
    clock = Clock()
    hooks = [Periodic(th.SecondOrStepTimer(every_secs=1e9, clock=clock)) for _ in range(20)]
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        session.run("train")
        session.run("train")
        before = clock.asked
        for _ in range(10):
            session.run("train")
    assert clock.asked == before + 10


def test_a_session_that_is_created_anew_asks_all_timers() -> None:
    class Lost(th.SessionRunHook):
        done = False

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if run_context.session.global_step == 3 and not self.done:
                self.done = True
                raise th.AbortedError("lost")

    class Renewed(Periodic):
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            self.timer.reset()

    hook = Renewed(th.SecondOrStepTimer(every_steps=1000))
    run(hook, Lost(), runs=4)
    assert hook.called_at == [1, 1]


class Overriding(Periodic):
    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.called_at.append(run_context.session.global_step)


class SayingSo(Overriding):
    timer: Any


class Using(Overriding):
    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        assert self.timer.should_trigger_for_step(run_context.session.global_step + 1)
        return super().before_run(run_context)


class Plain(th.SessionRunHook):
    def before_run(self, run_context: th.SessionRunContext) -> None: ...


class InItsConstructor(Plain):
    def __init__(self) -> None:
        self.timer = th.SecondOrStepTimer(every_steps=4)


class Property(Plain):
    @property
    def timer(self) -> th.SecondOrStepTimer:
        return th.SecondOrStepTimer(every_steps=4)


class Marked:
    """No subclass of anything."""

    def __init__(self) -> None:
        self.timer = th.SecondOrStepTimer(every_steps=4)

    @th.hookimpl
    def after_run(self) -> None: ...


def with_a_timer(hook: Any) -> Any:
    hook.timer = th.SecondOrStepTimer(every_steps=4)
    return hook


TIMER = th.SecondOrStepTimer(every_steps=4)


@pytest.mark.parametrize(
    "hook",
    [
        *(Periodic(TIMER), EveryRun(TIMER), SayingSo(TIMER), Using(TIMER)),
        *(InItsConstructor(), Property(), Marked(), with_a_timer(Plain())),
    ],
)
def test_the_timer_of_a_hook_holds(hook: object) -> None:
    assert timer_of(hook) is not None


def test_a_subclass_that_overrides_a_stage_without_saying_so_is_called_always() -> None:
    hook = Overriding(th.SecondOrStepTimer(every_steps=4))
    assert timer_of(hook) is None
    run(hook, runs=3)
    assert hook.called_at == [1, 2, 3]


@pytest.mark.parametrize("timer", [None, 3.0, "soon"])
def test_another_thing_of_that_name_is_no_timer(timer: Any) -> None:
    hook = Plain()
    hook.timer = timer  # type: ignore[attr-defined]
    assert timer_of(hook) is None


def test_a_timer_that_does_not_tell_when_it_is_due_next_is_asked_each_time() -> None:
    class Odd:
        """Due at odd steps."""

        def should_trigger_for_step(self, step: int) -> bool:
            return step % 2 == 1

        def update_last_triggered_step(self, step: int) -> None: ...

    hook = Periodic(Odd())
    run(hook, runs=5)
    assert hook.called_at == [1, 3, 5]


def test_a_timer_with_rules_of_its_own_is_not_taken_by_those_that_it_inherits() -> None:
    class AtSquares(th.SecondOrStepTimer):
        def should_trigger_for_step(self, step: int) -> bool:
            return math.isqrt(step) ** 2 == step

    hook = Periodic(AtSquares(every_steps=1000))
    run(hook)
    assert hook.called_at == [1, 4, 9]


def test_a_hook_that_asks_for_something_else_than_before_gets_it() -> None:
    class Changing(th.SessionRunHook):
        def __init__(self) -> None:
            self.wishes = ["x", "x", None, "y", ["x", "y"], None, "x"]
            self.got: list[Any] = []

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
            wish = self.wishes[run_context.completed_runs]
            return None if wish is None else th.SessionRunArgs(wish)

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.got.append(run_values.results)

    class Same(th.SessionRunHook):
        def __init__(self) -> None:
            self.got: list[Any] = []

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs("double_x")

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.got.append(run_values.results)

    changing, first, last = Changing(), Same(), Same()
    run(first, changing, last, runs=7)
    assert changing.got == [1.0, 1.0, None, 2.0, [1.0, 2.0], None, 1.0]
    assert first.got == last.got == [2.0] * 7


def test_an_error_of_a_timer_names_the_hook() -> None:
    class Broken(th.SecondOrStepTimer):
        def should_trigger_for_step(self, step: int) -> bool:
            raise ValueError("no idea")

    with pytest.raises(ValueError, match="no idea") as caught:
        run(Periodic(Broken(every_steps=4)))
    assert caught.value.__notes__[0].startswith("in the timer of hook 'Periodic'")


def test_what_a_hook_fetched_is_not_kept_until_it_is_due_again() -> None:
    graph = th.Graph()
    made: list[weakref.ref[Any]] = []

    @graph.tensor
    def large() -> Any:
        array = np.zeros(1000)
        made.append(weakref.ref(array))
        return array

    class Looking(Periodic):
        timer: Any

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs("large")

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.timer.update_last_triggered_step(1)

    with th.MonitoredSession(graph=graph, hooks=[Looking(th.SecondOrStepTimer(every_steps=1000))]) as session:
        session.run([])
        session.run([])
        assert [reference() for reference in made] == [None]
