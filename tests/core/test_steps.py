"""Loops of the program's own: passes, how they begin, how each way of leaving them counts."""

import contextlib
import itertools
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

import tenterhooks as th

from .own_loops import Ask, Opened, each_kind, raw_of
from .recorders import Calls, Recorder, raising


def stop_at(step: int) -> Recorder:
    def after_run(context: th.SessionRunContext, values: th.SessionRunValues) -> None:
        if context.session.global_step >= step:
            context.request_stop("far enough")

    return Recorder("stop", after_run=after_run)


class TestAPass:
    @each_kind
    def test_each_item_is_a_pass_and_each_pass_a_run_with_all_hooks(self, opened: Opened) -> None:
        hook = Recorder("a")
        with opened(hooks=[hook]) as session:
            assert [(item, session.global_step) for item in session.steps("xyz")] == [("x", 0), ("y", 1), ("z", 2)]
            assert session.global_step == 3
            assert not session.should_stop()
        # That there is no fourth item shows once the hooks were asked.
        runs = ["before_run", "after_run"] * 3 + ["before_run"]
        assert hook.stages == ["begin", "after_create_session", *runs, "end"]

    def test_hooks_are_asked_then_an_item_is_drawn_then_the_body_then_the_values(self) -> None:
        order: list[str] = []

        def items() -> Iterator[int]:
            order.append("item")
            yield 1

        def before_run(context: th.SessionRunContext) -> th.SessionRunArgs:
            order.append("before_run")
            return th.SessionRunArgs("v")

        hooks = [
            Recorder(
                "a",
                before_run=before_run,
                after_run=lambda context, values: order.append(f"after_run at {context.session.global_step}"),
            ),
            Recorder("b", begin=lambda graph: graph.tensor(lambda x: order.append("values"), name="v") and None),
        ]
        with th.MonitoredSession(hooks=hooks) as session:
            for _ in session.steps(items()):
                order.append("body")
                session.publish(x=1)
        assert order[:5] == ["before_run", "item", "body", "values", "after_run at 1"]

    def test_continue_ends_a_pass(self) -> None:
        with th.MonitoredSession() as session:
            for item in session.steps(range(4)):
                if item % 2:
                    continue
                session.publish(item=item)
            assert session.global_step == 4

    def test_without_an_iterable_there_are_passes_until_a_stop(self) -> None:
        with th.MonitoredSession(hooks=[stop_at(3)]) as session:
            assert list(session.steps()) == [0, 1, 2]

    def test_a_stop_ends_the_loop_and_leaves_the_session_open(self) -> None:
        hook = Ask("late")
        with th.MonitoredSession(hooks=[stop_at(2)]) as session:
            assert list(session.steps(range(5))) == [0, 1]
            session.publish(late=3)
            assert raw_of(session).run("late") == 3
        assert hook.seen == []

    def test_the_program_stops_it_from_the_body_after_the_pass(self) -> None:
        with th.MonitoredSession() as session:
            for item in session.steps(range(5)):
                if item == 1:
                    session.request_stop("enough")
            assert session.global_step == 2
            assert [request.reason for request in session.stop] == ["enough"]

    def test_further_steps_after_a_stop_end_at_once(self) -> None:
        hook = Recorder("a")
        with th.MonitoredSession(hooks=[hook, stop_at(1)]) as session:
            list(session.steps(range(5)))
            drawn = iter(range(5))
            assert list(session.steps(drawn)) == []
            assert next(drawn) == 0
        assert hook.stages.count("before_run") == 1

    def test_a_stop_at_the_creation_leaves_no_pass(self) -> None:
        hook = Recorder("a", after_create_session=lambda session, coord: session.request_stop("done"))
        with th.MonitoredSession(hooks=[hook]) as session:
            assert list(session.steps()) == []

    def test_an_error_of_a_hook_comes_out_of_the_loop_with_its_name(self) -> None:
        hook = Recorder("a", after_run=raising(None, ValueError("no")))
        with pytest.raises(ValueError, match="no") as caught, th.MonitoredSession(hooks=[hook]) as session:
            for _ in session.steps(range(5)):
                pass
        assert "in after_run of hook 'a'" in caught.value.__notes__[0]
        assert hook.stages[-1] == "on_exception"

    def test_a_hook_whose_input_ran_out_ends_the_session_cleanly(self) -> None:
        for error in (th.OutOfRangeError("no more"), StopIteration("no more")):
            hook = Recorder("a", before_run=raising(None, error))
            reached = []
            with th.MonitoredSession(hooks=[hook]) as session:
                for item in session.steps(range(5)):
                    reached.append(item)
                reached.append(-1)
            assert reached == [0]
            assert hook.stages[-1] == "end"

    def test_a_wrapper_sees_a_pass_as_a_run(self) -> None:
        seen: list[Any] = []

        class Wrapper:
            @th.hookimpl(wrapper=True)
            def after_run(self, run_values: th.SessionRunValues) -> Generator[None, Any, Any]:
                seen.append(run_values.results)
                return (yield)

        with th.MonitoredSession(hooks=[Wrapper(), asking := Ask("x")]) as session:
            for item in session.steps([5]):
                session.publish(x=item)
        assert seen == [None]
        assert asking.seen == [(1, 5)]


