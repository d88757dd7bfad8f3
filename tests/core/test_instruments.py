"""A hook with `instrument_call` sees each call of a stage, in all sessions and however it is made."""

import traceback
from collections.abc import Callable, Generator
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.hookspecs import STAGES

from .recorders import Calls, Recorder, Transparent, counting_graph, raising, training


class Spy(th.SessionRunHook):
    """Notes the calls that it stands before, and whether they raised."""

    def __init__(self, name: str = "spy", calls: Calls | None = None) -> None:
        self.name = name
        self.seen: Calls = [] if calls is None else calls
        self.errors: list[BaseException] = []
        self.asked: Calls = []

    def begin(self, graph: th.Graph) -> None:
        """It is a hook as others."""

    def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        self.asked.append((hook, stage))

        def seen(*arguments: Any) -> Any:
            self.seen.append((hook, stage))
            try:
                return call(*arguments)
            except BaseException as error:
                self.errors.append(error)
                raise

        return seen

    def of(self, hook: str) -> list[str]:
        """The stages of a hook that were called."""
        return [stage for name, stage in self.seen if name == hook]


CLEAN = ["begin", "after_create_session", "before_run", "after_run", "end"]


def test_it_sees_each_stage_of_a_graph_session() -> None:
    spy = Spy()
    with training(Recorder("a"), spy) as session:
        session.run("train")
    assert (spy.of("a"), spy.of("spy")) == (CLEAN, ["begin"])


def test_it_sees_each_stage_of_a_loop_of_the_programs_own() -> None:
    spy = Spy()
    with th.MonitoredSession(state={}, hooks=[spy, Recorder("a")]) as session:
        for item in session.steps([1]):
            session.publish(item=item)
    # Before the first item and where there is no second one.
    assert spy.of("a") == [*CLEAN[:4], "before_run", "end"]


def test_it_sees_what_an_exception_ends() -> None:
    spy = Spy()
    with pytest.raises(ValueError, match="no"), training(spy, Recorder("a")) as session:
        session.run("train")
        raise ValueError("no")
    assert spy.of("a") == [*CLEAN[:4], "on_exception"]


def test_it_sees_the_calls_that_pluggy_makes() -> None:
    spy = Spy()
    with training(Recorder("a"), Transparent(), spy) as session:
        session.run("train")
    assert spy.of("a") == CLEAN


def test_it_sees_a_wrapper_as_two_calls() -> None:
    spy = Spy()
    with training(Transparent(), spy) as session:
        session.run("train")
    assert spy.of("Transparent") == [stage for stage in CLEAN for _ in range(2)]
    assert spy.errors == []


def test_it_sees_only_calls_that_are_due() -> None:
    spy, periodic = Spy(), Recorder("a")
    vars(periodic)["timer"] = timer = th.SecondOrStepTimer(every_steps=2)
    timer.update_last_triggered_step(0)
    with training(periodic, spy) as session:
        for _ in range(3):
            session.run("train")
            if session.global_step == 2:
                timer.update_last_triggered_step(2)
    assert spy.of("a").count("before_run") == spy.of("a").count("after_run") == 1


def test_it_is_asked_once_for_each_stage_there_is() -> None:
    spy = Spy()
    with training(Recorder("a"), Transparent(), spy) as session:
        for _ in range(3):
            session.run("train")
    assert sorted(stage for hook, stage in spy.asked if hook == "a") == sorted(STAGES)
    assert [stage for hook, stage in spy.asked if hook == "spy"] == ["begin"]


def test_of_several_the_first_is_the_outermost() -> None:
    calls: Calls = []

    class Named(Spy):
        def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
            def named(*arguments: Any) -> Any:
                calls.append((self.name, f"{hook} {stage}"))
                return call(*arguments)

            return named

    with training(Named("first"), Named("second"), Recorder("a")) as session:
        session.run("train")
    assert [name for name, what in calls if what == "a before_run"] == ["first", "second"]


