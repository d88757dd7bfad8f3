"""What a pass publishes, who gets it, and what hooks feed it."""

from typing import Any

import pytest

import tenterhooks as th

from .own_loops import Ask, Opened, each_kind, raw_of
from .recorders import Recorder, counting_graph


def no_call() -> Any:
    raise AssertionError("nobody asked for it")


class TestPublish:
    @each_kind
    def test_each_hook_gets_what_it_asked_for(self, opened: Opened) -> None:
        one, several = Ask("loss"), Ask({"l": "loss", "both": ("accuracy", ["global_step"])})
        with opened(hooks=[one, several]) as session:
            for item in session.steps([3, 4]):
                session.publish(loss=item, accuracy=0.5, more=object())
        assert one.seen == [(1, 3), (2, 4)]
        assert several.seen == [(1, {"l": 3, "both": (0.5, [0])}), (2, {"l": 4, "both": (0.5, [1])})]

    def test_names_that_are_no_words_come_in_a_mapping(self) -> None:
        with th.MonitoredSession(hooks=[hook := Ask(["train/loss", "values"])]) as session:
            for _ in session.steps([1]):
                session.publish({"train/loss": 1.5}, values=2)
        assert hook.seen == [(1, [1.5, 2])]

    def test_values_pass_through_untouched(self) -> None:
        value = object()
        with th.MonitoredSession(hooks=[hook := Ask("x")]) as session:
            for _ in session.steps([1]):
                session.publish(x=value)
        assert hook.seen[0][1] is value

    def test_the_last_one_of_a_pass_holds(self) -> None:
        with th.MonitoredSession(hooks=[hook := Ask(["x", "*"])]) as session:
            for _ in session.steps([1]):
                session.publish(x=lambda: 1)
                session.publish(x=2)
        assert hook.seen == [(1, [2, {"x": 2}])]

    def test_the_fetch_of_all_is_the_plain_values_of_the_pass(self) -> None:
        with th.MonitoredSession(hooks=[hook := Ask("*"), Ask("called")]) as session:
            session.publish(between=0)
            for item in session.steps([1, 2]):
                session.publish(x=item, called=lambda: 7, unwanted=no_call)
                if item == 2:
                    session.publish(y=3)
            assert raw_of(session).run("*") == {"x": 2, "y": 3}
        assert hook.seen == [(1, {"x": 1}), (2, {"x": 2, "y": 3})]

    def test_a_node_of_a_hook_may_be_made_of_them(self) -> None:
        adding = Recorder("a", begin=lambda graph: graph.tensor(lambda loss, w: loss + w, name="sum") and None)
        state = {"w": 10}
        with th.MonitoredSession(hooks=[adding, hook := Ask("sum")], state=state) as session:
            for item in session.steps([1, 2]):
                session.publish(loss=lambda item=item: item)
        assert hook.seen == [(1, 11), (2, 12)]

    @pytest.mark.parametrize("name", ["w", "global_step", "*"])
    def test_nothing_is_published_under_a_name_that_the_session_has(self, name: str) -> None:
        with th.MonitoredSession(state={"w": 1}) as session:
            for _ in session.steps([1]):
                with pytest.raises(ValueError, match="nothing can be published as"):
                    session.publish(**{name: 1})

    def test_names_are_strings(self) -> None:
        numbers: Any = {1: 2}
        with th.MonitoredSession() as session, pytest.raises(TypeError, match="by name, a string, not 1 of type int"):
            session.publish(numbers)

    def test_in_a_session_with_a_graph_the_names_are_its_nodes(self) -> None:
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook := Ask("double_x")]) as session:
            for _ in session.steps([1]):
                session.publish(x=4.0)
                with pytest.raises(th.UnknownNameError, match="no node of the graph is named 'loss'"):
                    session.publish(loss=4.0)
        assert hook.seen == [(1, 8.0)]