class TestItems:
    def test_there_is_a_len_where_the_iterable_has_one(self) -> None:
        with th.MonitoredSession() as session:
            assert len(session.steps([1, 2, 3])) == 3
            assert len(session.steps([1, 2, 3], group=2)) == 2
            with pytest.raises(TypeError, match=r"object of type 'generator' has no len\(\)"):
                len(session.steps(i for i in range(3)))
            with pytest.raises(TypeError, match=r"until a stop and have no len\(\)"):
                len(session.steps())

    def test_it_is_an_iterator(self) -> None:
        with th.MonitoredSession() as session:
            steps = session.steps([1, 2])
            assert isinstance(steps, Iterator)
            assert [next(steps), next(steps), next(steps, None), next(steps, None)] == [1, 2, None, None]
            assert session.global_step == 2

    def test_groups_are_one_step_each(self) -> None:
        with th.MonitoredSession() as session:
            assert list(session.steps("abcde", group=2)) == [["a", "b"], ["c", "d"], ["e"]]
            assert session.global_step == 3
            assert list(session.steps("ab", group=2)) == [["a", "b"]]

    @pytest.mark.parametrize("arguments", [("abc", 0), (None, 2)])
    def test_a_group_is_of_one_or_more_items(self, arguments: tuple[Any, Any]) -> None:
        with th.MonitoredSession() as session, pytest.raises(ValueError, match="1 or more, and needs an iterable"):
            session.steps(*arguments)

    def test_an_error_of_the_iterable_is_one_of_the_session(self) -> None:
        def items() -> Iterator[int]:
            yield 1
            raise OSError("the disk is gone")

        hook = Recorder("a")
        with pytest.raises(OSError, match="the disk is gone"), th.MonitoredSession(hooks=[hook]) as session:
            for _ in session.steps(items()):
                pass
        assert hook.stages[-3:] == ["after_run", "before_run", "on_exception"]

    def test_a_stop_asked_for_before_the_last_item_was_missed_is_forgotten(self) -> None:
        def ask(context: th.SessionRunContext) -> None:
            if context.completed_runs == 2:
                context.request_stop("in a pass that is none")

        with th.MonitoredSession(hooks=[Recorder("a", before_run=ask)]) as session:
            assert list(session.steps([1, 2])) == [1, 2]
            assert session.stop == ()
            assert list(session.steps([3])) == [3]


