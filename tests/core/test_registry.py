"""All hooks of one session: wrappers, notes on errors, and their state."""

import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pluggy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.hookspecs import STAGES

from .marks import mark, marked, orders, play
from .recorders import (
    Calls,
    MemorySaver,
    Recorder,
    SaveEveryStep,
    Stateful,
    Transparent,
    counting_graph,
    raising,
    training,
)

STAGES_OF_ERRORS = ["begin", "after_create_session", "before_run", "after_run", "end"]
# No database: a test that runs from an installed wheel leaves nothing behind.
properties = settings(database=None, deadline=None, max_examples=200)


def around(stage: str, before: Callable[..., Any], after: Callable[..., Any] = lambda: None, **marks: Any) -> object:
    """A hook that wraps one stage, and calls these before and after it."""

    def wrapper() -> Generator[None, Any, Any]:
        before()
        result = yield
        after()
        return result

    return SimpleNamespace(**{stage: th.hookimpl(wrapper=True, **marks)(wrapper)}, name=marks.get("name", "around"))


class TestWrappers:
    @pytest.mark.parametrize("stage", STAGES)
    def test_a_wrapper_sees_a_stage_as_a_whole(self, stage: str) -> None:
        calls: Calls = []
        wrapper = around(
            stage,
            lambda: calls.append(("around", f"before {stage}")),
            lambda: calls.append(("around", f"after {stage}")),
        )
        play(Recorder("a", calls), wrapper, Recorder("b", calls))
        place = calls.index(("around", f"before {stage}"))
        assert calls[place : place + 4] == [
            ("around", f"before {stage}"),
            ("a", stage),
            ("b", stage),
            ("around", f"after {stage}"),
        ]

    def test_the_first_of_the_list_stands_around_the_others(self) -> None:
        seen: list[str] = []
        hooks = [
            around(
                "end", lambda name=name: seen.append(f"before {name}"), lambda name=name: seen.append(f"after {name}")
            )
            for name in "ab"
        ]
        with training(*hooks):
            pass
        assert seen == ["before a", "before b", "after b", "after a"]

    def test_a_savers_wrapper_is_left_after_all_others(self) -> None:
        seen: list[str] = []
        saver: Any = around("end", lambda: None, lambda: seen.append("saver"))
        saver.saves_state = True
        other = around("end", lambda: None, lambda: seen.append("other"), tryfirst=True)
        with training(saver, other):
            pass
        assert seen == ["other", "saver"]

    def test_a_wrapper_gets_the_arguments_of_the_stage(self) -> None:
        seen: list[Any] = []

        class Wrapper:
            @th.hookimpl(wrapper=True)
            def after_run(
                self, run_values: th.SessionRunValues, run_context: th.SessionRunContext
            ) -> Generator[None, Any, Any]:
                seen.extend([run_context.original_args.fetches, run_values.results])
                return (yield)

        with training(Wrapper(), Recorder("a")) as session:
            session.run(["w", "train"])
        assert seen == [["w", "train"], [0.0, None]]

    def test_a_wrapper_of_after_run_sees_the_callers_results_and_hooks_see_theirs(self) -> None:
        seen: list[Any] = []

        class Wrapper:
            @th.hookimpl(wrapper=True)
            def after_run(self, run_values: th.SessionRunValues) -> Generator[None, Any, Any]:
                seen.append(run_values.results)
                return (yield)

        asking = Recorder(
            "a",
            before_run=lambda context: th.SessionRunArgs("x"),
            after_run=lambda context, values: seen.append(values.results),
        )
        with training(asking, Wrapper()) as session:
            session.run("w")
        assert seen == [0.0, 1.0]

    def test_a_wrapper_of_before_run_sees_what_hooks_ask_for(self) -> None:
        seen: list[Any] = []

        class Wrapper:
            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                result = yield
                seen.extend(args.fetches for args in result)
                return result

        asking = [Recorder(name, before_run=lambda context, name=name: th.SessionRunArgs(name)) for name in "xy"]
        with training(*asking, Wrapper()) as session:
            session.run("train")
        assert seen == ["x", "y"]

    def test_a_wrapper_of_end_sees_that_the_stage_is_over_even_if_hooks_failed(self) -> None:
        seen: list[str] = []
        wrapper = around("end", lambda: seen.append("before"), lambda: seen.append("after"))
        with (
            pytest.raises(ValueError, match="a failed"),
            training(wrapper, Recorder("a", end=raising(ValueError("a failed")))),
        ):
            pass
        assert seen == ["before", "after"]

    @pytest.mark.parametrize("fails", ["before", "after"])
    def test_a_wrapper_of_end_that_fails_keeps_no_hook_from_its_end(self, fails: str) -> None:
        calls: Calls = []
        failing = raising(ValueError("wrapper"))
        wrapper = around("end", **{"before": lambda: None, fails: failing})
        with pytest.raises(ValueError, match="wrapper"), training(Recorder("a", calls), wrapper, Recorder("b", calls)):
            pass
        assert calls[-2:] == [("a", "end"), ("b", "end")]

    def test_hooks_keep_their_order_when_a_wrapper_of_end_fails(self) -> None:
        calls: Calls = []
        wrapper = around("end", raising(ValueError("wrapper")))
        hooks = [marked("a", calls, trylast=True), Recorder("b", calls), marked("c", calls, tryfirst=True), wrapper]
        with pytest.raises(ValueError, match="wrapper"), training(*hooks):
            pass
        assert orders(calls)["end"] == ["c", "b", "a"]

    def test_a_wrapper_of_on_exception_that_fails_keeps_no_hook_from_it(self) -> None:
        calls: Calls = []
        wrapper = around("on_exception", raising(TypeError("wrapper")))
        with pytest.raises(ValueError, match="body") as caught, training(Recorder("a", calls), wrapper):
            raise ValueError("body")
        assert calls[-1] == ("a", "on_exception")
        assert "while closing: TypeError: wrapper" in caught.value.__notes__[0]

    def test_the_exception_itself_raised_again_by_a_wrapper_of_on_exception_is_no_further_error(self) -> None:
        class Again:
            @th.hookimpl(wrapper=True)
            def on_exception(self, exception: BaseException) -> Generator[None, Any, Any]:
                yield
                raise exception

        with pytest.raises(ValueError, match="body") as caught, training(Again(), Recorder("a")):
            raise ValueError("body")
        assert not any("while closing" in note for note in getattr(caught.value, "__notes__", ()))

    def test_a_wrapper_of_on_exception_cannot_swallow_the_exception(self) -> None:
        class Swallowing:
            @th.hookimpl(wrapper=True)
            def on_exception(self) -> Generator[None, Any, Any]:
                yield
                return None

        with pytest.raises(ValueError, match="body"), training(Swallowing()):
            raise ValueError("body")

    def test_a_wrapper_may_replace_an_error_of_a_run(self) -> None:
        class Translating:
            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                try:
                    return (yield)
                except KeyError as error:
                    raise LookupError("translated") from error

        session = training(Translating(), Recorder("a", before_run=raising(KeyError("x"))))
        with pytest.raises(LookupError, match="translated"):
            session.run("train")
        session.close()

    def test_a_stop_iteration_of_a_hook_passes_through_wrappers(self) -> None:
        session = training(Transparent(), Recorder("a", before_run=raising(StopIteration("enough"))))
        with pytest.raises(StopIteration, match="enough"):
            session.run("train")
        session.close()

    def test_a_wrapper_that_is_no_generator_is_an_error(self) -> None:
        class Wrong:
            @th.hookimpl(wrapper=True)
            def end(self) -> None: ...

        with pytest.raises(pluggy.PluginValidationError, match="not a generator function"):
            training(Wrong())

    def test_a_wrapper_that_yields_twice_is_an_error_of_that_hook(self) -> None:
        class Twice:
            name = "twice"

            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                yield
                yield

        session = training(Twice(), Recorder("a"))
        with pytest.raises(RuntimeError, match="has second yield") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'twice'" in caught.value.__notes__[0]

    def test_a_wrapper_that_does_not_yield_is_an_error_of_that_hook(self) -> None:
        class Never:
            name = "never"

            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                if self.name == "yields":
                    yield

        session = training(Never(), Recorder("a"))
        with pytest.raises(RuntimeError, match="did not yield") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'never'" in caught.value.__notes__[0]

    def test_an_old_style_wrapper_works_too(self) -> None:
        seen: list[Any] = []

        class Old:
            @th.hookimpl(hookwrapper=True)
            def before_run(self) -> Generator[None, Any, None]:
                outcome = yield
                seen.append(outcome.get_result())

        with training(Old(), Recorder("a")) as session:
            session.run("train")
        assert seen == [[]]

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_stop_that_a_wrapper_requests_is_its_own(self, when: str) -> None:
        class Stopping:
            name = "stopping"

            @th.hookimpl(wrapper=True)
            def after_run(self, run_context: th.SessionRunContext) -> Generator[None, Any, Any]:
                if when == "before":
                    run_context.request_stop()
                result = yield
                if when == "after":
                    run_context.request_stop()
                return result

        with training(Stopping(), Recorder("a")) as session:
            session.run("train")
            assert [request.hook for request in session.stop] == ["stopping"]

    def test_a_wrapper_alone_makes_a_hook(self) -> None:
        seen: list[str] = []
        with training(around("end", lambda: seen.append("before"), lambda: seen.append("after"))):
            pass
        assert seen == ["before", "after"]


