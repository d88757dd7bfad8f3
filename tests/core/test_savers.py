"""What a saver is, and how the installed one is found."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.savers import default_saver
from tenterhooks.testing import FakeDistributions as Install

from .recorders import MemorySaver, SaveEveryStep, counting_graph

SAVERS = """
made = []

def make(directory, *, max_to_keep=5):
    made.append((directory, max_to_keep))
    return Saver()

class Saver:
    def restore(self, checkpoint=None):
        state = {"global_step": 4, "variables": {"w": 40.0}, "sources": {}, "hooks": {}}
        from tenterhooks import Checkpoint
        from pathlib import Path
        return Checkpoint(Path("fake"), 4, 0), state
"""


@pytest.fixture
def made(install: Install) -> list[tuple[Any, Any]]:
    """What the savers that the default one's factory made were made with."""
    install("tenterhooks-checkpoint", {"default": "fake_saver:make"}, group="tenterhooks.savers", fake_saver=SAVERS)
    default_saver("warm-up")
    calls: list[tuple[Any, Any]] = sys.modules["fake_saver"].made
    calls.clear()
    return calls


class TestCheckpoint:
    checkpoint = th.Checkpoint(Path("runs/a/7"), step=7, sequence=2)

    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            self.checkpoint.step = 8  # type: ignore[misc]

    def test_it_has_a_folder_a_step_and_a_place_in_the_order(self) -> None:
        assert [field.name for field in dataclasses.fields(self.checkpoint)] == ["path", "step", "sequence", "metrics"]

    def test_two_of_the_same_are_equal(self) -> None:
        assert self.checkpoint == th.Checkpoint(Path("runs/a/7"), 7, 2)


class TestProtocol:
    def test_a_saver_in_memory_is_one(self) -> None:
        saver: th.Saver = MemorySaver()  # mypy checks it.
        assert saver.latest() is None

    def test_an_older_checkpoint_can_be_asked_for(self) -> None:
        saver = MemorySaver()
        creator = th.ChiefSessionCreator(counting_graph(), saver=saver)
        with th.MonitoredSession(creator, [SaveEveryStep(saver)]) as session:
            session.run("train")
            session.run("train")
        found = saver.restore(saver.list()[0])
        assert found is not None
        assert found[1]["global_step"] == 1


class TestDefaultSaver:
    def test_it_is_made_by_the_installed_factory_for_the_folder(self, made: list[tuple[Any, Any]]) -> None:
        default_saver("runs/a")
        assert made == [("runs/a", 5)]

    def test_it_is_told_how_many_to_keep(self, made: list[tuple[Any, Any]]) -> None:
        default_saver("runs/a", max_to_keep=None)
        assert made == [("runs/a", None)]

    def test_without_one_the_error_says_what_brings_it(self, install: Install) -> None:
        install("tenterhooks-checkpoint", {})  # In place of the one that may be installed.
        with pytest.raises(
            th.PluginError, match=r"to save and restore checkpoints .*pip install tenterhooks-checkpoint"
        ):
            default_saver("runs/a")

    def test_a_chief_restores_with_it(self, made: list[tuple[Any, Any]]) -> None:
        session = th.ChiefSessionCreator(counting_graph(), "runs/a").create_session()
        assert (session.global_step, made) == (4, [(Path("runs/a"), 5)])

    def test_a_worker_restores_with_it(self, made: list[tuple[Any, Any]]) -> None:
        session = th.WorkerSessionCreator(counting_graph(), "runs/a").create_session()
        assert (session.global_step, made) == (4, [(Path("runs/a"), 5)])

    def test_a_singular_session_with_a_folder_restores_with_it(self, made: list[tuple[Any, Any]]) -> None:
        with th.SingularMonitoredSession(graph=counting_graph(), checkpoint_dir="runs/a") as session:
            assert session.global_step == 4

    def test_it_is_not_looked_for_without_a_folder(self, install: Install) -> None:
        install("tenterhooks-checkpoint", {})
        assert th.ChiefSessionCreator(counting_graph()).create_session().global_step == 0

    def test_a_folder_without_one_is_an_error(self, install: Install) -> None:
        install("tenterhooks-checkpoint", {})
        with pytest.raises(th.PluginError, match="pip install tenterhooks-checkpoint"):
            th.MonitoredSession(th.ChiefSessionCreator(counting_graph(), "runs/a"))
