"""One open session at a time has a hook, and one that was dropped has none."""

import gc
import weakref
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenterhooks as th

from .recorders import Recorder, Transparent, counting_graph, raising, training


class TestWhoseAHookIs:
    def test_it_belongs_to_one_open_session(self) -> None:
        hook = Recorder("a")
        message = r"belongs to another open session, <MonitoredSession open>: close\(\) that one first, or make another"
        with training(hook), pytest.raises(th.HookError, match=message):
            training(hook)

    def test_the_error_that_says_so_does_not_keep_that_session(self) -> None:
        hook = Recorder("a")
        session = training(hook)
        with pytest.raises(th.HookError) as refused:
            training(hook)
        del session
        # The error with its traceback is there, as it is in a notebook.
        assert refused.value.__traceback__ is not None
        training(hook).close()
        assert hook.stages[-1] == "end"

    def test_the_session_that_has_it_goes_on(self) -> None:
        hook = Recorder("a")
        with training(hook) as session:
            with pytest.raises(th.HookError):
                training(hook)
            session.run("train")
        assert hook.stages == ["begin", "after_create_session", "before_run", "after_run", "end"]

    def test_a_session_that_was_refused_one_takes_no_other(self) -> None:
        taken, free = Recorder("taken"), Recorder("free")
        with training(taken):
            with pytest.raises(th.HookError):
                training(free, taken)
            training(free).close()
        assert free.stages == ["begin", "after_create_session", "end"]

    def test_it_may_be_used_again_after_close(self) -> None:
        hook = Recorder("a")
        for _ in range(2):
            training(hook).close()
        assert hook.stages == ["begin", "after_create_session", "end"] * 2

    def test_it_may_be_used_again_after_an_error_of_end(self) -> None:
        hook = Recorder("a", end=raising(ValueError("no end")))
        with pytest.raises(ValueError, match="no end"), training(hook):
            pass
        training(hook).close()
        assert hook.stages[-1] == "end"

    @pytest.mark.parametrize("stage", ["begin", "after_create_session"])
    def test_it_may_be_used_again_after_a_constructor_that_failed(self, stage: str) -> None:
        on: dict[str, Any] = {stage: raising(ValueError("failed"))}
        hook = Recorder("a", **on)
        with pytest.raises(ValueError, match="failed"):
            training(hook)
        training(hook).close()
        assert hook.stages[-1] == "end"

    def test_a_session_that_was_dropped_unclosed_does_not_keep_it(self) -> None:
        hook = Recorder("a")
        dropped = weakref.ref(training(hook))
        training(hook).close()
        assert dropped() is None

    def test_a_session_that_was_dropped_unclosed_does_not_keep_the_graph_finalized(self) -> None:
        graph = counting_graph()
        session = th.MonitoredSession(graph=graph)
        assert graph.finalized
        del session
        gc.collect()
        assert not graph.finalized

    def test_a_session_that_was_dropped_in_a_cycle_does_not_keep_it(self) -> None:
        hook = Recorder("a")
        gc.disable()
        try:
            cycle: list[Any] = [training(hook)]
            cycle.append(cycle)
            del cycle
            training(hook).close()
        finally:
            gc.enable()
        assert hook.stages[-1] == "end"

    def test_another_object_of_its_class_is_free(self) -> None:
        with training(Recorder("a")), training(Recorder("a")) as session:
            assert session.run("w") == 0.0


FAILURES = st.dictionaries(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["begin", "after_create_session", "before_run", "after_run", "end", "on_exception"]),
    ),
    st.sampled_from([ValueError, KeyboardInterrupt, th.OutOfRangeError, StopIteration, th.AbortedError]),
    max_size=4,
)


@settings(database=None, deadline=None, max_examples=300)
@given(
    failures=FAILURES,
    count=st.integers(1, 4),
    runs=st.integers(0, 3),
    body=st.sampled_from([None, ValueError, SystemExit, th.OutOfRangeError]),
    savers=st.sets(st.integers(0, 3)),
    wrapped=st.booleans(),
    recovers=st.booleans(),
)
def test_each_hook_that_has_begun_gets_exactly_one_of_end_and_on_exception(
    failures: dict[tuple[int, str], type[BaseException]],
    count: int,
    runs: int,
    body: type[BaseException] | None,
    savers: set[int],
    wrapped: bool,
    recovers: bool,
) -> None:
    graph = counting_graph()
    hooks: list[Any] = []
    for place in range(count):
        on: dict[str, Any] = {
            stage: raising(error("scripted")) for (hook, stage), error in failures.items() if hook == place
        }
        hooks.append(Recorder(f"{place}", **on))
        hooks[-1].saves_state = place in savers
    everyone = [*hooks, Transparent()] if wrapped else hooks
    left: BaseException | None = None
    try:
        with (
            th.MonitoredSession(graph=graph, hooks=everyone, sleep=lambda seconds: None)
            if recovers
            else th.SingularMonitoredSession(everyone, graph=graph)
        ) as session:
            for _ in range(runs):
                session.run("train")
            if body is not None:
                raise body("body")
    except BaseException as error:
        left = error

    begun = [hook for place, hook in enumerate(hooks) if "begin" in hook.stages and (place, "begin") not in failures]
    last = {stage for hook in begun for stage in hook.stages if stage in ("end", "on_exception")}
    assert len(last) <= 1
    assert [[stage for stage in hook.stages if stage in ("end", "on_exception")] for hook in begun] == [[*last]] * len(
        begun
    )
    assert not any({"end", "on_exception"} & {*hook.stages} for hook in hooks if hook not in begun)
    assert left is not None or last == {"end"}
    assert not graph.finalized
    # All of them are free for another session.
    for hook in hooks:
        hook.calm()
    th.SingularMonitoredSession(hooks, graph=graph).close()