@dataclass(frozen=True)
class Script:
    """What a random hook does in its two stages of a run."""

    marks: tuple[str, str]
    saver: bool
    asks: Any
    feeds: str | None
    stops: str | None
    fails: tuple[str, int] | None
    arguments: int
    period: tuple[str, int] | None


SCRIPTS = st.builds(
    Script,
    marks=st.tuples(*[st.sampled_from(["", "", "tryfirst", "trylast"])] * 2),
    saver=st.booleans(),
    asks=st.sampled_from([None, "x", ["double_x", "w"], {"step": "global_step"}, []]),
    feeds=st.sampled_from([None, None, None, "x", "y"]),
    stops=st.sampled_from([None, None, None, "before_run", "after_run"]),
    fails=st.none() | st.none() | st.tuples(st.sampled_from(["before_run", "after_run"]), st.integers(0, 2)),
    arguments=st.integers(0, 2),
    period=st.none() | st.tuples(st.sampled_from(["steps", "runs"]), st.integers(0, 3)),
)


def scripted(name: str, script: Script, log: list[Any], completed: list[Any]) -> object:
    counts = {"before_run": 0, "after_run": 0}

    def act(stage: str, context: th.SessionRunContext | None, results: Any = None) -> th.SessionRunArgs | None:
        count = counts[stage]
        counts[stage] += 1
        log.append((name, stage, results, context and context.stop_requested, context and context.session.global_step))
        if script.stops == stage and context is not None:
            context.request_stop(f"{name} has enough")
        if script.fails == (stage, count):
            raise ValueError(f"{name} failed in {stage}")
        if stage == "after_run" and script.period is not None:
            hook.timer.update_last_triggered_step(len(completed) + (script.period[0] == "steps"))
        if stage == "after_run" or (script.asks is None and script.feeds is None):
            return None
        return th.SessionRunArgs(script.asks, {script.feeds: len(name)} if script.feeds else None, {"order": True})

    class Scripted(th.SessionRunHook):
        saves_state = script.saver

    before: list[Callable[..., Any]] = [
        lambda: act("before_run", None),
        lambda run_context: act("before_run", run_context),
        lambda *given: act("before_run", *given),
    ]
    after: list[Callable[..., Any]] = [
        lambda: act("after_run", None),
        lambda run_values: act("after_run", None, run_values.results),
        lambda run_values, run_context: act("after_run", run_context, run_values.results),
    ]
    first, second = ({kind: True} if kind else {} for kind in script.marks)
    hook: Any = Scripted()
    hook.name = name
    if script.period is not None:
        hook.timer_counts, every_steps = script.period
        hook.timer = th.SecondOrStepTimer(every_steps=every_steps)
    hook.before_run = mark(**first)(before[script.arguments])
    hook.after_run = mark(**second)(after[script.arguments])
    return hook


