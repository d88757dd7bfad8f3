"""From `begin` to the end of all hooks: stops, errors, closing, and whose a hook is."""

import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import pytest

import tenterhooks as th

from .own_loops import raw_of
from .recorders import CLEAN, UNCLEAN, Calls, Recorder, counting_graph, raising, training


class TestBegin:
    def test_it_is_called_in_the_constructor(self) -> None:
        hook = Recorder("a")
        session = training(hook)
        assert hook.stages == ["begin", "after_create_session"]
        session.close()

    def test_it_is_called_for_all_before_a_session_exists(self) -> None:
        calls: Calls = []

        class Creator:
            def create_session(self) -> th.Session:
                calls.append(("creator", "create_session"))
                return th.Session(graph)

        graph = counting_graph()
        th.MonitoredSession(Creator(), [Recorder("a", calls), Recorder("b", calls)], graph=graph).close()
        assert calls[:3] == [("a", "begin"), ("b", "begin"), ("creator", "create_session")]

    def test_the_graph_is_the_default_one_meanwhile(self) -> None:
        seen: list[th.Graph | None] = []
        graph = counting_graph()
        hook = Recorder("a", begin=lambda graph: seen.append(th.get_default_graph()))
        th.MonitoredSession(graph=graph, hooks=[hook]).close()
        assert seen == [graph]

    def test_the_graph_is_the_default_one_no_longer_when_it_is_over(self) -> None:
        session = training(Recorder("a"))
        assert th.get_default_graph() is None
        session.close()

    def test_the_graph_is_finalized_after_it(self) -> None:
        seen: list[bool] = []
        hook = Recorder(
            "a",
            begin=lambda graph: seen.append(graph.finalized),
            after_create_session=lambda session, coord: seen.append(session.graph.finalized),
        )
        training(hook).close()
        assert seen == [False, True]

    @pytest.mark.parametrize("stage", ["after_create_session", "before_run", "after_run", "end"])
    def test_no_other_stage_may_add_to_the_graph(self, stage: str) -> None:
        graph = counting_graph()
        on: dict[str, Any] = {stage: lambda *arguments: graph.tensor(lambda: 1, name="late") and None}
        with (
            pytest.raises(RuntimeError, match="the graph is finalized while a session is open; build it before"),
            th.MonitoredSession(graph=graph, hooks=[Recorder("a", **on)]) as session,
        ):
            session.run("train")
        assert "late" not in graph

    def test_names_are_checked_when_all_hooks_have_begun(self) -> None:
        taking = Recorder("a", begin=lambda graph: graph.tensor(lambda later: later, name="taker"))
        giving = Recorder("b", begin=lambda graph: graph.variable("later", 1.5))
        with training(taking, giving) as session:
            assert session.run("taker") == 1.5

    def test_a_name_that_no_hook_has_added_is_an_error_with_the_nearest(self) -> None:
        hook = Recorder("a", begin=lambda graph: graph.tensor(lambda double_y: double_y, name="taker"))
        with pytest.raises(th.UnknownNameError, match=r"'taker' takes 'double_y'.*'double_x'"):
            training(hook)
        assert hook.stages == ["begin", "on_exception"]

    def test_an_error_keeps_later_hooks_from_it(self) -> None:
        later = Recorder("b")
        with pytest.raises(ValueError, match="no begin"):
            training(Recorder("a", begin=raising(ValueError("no begin"))), later)
        assert later.calls == []

    def test_an_error_gives_those_that_have_begun_on_exception_without_a_session(self) -> None:
        seen: list[Any] = []
        error = ValueError("no begin")
        earlier = Recorder("a", on_exception=lambda *arguments: seen.extend(arguments))
        failing = Recorder("b", begin=raising(error))
        with pytest.raises(ValueError, match="no begin"):
            training(earlier, failing)
        assert seen == [None, error]
        assert failing.stages == ["begin"]

    def test_an_error_leaves_the_graph_open(self) -> None:
        graph = counting_graph()
        with pytest.raises(ValueError, match="no begin"):
            th.MonitoredSession(graph=graph, hooks=[Recorder("a", begin=raising(ValueError("no begin")))])
        assert not graph.finalized

    @pytest.mark.parametrize("error", CLEAN)
    def test_an_error_that_would_end_a_block_cleanly_is_an_error_here(self, error: type[BaseException]) -> None:
        earlier = Recorder("a")
        with pytest.raises(error):
            training(earlier, Recorder("b", begin=raising(error("no input"))))
        assert earlier.stages == ["begin", "on_exception"]


