"""What a program sees of a monitored session: how its block ends, and what can be asked of it after that."""

from typing import Any

import pytest

import tenterhooks as th

from .own_loops import raw_of
from .recorders import CLEAN, UNCLEAN, Recorder, counting_graph, raising, training


class TestEnd:
    def test_it_is_clean_when_the_block_is_over(self) -> None:
        hook = Recorder("a")
        with training(hook):
            pass
        assert hook.stages == ["begin", "after_create_session", "end"]

    @pytest.mark.parametrize("error", CLEAN)
    def test_it_is_clean_when_the_body_says_that_the_input_ran_out(self, error: type[BaseException]) -> None:
        hook = Recorder("a")
        with training(hook):
            raise error("no more")
        assert hook.stages[-1] == "end"

    @pytest.mark.parametrize("stage", ["before_run", "after_run"])
    @pytest.mark.parametrize("error", CLEAN)
    def test_it_is_clean_when_a_hook_says_so(self, error: type[BaseException], stage: str) -> None:
        on: dict[str, Any] = {stage: raising(error("no more"))}
        hook = Recorder("a", **on)
        with training(hook) as session:
            session.run("train")
        assert hook.stages[-1] == "end"

    def test_it_is_clean_when_a_source_ran_out(self) -> None:
        hook = Recorder("a")
        with th.MonitoredSession(graph=counting_graph(items=2), hooks=[hook]) as session:
            while not session.should_stop():
                session.run("train")
        assert hook.stages.count("after_run") == 2
        assert hook.stages[-1] == "end"

    @pytest.mark.parametrize("error", UNCLEAN)
    def test_any_other_exception_gives_hooks_on_exception_and_goes_on(self, error: type[BaseException]) -> None:
        seen: list[BaseException] = []
        hook = Recorder("a", on_exception=lambda session, exception: seen.append(exception))
        raised = error("body")
        with pytest.raises(error) as caught, training(hook):
            raise raised
        assert caught.value is raised
        assert seen == [raised]
        assert hook.stages == ["begin", "after_create_session", "on_exception"]

    def test_an_error_of_a_run_that_nobody_caught_gives_on_exception(self) -> None:
        hook = Recorder("a", after_run=raising(ValueError("failed")))
        with pytest.raises(ValueError, match="failed"), training(hook) as session:
            session.run("train")
        assert hook.stages[-1] == "on_exception"

    def test_on_exception_cannot_swallow_the_exception(self) -> None:
        with pytest.raises(ValueError, match="body"), training(Recorder("a", on_exception=lambda *arguments: True)):
            raise ValueError("body")

    @pytest.mark.parametrize("stage", ["end", "on_exception"])
    def test_the_session_is_still_open_for_hooks(self, stage: str) -> None:
        seen: list[Any] = []
        on: dict[str, Any] = {stage: lambda session, *others: seen.append(session.run("w"))}
        error = th.OutOfRangeError() if stage == "end" else ValueError()
        try:
            with training(Recorder("a", **on)) as session:
                session.run("train")
                raise error
        except ValueError:
            pass
        assert seen == [1.0]

    def test_the_raw_session_is_closed_after_it(self) -> None:
        with training() as session:
            raw = raw_of(session)
        assert raw.closed

    def test_close_is_a_clean_end(self) -> None:
        hook = Recorder("a")
        training(hook).close()
        assert hook.stages[-1] == "end"

    def test_close_after_a_run_that_failed_is_a_clean_end(self) -> None:
        hook = Recorder("a", before_run=raising(ValueError("failed")))
        session = training(hook)
        with pytest.raises(ValueError, match="failed"):
            session.run("train")
        session.close()
        assert hook.stages[-1] == "end"

    def test_closing_twice_is_harmless(self) -> None:
        hook = Recorder("a")
        session = training(hook)
        session.close()
        session.close()
        assert hook.stages.count("end") == 1

    def test_closing_within_the_block_is_harmless(self) -> None:
        hook = Recorder("a")
        with training(hook) as session:
            session.close()
        assert hook.stages.count("end") == 1

    def test_an_exception_after_closing_within_the_block_goes_on(self) -> None:
        hook = Recorder("a")
        with pytest.raises(ValueError, match="body"), training(hook) as session:
            session.close()
            raise ValueError("body")
        assert hook.stages[-1] == "end"

    def test_a_run_after_it_is_an_error(self) -> None:
        session = training()
        session.close()
        with pytest.raises(RuntimeError, match="the session is closed: open another one"):
            session.run("train")

    def test_what_needs_the_session_is_an_error_after_it(self) -> None:
        session = training()
        session.close()
        with pytest.raises(RuntimeError, match="closed"):
            _ = session.global_step
        with pytest.raises(RuntimeError, match="closed"):
            _ = session.state
        with pytest.raises(RuntimeError, match="closed"):
            session.request_stop()

    def test_what_needs_no_session_can_be_read_after_it(self) -> None:
        session = training()
        session.request_stop("lunch")
        session.close()
        assert session.stop == (th.StopRequest(None, "lunch", 0),)
        assert session.graph is None
        assert session.raw_session() is None