class TestLeaving:
    def leave(self, session: Any, how: str, *, publish: bool) -> None:
        for item in session.steps(range(5)):
            if item == 2:
                if publish:
                    session.publish(x=item)
                if how == "break":
                    break
                return
            session.publish(x=item)

    @pytest.mark.parametrize("how", ["break", "return"])
    def test_a_pass_that_published_something_is_a_run(self, how: str) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            self.leave(session, how, publish=True)
            assert session.global_step == 3
        assert hook.seen == [(1, 0), (2, 1), (3, 2)]

    @pytest.mark.parametrize("how", ["break", "return"])
    def test_a_pass_that_published_nothing_is_none(self, how: str) -> None:
        hook = Recorder("a")
        with th.MonitoredSession(hooks=[hook]) as session:
            self.leave(session, how, publish=False)
            assert session.global_step == 2
        assert hook.stages.count("before_run") == 3
        assert hook.stages.count("after_run") == 2

    def test_its_item_is_not_counted(self) -> None:
        with th.MonitoredSession() as session:
            self.leave(session, "break", publish=False)
            assert session.global_step == 2
            assert raw_of(session).state_dict()["loop"]["items"]["drawn"] == 2

    def test_it_counts_where_the_session_ends_right_after(self) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            for item in session.steps(range(5)):
                session.publish(x=item)
                break
        assert hook.seen == [(1, 0)]

    def test_it_counts_where_the_iterator_is_still_held(self) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            steps = session.steps(range(5))
            for item in steps:
                session.publish(x=item)
                break
        assert hook.seen == [(1, 0)]
        assert list(steps) == []

    def test_an_iterator_that_is_held_goes_on(self) -> None:
        with th.MonitoredSession() as session:
            steps = session.steps(range(3))
            for _ in steps:
                break
            assert list(steps) == [1, 2]
            assert session.global_step == 3

    def test_close_leaves_it(self) -> None:
        with th.MonitoredSession() as session:
            steps = session.steps(range(3))
            next(steps)
            steps.close()
            assert session.global_step == 0
            assert list(steps) == []
            assert list(session.steps("a")) == ["a"]

    def test_a_slice_of_it_that_ends_leaves_it(self) -> None:
        with th.MonitoredSession(hooks=[asked := Ask("x")]) as session:
            for x in itertools.islice(session.steps(range(9)), 3):
                session.publish(x=x)
            raw = raw_of(session)
            assert session.global_step == 3
        assert asked.seen == [(1, 0), (2, 1), (3, 2)]
        assert raw.torn is None

    def test_one_that_is_held_until_the_process_ends_is_dropped_in_silence(self) -> None:
        program = "import tenterhooks as th; session = th.MonitoredSession(); steps = session.steps([1]); next(steps)"
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        assert ended.stderr == ""

    def test_an_error_closes_it_through_yield_from_as_an_error(self) -> None:
        def passes(session: Any) -> Any:
            yield from session.steps(range(9))

        with th.MonitoredSession() as session:
            raw = raw_of(session)
            with contextlib.suppress(ValueError):
                for x in passes(session):
                    session.publish(x=x)
                    raise ValueError("raised")
        assert raw.global_step == 0
        assert raw.torn is not None

    def test_an_error_that_comes_after_a_pass_was_left_does_not_undo_it(self) -> None:
        hook = Recorder("a")
        with pytest.raises(ValueError, match="after"), th.MonitoredSession(hooks=[hook]) as session:
            for item in session.steps(range(5)):
                session.publish(x=item)
                break
            raise ValueError("after")
        assert hook.stages[-3:] == ["before_run", "after_run", "on_exception"]

    def test_what_fails_then_is_a_note_on_the_error(self) -> None:
        hook = Recorder("a", after_run=raising(OSError("full")))
        with pytest.raises(ValueError, match="after") as caught, th.MonitoredSession(hooks=[hook]) as session:
            for item in session.steps(range(5)):
                session.publish(x=item)
                break
            raise ValueError("after")
        assert caught.value.__notes__ == ["in the pass before: OSError: full"]

    def test_what_fails_then_ends_the_session(self) -> None:
        for closing in (lambda session: None, lambda session: session.close()):
            hook = Recorder("a", after_run=raising(OSError("full")))
            with pytest.raises(OSError, match="full"), th.MonitoredSession(hooks=[hook]) as session:
                for item in session.steps(range(5)):
                    session.publish(x=item)
                    break
                closing(session)
            assert hook.stages[-1] == "on_exception"

    def test_a_loop_that_a_generator_goes_through_is_left_with_it(self) -> None:
        def through(steps: Iterator[int]) -> Iterator[int]:
            yield from steps

        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            for item in enumerate(through(session.steps(range(5)))):
                session.publish(x=item[1])
                if item[0]:
                    break
            assert session.global_step == 2

    @pytest.mark.parametrize("use", [list, lambda steps: None], ids=["steps", "the end"])
    def test_an_interrupt_that_comes_while_a_loop_is_left_comes_out_at_the_next_use(
        self, use: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*arguments: object, **options: object) -> None:
            raise KeyboardInterrupt

        unraisable: list[object] = []
        monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
        hook = Recorder("a")
        with pytest.raises(KeyboardInterrupt, match="while a loop was being left"):  # noqa: SIM117
            with th.MonitoredSession(hooks=[hook]) as session:
                with monkeypatch.context() as patched:
                    patched.setattr(session, "leave_pass", interrupted)
                    for item in session.steps("abc"):
                        session.publish(x=item)
                        break
                use(session.steps("d") if use is list else ())
        assert len(unraisable) == 1
        assert hook.stages[-1] == "on_exception"