class TestCreation:
    def test_hooks_get_the_raw_session_and_a_coordinator(self) -> None:
        seen: list[Any] = []
        with training(Recorder("a", after_create_session=lambda *arguments: seen.extend(arguments))) as session:
            assert seen[0] is session.raw_session()
        assert isinstance(seen[1], th.Coordinator)

    def test_variables_are_there(self) -> None:
        seen: list[float] = []
        hook = Recorder("a", after_create_session=lambda session, coord: seen.append(session.run("w")))
        training(hook).close()
        assert seen == [0.0]

    @pytest.mark.parametrize("error", [*CLEAN, *UNCLEAN[:5]])
    def test_an_error_of_after_create_session_gives_all_hooks_on_exception(self, error: type[BaseException]) -> None:
        hooks = [Recorder("a"), Recorder("b", after_create_session=raising(error("not ready"))), Recorder("c")]
        with pytest.raises(error):
            training(*hooks)
        assert [hook.stages for hook in hooks] == [
            ["begin", "after_create_session", "on_exception"],
            ["begin", "after_create_session", "on_exception"],
            ["begin", "on_exception"],
        ]

    def test_an_error_of_after_create_session_closes_the_session(self) -> None:
        seen: list[th.Session] = []
        failing = Recorder("b", after_create_session=raising(ValueError("not ready")))
        with pytest.raises(ValueError, match="not ready"):
            training(Recorder("a", after_create_session=lambda session, coord: seen.append(session)), failing)
        assert seen[0].closed

    def test_an_error_of_after_create_session_unfreezes_the_graph(self) -> None:
        graph = counting_graph()
        failing = Recorder("a", after_create_session=raising(ValueError("not ready")))
        with pytest.raises(ValueError, match="not ready"):
            th.MonitoredSession(graph=graph, hooks=[failing])
        assert not graph.finalized

    @pytest.mark.parametrize("error", [*CLEAN, ValueError, KeyboardInterrupt])
    def test_an_error_of_the_creator_gives_all_hooks_on_exception(self, error: type[BaseException]) -> None:
        seen: list[Any] = []
        hook = Recorder("a", on_exception=lambda session, exception: seen.extend([session, type(exception)]))
        creator = th.ChiefSessionCreator(counting_graph(), init_fn=raising(error("no session")))
        with pytest.raises(error):
            th.MonitoredSession(creator, [hook])
        assert seen == [None, error]
        assert hook.stages == ["begin", "on_exception"]


