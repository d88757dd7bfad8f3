"""Who is told of saves, and by which saver."""

from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, CheckpointSaverListener
from tenterhooks_estimator import RunConfig
from tenterhooks_estimator._saving import saver_for

from .models import few, make, steps


class Listener(CheckpointSaverListener):
    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[str] = []
        self._stop_at = stop_at

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: th.Session, step: int) -> None:
        self.calls.append(f"before {step}")

    def after_save(self, session: th.Session, step: int) -> bool:
        self.calls.append(f"after {step}")
        return step == self._stop_at

    def end(self, session: th.Session, step: int) -> None:
        self.calls.append(f"end {step}")

    @property
    def saves(self) -> list[str]:
        return [call for call in self.calls if call.startswith("after")]


def test_listeners_are_told_of_each_save(tmp_path: Path) -> None:
    listeners = [Listener(), Listener()]
    config = RunConfig(save_checkpoints_steps=10)
    make(tmp_path, config=config).train(few(99), max_steps=26, saving_listeners=iter(listeners))
    for listener in listeners:
        assert listener.saves == ["after 0", "after 10", "after 20", "after 26"]
        assert listener.calls[:3] == ["begin", "before 0", "after 0"]
        assert listener.calls[-1] == "end 26"


def test_without_a_period_it_is_the_savers(tmp_path: Path) -> None:
    listener = Listener()
    make(tmp_path).train(few(3), saving_listeners=[listener])
    assert listener.saves == ["after 0", "after 3"]
    assert steps(tmp_path) == [0, 3]


def test_the_saver_keeps_as_many_as_the_configuration_says(tmp_path: Path) -> None:
    for maximum, kept in [(2, [4, 5]), (0, [0, 1, 2, 3, 4, 5]), (None, [0, 1, 2, 3, 4, 5])]:
        folder = tmp_path / str(maximum)
        config = RunConfig(save_checkpoints_steps=1, keep_checkpoint_max=maximum)
        make(folder, config=config).train(few(5), saving_listeners=[Listener()])
        assert steps(folder) == kept


def test_a_listener_may_ask_for_a_stop(tmp_path: Path) -> None:
    make(tmp_path, config=RunConfig(save_checkpoints_steps=2)).train(few(99), saving_listeners=[Listener(stop_at=4)])
    assert steps(tmp_path)[-1] == 4


def test_a_saver_of_the_programs_own_has_its_own_listeners(tmp_path: Path) -> None:
    listener = Listener()
    own = CheckpointSaverHook(save_steps=2, listeners=[listener])
    make(tmp_path).train(few(3), hooks=[own])
    assert listener.saves == ["after 0", "after 2", "after 3"]


@pytest.mark.parametrize("where", ["hooks", "training_hooks", "training_chief_hooks"])
def test_listeners_beside_a_saver_are_an_error(tmp_path: Path, where: str) -> None:
    own = [CheckpointSaverHook(save_steps=2)]
    params: dict[str, Any] = {"training_hooks": {"hooks": own}, "training_chief_hooks": {"chief_hooks": own}}
    with pytest.raises(ValueError, match=r"the hooks have one already, <.*>: give them to that one, as listeners="):
        make(tmp_path, **params.get(where, {})).train(
            few(3), hooks=own if where == "hooks" else [], saving_listeners=[Listener()]
        )


def test_a_saver_by_its_short_name_is_one_too() -> None:
    with pytest.raises(ValueError, match="the hooks have one already, 'checkpoint'"):
        saver_for([Listener()], ["nan", "checkpoint"], RunConfig())


def test_listeners_where_nothing_is_saved_are_an_error(tmp_path: Path) -> None:
    config = RunConfig(save_checkpoints_secs=0)
    with pytest.raises(ValueError, match="the RunConfig switches saving off: nothing would tell them"):
        make(tmp_path, config=config).train(few(3), saving_listeners=[Listener()])


def test_what_is_no_listener_is_an_error(tmp_path: Path) -> None:
    other: Any = object()
    with pytest.raises(TypeError, match=r"<object .*> is no saving listener: it has the methods begin, before_save"):
        make(tmp_path).train(few(3), saving_listeners=[other])


def test_where_saving_is_switched_off_nothing_is_saved(tmp_path: Path) -> None:
    make(tmp_path, config=RunConfig(save_checkpoints_secs=0)).train(few(3))
    assert steps(tmp_path) == []


def test_another_process_than_the_chief_saves_nothing(tmp_path: Path) -> None:
    chief, listener = make(tmp_path), Listener()
    chief.train(few(3))
    make(tmp_path, config=RunConfig(is_chief=False)).train(few(6), saving_listeners=[listener])
    assert listener.calls == []
    assert steps(tmp_path) == [0, 3]