class TestErrorsOfTheBody:
    @each_kind
    def test_an_error_ends_the_session_and_all_hooks_are_told(self, opened: Opened) -> None:
        error = ValueError("bad batch")
        told: list[Any] = []
        hooks = [Recorder(name, on_exception=lambda session, exception: told.append(exception)) for name in "ab"]
        with pytest.raises(ValueError, match="bad batch") as caught, opened(hooks=hooks) as session:
            for item in session.steps(range(5)):
                session.publish(x=item)
                if item == 1:
                    raise error
        assert told == [error, error]
        assert hooks[0].stages[-4:] == ["before_run", "after_run", "before_run", "on_exception"]
        assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "raise error"
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 1

    def test_the_pass_is_not_counted_and_the_state_is_torn(self) -> None:
        seen: list[Any] = []
        hook = Recorder("a", on_exception=lambda session, error: seen.extend([session.global_step, session.torn]))
        with pytest.raises(ValueError, match="bad"), th.MonitoredSession(hooks=[hook]) as session:
            for item in session.steps(range(5)):
                session.publish(x=item)
                if item == 1:
                    raise ValueError("bad")
        assert seen == [1, "the update by the body of a pass was not completed, at global step 1"]

    def test_a_program_that_catches_it_goes_on_and_the_pass_was_none(self) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            with pytest.raises(ValueError, match="invalid literal"):
                for item in session.steps(range(5)):
                    session.publish(x=item)
                    int("one")
            assert raw_of(session).torn is not None
            for item in session.steps(range(7, 9)):
                session.publish(x=item)
            assert raw_of(session).torn is None
        assert hook.seen == [(1, 7), (2, 8)]

    def test_own_loops_do_not_recover(self) -> None:
        hook = Recorder("a")
        for error in (th.AbortedError("lost"), th.UnavailableError("lost")):
            with pytest.raises(type(error), match="lost"), th.MonitoredSession(hooks=[hook]) as session:
                for _ in session.steps(range(5)):
                    raise error
            assert hook.stages[-2:] == ["before_run", "on_exception"]

    def test_nor_where_a_thread_reports_what_a_graph_session_recovers_from(self) -> None:
        hook = Recorder("a", after_run=lambda context, values: coords[0].request_stop(th.AbortedError("lost")))
        coords: list[th.Coordinator] = []
        keep = Recorder("b", after_create_session=lambda session, coord: coords.append(coord))
        with pytest.raises(th.AbortedError, match="lost"), th.MonitoredSession(hooks=[keep, hook]) as session:
            assert list(session.steps(range(5))) == [0]
        assert len(coords) == 1
        assert hook.stages[-1] == "on_exception"

    @pytest.mark.parametrize("error", [StopIteration("inner"), th.OutOfRangeError("inner")])
    @each_kind
    def test_an_end_of_input_in_the_body_is_an_error(self, opened: Opened, error: Exception) -> None:
        hook = Recorder("a")
        with (
            pytest.raises(RuntimeError, match=rf"{type(error).__name__} was raised in the loop \(inner\)") as caught,
            opened(hooks=[hook]) as session,
        ):
            for _ in session.steps(range(5)):
                raise error
        assert caught.value.__cause__ is error
        assert hook.stages[-1] == "on_exception"

    def test_one_in_a_step_or_between_passes_is_an_error_too(self) -> None:
        with (
            pytest.raises(RuntimeError, match="StopIteration was raised"),
            th.MonitoredSession() as session,
            session.step(),
        ):
            next(iter(()))
        with pytest.raises(RuntimeError, match="StopIteration was raised"), th.MonitoredSession() as session:
            list(session.steps([1]))
            next(iter(()))


class TestStep:
    def test_it_is_one_pass(self) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook, stop_at(2)]) as session:
            while not session.should_stop():
                with session.step():
                    session.publish(x=session.global_step)
        assert hook.seen == [(1, 0), (2, 1)]

    def test_after_a_stop_there_is_none(self) -> None:
        with th.MonitoredSession() as session:
            session.request_stop("enough")
            with pytest.raises(RuntimeError, match="asked to stop, so nothing can be run"), session.step():
                raise AssertionError("the body is not reached")

    def test_an_error_in_it_forgets_the_pass(self) -> None:
        hook = Recorder("a", before_run=lambda context: context.request_stop("in a pass that fails"))
        with th.MonitoredSession(hooks=[hook]) as session:
            with pytest.raises(ValueError, match="bad"), session.step():
                raise ValueError("bad")
            assert session.global_step == 0
            assert session.stop == ()