class TestGraphOfASession:
    def test_it_may_be_given(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(graph=graph) as session:
            assert session.graph is graph

    def test_it_may_be_the_creators(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(th.ChiefSessionCreator(graph)) as session:
            assert session.graph is graph

    def test_it_may_be_the_default_one(self) -> None:
        with counting_graph().as_default() as graph, th.MonitoredSession() as session:
            assert session.graph is graph

    def test_a_creator_without_one_takes_the_given_one(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(th.ChiefSessionCreator(), graph=graph) as session:
            assert raw_of(session).graph is graph

    def test_there_has_to_be_one(self) -> None:
        class WithoutGraph:
            def create_session(self) -> th.Session:
                return th.Session()

        with pytest.raises(ValueError, match="pass graph=, or a session_creator with one, or open it within"):
            th.MonitoredSession(WithoutGraph())

    def test_two_of_them_are_an_error(self) -> None:
        creator = th.ChiefSessionCreator(counting_graph())
        with pytest.raises(ValueError, match="give just one of the two"):
            th.MonitoredSession(creator, graph=counting_graph())

    def test_the_same_twice_is_fine(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(th.ChiefSessionCreator(graph), graph=graph) as session:
            assert session.graph is graph

    def test_it_is_none_after_the_end(self) -> None:
        session = training()
        session.close()
        assert session.graph is None

    def test_it_is_finalized_while_the_session_is_open_and_open_after(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(graph=graph):
            assert graph.finalized
        assert not graph.finalized

    def test_it_is_open_after_an_exception(self) -> None:
        graph = counting_graph()
        with pytest.raises(ValueError, match="body"), th.MonitoredSession(graph=graph):
            raise ValueError("body")
        assert not graph.finalized

    def test_it_stays_finalized_if_it_was_so_before(self) -> None:
        graph = counting_graph()
        graph.finalize()
        th.MonitoredSession(graph=graph).close()
        assert graph.finalized

    def test_two_sessions_may_share_one(self) -> None:
        graph = counting_graph()
        with th.MonitoredSession(graph=graph):
            th.MonitoredSession(graph=graph).close()
            assert graph.finalized
        assert not graph.finalized


class TestHookLists:
    @pytest.mark.parametrize("kind", [list, tuple, iter, lambda hooks: (hook for hook in hooks)])
    def test_any_iterable_will_do(self, kind: Callable[[Any], Iterable[object]]) -> None:
        hook = Recorder("a")
        with th.MonitoredSession(graph=counting_graph(), hooks=kind([hook])) as session:
            session.run("train")
        assert hook.stages == ["begin", "after_create_session", "before_run", "after_run", "end"]

    def test_a_hook_that_is_put_into_the_list_later_is_not_called(self) -> None:
        hooks, late = [Recorder("a")], Recorder("late")
        with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
            hooks.append(late)
            session.run("train")
        assert late.calls == []

    def test_a_hook_that_is_taken_out_of_the_list_later_is_called(self) -> None:
        hook = Recorder("a")
        hooks = [hook]
        with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
            hooks.clear()
            session.run("train")
        assert hook.stages[-1] == "end"

    def test_one_string_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="not one string"):
            th.MonitoredSession(graph=counting_graph(), hooks="nan")


class TestStops:
    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_a_request_in_a_run_lets_all_hooks_and_the_run_finish(self, stage: str) -> None:
        calls: Calls = []
        on: dict[str, Any] = {stage: lambda context, *values: context.request_stop()}
        with training(Recorder("a", calls), Recorder("b", calls, **on), Recorder("c", calls)) as session:
            assert session.run(["w", "train"]) == [0.0, None]
        assert calls[6:12] == [(name, stage) for stage in ["before_run", "after_run"] for name in "abc"]

    @pytest.mark.parametrize(("stage", "step"), [("before_run", 0), ("after_run", 1)])
    def test_it_is_recorded_who_asked_why_and_at_which_step(self, stage: str, step: int) -> None:
        on: dict[str, Any] = {stage: lambda context, *values: context.request_stop("has converged")}
        with training(Recorder("a", **on)) as session:
            session.run("train")
            assert session.stop == (th.StopRequest("a", "has converged", step),)

    def test_a_reason_is_optional(self) -> None:
        with training(Recorder("a", before_run=lambda context: context.request_stop())) as session:
            session.run("train")
            assert session.stop == (th.StopRequest("a", None, 0),)

    def test_all_requests_are_recorded_in_order(self) -> None:
        hooks = [
            Recorder(name, after_run=lambda context, values, name=name: context.request_stop(f"since {name}"))
            for name in "ab"
        ]
        with training(*hooks) as session:
            session.run("train")
            assert [(request.hook, request.reason) for request in session.stop] == [("a", "since a"), ("b", "since b")]

    def test_a_request_through_the_raw_session_is_the_hooks_too(self) -> None:
        hook = Recorder("a", before_run=lambda context: context.session.request_stop("enough"))
        with training(hook) as session:
            session.run("train")
            assert session.stop == (th.StopRequest("a", "enough", 0),)

    def test_it_is_adopted_after_the_last_after_run(self) -> None:
        seen: list[Any] = []
        asking = Recorder("a", before_run=lambda context: context.request_stop())
        watching = Recorder("b", after_run=lambda context, values: seen.append((session.stop, context.stop_requested)))
        with training(asking, watching) as session:
            session.run("train")
            assert len(session.stop) == 1
        assert seen == [((), True)]

    def test_should_stop_is_true_after_the_run(self) -> None:
        with training(Recorder("a", before_run=lambda context: context.request_stop())) as session:
            assert not session.should_stop()
            session.run("train")
            assert session.should_stop()

    def test_a_run_after_it_is_an_error_that_says_who_asked_and_why(self) -> None:
        session = training(Recorder("a", before_run=lambda context: context.request_stop("has converged")))
        session.run("train")
        with pytest.raises(RuntimeError, match=r"ask should_stop\(\).*hook 'a' at global step 0: has converged"):
            session.run("train")
        session.close()

    def test_a_run_after_it_calls_no_hook(self) -> None:
        hook = Recorder("a", before_run=lambda context: context.request_stop())
        session = training(hook)
        session.run("train")
        with pytest.raises(RuntimeError, match="asked to stop"):
            session.run("train")
        assert hook.stages.count("before_run") == 1
        session.close()

    def test_hooks_get_end_after_it(self) -> None:
        hook = Recorder("a", before_run=lambda context: context.request_stop())
        with training(hook) as session:
            while not session.should_stop():
                session.run("train")
        assert hook.stages[-1] == "end"

    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_a_request_in_a_run_that_failed_is_forgotten(self, stage: str) -> None:
        on: dict[str, Any] = {stage: lambda context, *values: context.request_stop()}
        session = training(Recorder("a", **on), Recorder("b", after_run=raising(ValueError("failed"))))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert (session.should_stop(), session.stop) == (False, ())
        session.close()

    def test_a_request_before_a_run_that_computed_nothing_is_forgotten(self) -> None:
        graph = counting_graph()
        graph.tensor(raising(ValueError("failed")), name="failing", inputs=[])
        session = th.MonitoredSession(
            graph=graph, hooks=[Recorder("a", before_run=lambda context: context.request_stop())]
        )
        with pytest.raises(ValueError, match="failed"):
            session.run("failing")
        assert not session.should_stop()
        session.close()

    def test_a_request_at_creation_holds_before_any_run(self) -> None:
        hook = Recorder("a", after_create_session=lambda session, coord: session.request_stop("nothing to do"))
        with training(hook) as session:
            assert session.should_stop()
            assert session.stop == (th.StopRequest("a", "nothing to do", 0),)

    def test_a_request_at_creation_lets_later_hooks_be_told(self) -> None:
        later = Recorder("b")
        with training(Recorder("a", after_create_session=lambda session, coord: session.request_stop()), later):
            pass
        assert later.stages == ["begin", "after_create_session", "end"]

    def test_a_request_at_creation_through_the_coordinator_holds_before_any_run(self) -> None:
        with training(Recorder("a", after_create_session=lambda session, coord: coord.request_stop())) as session:
            assert session.should_stop()

    def test_a_stop_of_the_coordinator_does_not_make_a_run_fail(self) -> None:
        with training(Recorder("a", after_create_session=lambda session, coord: coord.request_stop())) as session:
            assert session.run("w") == 0.0

    def test_the_program_may_ask(self) -> None:
        with training() as session:
            session.run("train")
            session.request_stop("lunch")
            assert session.should_stop()
            assert session.stop == (th.StopRequest(None, "lunch", 1),)

    def test_a_request_before_the_first_run_is_the_programs(self) -> None:
        with training(Recorder("a")) as session:
            session.request_stop()
            assert session.stop == (th.StopRequest(None, None, 0),)

    def test_a_request_between_two_runs_is_the_programs(self) -> None:
        with training(Recorder("a")) as session:
            session.run("train")
            raw_of(session).request_stop()
            assert session.stop == (th.StopRequest(None, None, 1),)

    def test_another_thread_may_ask_while_a_run_is_under_way(self) -> None:
        def ask(context: th.SessionRunContext) -> None:
            thread = threading.Thread(target=context.session.request_stop, args=("from outside",))
            thread.start()
            thread.join()

        with training(Recorder("a", before_run=ask)) as session:
            session.run("train")
            assert session.stop == (th.StopRequest(None, "from outside", 0),)

    def test_a_request_of_another_thread_outlives_a_run_that_failed(self) -> None:
        def ask(context: th.SessionRunContext) -> None:
            thread = threading.Thread(target=context.session.request_stop)
            thread.start()
            thread.join()
            raise ValueError("failed")

        session = training(Recorder("a", before_run=ask))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert session.should_stop()
        session.close()

    def test_hooks_see_all_requests_so_far_in_the_raw_session(self) -> None:
        seen: list[Any] = []
        hook = Recorder(
            "a",
            before_run=lambda context: context.request_stop("enough"),
            end=lambda session: seen.extend(session.stop),
        )
        with training(hook) as session:
            session.run("train")
        assert seen == [th.StopRequest("a", "enough", 0)]

    def test_should_stop_is_true_after_close(self) -> None:
        session = training()
        session.close()
        assert session.should_stop()


class TestErrorsOfARun:
    def test_one_of_before_run_keeps_all_from_after_run(self) -> None:
        calls: Calls = []
        hooks = [
            Recorder("a", calls),
            Recorder("b", calls, before_run=raising(ValueError("failed"))),
            Recorder("c", calls),
        ]
        session = training(*hooks)
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert calls[6:] == [("a", "before_run"), ("b", "before_run")]
        session.close()

    def test_one_of_before_run_keeps_the_run_from_being_made(self) -> None:
        session = training(Recorder("a", before_run=raising(ValueError("failed"))))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert session.global_step == 0
        session.close()

    def test_one_of_the_run_keeps_all_from_after_run(self) -> None:
        hook = Recorder("a")
        with th.MonitoredSession(graph=counting_graph(items=0), hooks=[hook]) as session:
            session.run("train")
        assert hook.stages == ["begin", "after_create_session", "before_run", "end"]

    def test_one_of_after_run_keeps_later_hooks_from_it(self) -> None:
        calls: Calls = []
        session = training(Recorder("a", calls, after_run=raising(ValueError("failed"))), Recorder("b", calls))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert calls[-1] == ("a", "after_run")
        session.close()

    def test_one_of_after_run_does_not_undo_the_run(self) -> None:
        session = training(Recorder("a", after_run=raising(ValueError("failed"))))
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        assert session.global_step == 1
        session.close()

    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_one_that_is_caught_leaves_the_session_usable(self, stage: str) -> None:
        on: dict[str, Any] = {stage: raising(ValueError("failed"))}
        hook = Recorder("a", **on)
        with training(hook) as session:
            with pytest.raises(ValueError, match="failed"):
                session.run("w")
            assert not session.should_stop()
            assert session.run("w") == 0.0
        assert hook.stages[-1] == "end"


class TestErrorsOfClosing:
    def test_one_of_end_comes_as_itself(self) -> None:
        error = ValueError("no end")
        with pytest.raises(ValueError, match="no end") as caught, training(Recorder("a", end=raising(error))):
            pass
        assert caught.value is error

    def test_one_of_end_keeps_no_other_hook_from_its_end(self) -> None:
        others = [Recorder("b"), Recorder("c")]
        with (
            pytest.raises(ValueError, match="no end"),
            training(Recorder("a", end=raising(ValueError("no end"))), *others),
        ):
            pass
        assert [hook.stages[-1] for hook in others] == ["end", "end"]

    def test_several_of_end_come_as_a_group_in_order(self) -> None:
        errors = [ValueError("a"), TypeError("b")]
        hooks = [Recorder("a", end=raising(errors[0])), Recorder("b", end=raising(errors[1]))]
        with pytest.raises(ExceptionGroup) as caught, training(*hooks):
            pass
        assert list(caught.value.exceptions) == errors

    def test_each_of_a_group_names_its_hook(self) -> None:
        hooks = [Recorder(name, end=raising(ValueError(name))) for name in "ab"]
        with pytest.raises(ExceptionGroup) as caught, training(*hooks):
            pass
        notes = [error.__notes__[0] for error in caught.value.exceptions]
        assert [note.split(" (")[0] for note in notes] == ["in end of hook 'a'", "in end of hook 'b'"]

    def test_an_interrupt_among_several_makes_the_group_one_of_interrupts(self) -> None:
        hooks = [Recorder("a", end=raising(KeyboardInterrupt())), Recorder("b", end=raising(ValueError("b")))]
        with pytest.raises(BaseExceptionGroup) as caught, training(*hooks):
            pass
        assert not isinstance(caught.value, Exception)

    @pytest.mark.parametrize("error", [*CLEAN, *UNCLEAN])
    def test_any_error_of_end_leaves_the_block(self, error: type[BaseException]) -> None:
        with pytest.raises(error), training(Recorder("a", end=raising(error("no end")))):
            pass

    @pytest.mark.parametrize("error", CLEAN)
    def test_any_error_of_end_in_a_close_within_the_block_leaves_it(self, error: type[BaseException]) -> None:
        with pytest.raises(error), training(Recorder("a", end=raising(error("no end")))) as session:
            session.close()

    def test_an_error_of_end_leaves_the_block_even_if_the_input_ran_out(self) -> None:
        with pytest.raises(ValueError, match="no end"), training(Recorder("a", end=raising(ValueError("no end")))):
            raise th.OutOfRangeError

    def test_an_error_of_end_is_not_told_to_the_others_as_an_exception(self) -> None:
        hooks = [Recorder("a", end=raising(ValueError("no end"))), Recorder("b")]
        with pytest.raises(ValueError, match="no end"), training(*hooks):
            pass
        assert not any("on_exception" in hook.stages for hook in hooks)

    def test_the_session_is_closed_whatever_end_raised(self) -> None:
        graph = counting_graph()
        session = th.MonitoredSession(graph=graph, hooks=[Recorder("a", end=raising(ValueError("no end")))])
        raw = raw_of(session)
        with pytest.raises(ValueError, match="no end"):
            session.close()
        assert (session.should_stop(), raw.closed, graph.finalized) == (True, True, False)

    def test_closing_again_after_an_error_is_harmless(self) -> None:
        session = training(Recorder("a", end=raising(ValueError("no end"), ValueError("again"))))
        with pytest.raises(ValueError, match="no end"):
            session.close()
        session.close()

    def test_those_of_on_exception_become_notes_on_the_exception_under_way(self) -> None:
        hooks = [
            Recorder("a", on_exception=raising(TypeError("first"))),
            Recorder("b", on_exception=raising(KeyError("second"))),
        ]
        with pytest.raises(ValueError, match="body") as caught, training(*hooks):
            raise ValueError("body")
        notes = caught.value.__notes__
        assert [note.split(" (")[0] for note in notes] == [
            "while closing: TypeError: first",
            "while closing: KeyError: 'second'",
        ]

    def test_the_exception_itself_raised_again_in_on_exception_is_no_further_error(self) -> None:
        def again(session: th.Session | None, exception: BaseException) -> None:
            raise exception

        with pytest.raises(ValueError, match="body") as caught, training(Recorder("a", on_exception=again)):
            raise ValueError("body")
        assert not hasattr(caught.value, "__notes__")

    def test_one_of_on_exception_keeps_no_other_hook_from_it(self) -> None:
        other = Recorder("b")
        hooks = [Recorder("a", on_exception=raising(MemoryError())), other]
        with pytest.raises(ValueError, match="body"), training(*hooks):
            raise ValueError("body")
        assert other.stages[-1] == "on_exception"

    def test_one_of_on_exception_in_the_constructor_becomes_a_note_too(self) -> None:
        hooks = [
            Recorder("a", on_exception=raising(TypeError("first"))),
            Recorder("b", begin=raising(ValueError("no begin"))),
        ]
        with pytest.raises(ValueError, match="no begin") as caught:
            training(*hooks)
        assert any("while closing: TypeError: first" in note for note in caught.value.__notes__)


def reporting(error: BaseException) -> Callable[..., None]:
    """An `after_create_session` in which a thread reports this error, and ends."""

    def after_create_session(session: th.Session, coord: th.Coordinator) -> None:
        def work() -> None:
            with coord.stop_on_exception():
                raise error

        thread = threading.Thread(target=work, daemon=True)
        coord.register_thread(thread)
        thread.start()
        thread.join()

    return after_create_session


class TestThreads:
    def test_an_error_of_one_surfaces_at_the_next_run(self) -> None:
        error = ValueError("thread")
        session = training(Recorder("a", after_create_session=reporting(error)))
        with pytest.raises(ValueError, match="thread") as caught:
            session.run("train")
        assert caught.value is error
        with pytest.raises(ValueError, match="thread"):
            session.close()

    def test_an_error_of_one_keeps_hooks_from_the_next_run(self) -> None:
        hook = Recorder("a", after_create_session=reporting(ValueError("thread")))
        with pytest.raises(ValueError, match="thread"), training(hook) as session:
            session.run("train")
        assert "before_run" not in hook.stages

    def test_an_error_of_one_makes_should_stop_true(self) -> None:
        session = training(Recorder("a", after_create_session=reporting(ValueError("thread"))))
        assert session.should_stop()
        with pytest.raises(ValueError, match="thread"):
            session.close()

    @pytest.mark.parametrize("error", [ValueError("thread"), StopIteration("thread"), th.AbortedError("thread")])
    def test_an_error_of_one_that_is_known_at_the_exit_gives_on_exception(self, error: BaseException) -> None:
        seen: list[BaseException] = []
        hook = Recorder(
            "a",
            after_create_session=reporting(error),
            on_exception=lambda session, exception: seen.append(exception),
        )
        with pytest.raises(type(error), match="thread"), training(hook):
            pass
        assert seen == [error]
        assert not hasattr(error, "__notes__")
        assert "end" not in hook.stages

    def test_an_error_of_one_that_is_known_when_the_input_ran_out_gives_on_exception(self) -> None:
        hook = Recorder("a", after_create_session=reporting(ValueError("thread")))
        with pytest.raises(ValueError, match="thread"), training(hook):
            raise th.OutOfRangeError
        assert hook.stages[-1] == "on_exception"

    def test_an_error_of_one_is_a_note_where_another_exception_ends_the_session(self) -> None:
        hook = Recorder("a", after_create_session=reporting(ValueError("thread")))
        with pytest.raises(TypeError, match="body") as caught, training(hook):
            raise TypeError("body")
        assert any("while closing: ValueError: thread" in note for note in caught.value.__notes__)

    def test_an_error_of_one_that_comes_while_it_is_joined_leaves_the_block_after_end(self) -> None:
        def start(session: th.Session, coord: th.Coordinator) -> None:
            def work() -> None:
                with coord.stop_on_exception():
                    coord.wait_for_stop()
                    raise ValueError("thread")

            thread = threading.Thread(target=work, daemon=True)
            coord.register_thread(thread)
            thread.start()

        hook = Recorder("a", after_create_session=start)
        with pytest.raises(ValueError, match="thread"), training(hook):
            pass
        assert hook.stages[-1] == "end"

    def test_that_the_input_of_one_ran_out_is_a_plain_stop(self) -> None:
        hook = Recorder("a", after_create_session=reporting(th.OutOfRangeError("thread")))
        with training(hook) as session:
            assert session.should_stop()
        assert hook.stages[-1] == "end"

    def test_they_are_told_to_stop_and_joined_after_end(self) -> None:
        seen: list[Any] = []

        def start(session: th.Session, coord: th.Coordinator) -> None:
            thread = threading.Thread(target=coord.wait_for_stop, daemon=True)
            coord.register_thread(thread)
            thread.start()
            seen.append(thread)

        with training(Recorder("a", after_create_session=start, end=lambda session: seen.append(seen[0].is_alive()))):
            pass
        assert seen[1]
        assert not seen[0].is_alive()

    @pytest.mark.parametrize("error", [None, ValueError("body")])
    def test_one_that_does_not_stop_is_left_running_and_logged(
        self, error: Exception | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        goes_on = threading.Event()

        def start(session: th.Session, coord: th.Coordinator) -> None:
            thread = threading.Thread(target=goes_on.wait, name="stubborn", daemon=True)
            coord.register_thread(thread)
            thread.start()

        session = th.MonitoredSession(
            graph=counting_graph(), hooks=[Recorder("a", after_create_session=start)], stop_grace_period_secs=0.0
        )
        try:
            with session:
                raise error or th.OutOfRangeError
        except ValueError:
            pass
        goes_on.set()
        assert "threads did not stop within 0 s: stubborn" in caplog.text


class TestWithinARun:
    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_a_run_with_hooks_is_an_error_and_the_raw_session_is_named(self, stage: str) -> None:
        sessions: list[th.MonitoredSession] = []
        on: dict[str, Any] = {stage: lambda *arguments: sessions[0].run("train")}
        sessions.append(training(Recorder("a", **on)))
        with pytest.raises(RuntimeError, match=r"a run of this session is under way: .*run_context\.session\.run"):
            sessions[0].run("train")
        sessions[0].close()

    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    def test_closing_is_an_error_and_closes_nothing(self, stage: str) -> None:
        sessions: list[th.MonitoredSession] = []
        on: dict[str, Any] = {stage: lambda *arguments: sessions[0].close()}
        hook = Recorder("a", **on)
        sessions.append(training(hook))
        with pytest.raises(RuntimeError, match="request_stop"):
            sessions[0].run("train")
        assert "end" not in hook.stages
        hook.calm()
        sessions[0].run("train")
        sessions[0].close()
        assert hook.stages[-1] == "end"

    def test_an_interrupt_at_any_line_of_a_run_leaves_a_session_that_can_be_closed(self) -> None:
        lines = 1
        place = 0
        while place < lines:
            hook = Recorder("a")
            graph = counting_graph()
            with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
                lines = _interrupted(place, lambda session=session: session.run("train"))  # type: ignore[misc]
            assert hook.stages[-1] == "end", f"interrupted at line {place}"
            assert not graph.finalized
            place += 1
        assert lines > 20


def _interrupted(place: int, call: Callable[[], object]) -> int:
    """Interrupt a call at one line of the modules of a run, as Ctrl-C may, and give how many lines there are."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if frame.f_globals.get("__name__") not in ("tenterhooks.lifecycle", "tenterhooks.stop"):
            return None
        if event == "line":
            count += 1
            if count == place + 1:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return count + 1
    finally:
        sys.settrace(previous)
    return count