def story(scripts: Sequence[Script], *more: object) -> list[Any]:
    """All that is seen of five runs with these hooks: their calls, results, errors with notes, and stops."""
    log: list[Any] = []
    completed: list[Any] = []
    hooks = [scripted(f"hook{place}", script, log, completed) for place, script in enumerate(scripts)]
    session = th.MonitoredSession(graph=counting_graph(), hooks=[*hooks, *more])
    for _ in range(5):
        try:
            completed.append(session.run(["w", "x_times_y", "train"], {"y": 3.0}))
            log.append(completed[-1])
        except (ValueError, RuntimeError) as error:
            log.append((type(error), str(error), getattr(error, "__notes__", ())))
        log.append((session.should_stop(), session.stop, session.global_step))
    session.close()
    return log


@properties
@given(st.lists(SCRIPTS, max_size=5))
def test_a_session_with_wrappers_calls_hooks_as_one_without(scripts: list[Script]) -> None:
    assert story(scripts, Transparent()) == story(scripts)


@dataclass(frozen=True)
class FrozenError(Exception):
    """Lets nothing be set on it, notes neither."""

    code: int


class TestNotes:
    """An error names the hook, where it comes from, the stage and the step."""

    @pytest.mark.parametrize("wrapped", [False, True])
    @pytest.mark.parametrize("stage", STAGES_OF_ERRORS)
    def test_an_error_of_a_stage_names_hook_class_and_stage(self, stage: str, wrapped: bool) -> None:
        on: dict[str, Any] = {stage: raising(ValueError("failed"))}
        hooks = [
            Recorder("before"),
            Recorder("culprit", **on),
            Recorder("after"),
            *([Transparent()] if wrapped else []),
        ]
        with pytest.raises(ValueError, match="failed") as caught, training(*hooks) as session:
            session.run("train")
        assert caught.value.__notes__[0].startswith(f"in {stage} of hook 'culprit' ({Recorder.__module__}.Recorder)")

    @pytest.mark.parametrize(
        ("stage", "step"), [("after_create_session", 0), ("before_run", 2), ("after_run", 3), ("end", 3)]
    )
    def test_an_error_of_a_stage_names_the_step(self, stage: str, step: int) -> None:
        times = [None, None] if stage.endswith("_run") else []
        on: dict[str, Any] = {stage: raising(*times, ValueError("failed"))}
        with pytest.raises(ValueError, match="failed") as caught, training(Recorder("a", **on)) as session:
            for _ in range(3):
                session.run("train")
        assert caught.value.__notes__[0].endswith(f", at global step {step}")

    def test_an_error_of_on_exception_names_all_of_them_too(self) -> None:
        hook = Recorder("a", on_exception=raising(TypeError("observer")))
        with pytest.raises(ValueError, match="body") as caught, training(hook) as session:
            session.run("train")
            raise ValueError("body")
        where = f"in on_exception of hook 'a' ({Recorder.__module__}.Recorder), at global step 1"
        assert caught.value.__notes__ == [f"while closing: TypeError: observer ({where})"]

    def test_there_is_one_note_for_one_error(self) -> None:
        hook = Recorder("a", before_run=raising(ValueError("failed")))
        with pytest.raises(ValueError, match="failed") as caught, training(hook) as session:
            session.run("train")
        assert len(caught.value.__notes__) == 1

    def test_an_error_of_loading_that_cannot_be_changed_is_not_replaced(self) -> None:
        class Broken(Stateful):
            def load_state_dict(self, state: dict[str, Any]) -> None:
                raise FrozenError(3)

        saver = MemorySaver()
        saver.save({"global_step": 1, "variables": {}, "sources": {}, "hooks": {"a": {}}}, step=1)
        with pytest.raises(FrozenError) as caught:
            th.MonitoredSession(th.ChiefSessionCreator(counting_graph(), saver=saver), [Broken("a")])
        assert "in load_state_dict of hook 'a'" in caught.value.__notes__[0]

    @pytest.mark.parametrize("stage", [*STAGES_OF_ERRORS, "on_exception", "state_dict"])
    def test_an_error_that_cannot_be_changed_is_not_replaced(self, stage: str) -> None:
        error = FrozenError(3)
        on: dict[str, Any] = {stage: raising(error)}
        hook = Recorder("a", **on)
        if stage == "state_dict":
            vars(hook).update(state_dict=raising(error), load_state_dict=lambda state: None)
        body = ValueError("body")
        with pytest.raises((FrozenError, ValueError)) as caught, training(hook) as session:
            session.run("train")
            if stage == "on_exception":
                raise body
        assert caught.value is (body if stage == "on_exception" else error)
        assert f"in {stage} of hook 'a'" in caught.value.__notes__[0]

    def test_the_exception_that_ends_the_session_may_be_one_that_cannot_be_changed(self) -> None:
        error = FrozenError(3)
        with pytest.raises(FrozenError) as caught, training(Recorder("a", on_exception=raising(TypeError("observer")))):
            raise error
        assert caught.value is error
        assert caught.value.__notes__[0].startswith("while closing: TypeError: observer")

    def test_an_error_that_is_raised_again_and_again_has_one_note(self) -> None:
        error = th.AbortedError("lost")
        hook = Recorder("a", before_run=raising(error, error, error))
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook], sleep=lambda seconds: None) as session:
            session.run("train")
        assert hook.stages.count("before_run") == 4
        assert len(error.__notes__) == 1

    def test_an_error_equal_to_the_exception_under_way_is_another_one(self) -> None:
        with pytest.raises(FrozenError) as caught, training(Recorder("a", on_exception=raising(FrozenError(3)))):
            raise FrozenError(3)
        assert caught.value.__notes__[0].startswith("while closing: FrozenError: ")

    def test_what_a_hook_returns_wrongly_is_its_error(self) -> None:
        hook = Recorder("a", before_run=lambda context: ["w"])
        session = training(hook)
        with pytest.raises(TypeError, match=r"returned \['w'\] of type list: return SessionRunArgs") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'a'" in caught.value.__notes__[0]

    def test_an_error_of_the_run_itself_names_no_hook(self) -> None:
        session = th.MonitoredSession(graph=counting_graph(items=0), hooks=[Recorder("a")])
        with pytest.raises(th.OutOfRangeError) as caught:
            session.run("train")
        session.close()
        assert not any("hook" in note for note in getattr(caught.value, "__notes__", ()))

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_an_error_of_a_wrapper_names_the_wrapper(self, when: str) -> None:
        wrapper = around("before_run", **{"before": lambda: None, when: raising(ValueError("failed"))})
        session = training(Recorder("a"), wrapper, Recorder("b"))
        with pytest.raises(ValueError, match="failed") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'around'" in caught.value.__notes__[0]

    def test_an_error_that_passes_through_a_wrapper_names_the_hook(self) -> None:
        session = training(Transparent(), Recorder("a", after_run=raising(StopIteration("x"))), Transparent())
        with pytest.raises(StopIteration) as caught:
            session.run("train")
        session.close()
        assert "in after_run of hook 'a'" in caught.value.__notes__[0]

    def test_an_error_that_a_wrapper_makes_of_another_names_the_wrapper(self) -> None:
        class Translating:
            name = "translating"

            @th.hookimpl(wrapper=True)
            def before_run(self) -> Generator[None, Any, Any]:
                try:
                    return (yield)
                except KeyError as error:
                    raise LookupError("translated") from error

        session = training(Translating(), Recorder("a", before_run=raising(KeyError("x"))))
        with pytest.raises(LookupError, match="translated") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'translating'" in caught.value.__notes__[0]

    def test_an_error_of_a_hooks_state_names_the_hook(self) -> None:
        class Broken(Stateful):
            def state_dict(self) -> dict[str, Any]:
                raise ValueError("no state")

        with pytest.raises(ValueError, match="no state") as caught:
            training(Broken("a"))
        assert "in state_dict of hook 'a'" in caught.value.__notes__[0]

    def test_an_error_of_loading_a_hooks_state_names_the_hook(self) -> None:
        class Broken(Stateful):
            def load_state_dict(self, state: dict[str, Any]) -> None:
                raise ValueError("no state")

        saver = MemorySaver()
        saver.save({"global_step": 1, "variables": {}, "sources": {}, "hooks": {"a": {}}}, step=1)
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with pytest.raises(ValueError, match="no state") as caught:
            th.MonitoredSession(creator, [Broken("a")])
        assert "in load_state_dict of hook 'a'" in caught.value.__notes__[0]


