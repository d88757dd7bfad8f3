"""How a session is created: fresh, or from the newest checkpoint."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th

from .recorders import MemorySaver, Recorder, counting_graph


def saver_at(*steps: int) -> MemorySaver:
    """A saver with a checkpoint of each of these steps, whose `w` is ten times the step."""
    saver = MemorySaver()
    for step in steps:
        saver.save(
            {"global_step": step, "variables": {"w": 10.0 * step}, "sources": {}, "hooks": {"a": {"at": step}}},
            step=step,
        )
    return saver


@pytest.mark.parametrize(
    "creator",
    [th.ChiefSessionCreator(counting_graph()), th.WorkerSessionCreator(counting_graph(), saver=MemorySaver())],
    ids=["chief", "worker"],
)
def test_both_are_creators(creator: object) -> None:
    assert isinstance(creator, th.SessionCreator)


class TestChief:
    def test_it_begins_fresh_without_a_folder(self) -> None:
        session = th.ChiefSessionCreator(counting_graph()).create_session()
        assert (session.global_step, session.run("w"), session.restored) == (0, 0.0, None)

    def test_it_begins_fresh_where_there_is_no_checkpoint(self) -> None:
        session = th.ChiefSessionCreator(counting_graph(), saver=MemorySaver()).create_session()
        assert (session.global_step, session.restored) == (0, None)

    def test_it_is_said_that_it_begins_fresh(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "tenterhooks"):
            th.ChiefSessionCreator(counting_graph(), saver=MemorySaver()).create_session()
        assert "no checkpoint in" in caplog.text
        assert "starting from step 0" in caplog.text

    def test_it_restores_the_checkpoint_committed_last_not_that_of_the_highest_step(self) -> None:
        session = th.ChiefSessionCreator(counting_graph(), saver=saver_at(9, 3)).create_session()
        assert (session.global_step, session.run("w")) == (3, 30.0)

    def test_it_is_known_what_was_restored(self) -> None:
        session = th.ChiefSessionCreator(counting_graph(), saver=saver_at(3)).create_session()
        assert session.restored is not None
        assert (session.restored.checkpoint, session.restored.global_step) == (Path("memory-0"), 3)

    def test_what_hooks_had_saved_is_kept_for_them(self) -> None:
        session = th.ChiefSessionCreator(counting_graph(), saver=saver_at(3)).create_session()
        assert session.hook_states == {"a": {"at": 3}}

    def test_each_session_is_a_new_one(self) -> None:
        creator = th.ChiefSessionCreator(counting_graph())
        one, other = creator.create_session(), creator.create_session()
        one.run("train")
        assert other.run("w") == 0.0

    def test_it_looks_anew_for_each_session(self) -> None:
        saver = saver_at(3)
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        creator.create_session()
        saver.save({"global_step": 4, "variables": {"w": 40.0}, "sources": {}, "hooks": {}}, step=4)
        assert creator.create_session().global_step == 4

    def test_init_fn_is_called_with_a_fresh_session(self) -> None:
        def init(session: th.Session) -> None:
            session.state["w"] = 5.0

        assert th.ChiefSessionCreator(counting_graph(), init_fn=init).create_session().run("w") == 5.0

    def test_init_fn_is_not_called_with_a_restored_session(self) -> None:
        calls: list[th.Session] = []
        th.ChiefSessionCreator(counting_graph(), init_fn=calls.append, saver=saver_at(3)).create_session()
        assert calls == []

    def test_its_sessions_are_the_chiefs(self) -> None:
        assert th.ChiefSessionCreator(counting_graph()).create_session().is_chief

    def test_its_sessions_know_the_folder(self, tmp_path: Path) -> None:
        creator = th.ChiefSessionCreator(counting_graph(), str(tmp_path), saver=MemorySaver())
        assert creator.create_session().checkpoint_dir == tmp_path

    def test_its_graph_is_the_default_one(self) -> None:
        with counting_graph().as_default() as graph:
            assert th.ChiefSessionCreator().graph is graph

    def test_a_checkpoint_that_does_not_fit_is_an_error_and_nothing_is_restored(self) -> None:
        saver = MemorySaver()
        saver.save({"global_step": 1, "variables": {"w": {"a": 1}}, "sources": {}, "hooks": {}}, step=1)
        with pytest.raises(th.CheckpointError, match="memory-0 does not fit this graph, nothing was restored"):
            th.ChiefSessionCreator(counting_graph(), saver=saver).create_session()

    def test_an_error_of_its_init_fn_leaves_it(self) -> None:
        def init(session: th.Session) -> None:
            raise ValueError("no data")

        with pytest.raises(ValueError, match="no data"):
            th.ChiefSessionCreator(counting_graph(), init_fn=init).create_session()


class Clock:
    """A time that passes in sleep only, and what happens at some of its seconds."""

    def __init__(self, at: dict[float, Callable[[], object]] | None = None) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self._at = at or {}

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        self._at.pop(self.now, lambda: None)()


def worker(clock: Clock, saver: MemorySaver, **options: Any) -> th.WorkerSessionCreator:
    return th.WorkerSessionCreator(counting_graph(), saver=saver, clock=clock, sleep=clock.sleep, **options)


class TestWorker:
    def test_it_restores_what_is_there_without_waiting(self) -> None:
        clock = Clock()
        session = worker(clock, saver_at(3)).create_session()
        assert (session.global_step, clock.pauses) == (3, [])

    def test_it_waits_for_a_checkpoint(self) -> None:
        saver = MemorySaver()
        clock = Clock(
            {3.0: lambda: saver.save({"global_step": 7, "variables": {}, "sources": {}, "hooks": {}}, step=7)}
        )
        session = worker(clock, saver).create_session()
        assert (session.global_step, clock.pauses) == (7, [1.0, 1.0, 1.0])

    def test_it_gives_up_when_the_time_is_over(self) -> None:
        clock = Clock()
        with pytest.raises(
            th.DeadlineExceededError, match="after 5 s: is the chief running, with the same checkpoint_d"
        ):
            worker(clock, MemorySaver(), max_wait_secs=5.0).create_session()
        assert clock.now <= 5.0

    def test_it_looks_as_often_as_it_is_told(self) -> None:
        clock = Clock()
        with pytest.raises(th.DeadlineExceededError):
            worker(clock, MemorySaver(), max_wait_secs=60.0, poll_secs=20.0).create_session()
        assert clock.pauses == [20.0, 20.0, 20.0]

    def test_it_waits_half_an_hour_by_default(self) -> None:
        clock = Clock()
        with pytest.raises(th.DeadlineExceededError, match="after 1800 s"):
            worker(clock, MemorySaver(), poll_secs=900.0).create_session()

    def test_its_sessions_are_not_the_chiefs(self) -> None:
        assert not worker(Clock(), saver_at(3)).create_session().is_chief

    def test_its_sessions_know_the_folder(self, tmp_path: Path) -> None:
        session = worker(Clock(), saver_at(3), checkpoint_dir=tmp_path).create_session()
        assert session.checkpoint_dir == tmp_path

    def test_it_needs_a_folder(self) -> None:
        with pytest.raises(ValueError, match="pass the chief's checkpoint_dir"):
            th.WorkerSessionCreator(counting_graph())

    def test_hooks_see_in_a_session_of_its_own_that_they_are_not_the_chiefs(self) -> None:
        seen: list[bool] = []
        hook = Recorder("a", after_create_session=lambda session, coord: seen.append(session.is_chief))
        th.MonitoredSession(worker(Clock(), saver_at(3)), [hook]).close()
        assert seen == [False]


class TestOwnCreators:
    def test_any_object_with_create_session_will_do(self) -> None:
        class Creator:
            def __init__(self, graph: th.Graph) -> None:
                self.graph = graph

            def create_session(self) -> th.Session:
                session = th.Session(self.graph)
                session.state["w"] = 3.0
                return session

        with th.MonitoredSession(Creator(counting_graph())) as session:
            assert session.run("w") == 3.0

    def test_one_without_a_graph_makes_its_session_on_that_of_the_monitored_one(self) -> None:
        class Creator:
            def create_session(self) -> th.Session:
                return th.Session()

        graph = counting_graph()
        with th.MonitoredSession(Creator(), graph=graph) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.graph is graph

    def test_a_session_on_another_graph_is_an_error(self) -> None:
        class Astray:
            def create_session(self) -> th.Session:
                return th.Session(counting_graph())

        with pytest.raises(ValueError, match="made a session on another graph"):
            th.MonitoredSession(Astray(), graph=counting_graph())

    def test_its_sessions_may_have_a_folder_for_summaries(self, tmp_path: Path) -> None:
        class Creator:
            def create_session(self) -> th.Session:
                session = th.Session()
                session.checkpoint_dir = tmp_path / "checkpoints"
                session.summary_dir = tmp_path / "summaries"
                return session

        with th.MonitoredSession(Creator(), graph=counting_graph()) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.summary_dir == tmp_path / "summaries"
