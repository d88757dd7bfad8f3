"""`MonitoredSession`, which recovers, and `SingularMonitoredSession`, which does not."""

import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenterhooks as th

from .recorders import Calls, MemorySaver, Recorder, SaveEveryStep, counting_graph, first, raising

LOST = [th.AbortedError, th.UnavailableError]


class Preempted(th.AbortedError):
    pass


def recovering(
    *hooks: object, graph: th.Graph | None = None, saver: MemorySaver | None = None, init_fn: Any = None
) -> th.MonitoredSession:
    """A session that sleeps for no time between recoveries."""
    creator = th.ChiefSessionCreator(graph or counting_graph(), saver=saver, init_fn=init_fn)
    return th.MonitoredSession(creator, hooks, sleep=lambda seconds: None)


def losing_graph(*errors: BaseException | None) -> th.Graph:
    """A graph with a `loss` that raises these one after the other, and is 0.5 after them."""
    graph = counting_graph()
    fail = raising(*errors)

    @graph.tensor
    def loss() -> float:
        fail()
        return 0.5

    return graph


class TestSingularMonitoredSession:
    def test_variables_are_initialised(self) -> None:
        with th.SingularMonitoredSession(graph=counting_graph()) as session:
            assert session.run("w") == 0.0

    def test_hooks_come_first(self) -> None:
        hook = Recorder("a")
        with th.SingularMonitoredSession([hook], graph=counting_graph()) as session:
            session.run("train")
        assert hook.stages == ["begin", "after_create_session", "before_run", "after_run", "end"]

    @pytest.mark.parametrize("error", LOST)
    @pytest.mark.parametrize("stage", ["after_create_session", "before_run", "after_run"])
    def test_it_does_not_recover(self, stage: str, error: type[Exception]) -> None:
        on: dict[str, Any] = {stage: raising(error("lost"))}
        hook = Recorder("a", **on)
        with pytest.raises(error, match="lost"), th.SingularMonitoredSession([hook], graph=counting_graph()) as session:
            session.run("train")
        assert hook.stages.count("after_create_session") == 1
        assert hook.stages[-1] == "on_exception"

    def test_it_does_not_recover_what_a_thread_reports(self) -> None:
        hook = Recorder("a", after_create_session=lambda session, coord: coord.request_stop(th.AbortedError("lost")))
        session = th.SingularMonitoredSession([hook], graph=counting_graph())
        assert session.should_stop()
        with pytest.raises(th.AbortedError):
            session.close()

    def test_the_raw_session_is_one(self) -> None:
        with th.SingularMonitoredSession(graph=counting_graph()) as session:
            assert type(session.raw_session()) is th.Session

    def test_the_raw_session_is_none_after_close(self) -> None:
        session = th.SingularMonitoredSession(graph=counting_graph())
        session.close()
        assert session.raw_session() is None

    def test_it_may_have_a_creator(self) -> None:
        saver = MemorySaver()
        with recovering(SaveEveryStep(saver), saver=saver) as session:
            session.run("train")
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.SingularMonitoredSession(session_creator=creator) as again:
            assert again.global_step == 1

    def test_a_creator_and_a_folder_are_an_error(self) -> None:
        creator = th.ChiefSessionCreator(counting_graph())
        with pytest.raises(ValueError, match="either a session_creator or a checkpoint_dir"):
            th.SingularMonitoredSession(session_creator=creator, checkpoint_dir="somewhere")

    def test_it_shows_what_it_is(self) -> None:
        session = th.SingularMonitoredSession(graph=counting_graph())
        session.close()
        assert repr(session) == "<SingularMonitoredSession closed>"