def test_what_hooks_ask_for_and_get_is_as_ever() -> None:
    wants = Recorder("a", before_run=lambda context: th.SessionRunArgs("w"))
    got: list[Any] = []

    class Keeps(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs(["w", "double_x"], {"x": 3.0})

        def after_run(self, run_values: th.SessionRunValues) -> None:  # type: ignore[override]
            got.append(run_values.results)

    with training(Spy(), wants, Keeps()) as session:
        session.run("train")
        session.run("train")
    assert got == [[0.0, 6.0], [1.0, 6.0]]


@pytest.mark.parametrize("stage", STAGES)
def test_an_error_is_blamed_on_its_hook_with_one_frame_more(stage: str) -> None:
    def frames(*hooks: object) -> tuple[list[str], int]:
        bad = Recorder("bad", None, **{stage: raising(ArithmeticError(stage))})
        with pytest.raises((ArithmeticError, ValueError)) as caught, training(*hooks, bad) as session:
            session.run("train")
            if stage == "on_exception":
                raise ValueError("no")
        return list(caught.value.__notes__), len(traceback.extract_tb(caught.value.__traceback__))

    notes, count = frames()
    noted, counted = frames(Spy())
    assert (notes, "bad" in notes[0]) == (noted, True)
    # What on_exception raises is but a note.
    assert counted - count == (0 if stage == "on_exception" else 1)


class Swallows:
    """Gives a result in place of an error."""

    @th.hookimpl(wrapper=True)
    def after_run(self) -> Generator[None, Any, Any]:
        try:
            return (yield)
        except ArithmeticError:
            return None


class TestWrapper:
    def run(self, *hooks: object) -> None:
        with training(*hooks) as session:
            session.run("train")

    def test_one_may_catch_what_the_others_raised(self) -> None:
        spy = Spy()
        self.run(spy, Swallows(), Recorder("bad", after_run=raising(ArithmeticError("no"))))
        assert [str(error) for error in spy.errors] == ["no"]

    def test_an_error_that_passes_through_it_stays_blamed(self) -> None:
        with pytest.raises(ArithmeticError) as caught:
            self.run(Spy(), Transparent(), Recorder("bad", after_run=raising(ArithmeticError("no"))))
        assert "in after_run of hook 'bad'" in caught.value.__notes__[0]

    def test_a_stop_iteration_that_passes_through_it_ends_the_session_cleanly(self) -> None:
        spy = Spy()
        self.run(spy, Transparent(), Recorder("a", after_run=raising(th.OutOfRangeError("over"))))
        assert spy.of("Transparent")[-2:] == ["end", "end"]

    @pytest.mark.parametrize("half", ["before", "after"])
    def test_its_own_error_is_blamed_on_it(self, half: str) -> None:
        class Bad:
            @th.hookimpl(wrapper=True)
            def after_run(self) -> Generator[None, Any, Any]:
                if half == "before":
                    raise ArithmeticError("no")
                yield
                raise ArithmeticError("no")

        with pytest.raises(ArithmeticError) as caught:
            self.run(Spy(), Bad(), Recorder("a"))
        assert "in after_run of hook 'Bad'" in caught.value.__notes__[0]

    @pytest.mark.parametrize(("yields", "what"), [(0, "did not yield"), (2, "has second yield")])
    def test_one_that_does_not_yield_once_is_an_error_as_ever(self, yields: int, what: str) -> None:
        class Odd:
            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                for _ in range(yields):
                    yield

        for hooks in ([Odd()], [Spy(), Odd()]):
            with pytest.raises(RuntimeError, match=what) as caught:
                self.run(*hooks)
            assert "in before_run of hook 'Odd'" in caught.value.__notes__[0]

    def test_one_of_the_old_style_works(self) -> None:
        outcomes: list[Any] = []

        class Old:
            @th.hookimpl(hookwrapper=True)
            def before_run(self) -> Generator[None, Any, None]:
                outcomes.append((yield).get_result())

        spy = Spy()
        self.run(spy, Old())
        assert (outcomes, spy.of("Old")) == ([[]], ["before_run", "before_run"])

    def test_one_that_is_no_generator_function_is_the_same_error(self) -> None:
        class Plain:
            @th.hookimpl(wrapper=True)
            def before_run(self) -> None: ...

        with pytest.raises(Exception, match="generator function"):
            self.run(Spy(), Plain())


class TestBadInput:
    def test_nothing_in_place_of_a_call_is_an_error(self) -> None:
        class Forgets(Spy):
            def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Any:
                return None

        with pytest.raises(th.HookError) as caught:
            training(Forgets("forgets"))
        assert "instrument_call of hook 'forgets'" in str(caught.value)
        assert "returned None for begin of hook 'forgets'" in str(caught.value)
        assert "return a function that makes the call, or the call itself" in str(caught.value)

    def test_what_it_raises_says_where(self) -> None:
        class Fails(Spy):
            def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Any:
                raise LookupError("no tracer")

        with pytest.raises(LookupError, match="no tracer") as caught:
            training(Recorder("a"), Fails("fails"))
        assert "in instrument_call of hook 'fails'" in caught.value.__notes__[0]
        assert "for after_create_session of hook 'a'" in caught.value.__notes__[0]

    def test_an_attribute_of_that_name_that_is_no_method_is_none(self) -> None:
        hook = Recorder("a")
        vars(hook)["instrument_call"] = "violin"
        with training(hook) as session:
            session.run("train")


def test_it_goes_on_after_a_recovery() -> None:
    spy = Spy()
    failures = [th.AbortedError("lost")]

    def fail(*arguments: object) -> None:
        if failures:
            raise failures.pop()

    with th.MonitoredSession(graph=counting_graph(), hooks=[Recorder("a", before_run=fail), spy]) as session:
        session.run("train")
    stages = ["begin", "after_create_session", "before_run", "after_create_session", "before_run", "after_run", "end"]
    assert spy.of("a") == stages
