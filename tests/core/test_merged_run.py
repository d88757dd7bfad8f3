"""One run for the caller's and all the hooks' wishes together."""

from collections.abc import Generator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenterhooks as th

from .own_loops import raw_of
from .recorders import Calls, Recorder, counting_graph, training

properties = settings(database=None, deadline=None, max_examples=60)


def asking(name: str, *arguments: Any, seen: list[Any] | None = None, calls: Calls | None = None) -> Recorder:
    """A hook that asks for `SessionRunArgs(*arguments)`, and notes the values that it gets."""
    return Recorder(
        name,
        calls,
        before_run=lambda context: th.SessionRunArgs(*arguments),
        after_run=lambda context, values: None if seen is None else seen.append(values),
    )


class TestFetches:
    def test_caller_and_hooks_each_get_their_own(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", ["x", "w"], seen=seen), asking("b", {"y": "y"}, seen=seen)) as session:
            assert session.run(("double_x",)) == (2.0,)
        assert [values.results for values in seen] == [[1.0, 0.0], {"y": 2.0}]

    def test_all_wishes_are_computed_in_one_run(self) -> None:
        graph = th.Graph()
        runs: list[str] = []
        graph.tensor(lambda: runs.append("loss"), name="loss")
        with th.MonitoredSession(graph=graph, hooks=[asking("a", "loss"), asking("b", ["loss"])]) as session:
            session.run("loss")
        assert runs == ["loss"]

    def test_what_nobody_asked_for_is_not_computed(self) -> None:
        graph = counting_graph()
        runs: list[str] = []
        graph.tensor(lambda: runs.append("costly"), name="costly")
        with th.MonitoredSession(graph=graph, hooks=[asking("a", "w"), Recorder("b")]) as session:
            session.run("train")
        assert runs == []

    def test_hooks_draw_no_further_item_from_the_input(self) -> None:
        seen: list[th.SessionRunValues] = []
        graph = counting_graph(items=2)
        with th.MonitoredSession(graph=graph, hooks=[asking("a", "batch", seen=seen)]) as session:
            session.run("train")
            session.run("train")
        assert [values.results for values in seen] == [0, 1]

    def test_a_hooks_wish_alone_draws_an_item(self) -> None:
        seen: list[th.SessionRunValues] = []
        graph = counting_graph(items=2)
        with th.MonitoredSession(graph=graph, hooks=[asking("a", "batch", seen=seen)]) as session:
            session.run([])
            session.run([])
        assert [values.results for values in seen] == [0, 1]

    def test_an_empty_list_runs_just_what_hooks_ask_for(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", "x", seen=seen)) as session:
            assert session.run([]) == []
        assert seen[0].results == 1.0

    def test_none_from_the_caller_is_an_error_after_all_before_run(self) -> None:
        calls: Calls = []
        session = training(Recorder("a", calls), Recorder("b", calls))
        with pytest.raises(TypeError, match="cannot fetch None"):
            session.run(None)
        session.close()
        assert [name for name, stage in calls if stage == "before_run"] == ["a", "b"]

    def test_a_hook_that_trains_advances_the_step_once_with_the_caller(self) -> None:
        with training(asking("a", "train")) as session:
            session.run("train")
            assert session.global_step == 1

    def test_an_unknown_name_of_a_hook_is_an_error_with_the_nearest(self) -> None:
        session = training(asking("a", "doubel_x"))
        with pytest.raises(th.UnknownNameError, match=r"'doubel_x'.*the nearest: 'double_x'") as caught:
            session.run("train")
        session.close()
        assert "in before_run of hook 'a'" in caught.value.__notes__[0]

    @pytest.mark.parametrize("returned", [False, 0, [], "w", ("w", None), {"fetches": "w"}], ids=repr)
    def test_before_run_returns_args_or_none(self, returned: Any) -> None:
        session = training(Recorder("a", before_run=lambda context: returned))
        with pytest.raises(TypeError, match=r"return SessionRunArgs\(fetches, feed_dict, options\) or None"):
            session.run("train")
        session.close()


class TestFeeds:
    def test_those_of_hooks_and_caller_come_together(self) -> None:
        with training(asking("a", None, {"x": 3.0})) as session:
            assert session.run("x_times_y", {"y": 5.0}) == 15.0

    def test_those_of_two_hooks_come_together(self) -> None:
        with training(asking("a", None, {"x": 3.0}), asking("b", None, {"y": 5.0})) as session:
            assert session.run("x_times_y") == 15.0

    def test_a_feed_holds_for_its_run_alone(self) -> None:
        feeds = iter([{"x": 3.0}, None])
        with training(Recorder("a", before_run=lambda context: th.SessionRunArgs(None, next(feeds)))) as session:
            assert [session.run("x"), session.run("x")] == [3.0, 1.0]

    def test_any_node_may_be_fed(self) -> None:
        with training(asking("a", None, {"double_x": 7.0})) as session:
            assert session.run("double_x") == 7.0

    def test_a_node_stands_for_its_name(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(graph=graph, hooks=[asking("a", None, {graph["x"]: 3.0})]) as session:
            assert session.run("x") == 3.0

    def test_an_empty_one_is_as_none(self) -> None:
        with training(asking("a", "x", {})) as session:
            assert session.run("x", {}) == 1.0

    def test_nobodys_dict_is_changed(self) -> None:
        of_hook, of_caller = {"x": 3.0}, {"y": 5.0}
        with training(asking("a", None, of_hook)) as session:
            session.run("x_times_y", of_caller)
        assert (of_hook, of_caller) == ({"x": 3.0}, {"y": 5.0})

    def test_two_hooks_that_feed_one_node_are_an_error_that_names_both(self) -> None:
        session = training(asking("a", None, {"x": 3.0}), asking("b", None, {"x": 3.0}))
        with pytest.raises(RuntimeError, match=r"hook 'b' \(.*\) and hook 'a' \(.*\) both feed 'x' in one run"):
            session.run("train")
        session.close()

    def test_a_hook_and_the_caller_that_feed_one_node_are_an_error_that_names_both(self) -> None:
        session = training(asking("a", None, {"x": 3.0}))
        with pytest.raises(RuntimeError, match=r"the caller and hook 'a' \(.*\) both feed 'x' in one run"):
            session.run("train", {"x": 4.0})
        session.close()

    def test_a_name_and_a_node_are_known_to_be_the_same(self) -> None:
        graph = counting_graph()
        session = th.MonitoredSession(graph=graph, hooks=[asking("a", None, {"x": 3.0})])
        with pytest.raises(RuntimeError, match="both feed 'x'"):
            session.run("train", {graph["x"]: 4.0})
        session.close()

    def test_a_conflict_of_two_hooks_is_found_before_later_hooks_are_asked(self) -> None:
        calls: Calls = []
        hooks = [asking("a", None, {"x": 1.0}, calls=calls), asking("b", None, {"x": 1.0}, calls=calls)]
        session = training(*hooks, Recorder("c", calls))
        with pytest.raises(RuntimeError, match="both feed"):
            session.run("train")
        assert calls[6:] == [("a", "before_run"), ("b", "before_run")]
        session.close()

    def test_a_conflict_with_the_caller_is_found_after_all_hooks_were_asked(self) -> None:
        calls: Calls = []
        session = training(asking("a", None, {"x": 3.0}, calls=calls), Recorder("b", calls))
        with pytest.raises(RuntimeError, match="both feed"):
            session.run("train", {"x": 4.0})
        assert calls[4:] == [("a", "before_run"), ("b", "before_run")]
        session.close()

    def test_a_conflict_computes_nothing(self) -> None:
        session = training(asking("a", None, {"x": 3.0}))
        with pytest.raises(RuntimeError, match="both feed"):
            session.run("train", {"x": 4.0})
        assert session.global_step == 0
        session.close()

    def test_a_conflict_does_not_stop_the_session(self) -> None:
        with training(asking("a", None, {"x": 3.0})) as session:
            with pytest.raises(RuntimeError, match="both feed"):
                session.run("train", {"x": 4.0})
            assert not session.should_stop()
            assert session.run("x") == 3.0

    def test_an_unknown_name_is_an_error_with_the_nearest(self) -> None:
        session = training(asking("a", None, {"double": 3.0}))
        with pytest.raises(th.UnknownNameError, match="the nearest: 'double_x'"):
            session.run("train")
        session.close()


def merged(*options: Mapping[str, Any] | None, caller: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The options of a run, as its last hook sees them."""
    seen: list[th.SessionRunValues] = []
    hooks = [asking(f"hook{place}", None, None, given) for place, given in enumerate(options)]
    session = training(*hooks, asking("last", seen=seen))
    try:
        session.run("train", options=caller)
    finally:
        session.close()
    return seen[0].options


class TestOptions:
    def test_there_are_none_by_default(self) -> None:
        assert merged() == {}

    def test_those_of_hooks_and_caller_come_together(self) -> None:
        assert merged({"a": 1}, {"b": 2}, caller={"c": 3}) == {"a": 1, "b": 2, "c": 3}

    def test_those_of_the_caller_come_first(self) -> None:
        assert list(merged({"a": 1}, {"b": 2}, caller={"c": 3})) == ["c", "a", "b"]

    @pytest.mark.parametrize(("one", "other", "both"), [(True, False, True), (False, False, False), (True, True, True)])
    def test_truth_values_are_or_ed(self, one: bool, other: bool, both: bool) -> None:
        assert merged({"a": one}, {"a": other}) == {"a": both}

    @pytest.mark.parametrize(("one", "other"), [(1, 3), (3, 1), (0.5, 3)])
    def test_numbers_take_the_maximum(self, one: float, other: float) -> None:
        assert merged({"a": one}, caller={"a": other}) == {"a": 3}

    def test_others_that_agree_are_fine(self) -> None:
        assert merged({"a": "cpu"}, {"a": "cpu"}) == {"a": "cpu"}

    def test_others_that_do_not_agree_are_an_error(self) -> None:
        with pytest.raises(RuntimeError, match=r"hook 'hook0' .*the run option a='gpu', and another gave a='cpu'"):
            merged({"a": "gpu"}, caller={"a": "cpu"})

    def test_a_truth_value_and_a_number_do_not_agree(self) -> None:
        with pytest.raises(RuntimeError, match="only truth values and numbers can be merged"):
            merged({"a": True}, caller={"a": 7})

    @properties
    @given(
        st.lists(st.dictionaries(st.sampled_from("abc"), st.integers()), max_size=3),
        st.dictionaries(st.sampled_from("abc"), st.integers()),
    )
    def test_the_maximum_is_that_of_all_who_gave_the_option(
        self, options: list[dict[str, int]], caller: dict[str, int]
    ) -> None:
        everyone = [caller, *options]
        names = {name for given in everyone for name in given}
        expected = {name: max(given[name] for given in everyone if name in given) for name in names}
        assert merged(*options, caller=caller) == expected

    def test_nobodys_mapping_is_changed(self) -> None:
        of_hook, of_caller = {"a": 3}, {"a": 1}
        merged(of_hook, caller=of_caller)
        assert (of_hook, of_caller) == ({"a": 3}, {"a": 1})

    def test_all_hooks_see_the_same(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", seen=seen), asking("b", "w", None, {"late": 1}, seen=seen)) as session:
            session.run("train")
        assert [dict(values.options) for values in seen] == [{"late": 1}, {"late": 1}]


class TestMetadata:
    def test_a_trace_that_the_caller_wants_fills_the_callers_object(self) -> None:
        metadata = th.RunMetadata()
        with training() as session:
            session.run("x_times_y", options={"trace": True}, run_metadata=metadata)
        assert metadata.node_seconds.keys() == {"x_times_y"}
        assert metadata.node_seconds["x_times_y"] >= 0.0

    def test_a_trace_that_a_hook_wants_fills_that_of_all(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", None, None, {"trace": True}), asking("b", "double_x", seen=seen)) as session:
            session.run("train")
        assert seen[0].run_metadata.node_seconds.keys() == {"double_x", "train"}

    def test_without_a_trace_nothing_is_measured(self) -> None:
        metadata = th.RunMetadata()
        with training(asking("a", "double_x")) as session:
            session.run("train", run_metadata=metadata)
        assert metadata.node_seconds == {}

    def test_one_object_is_shared_by_all_hooks_of_a_run(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", seen=seen), asking("b", "w", seen=seen)) as session:
            session.run("train")
        assert seen[0].run_metadata is seen[1].run_metadata

    def test_it_is_the_callers_where_they_gave_one(self) -> None:
        seen: list[th.SessionRunValues] = []
        metadata = th.RunMetadata()
        with training(asking("a", seen=seen)) as session:
            session.run("train", run_metadata=metadata)
        assert seen[0].run_metadata is metadata

    def test_each_run_has_one_of_its_own(self) -> None:
        seen: list[th.SessionRunValues] = []
        with training(asking("a", None, None, {"trace": True}, seen=seen)) as session:
            session.run("train")
            session.run("double_x")
        assert [values.run_metadata.node_seconds.keys() for values in seen] == [{"train"}, {"double_x"}]


class TestAgain:
    """What hooks ask for in one run after the other is merged anew just where it differs: nobody may notice."""

    wishes = st.sampled_from([None, "x", "y", ("x", "y"), {"a": "y"}])

    @properties
    @given(runs=st.lists(st.lists(wishes, min_size=3, max_size=3), min_size=1, max_size=8), anew=st.booleans())
    def test_each_hook_gets_what_it_asked_for_in_this_run(self, runs: list[list[Any]], anew: bool) -> None:
        kept: dict[str, th.SessionRunArgs] = {}
        seen: list[Any] = []

        def hook(place: int) -> Recorder:
            def before_run(context: th.SessionRunContext) -> th.SessionRunArgs | None:
                wish = runs[context.completed_runs][place]
                if wish is None:
                    return None
                return th.SessionRunArgs(wish) if anew else kept.setdefault(repr(wish), th.SessionRunArgs(wish))

            return Recorder(
                f"hook {place}",
                before_run=before_run,
                after_run=lambda context, values: seen.append(values.results),
            )

        graph = th.Graph()
        graph.tensor(lambda: 1, name="x")
        graph.tensor(lambda x: x + 1, name="y")
        expected = {"None": None, "'x'": 1, "'y'": 2, "('x', 'y')": (1, 2), "{'a': 'y'}": {"a": 2}}
        with th.MonitoredSession(graph=graph, hooks=[hook(place) for place in range(3)]) as session:
            for _ in runs:
                session.run([])
        assert seen == [expected[repr(wish)] for wishes in runs for wish in wishes]

    def test_what_the_caller_wants_of_one_run_is_not_of_the_next(self) -> None:
        seen: list[Any] = []
        graph = th.Graph()
        graph.placeholder("z", default=0)
        graph.tensor(lambda z: z, name="x")
        hook = Recorder(
            "a",
            before_run=lambda context: th.SessionRunArgs("x"),
            after_run=lambda context, values: seen.append((values.results, dict(values.options))),
        )
        metadata = th.RunMetadata()
        with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
            caller = [
                session.run("x"),
                session.run("x", {"z": 5}),
                session.run("x"),
                session.run("x", options={"trace": True}, run_metadata=metadata),
                session.run("x", run_metadata=metadata),
                session.run("x"),
            ]
        assert caller == [0, 5, 0, 0, 0, 0]
        assert seen == [(0, {}), (5, {}), (0, {}), (0, {"trace": True}), (0, {}), (0, {})]

    def test_a_wish_that_was_changed_in_place_holds_as_it_is_now(self) -> None:
        names, feeds = ["x"], {"z": 1}
        args, seen = th.SessionRunArgs(names, feeds), []
        graph = th.Graph()
        graph.placeholder("z")
        graph.tensor(lambda z: z, name="x")
        graph.tensor(lambda z: -z, name="y")
        hook = Recorder(
            "a", before_run=lambda context: args, after_run=lambda context, values: seen.append(values.results)
        )
        with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
            session.run([])
            names[0], feeds["z"] = "y", 2
            session.run([])
            args.fetches, args.feed_dict = "x", {"z": 3}
            session.run([])
        assert seen == [[1], [-2], 3]

    def test_so_does_a_name_that_was_changed(self) -> None:
        args, seen = th.SessionRunArgs("x"), []
        graph = th.Graph()
        graph.tensor(lambda: 1, name="x")
        graph.tensor(lambda: 2, name="y")
        hook = Recorder(
            "a", before_run=lambda context: args, after_run=lambda context, values: seen.append(values.results)
        )
        with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
            session.run([])
            args.fetches = "y"
            session.run([])
        assert seen == [1, 2]


def optional(name: str, fetches: Any, seen: list[Any]) -> Recorder:
    """A hook that goes without what it asks for, by one object."""
    args = th.SessionRunArgs(fetches, optional=True)
    return Recorder(
        name,
        before_run=lambda context: args,
        after_run=lambda context, values: seen.append(values.results),
    )


@pytest.mark.parametrize(
    ("name", "error"),
    [("eval/x", r"'eval/x', and nobody published it"), ("z", "placeholder 'z' has no default and nobody feeds it")],
)
def test_in_a_graph_too_the_error_says_which_hook_asked(name: str, error: str) -> None:
    graph = th.Graph()
    graph.published("eval/x")
    graph.placeholder("z")
    graph.tensor(lambda: 1, name="y")
    hooks = [asking("a", "y"), asking("b", ["y", name]), asking("c", None)]
    with th.MonitoredSession(graph=graph, hooks=hooks) as session:
        with pytest.raises((KeyError, ValueError), match=error) as caught:
            session.run("y")
        assert caught.value.__notes__ == ["asked for by hook 'b' (tenterhooks.testing.recorder.Recorder)"]
        session.run("y", feed_dict={graph[name]: 1})


class TestOptional:
    def test_what_a_pass_does_not_publish_is_none(self) -> None:
        seen: list[Any] = []
        with th.MonitoredSession(hooks=[optional("a", "x", seen)]) as session:
            for step in session.steps(range(4)):
                if step % 2:
                    session.publish(x=step)
        assert seen == [None, 1, None, 3]

    def test_it_is_all_or_nothing(self) -> None:
        seen: list[Any] = []
        with th.MonitoredSession(hooks=[optional("a", {"x": "x", "y": ["y"]}, seen)]) as session:
            for step in session.steps(range(3)):
                session.publish(x=step)
                if step == 1:
                    session.publish(y=5)
        assert seen == [None, {"x": 1, "y": [5]}, None]

    def test_other_hooks_get_theirs(self) -> None:
        seen: list[Any] = []
        with th.MonitoredSession(hooks=[optional("a", "x", []), asking("b", "y", seen=seen)]) as session:
            for step in session.steps(range(2)):
                session.publish(y=step)
        assert [values.results for values in seen] == [0, 1]

    def test_who_insists_on_the_same_value_gets_the_error(self) -> None:
        session = th.MonitoredSession(hooks=[optional("a", "x", []), asking("b", "x")])
        with pytest.raises(th.UnknownNameError, match="asked for 'x', and nobody published it") as caught, session:
            for _ in session.steps(range(2)):
                pass
        assert "asked for by hook 'b'" in caught.value.__notes__[0]
        assert len(caught.value.__notes__) == 1

    def test_it_is_wanted_so_that_callables_are_called(self) -> None:
        seen: list[Any] = []
        with th.MonitoredSession(hooks=[optional("a", "x", seen)]) as session:
            for _ in session.steps(range(1)):
                assert session.wants("x")
                session.publish(x=lambda: 7)
        assert seen == [7]

    def test_a_value_that_is_kept_is_given_until_a_pass_publishes_it_itself(self) -> None:
        seen: list[Any] = []
        with th.MonitoredSession(hooks=[optional("a", "x", seen)]) as session:
            for step in session.steps(range(4)):
                if step == 2:
                    session.publish(x=step)
                if step == 0:
                    raw_of(session).publish(x=9)
        assert seen == [9, 9, 2, None]

    def test_what_is_made_of_a_value_that_is_not_given_is_none(self) -> None:
        seen: list[Any] = []

        def begin(graph: th.Graph) -> None:
            graph.tensor(lambda x: 2 * x, name="double")

        with th.MonitoredSession(hooks=[Recorder("b", begin=begin), optional("a", "double", seen)]) as session:
            for step in session.steps(range(3)):
                if step == 1:
                    session.publish(x=5)
        assert seen == [None, 10, None]

    def test_a_placeholder_that_nobody_feeds_is_none(self) -> None:
        seen: list[Any] = []
        graph = counting_graph()
        graph.placeholder("z")
        graph.tensor(lambda z: z + 1, name="more")
        with th.MonitoredSession(graph=graph, hooks=[optional("a", "more", seen)]) as session:
            session.run("train")
            session.run("train", {"z": 4})
            session.run("train")
            raw_of(session).publish(z=6)
            session.run("train")
        assert seen == [None, 5, None, 7]

    def test_a_caller_who_needs_it_gets_the_error(self) -> None:
        graph = counting_graph()
        graph.placeholder("z")
        with th.MonitoredSession(graph=graph, hooks=[optional("a", "z", [])]) as session:
            with pytest.raises(ValueError, match="placeholder 'z' has no default and nobody feeds it"):
                session.run("z")
            session.run("train")

    def test_a_name_that_does_not_exist_is_an_error(self) -> None:
        session = training(optional("a", "doubel_x", []))
        with pytest.raises(th.UnknownNameError, match=r"'doubel_x'.*the nearest: 'double_x'"):
            session.run("train")
        session.close()

    def test_the_same_name_with_and_without_is_not_the_same(self) -> None:
        seen: list[Any] = []
        wishes = iter([th.SessionRunArgs("x", optional=True), th.SessionRunArgs("x", optional=True)])
        hook = Recorder(
            "a",
            before_run=lambda context: next(wishes, th.SessionRunArgs("x")),
            after_run=lambda context, values: seen.append(values.results),
        )
        session = th.MonitoredSession(hooks=[hook])
        with pytest.raises(th.UnknownNameError, match="nobody published it"), session:
            for _ in session.steps(range(4)):
                pass
        assert seen == [None, None]

    wishes = st.sampled_from([None, ("x", False), ("x", True), (("x", "y"), True), ({"a": "y"}, False), ("y", True)])

    @properties
    @given(
        runs=st.lists(st.tuples(st.lists(wishes, min_size=3, max_size=3), st.booleans()), min_size=1, max_size=8),
        anew=st.booleans(),
        wrapped=st.booleans(),
    )
    def test_each_hook_gets_what_it_asked_for_or_none(
        self, runs: list[tuple[list[tuple[Any, bool] | None], bool]], anew: bool, wrapped: bool
    ) -> None:
        kept: dict[str, th.SessionRunArgs] = {}
        seen: list[Any] = []

        def hook(place: int) -> Recorder:
            def before_run(context: th.SessionRunContext) -> th.SessionRunArgs | None:
                wish = runs[context.completed_runs][0][place]
                if wish is None:
                    return None
                args = th.SessionRunArgs(wish[0], optional=wish[1])
                return args if anew else kept.setdefault(repr(wish), args)

            return Recorder(
                f"hook {place}",
                before_run=before_run,
                after_run=lambda context, values: seen.append(values.results),
            )

        hooks: list[object] = [hook(place) for place in range(3)]
        values = {"x": 1, "y": 2}
        expected = []
        with th.MonitoredSession(hooks=[*hooks, Wrapper()] if wrapped else hooks) as session:
            for wishes, also_y in runs:
                # Who insists on it gets it.
                gives_y = also_y or ({"a": "y"}, False) in wishes
                with session.step():
                    session.publish(x=1)
                    if gives_y:
                        session.publish(y=2)
                for wish in wishes:
                    there = wish is not None and (gives_y or wish[0] == "x")
                    expected.append(filled(wish[0], values) if wish is not None and there else None)
        assert seen == expected


class Wrapper:
    """Has pluggy make the calls."""

    name = "wrapper"

    @th.hookimpl(wrapper=True)
    def after_run(self) -> Generator[None, Any, Any]:
        return (yield)


def filled(fetches: Any, values: Mapping[str, int]) -> Any:
    if isinstance(fetches, str):
        return values[fetches]
    if isinstance(fetches, dict):
        return {key: values[name] for key, name in fetches.items()}
    return tuple(values[name] for name in fetches)
