"""RunConfig: which periods are given."""

from typing import Any

import pytest

from tenterhooks_estimator import RunConfig


def test_the_periods_of_saving_are_those_that_are_given() -> None:
    assert RunConfig().save_periods == {}
    assert RunConfig(save_checkpoints_steps=5).save_periods == {"save_checkpoint_steps": 5}
    assert RunConfig(save_checkpoints_steps=5, save_checkpoints_secs=0).save_periods == {
        "save_checkpoint_steps": 5,
        "save_checkpoint_secs": 0,
    }


@pytest.mark.parametrize(
    "name",
    [
        "save_checkpoints_steps",
        "save_checkpoints_secs",
        "keep_checkpoint_max",
        "save_summary_steps",
        "log_step_count_steps",
    ],
)
def test_a_number_is_0_or_more(name: str) -> None:
    given: dict[str, Any] = {name: -1}
    with pytest.raises(ValueError, match=f"{name} is 0 or more, not -1"):
        RunConfig(**given)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("save_checkpoints_steps", 2.5, r"save_checkpoints_steps is a whole number, not 2\.5 of type float"),
        ("keep_checkpoint_max", "all", "keep_checkpoint_max is a whole number, not 'all' of type str"),
        ("save_checkpoints_secs", "600", "save_checkpoints_secs is a number of seconds, not '600' of type str"),
    ],
)
def test_what_is_no_number_is_named(name: str, value: Any, message: str) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(TypeError, match=message):
        RunConfig(**given)


def test_it_is_not_changed() -> None:
    config: Any = RunConfig()
    with pytest.raises(AttributeError):
        config.seed = 1


def test_an_empty_text_is_no_folder() -> None:
    for configured, given in (("", None), (None, "")):
        with pytest.raises(ValueError, match="model_dir is an empty text"):
            RunConfig(model_dir=configured).folder(given)
