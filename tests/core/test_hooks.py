"""What a hook is given, and what it returns."""

import weakref
from typing import Any

import pytest

import tenterhooks as th

from .recorders import Recorder, counting_graph, training


def test_args_ask_for_nothing_by_default() -> None:
    args = th.SessionRunArgs()
    assert (args.fetches, args.feed_dict, args.options) == (None, None, None)


def test_args_take_fetches_feeds_and_options_by_position() -> None:
    args = th.SessionRunArgs("w", {"x": 3.0}, {"trace": True})
    assert (args.fetches, args.feed_dict, args.options) == ("w", {"x": 3.0}, {"trace": True})


def test_args_show_what_they_hold() -> None:
    assert repr(th.SessionRunArgs("w", {"x": 3.0})) == "SessionRunArgs('w', feed_dict={'x': 3.0}, options=None)"


def test_args_that_are_optional_say_so() -> None:
    args = th.SessionRunArgs("w", optional=True)
    assert repr(args) == "SessionRunArgs('w', feed_dict=None, options=None, optional=True)"
    assert repr(args.fetches) == "OptionalFetches('w')"
    assert th.SessionRunArgs(feed_dict={"x": 1}, optional=True).fetches is None


@pytest.mark.parametrize(
    "given",
    [th.SessionRunArgs(), th.RunMetadata(), th.SessionRunValues(None, {}, th.RunMetadata())],
    ids=lambda given: type(given).__name__,
)
def test_what_passes_between_hooks_and_session_takes_no_further_attribute(given: Any) -> None:
    with pytest.raises(AttributeError):
        given.result = 1


def test_a_run_context_takes_no_further_attribute() -> None:
    def misspell(context: Any) -> None:
        context.stop = True

    session = training(Recorder("a", before_run=misspell))
    with pytest.raises(AttributeError):
        session.run("train")
    session.close()


def test_the_stages_of_the_base_class_do_nothing() -> None:
    hook: Any = th.SessionRunHook()
    results = [hook.begin(None), hook.after_create_session(None, None), hook.before_run(None)]
    assert [*results, hook.after_run(None, None), hook.end(None), hook.on_exception(None, None)] == [None] * 6


def test_the_context_has_what_the_caller_asked_for() -> None:
    seen = []
    with training(Recorder("a", before_run=lambda context: seen.append(context.original_args))) as session:
        session.run(["train"], {"x": 3.0}, {"trace": True})
    assert (seen[0].fetches, seen[0].feed_dict, seen[0].options) == (["train"], {"x": 3.0}, {"trace": True})


def test_the_caller_is_not_shown_what_hooks_ask_for() -> None:
    seen = []
    asking = Recorder("a", before_run=lambda context: th.SessionRunArgs("w", {"x": 3.0}))
    with training(
        asking, Recorder("b", after_run=lambda context, values: seen.append(context.original_args))
    ) as session:
        session.run("train")
    assert (seen[0].fetches, seen[0].feed_dict) == ("train", None)


def test_one_context_is_shared_by_all_hooks_and_both_stages_of_a_run() -> None:
    seen: list[th.SessionRunContext] = []
    hooks = [Recorder(name, before_run=seen.append, after_run=lambda c, values: seen.append(c)) for name in "ab"]
    with training(*hooks) as session:
        session.run("train")
    assert len(seen) == 4
    assert all(context is seen[0] for context in seen)


def test_the_context_tells_of_the_run_under_way() -> None:
    kept: list[th.SessionRunContext] = []
    seen: list[tuple[int, Any]] = []

    def note(context: th.SessionRunContext, values: object = None) -> None:
        kept.append(context)
        seen.append((context.completed_runs, context.original_args.fetches))

    with training(Recorder("a", before_run=note, after_run=note)) as session:
        session.run("train")
        session.run(["w"])
    assert seen == [(0, "train"), (0, "train"), (1, ["w"]), (1, ["w"])]
    # One that was kept goes on to do so.
    assert {context.completed_runs for context in kept} == {2}


def test_a_run_of_the_contexts_session_calls_no_hooks() -> None:
    results = []
    hook = Recorder("a", before_run=lambda context: results.append(context.session.run("w")))
    with training(hook) as session:
        session.run("train")
    assert (results, hook.stages.count("before_run")) == ([0.0], 1)


def test_stop_requested_is_false_as_long_as_nobody_asked() -> None:
    seen: list[bool] = []
    hook = Recorder(
        "a",
        before_run=lambda context: seen.append(context.stop_requested),
        after_run=lambda context, values: seen.append(context.stop_requested),
    )
    with training(hook) as session:
        session.run("train")
    assert seen == [False, False]