class TestRecovery:
    @pytest.mark.parametrize("error", [*LOST, Preempted])
    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_what_a_hook_lost_is_recovered(self, stage: str, error: type[Exception]) -> None:
        on: dict[str, Any] = {stage: raising(error("lost"))}
        with recovering(Recorder("a", **on)) as session:
            assert session.run(["w", "train"]) == [0.0, None]

    @pytest.mark.parametrize("error", LOST)
    def test_what_the_run_lost_is_recovered(self, error: type[Exception]) -> None:
        with recovering(graph=losing_graph(error("lost"))) as session:
            assert session.run("loss") == 0.5

    @pytest.mark.parametrize("error", [ValueError, ConnectionError, th.DeadlineExceededError, KeyboardInterrupt])
    def test_nothing_else_is_recovered(self, error: type[BaseException]) -> None:
        hook = Recorder("a", before_run=raising(error("other")))
        with pytest.raises(error), recovering(hook) as session:
            session.run("train")
        assert hook.stages == ["begin", "after_create_session", "before_run", "on_exception"]

    def test_a_session_that_was_closed_meanwhile_is_not_created_anew(self) -> None:
        hook = Recorder("a")
        session = recovering(hook)

        def closing(step_context: th.StepContext) -> None:
            session.close()
            raise th.AbortedError("lost")

        with pytest.raises(th.AbortedError, match="lost"):
            session.run_step_fn(closing)
        assert hook.stages == ["begin", "after_create_session", "end"]

    def test_what_the_body_raised_is_not_recovered(self) -> None:
        hook = Recorder("a")
        with pytest.raises(th.AbortedError, match="body"), recovering(hook):
            raise th.AbortedError("body")
        assert hook.stages == ["begin", "after_create_session", "on_exception"]

    def test_no_hook_is_told_of_a_begin_or_an_end(self) -> None:
        calls: Calls = []
        hooks = [Recorder("a", calls), Recorder("b", calls, after_run=raising(th.AbortedError("lost")))]
        with recovering(*hooks) as session:
            session.run("train")
            assert calls[4:] == [
                (name, stage)
                for stage in ["before_run", "after_run", "after_create_session", "before_run", "after_run"]
                for name in "ab"
            ]

    def test_the_end_comes_once(self) -> None:
        hook = Recorder("a", before_run=raising(th.AbortedError("lost"), th.AbortedError("lost")))
        with recovering(hook) as session:
            session.run("train")
        assert hook.stages.count("begin") == hook.stages.count("end") == 1

    def test_the_run_is_repeated_as_it_was_asked_for(self) -> None:
        seen: list[Any] = []

        def note(context: th.SessionRunContext) -> None:
            args = context.original_args
            seen.append((args.fetches, args.feed_dict, args.options))

        watching = Recorder("a", before_run=note)
        with recovering(watching, Recorder("b", before_run=raising(th.AbortedError("lost")))) as session:
            assert session.run(["x"], {"x": 3.0}, {"a": 1}) == [3.0]
        assert seen == [(["x"], {"x": 3.0}, {"a": 1})] * 2

    def test_variables_and_step_begin_anew_without_a_checkpoint(self) -> None:
        with recovering(graph=losing_graph(None, th.AbortedError("lost"))) as session:
            session.run(["loss", "train"])
            assert session.run(["loss", "w", "train"]) == [0.5, 0.0, None]
            assert session.global_step == 1

    def test_the_input_begins_anew_without_a_checkpoint(self) -> None:
        hook = Recorder("a", after_run=raising(None, th.AbortedError("lost")))
        with recovering(hook, graph=counting_graph(items=3)) as session:
            assert [session.run("batch"), session.run("batch"), session.run("batch")] == [0, 0, 1]

    def test_variables_step_and_input_are_those_of_the_newest_checkpoint(self) -> None:
        saver = MemorySaver()
        hook = Recorder("a", before_run=raising(None, None, th.AbortedError("lost")))
        with recovering(hook, SaveEveryStep(saver), graph=counting_graph(items=4), saver=saver) as session:
            session.run("train")
            session.run("train")
            assert session.run(["w", "batch", "train"]) == [2.0, 2, None]
            assert session.global_step == 3

    def test_steps_since_the_last_save_are_made_again(self) -> None:
        saver = MemorySaver()
        with recovering(SaveEveryStep(saver), saver=saver) as session:
            session.run("train")
        losing = Recorder("a", after_run=raising(None, th.AbortedError("lost")))
        with recovering(losing, saver=saver) as session:
            session.run("train")
            session.run("train")
            assert (session.global_step, session.run("w")) == (2, 2.0)

    def test_it_gets_a_session_and_a_coordinator_of_its_own(self) -> None:
        seen: list[Any] = []
        hook = Recorder(
            "a",
            after_create_session=lambda *arguments: seen.append(arguments),
            before_run=raising(th.AbortedError("lost")),
        )
        with recovering(hook) as session:
            session.run("train")
            (lost, lost_coord), (new, new_coord) = seen
            assert session.raw_session() is new
        assert lost is not new
        assert lost_coord is not new_coord

    def test_the_session_that_was_lost_is_closed(self) -> None:
        hook = Recorder("a", before_run=raising(th.AbortedError("lost")))
        session = recovering(hook)
        lost = session.raw_session()
        session.run("train")
        assert lost is not None
        assert lost.closed
        session.close()

    def test_threads_of_the_session_that_was_lost_are_joined(self) -> None:
        threads: list[threading.Thread] = []

        def start(session: th.Session, coord: th.Coordinator) -> None:
            threads.append(threading.Thread(target=coord.wait_for_stop, daemon=True))
            coord.register_thread(threads[-1])
            threads[-1].start()

        hook = Recorder("a", after_create_session=start, before_run=raising(th.AbortedError("lost")))
        with recovering(hook) as session:
            session.run("train")
            assert [thread.is_alive() for thread in threads] == [False, True]

    def test_threads_of_a_creation_that_failed_are_joined(self) -> None:
        threads: list[threading.Thread] = []

        def start(session: th.Session, coord: th.Coordinator) -> None:
            threads.append(threading.Thread(target=coord.wait_for_stop, daemon=True))
            coord.register_thread(threads[-1])
            threads[-1].start()

        failing = Recorder("b", after_create_session=raising(th.AbortedError("lost")))
        with recovering(Recorder("a", after_create_session=start), failing):
            alive = [thread.is_alive() for thread in threads]
        assert alive == [False, True]

    def test_it_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with recovering(Recorder("a", before_run=raising(th.AbortedError("worker 3 is gone")))) as session:
            session.run("train")
        assert "recovering from AbortedError: worker 3 is gone (at global step 0, attempt 1 of 10)" in caplog.text

    def test_an_error_of_the_new_session_that_cannot_be_recovered_leaves_the_run(self) -> None:
        hook = Recorder(
            "a",
            after_create_session=raising(None, ValueError("not ready")),
            before_run=raising(th.AbortedError("lost")),
        )
        with pytest.raises(ValueError, match="not ready"), recovering(hook) as session:
            session.run("train")
        assert hook.stages[-1] == "on_exception"

    def test_a_run_that_was_lost_is_no_completed_one(self) -> None:
        seen: list[int] = []
        hook = Recorder(
            "a",
            before_run=lambda context: seen.append(context.completed_runs),
            after_run=raising(None, th.AbortedError("lost")),
        )
        with recovering(hook) as session:
            session.run("w")
            session.run("w")
        assert seen == [0, 1, 1]