class TestOneLoopAtATime:
    @pytest.mark.parametrize("what", ["steps", "epochs", "step"])
    def test_another_one_in_an_open_pass_is_an_error(self, what: str) -> None:
        calls: Calls = []
        with th.MonitoredSession(hooks=[Recorder("a", calls)]) as session:
            for _ in session.steps([1, 2]):
                with pytest.raises(RuntimeError, match=rf"{what}\(\) within a pass: let its loop go on, or leave it"):
                    session.epochs(1) if what == "epochs" else getattr(session, what)()
            assert session.global_step == 2

    def test_a_pass_of_another_iterator_in_an_open_pass_is_an_error(self) -> None:
        with th.MonitoredSession() as session:
            one, other = session.steps("ab"), session.steps("cd")
            next(one)
            with pytest.raises(RuntimeError, match="the next pass within a pass"):
                next(other)
            assert next(one) == "b"

    def test_run_does_not_mix_with_it(self) -> None:
        with th.MonitoredSession() as session:
            list(session.steps([1]))
            with pytest.raises(RuntimeError, match="whose loop is the program's own: it does not mix with steps"):
                session.run([])
            with pytest.raises(RuntimeError, match="whose loop is the program's own"):
                session.run_step_fn(lambda step_context: step_context.run_with_hooks([]))

    @pytest.mark.parametrize("what", ["steps", "step", "publish"])
    def test_nor_it_with_run(self, what: str) -> None:
        with th.MonitoredSession() as session:
            session.run([])
            with pytest.raises(RuntimeError, match=rf"{what}\(\) in a session that was run: .* do not mix"):
                getattr(session, what)()

    def test_a_closed_session_has_none(self) -> None:
        with th.MonitoredSession() as session:
            steps = session.steps([1, 2])
            next(steps)
        assert list(steps) == []
        for what in ("steps", "step", "publish"):
            with pytest.raises(RuntimeError, match="the session is closed"):
                getattr(session, what)()

    def test_close_in_the_body_is_an_error(self) -> None:
        with th.MonitoredSession() as session:
            for _ in session.steps([1]):
                with pytest.raises(RuntimeError, match="close\\(\\) within a run"):
                    session.close()


class TestEpochs:
    def test_an_epoch_counts_when_it_is_over(self) -> None:
        counted = []
        with th.MonitoredSession() as session:
            for epoch in session.epochs(2):
                counted.append((epoch, raw_of(session).loop.epoch))
                for _ in session.steps("ab"):
                    counted.append((epoch, raw_of(session).loop.epoch))
            assert raw_of(session).loop.epoch == 2
            assert session.global_step == 4
            assert list(session.epochs(2)) == []
            assert list(session.epochs(3)) == [2]
        assert counted == [(0, 0)] * 3 + [(1, 1)] * 3

    def test_one_that_a_stop_cuts_short_does_not_count(self) -> None:
        with th.MonitoredSession(hooks=[stop_at(3)]) as session:
            after = []
            for epoch in session.epochs(5):
                for _ in session.steps("ab"):
                    pass
                after.append(epoch)
            assert after == [0, 1]
            assert raw_of(session).loop.epoch == 1

    def test_one_that_is_left_by_break_does_not_count(self) -> None:
        with th.MonitoredSession() as session:
            for epoch in session.epochs(5):
                list(session.steps("ab"))
                if epoch == 1:
                    break
            assert raw_of(session).loop.epoch == 1

    def test_after_a_stop_there_is_none(self) -> None:
        with th.MonitoredSession() as session:
            session.request_stop("enough")
            assert list(session.epochs(5)) == []

    def test_a_pass_left_in_it_counts_before_the_next_epoch(self) -> None:
        hook = Ask("x")
        with th.MonitoredSession(hooks=[hook]) as session:
            for epoch in session.epochs(2):
                for item in session.steps("ab"):
                    session.publish(x=f"{epoch}{item}")
                    break
        assert hook.seen == [(1, "0a"), (2, "1a")]


def test_a_step_function_within_a_loop_of_the_programs_own_does_not_recover() -> None:
    seen: list[int] = []
    calls: list[int] = []
    hook = Recorder("a", before_run=lambda context: seen.append(context.completed_runs))

    def lose(step_context: Any) -> None:
        calls.append(1)
        raise th.AbortedError("the worker is lost")

    with pytest.raises(th.AbortedError, match="the worker is lost"), th.MonitoredSession(hooks=[hook]) as session:
        for step in session.steps(range(5)):
            session.publish(x=step)
            if step == 2:
                session.run_step_fn(lose)
    assert (seen, calls) == ([0, 1, 2], [1])