class Counter(Recorder):
    """Counts the runs since it was made, across sessions."""

    runs = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.runs += 1
        super().after_run(run_context, run_values)

    def state_dict(self) -> dict[str, Any]:
        return {"runs": self.runs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.runs = state["runs"]


def saved(saver: MemorySaver, *hooks: object, runs: int = 2) -> None:
    """Make some runs with a session that saves after each, and goes on from what is saved."""
    creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
    with th.MonitoredSession(creator, [*hooks, SaveEveryStep(saver)]) as session:
        for _ in range(runs):
            session.run("train")


class TestState:
    def test_it_stands_under_the_hooks_name_in_the_sessions_state(self) -> None:
        with training(Counter("counter"), Recorder("stateless")) as session:
            session.run("train")
            raw = session.raw_session()
            assert raw is not None
            assert raw.state_dict()["hooks"] == {"counter": {"runs": 1}}

    def test_a_checkpoint_holds_what_the_other_hooks_left_at_that_step(self) -> None:
        saver = MemorySaver()
        saved(saver, Counter("counter"))
        assert [state["hooks"] for _, state in saver.saved] == [{"counter": {"runs": 1}}, {"counter": {"runs": 2}}]

    def test_it_is_restored_before_after_create_session(self) -> None:
        saver = MemorySaver()
        saved(saver, Counter("counter"))
        seen: list[int] = []
        counter = Counter("counter", after_create_session=lambda session, coord: seen.append(counter.runs))
        saved(saver, counter)
        assert seen == [2]

    def test_two_hooks_of_one_class_have_their_own(self) -> None:
        saver = MemorySaver()
        first = Counter("counter")
        first.runs = 10
        saved(saver, first, Counter("counter"))
        again = [Counter("counter"), Counter("counter")]
        saved(saver, *again, runs=0)
        assert [counter.runs for counter in again] == [12, 2]

    def test_a_module_may_have_state(self) -> None:
        module = SimpleNamespace(
            name="module",
            end=th.hookimpl(lambda: None),
            state_dict=lambda: {"a": 1},
            load_state_dict=lambda state: None,
        )
        assert Stateful.states(module) == {"module": {"a": 1}}

    def test_a_hook_that_the_checkpoint_lacks_keeps_its_state_and_is_named(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        saver = MemorySaver()
        saved(saver)
        counter = Counter("counter")
        counter.runs = 7
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.MonitoredSession(creator, [counter]) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.restored is not None
            assert raw.restored.not_restored == ("hooks/counter",)
        assert counter.runs == 7
        assert "hooks/counter is not in the checkpoint and begins anew" in caplog.text

    def test_state_for_which_there_is_no_hook_is_named(self, caplog: pytest.LogCaptureFixture) -> None:
        saver = MemorySaver()
        saved(saver, Counter("counter"))
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.MonitoredSession(creator) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.restored is not None
            assert raw.restored.not_used == ("hooks/counter",)
        assert "hooks/counter is in the checkpoint and nothing here takes it" in caplog.text

    def test_global_random_numbers_for_which_there_is_no_hook_are_said_to_be_that(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        saver = MemorySaver()
        saved(saver, Counter("saver"))
        checkpoint, state = saver.saved[-1]
        state["hooks"] = {"saver": {"<random>": {}, "<numpy.random>": {}}, "counter": {"runs": 1}, "unmoved": {}}
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.MonitoredSession(creator) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.restored is not None
            assert raw.restored.checkpoint == checkpoint.path
            assert raw.restored.not_used == ("hooks/saver", "hooks/counter")
        assert (
            "hooks/saver, the state of the global random numbers <random> and <numpy.random>, is in the checkpoint and "
            "nothing here takes it"
        ) in caplog.text
        assert "hooks/counter is in the checkpoint and nothing here takes it" in caplog.text
        assert "unmoved" not in caplog.text

    def test_what_could_not_be_restored_is_said_in_one_record(self, caplog: pytest.LogCaptureFixture) -> None:
        saver = MemorySaver()
        saved(saver, Counter("old"), Counter("older"))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            saved(saver, Counter("new"), Counter("newer"), runs=0)
        assert len(caplog.records) == 1

    def test_a_full_restore_is_logged_with_its_step(self, caplog: pytest.LogCaptureFixture) -> None:
        saver = MemorySaver()
        saved(saver, Counter("counter"))
        with caplog.at_level(logging.INFO, "tenterhooks"):
            saved(saver, Counter("counter"), runs=0)
        assert "memory-1" in caplog.text
        assert "step 2" in caplog.text

    def test_a_hook_does_not_get_the_savers_own_object(self) -> None:
        class Greedy(Counter):
            def load_state_dict(self, state: dict[str, Any]) -> None:
                super().load_state_dict(state)
                state.clear()

        saver = MemorySaver()
        saved(saver, Counter("counter"))
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.MonitoredSession(creator, [Greedy("counter")]) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.hook_states == {"counter": {"runs": 2}}

    def test_arrays_and_generators_in_it_are_saved_as_plain_values(self) -> None:
        class Shuffling(Counter):
            rng = np.random.default_rng(1)

            def state_dict(self) -> dict[str, Any]:
                return {"rng": self.rng, "best": np.zeros(2), "history": [1, (2.0, None)]}

        state = Stateful.states(Shuffling("a"))["a"]
        assert state["rng"]["bit_generator"] == "PCG64"
        assert state["history"] == [1, (2.0, None)]

    def test_a_state_that_cannot_be_saved_is_an_error_that_says_where(self) -> None:
        class Odd(Counter):
            def state_dict(self) -> dict[str, Any]:
                return {"seen": {1, 2}}

        with pytest.raises(th.CheckpointError, match="hooks/a/seen"):
            training(Odd("a"))


def test_a_hook_that_stands_in_the_list_twice_is_an_error() -> None:
    hook = Recorder("a")
    with pytest.raises(th.HookError, match="stands in the list of hooks twice; make two objects"):
        training(hook, Recorder("b"), hook)


def test_hooks_that_are_equal_do_not_count_as_one() -> None:
    @dataclass
    class Equal:
        name: str = "equal"

        @th.hookimpl
        def end(self) -> None: ...

    with training(Equal(), Equal()) as session:
        session.run("train")
    assert session.should_stop()


def test_no_hooks_at_all_are_fine() -> None:
    with training() as session:
        assert session.run("w") == 0.0