def test_later_hooks_see_that_a_stop_was_requested_in_before_run() -> None:
    seen: list[bool] = []
    stopper = Recorder("a", before_run=lambda context: context.request_stop())
    with training(stopper, Recorder("b", before_run=lambda context: seen.append(context.stop_requested))) as session:
        session.run("train")
    assert seen == [True]


def test_later_hooks_see_that_a_stop_was_requested_in_after_run() -> None:
    seen: list[bool] = []
    stopper = Recorder("a", after_run=lambda context, values: context.request_stop())
    watcher = Recorder("b", after_run=lambda context, values: seen.append(context.stop_requested))
    with training(stopper, watcher) as session:
        session.run("train")
    assert seen == [True]


def test_the_step_is_that_before_the_update_in_before_run_and_that_after_it_in_after_run() -> None:
    steps: list[int] = []
    hook = Recorder(
        "a",
        before_run=lambda context: steps.append(context.session.global_step),
        after_run=lambda context, values: steps.append(context.session.global_step),
    )
    with training(hook) as session:
        session.run("train")
        session.run("train")
    assert steps == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("fetches", "results"),
    [
        ("w", 0.0),
        (["w"], [0.0]),
        (("w", "x"), (0.0, 1.0)),
        ({"a": "w", "b": ["x", {"c": "y"}]}, {"a": 0.0, "b": [1.0, {"c": 2.0}]}),
        ([], []),
    ],
)
def test_results_have_the_shape_of_what_was_asked_for(fetches: Any, results: Any) -> None:
    seen = []
    hook = Recorder(
        "a",
        before_run=lambda context: th.SessionRunArgs(fetches),
        after_run=lambda context, values: seen.append(values.results),
    )
    with training(hook) as session:
        session.run("train")
    assert seen == [results]


def test_nodes_may_be_asked_for_in_place_of_names() -> None:
    graph = counting_graph()
    seen = []
    hook = Recorder(
        "a",
        before_run=lambda context: th.SessionRunArgs(graph["double_x"]),
        after_run=lambda context, values: seen.append(values.results),
    )
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        session.run("train")
    assert seen == [2.0]


@pytest.mark.parametrize("asked", [None, th.SessionRunArgs(), th.SessionRunArgs(feed_dict={"x": 3.0})])
def test_a_hook_that_asked_for_nothing_gets_none(asked: th.SessionRunArgs | None) -> None:
    seen = []
    hook = Recorder(
        "a", before_run=lambda context: asked, after_run=lambda context, values: seen.append(values.results)
    )
    with training(hook) as session:
        session.run("train")
    assert seen == [None]


def test_a_hook_may_ask_for_something_else_in_each_run() -> None:
    wishes = iter(["w", None, "x"])
    seen = []
    hook = Recorder(
        "a",
        before_run=lambda context: th.SessionRunArgs(next(wishes)),
        after_run=lambda context, values: seen.append(values.results),
    )
    with training(hook) as session:
        for _ in range(3):
            session.run("train")
    assert seen == [0.0, None, 1.0]


def test_on_exception_may_call_end() -> None:
    class Closing(th.SessionRunHook):
        ended: th.Session | None = None

        def end(self, session: th.Session) -> None:
            self.ended = session

        def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
            assert session is not None
            self.end(session)

    hook = Closing()
    with pytest.raises(ValueError, match="body"), training(hook) as session:
        raw = session.raw_session()
        raise ValueError("body")
    assert hook.ended is raw


def test_an_override_may_call_the_base_class() -> None:
    class Polite(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
            return super().before_run(run_context)

    with training(Polite()) as session:
        assert session.run("w") == 0.0


def test_the_context_holds_on_to_nothing_that_a_caller_fed() -> None:
    class Batch: ...

    class Once(th.SessionRunHook):
        """Is due in the first run alone."""

        timer = th.SecondOrStepTimer(every_secs=1e9)

        def before_run(self, run_context: th.SessionRunContext) -> None:
            assert run_context.original_args.feed_dict

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.timer.update_last_triggered_step(run_context.session.global_step)

    graph = counting_graph()
    graph.placeholder("batch")
    with th.MonitoredSession(graph=graph, hooks=[Once()]) as session:
        alive = []
        for _ in range(3):
            batch = Batch()
            alive.append(weakref.ref(batch))
            session.run("train", feed_dict={"batch": batch})
            del batch
        # The last run's is known as its input.
        assert [reference() is not None for reference in alive] == [False, False, True]


def test_what_a_run_that_failed_was_to_fetch_is_not_of_the_pass_after_it() -> None:
    seen: list[Any] = []
    hook = Recorder("a", before_run=lambda context: seen.append(context.original_args.fetches))
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        with pytest.raises(th.UnknownNameError):
            session.run("no such node")
        with session.step():
            pass
    assert seen == ["no such node", None]