class Counting(Recorder):
    """Counts its runs in its state, from what it was given in the beginning."""

    def __init__(self, name: str, **on: Callable[..., Any]) -> None:
        super().__init__(name, None, **on)
        self.runs = 0

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.runs += 1
        super().after_run(run_context, run_values)

    def state_dict(self) -> dict[str, Any]:
        return {"runs": self.runs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.runs = state["runs"]


class TestStateOfHooksInRecovery:
    def test_it_is_the_first_one_without_a_checkpoint(self) -> None:
        hook = Counting("a", after_run=raising(None, None, th.AbortedError("lost")))
        hook.runs = 10
        with recovering(hook) as session:
            for _ in range(3):
                session.run("train")
        assert hook.runs == 11

    def test_the_first_one_is_that_after_begin(self) -> None:
        def begin(graph: th.Graph) -> None:
            hook.runs = 20

        hook = Counting("a", begin=begin, before_run=raising(None, th.AbortedError("lost")))
        with recovering(hook) as session:
            session.run("train")
            session.run("train")
        assert hook.runs == 21

    def test_the_first_one_is_not_changed_by_a_hook_that_changes_its_state_in_place(self) -> None:
        class Summing(Recorder):
            total = np.zeros(2)

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                self.total += 1.0
                super().after_run(run_context, run_values)

            def state_dict(self) -> dict[str, Any]:
                return {"total": self.total}

            def load_state_dict(self, state: dict[str, Any]) -> None:
                self.total = state["total"]

        hook = Summing("a", before_run=raising(None, th.AbortedError("lost"), None, th.AbortedError("lost")))
        with recovering(hook) as session:
            session.run("train")
            session.run("train")
            session.run("train")
        assert hook.total.tolist() == [1.0, 1.0]

    def test_it_is_the_saved_one_with_a_checkpoint(self) -> None:
        saver = MemorySaver()
        hook = Counting("a", after_run=raising(None, None, th.AbortedError("lost")))
        with recovering(hook, SaveEveryStep(saver), saver=saver) as session:
            for _ in range(3):
                session.run("train")
        assert hook.runs == 3

    def test_it_is_restored_before_after_create_session(self) -> None:
        seen: list[int] = []
        hook = Counting(
            "a",
            after_create_session=lambda session, coord: seen.append(hook.runs),
            after_run=raising(None, th.AbortedError("lost")),
        )
        with recovering(hook) as session:
            session.run("train")
            session.run("train")
        assert seen == [0, 0]


class TestStopsInRecovery:
    def test_one_that_a_hook_asked_for_in_the_lost_run_is_forgotten(self) -> None:
        asking = Recorder("a", before_run=first(1, lambda context: context.request_stop()))
        with recovering(asking, Recorder("b", after_run=raising(th.AbortedError("lost")))) as session:
            session.run("train")
            assert not session.should_stop()

    def test_one_that_a_hook_asked_for_at_the_lost_creation_is_forgotten(self) -> None:
        asking = Recorder("a", after_create_session=first(1, lambda session, coord: session.request_stop()))
        with recovering(asking, Recorder("b", after_create_session=raising(th.AbortedError("lost")))) as session:
            assert not session.should_stop()

    def test_one_that_the_program_asked_for_is_kept_and_the_run_is_not_repeated(self) -> None:
        calls: Calls = []

        def lose(context: th.SessionRunContext) -> None:
            thread = threading.Thread(target=session.request_stop, args=("lunch",))
            thread.start()
            thread.join()
            raise th.AbortedError("lost")

        session = recovering(Recorder("a", calls, before_run=lose))
        with session:
            session.run("train")
        assert [request.reason for request in session.stop] == ["lunch"]
        assert calls[-3:] == [("a", "before_run"), ("a", "after_create_session"), ("a", "end")]

    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_one_of_a_signal_handler_in_the_lost_run_is_the_programs_and_kept(self, stage: str) -> None:
        def lose(*arguments: object) -> None:
            signal.raise_signal(signal.SIGINT)
            raise th.AbortedError("lost")

        on: dict[str, Any] = {stage: first(1, lose)}
        hook = Recorder("a", **on)
        session = recovering(hook)
        before = signal.signal(signal.SIGINT, lambda number, frame: session.request_stop("Ctrl-C"))
        try:
            with session:
                session.run("train")
        finally:
            signal.signal(signal.SIGINT, before)
        step = 0 if stage == "before_run" else 1
        assert session.stop == (th.StopRequest(None, "Ctrl-C", step),)
        assert hook.stages[-2:] == ["after_create_session", "end"]

    def test_one_of_the_program_in_a_run_that_failed_is_kept(self) -> None:
        def fail(context: th.SessionRunContext) -> None:
            session.request_stop("lunch")
            raise ValueError("failed")

        session = recovering(Recorder("a", before_run=fail))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert session.stop == (th.StopRequest(None, "lunch", 0),)
        session.close()

    def test_one_that_a_hook_asked_the_raw_session_for_in_the_lost_run_is_forgotten(self) -> None:
        asking = Recorder("a", before_run=first(1, lambda context: context.session.request_stop()))
        with recovering(asking, Recorder("b", after_run=raising(th.AbortedError("lost")))) as session:
            session.run("train")
            assert session.stop == ()

    def test_one_that_a_hook_asks_for_at_the_new_creation_ends_the_session_cleanly(self) -> None:
        creations: list[int] = []

        def create(session: th.Session, coord: th.Coordinator) -> None:
            creations.append(session.global_step)
            if len(creations) == 2:
                session.request_stop("done already")

        hook = Recorder("a", after_create_session=create, before_run=raising(th.AbortedError("lost")))
        with recovering(hook) as session:
            session.run("train")
        assert [request.reason for request in session.stop] == ["done already"]
        assert hook.stages[-3:] == ["before_run", "after_create_session", "end"]

    def test_a_run_that_is_not_repeated_says_who_asked_for_the_stop(self) -> None:
        stop = raising(None, None)

        def create(session: th.Session, coord: th.Coordinator) -> None:
            stop()
            if hook.stages.count("after_create_session") == 2:
                session.request_stop("done already")

        hook = Recorder("a", after_create_session=create, before_run=raising(th.AbortedError("lost")))
        session = recovering(hook)
        with pytest.raises(th.OutOfRangeError, match="hook 'a' at global step 0: done already"):
            session.run("train")
        session.close()


class TestCreationInRecovery:
    @pytest.mark.parametrize("error", LOST)
    def test_one_that_was_lost_is_tried_again(self, error: type[Exception]) -> None:
        with recovering(init_fn=raising(error("lost"), error("lost"))) as session:
            assert session.run("w") == 0.0

    def test_one_that_a_hook_lost_is_tried_again_for_all(self) -> None:
        calls: Calls = []
        hooks = [Recorder("a", calls), Recorder("b", calls, after_create_session=raising(th.AbortedError("lost")))]
        with recovering(*hooks):
            assert calls[2:] == [(name, "after_create_session") for name in "abab"]

    def test_begin_is_not_tried_again(self) -> None:
        hook = Recorder("a", begin=raising(th.AbortedError("lost")))
        with pytest.raises(th.AbortedError, match="lost"):
            recovering(hook)
        assert hook.stages == ["begin"]


def report(error: BaseException) -> Callable[..., None]:
    """An `after_create_session` that reports an error to the first coordinator, as a thread would."""
    return first(1, lambda session, coord: coord.request_stop(error))


class TestThreadsInRecovery:
    def test_should_stop_recovers_what_one_reports(self) -> None:
        hook = Recorder("a", after_create_session=report(th.AbortedError("lost")))
        with recovering(hook) as session:
            assert not session.should_stop()
        assert hook.stages.count("after_create_session") == 2

    def test_a_run_recovers_what_one_reports(self) -> None:
        hook = Recorder("a", after_create_session=report(th.UnavailableError("lost")))
        with recovering(hook) as session:
            assert session.run("w") == 0.0
        assert hook.stages.count("after_create_session") == 2

    def test_it_is_the_cause_of_any_error_of_a_run(self) -> None:
        coords: list[th.Coordinator] = []

        def lose(context: th.SessionRunContext) -> None:
            coords[-1].request_stop(th.AbortedError("lost"))
            raise ValueError("cancelled")

        hook = Recorder(
            "a", after_create_session=lambda session, coord: coords.append(coord), before_run=first(1, lose)
        )
        with recovering(hook) as session:
            assert session.run("w") == 0.0
        assert len(coords) == 2

    def test_should_stop_is_true_where_one_reports_another_error(self) -> None:
        hook = Recorder("a", after_create_session=report(ValueError("thread")))
        with pytest.raises(ValueError, match="thread"), recovering(hook) as session:
            assert session.should_stop()
        assert hook.stages.count("after_create_session") == 1

    def test_another_error_of_one_while_it_is_joined_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        def start(session: th.Session, coord: th.Coordinator) -> None:
            def work() -> None:
                with coord.stop_on_exception():
                    coord.wait_for_stop()
                    raise ValueError("thread")

            thread = threading.Thread(target=work, daemon=True)
            coord.register_thread(thread)
            thread.start()

        hook = Recorder("a", after_create_session=first(1, start), before_run=raising(th.AbortedError("lost")))
        with recovering(hook) as session:
            assert session.run("w") == 0.0
        assert "a thread of the lost session failed too: ValueError('thread')" in caplog.text


class TestMonitoredSession:
    def test_it_begins_fresh_by_default(self) -> None:
        with th.MonitoredSession(graph=counting_graph()) as session:
            assert (session.global_step, session.run("w")) == (0, 0.0)

    def test_its_state_is_that_of_the_raw_session(self) -> None:
        with th.MonitoredSession(graph=counting_graph()) as session:
            session.run("train")
            assert session.state == {"w": 1.0}

    def test_it_goes_on_from_a_checkpoint(self) -> None:
        saver = MemorySaver()
        for expected in [0, 2, 4]:
            with recovering(SaveEveryStep(saver), saver=saver) as session:
                assert session.global_step == expected
                session.run("train")
                session.run("train")

    def test_summaries_go_where_it_is_told(self, tmp_path: Any) -> None:
        with th.MonitoredSession(graph=counting_graph(), summary_dir=tmp_path) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.summary_dir == tmp_path

    def test_a_request_for_a_checkpoint_holds_until_the_run_is_over(self) -> None:
        seen: list[bool] = []
        hook = Recorder(
            "a",
            before_run=first(1, lambda context: context.session.request_checkpoint()),
            after_run=lambda context, values: seen.append(context.session.checkpoint_requested),
        )
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
            session.run("train")
            session.run("train")
        assert seen == [True, False]

    def test_it_shows_what_it_is(self) -> None:
        with th.MonitoredSession(graph=counting_graph()) as session:
            assert repr(session) == "<MonitoredSession open>"
