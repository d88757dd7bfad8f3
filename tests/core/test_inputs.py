"""What a session is given beside its variables and sources: what is published, and what is fed."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.errors import NotPublishedError

from .recorders import Recorder


class TestPublish:
    def test_it_is_seen_by_all_runs_to_come(self) -> None:
        seen: list[Any] = []

        class Evaluate(th.SessionRunHook):
            def begin(self, graph: th.Graph) -> None:
                graph.placeholder("accuracy", default=0.0)

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                if run_context.completed_runs == 1:
                    run_context.session.publish(accuracy=0.5)
                    seen.append(run_context.session.run("accuracy"))

        with th.MonitoredSession(graph=th.Graph(), hooks=[Evaluate()]) as session:
            for _ in range(3):
                seen.append(session.run("accuracy"))
            seen.append(session.run(["accuracy"], {"accuracy": 0.75}))
        assert seen == [0.0, 0.5, 0.0, 0.5, [0.75]]

    def test_in_a_loop_of_the_programs_own_it_is_as_between_passes(self) -> None:
        seen: list[Any] = []

        class Evaluate(th.SessionRunHook):
            def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
                return th.SessionRunArgs("accuracy")

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                seen.append(run_values.results)
                run_context.session.publish(accuracy=run_context.session.global_step)

        with th.MonitoredSession(hooks=[Evaluate()]) as session:
            session.publish(accuracy=0)
            list(session.steps("abc"))
        assert seen == [0, 1, 2]

    def test_the_session_knows_at_which_step_a_kept_value_was_published(self) -> None:
        at: list[int | None] = []
        with th.MonitoredSession() as session:
            raw = session.raw_session()
            assert raw is not None
            at.append(raw.published_at("accuracy"))
            session.publish(accuracy=0.0)
            at.append(raw.published_at("accuracy"))
            for step in session.steps(range(4)):
                if step == 3:
                    session.publish(accuracy=1.0)
                if step == 2:
                    raw.publish(accuracy=0.5)
                at.append(raw.published_at("accuracy"))
            # It is of that pass alone.
            at.append(raw.published_at("accuracy"))
        assert at == [None, 0, 0, 0, 2, 2, None]

    def test_what_is_no_value_of_its_own_is_refused(self) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: 0)
        graph.placeholder("x")
        with th.Session(graph) as session:
            for name in ("w", "global_step", "*"):
                with pytest.raises(ValueError, match="which the session has itself"):
                    session.publish({name: 1})
            with pytest.raises(th.UnknownNameError, match="the nearest: 'x'"):
                session.publish(xx=1)
            with pytest.raises(ValueError, match="give the value itself"):
                session.publish(x=lambda: 1)

    def test_it_can_be_given_again_as_of_the_step_at_which_it_was(self) -> None:
        with th.MonitoredSession() as session:
            raw = session.raw_session()
            assert raw is not None
            raw.publish_again({"accuracy": 0.5}, step=7)
            assert (raw.kept, raw.published_at("accuracy")) == ({"accuracy": 0.5}, 7)
            raw.publish(accuracy=0.6)
            assert raw.published_at("accuracy") == 0

    def test_a_node_for_it_has_no_value_before(self) -> None:
        graph = th.Graph()
        graph.published("accuracy")
        graph.tensor(lambda accuracy: 2 * accuracy, name="double")
        session = th.Session(graph)
        for ask in (session.run, session.measure):
            with pytest.raises(NotPublishedError, match="'accuracy', and nobody published it"):
                ask("double")
        session.publish(accuracy=0.5)
        assert session.run("double") == session.measure("double") == 1.0

    def test_it_makes_another_state_of_the_same_step(self) -> None:
        graph = th.Graph()
        graph.published("accuracy")
        session = th.Session(graph)
        before = session.position
        assert session.position == before
        session.publish(accuracy=0.5)
        assert session.position != before


class TestWhatTheLastRunWasFed:
    class Feeds(th.SessionRunHook):
        """Feeds `x` where the step is even."""

        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
            step = run_context.session.global_step
            return None if step % 2 else th.SessionRunArgs(feed_dict={"x": 10 * step})

    def test_it_is_that_of_the_caller_and_of_hooks_and_what_has_a_default_is_not_fed_again(self) -> None:
        graph = th.Graph()
        graph.placeholder("x", default=-1)
        graph.placeholder("y")
        graph.tensor(lambda x, y: x + y, name="sum")
        graph.train_op(lambda: None, name="train")
        with th.MonitoredSession(graph=graph, hooks=[self.Feeds()]) as session:
            raw = session.raw_session()
            assert raw is not None
            assert (raw.fed, raw.inputs) == ({}, {})
            seen = []
            for feed_dict in ({"y": 1}, {graph["y"]: 2}, {"y": 3}):
                session.run("train", feed_dict=feed_dict)
                seen.append((dict(raw.fed), raw.inputs, raw.measure("sum")))
            assert seen == [
                ({"x": 0, "y": 1}, {"y": 1}, 0),
                ({"y": 2}, {"y": 2}, 1),
                ({"x": 20, "y": 3}, {"y": 3}, 2),
            ]
            session.run("global_step")
            assert raw.fed == {}
            with pytest.raises(ValueError, match="placeholder 'y' has no default"):
                raw.measure("sum")

    def test_it_is_that_of_the_last_pass(self) -> None:
        with th.MonitoredSession(state={}, hooks=[self.Feeds()]) as session:
            raw = session.raw_session()
            assert raw is not None
            seen = []
            for step in session.steps(range(3)):
                seen.append(dict(raw.fed))
                assert session.feeds.get("x") == (None if step % 2 else 10 * step)
            assert [*seen, raw.fed, raw.measure("x")] == [{}, {"x": 0}, {}, {"x": 20}, 20]

    def test_a_pass_that_failed_leaves_it_as_it_was(self) -> None:
        asks = th.SessionRunArgs("loss")
        hook = Recorder("a", before_run=lambda context: asks)
        with th.MonitoredSession(state={}, hooks=[self.Feeds(), hook]) as session:
            raw = session.raw_session()
            assert raw is not None
            with session.step():
                session.publish(loss=session.feeds["x"] + 5.0)
            with pytest.raises(NotPublishedError, match="'loss'"), session.step():
                pass
            assert raw.inputs == {"x": 0, "loss": 5.0}

    def test_what_is_fed_in_place_of_a_source_or_a_tensor_is_fed_again(self) -> None:
        graph = th.Graph()
        graph.source("batch", lambda: [1.0, 2.0])
        graph.tensor(lambda batch: 10 * batch, name="scaled")
        graph.tensor(lambda scaled: scaled + 1, name="loss")
        with th.MonitoredSession(graph=graph) as session:
            raw = session.raw_session()
            assert raw is not None
            for feeds, loss in (({}, 11.0), ({"batch": 5.0}, 51.0), ({"scaled": 7.0}, 8.0)):
                assert session.run("loss", feed_dict=feeds) == loss
                assert raw.measure("loss") == loss
                assert raw.inputs == feeds