class TestCallables:
    def test_one_is_called_at_once_and_only_in_passes_in_which_somebody_asked(self) -> None:
        called: list[int] = []

        def norm() -> str:
            called.append(session.global_step)
            return "norm"

        with th.MonitoredSession(hooks=[hook := Ask("norm", when=lambda runs: runs % 2 == 0)]) as session:
            for item in session.steps([1, 2, 3]):
                session.publish(norm=norm, other=no_call)
                assert called == list(range(0, item, 2))
        assert hook.seen == [(1, "norm"), (2, None), (3, "norm")]

    def test_wants_tells_whether_somebody_asked(self) -> None:
        wanted = []
        adding = Recorder("a", begin=lambda graph: graph.tensor(lambda inner: inner, name="outer") and None)
        hooks = [adding, Ask("outer", when=lambda runs: runs == 1)]
        with th.MonitoredSession(hooks=hooks) as session:
            for _ in session.steps([1, 2]):
                wanted.append([name for name in ("outer", "inner", "other") if session.wants(name)])
                session.publish(inner=1)
        assert wanted == [[], ["outer", "inner"]]

    def test_wants_is_asked_within_a_pass(self) -> None:
        with th.MonitoredSession() as session:
            with pytest.raises(RuntimeError, match="asked within a pass"):
                session.wants("x")
            for _ in session.steps([1]):
                break
            with pytest.raises(RuntimeError, match="asked within a pass"):
                session.wants("x")

    def test_an_error_in_it_is_one_of_the_body(self) -> None:
        with pytest.raises(ZeroDivisionError), th.MonitoredSession(hooks=[hook := Ask("x")]) as session:
            for _ in session.steps([1]):
                session.publish(x=lambda: 1 / 0)
        assert hook.seen == []

    def test_uncalled_it_makes_the_pass_a_run_all_the_same(self) -> None:
        with th.MonitoredSession() as session:
            for _ in session.steps([1, 2]):
                session.publish(x=no_call)
                break
            assert session.global_step == 1


class TestBetweenPasses:
    def test_a_value_is_kept_until_it_is_replaced(self) -> None:
        with th.MonitoredSession(hooks=[hook := Ask("accuracy")]) as session:
            session.publish(accuracy=0.1)
            list(session.steps([1, 2]))
            session.publish(accuracy=0.2)
            list(session.steps([1]))
            for _ in session.steps([1]):
                session.publish(accuracy=0.3)
            with pytest.raises(th.UnknownNameError, match="asked for 'accuracy', and nobody published it"):
                list(session.steps([1]))
        assert hook.seen == [(1, 0.1), (2, 0.1), (3, 0.2), (4, 0.3)]

    def test_what_was_published_in_a_pass_is_of_that_pass(self) -> None:
        with (
            pytest.raises(th.UnknownNameError, match="asked for 'x', and nobody published it"),
            th.MonitoredSession(hooks=[Ask("x")]) as session,
        ):
            for item in session.steps([1, 2]):
                if item == 1:
                    session.publish(x=1)

    def test_a_callable_is_an_error_there(self) -> None:
        with th.MonitoredSession() as session, pytest.raises(ValueError, match="give the value itself"):
            session.publish(accuracy=no_call)

    def test_a_pass_that_was_left_ends_before_it(self) -> None:
        with th.MonitoredSession(hooks=[hook := Ask("x")]) as session:
            for _ in session.steps([1, 2]):
                session.publish(x="in the pass")
                break
            session.publish(x="between")
            list(session.steps([3]))
        assert hook.seen == [(1, "in the pass"), (2, "between")]


class TestWhatNobodyPublished:
    def test_it_is_an_error_that_lists_what_was_and_names_the_hook(self) -> None:
        hook = Ask(["loss", "lost"])
        with (
            pytest.raises(
                th.UnknownNameError, match=r"'lost', and nobody published it; published were: 'a', 'loss'"
            ) as e,
            th.MonitoredSession(hooks=[hook]) as session,
        ):
            for _ in session.steps([1, 2]):
                session.publish(loss=1.0, a=2)
        assert e.value.__notes__[0].startswith("asked for by hook 'Ask'")
        assert hook.seen == []

    def test_it_ends_no_session_cleanly(self) -> None:
        hook = Recorder("a", before_run=lambda context: th.SessionRunArgs("x"))
        with pytest.raises(th.UnknownNameError, match="published were: none"), th.MonitoredSession(hooks=[hook]) as s:
            list(s.steps([1, 2]))
        assert hook.stages[-1] == "on_exception"

    def test_nor_in_a_session_that_is_run(self) -> None:
        with pytest.raises(th.UnknownNameError, match="published were: none"), th.MonitoredSession() as session:
            session.run("x")

    def test_a_raw_run_sees_the_last_pass(self) -> None:
        seen: list[Any] = []
        hook = Recorder(
            "a",
            after_run=lambda context, values: seen.append(context.session.run("x")),
            end=lambda session: seen.append(session.run(["x", "kept"])),
        )
        with th.MonitoredSession(hooks=[hook]) as session:
            with pytest.raises(th.UnknownNameError, match="nobody published it"):
                raw_of(session).run("x")
            for item in session.steps([1, 2]):
                session.publish(x=item)
            session.publish(kept=3)
        assert seen == [1, 2, [2, 3]]


class TestFeeds:
    def test_the_body_reads_what_hooks_feed(self) -> None:
        rates = []
        with th.MonitoredSession(hooks=[Ask(feeds={"rate": 0.1}, when=lambda runs: runs == 0)]) as session:
            assert dict(session.feeds) == {}
            for _ in session.steps([1, 2]):
                rates.append((session.feeds.get("rate", 1.0), "rate" in session.feeds, len(session.feeds)))
        assert rates == [(0.1, True, 1), (1.0, False, 0)]

    def test_one_that_nobody_feeds_is_an_error_with_the_nearest(self) -> None:
        with (
            pytest.raises(th.UnknownNameError, match="no hook feeds 'rat' in this pass; the nearest: 'rate'"),
            th.MonitoredSession(hooks=[Ask(feeds={"rate": 0.1})]) as session,
        ):
            for _ in session.steps([1]):
                session.feeds["rat"]

    @pytest.mark.parametrize("looking", [lambda feeds: None, lambda feeds: "rate" in feeds, list])
    def test_one_that_the_body_never_read_is_an_error(self, looking: Any) -> None:
        with (
            pytest.raises(RuntimeError, match=r"hook 'Ask' .* feeds 'rate', and the body of the loop never read it"),
            th.MonitoredSession(hooks=[Ask(feeds={"rate": 0.1})]) as session,
        ):
            for _ in session.steps([1]):
                looking(session.feeds)

    def test_so_is_one_in_place_of_state(self) -> None:
        with (
            pytest.raises(RuntimeError, match="feeds 'w', and the body of the loop never read it"),
            th.MonitoredSession(hooks=[Ask(feeds={"w": 0.1})], state={"w": 1.0}) as session,
        ):
            list(session.steps([1]))

    def test_one_that_a_node_takes_is_none(self) -> None:
        def begin(graph: th.Graph) -> None:
            graph.placeholder("scale", default=1)
            graph.tensor(lambda scale, x: scale * x, name="scaled")

        hooks = [Recorder("a", begin=begin), Ask(feeds={"scale": 3}), hook := Ask("scaled")]
        with th.MonitoredSession(hooks=hooks) as session:
            for _ in session.steps([1]):
                session.publish(x=2)
        assert hook.seen == [(1, 6)]

    def test_a_hook_may_fetch_what_another_feeds(self) -> None:
        with th.MonitoredSession(hooks=[Ask(feeds={"rate": 0.1}), hook := Ask("rate")]) as session:
            session.publish(rate=0.5)
            for _ in session.steps([1]):
                assert session.feeds["rate"] == 0.1
        assert hook.seen == [(1, 0.1)]

    def test_publishing_what_is_fed_is_an_error_with_both(self) -> None:
        with (
            pytest.raises(RuntimeError, match=r"hook 'Ask' .* feeds 'rate' in this pass, and the loop publishes it"),
            th.MonitoredSession(hooks=[Ask(feeds={"rate": 0.1})]) as session,
        ):
            for _ in session.steps([1]):
                session.publish(rate=0.1)
