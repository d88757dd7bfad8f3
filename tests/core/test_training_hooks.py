"""The hooks that arguments of `MonitoredTrainingSession` ask for, where they are named outside of code too."""

from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.hooks_report import HooksReport

from .configured import Project, made, training_session

SAVER = 'hooks = ["checkpoint"]\n'


def savers(**arguments: Any) -> list[dict[str, Any]]:
    """With which options a session into a folder made its savers."""
    return [options for name, options in made(checkpoint_dir="folder", **arguments) if name.endswith("Saver")]


class TestSaver:
    def test_one_that_is_named_saves_in_place_of_the_default_one(self, project: Project) -> None:
        project.file(SAVER)
        assert savers() == [{"save_secs": 600.0, "max_to_keep": 5}]

    @pytest.mark.parametrize("named", ["", SAVER])
    def test_it_takes_a_period_that_code_does_not_give(self, project: Project, named: str) -> None:
        project.file(f'{named}[checkpoint]\nsave_steps = 10\nbest = "loss"')
        assert savers() == [{"save_steps": 10, "max_to_keep": 5, "best": "loss"}]

    @pytest.mark.parametrize("named", ["", SAVER])
    def test_the_arguments_of_code_go_before_the_options_of_others(self, project: Project, named: str) -> None:
        project.file(f'{named}[checkpoint]\nsave_steps = 10\nsave_secs = 5\nmax_to_keep = 1\nbest = "loss"')
        assert savers(save_checkpoint_steps=3, max_to_keep=2) == [{"save_steps": 3, "max_to_keep": 2, "best": "loss"}]
        assert savers(save_checkpoint_secs=3) == [{"save_secs": 3.0, "max_to_keep": 1, "best": "loss"}]

    def test_its_folder_is_that_of_the_session(self, project: Project) -> None:
        project.file(f'{SAVER}[checkpoint]\ncheckpoint_dir = "elsewhere"')
        with training_session(checkpoint_dir="folder") as session:
            (row,) = [row for row in session.hooks_report if row.name == "checkpoint"]
        assert row.options["checkpoint_dir"] == "folder"
        assert row.note == "checkpoint_dir of tenterhooks.toml:3 has no effect, since code decides it"

    @pytest.mark.parametrize(
        ("period", "value"), [("save_checkpoint_secs", None), ("save_checkpoint_secs", 0), ("save_checkpoint_steps", 0)]
    )
    def test_code_can_switch_it_off(self, project: Project, period: str, value: int | None) -> None:
        project.file(SAVER)
        off: dict[str, Any] = {period: value}
        assert savers(**off) == []
        with training_session(checkpoint_dir="folder", **off) as session:
            (row,) = [row for row in session.hooks_report if row.name == "checkpoint"]
        assert row.state == "disabled"
        assert row.note == f"switched off by {period} in code"

    def test_a_period_that_code_has_not_decided_switches_it_on_again(self, project: Project) -> None:
        project.file(f"{SAVER}[checkpoint]\nsave_steps = 10\nsave_secs = 5")
        assert savers(save_checkpoint_secs=None) == [{"save_steps": 10, "max_to_keep": 5}]
        assert savers(save_checkpoint_steps=0) == [{"save_secs": 5.0, "max_to_keep": 5}]

    def test_beside_one_of_code_in_the_same_folder_it_does_not_join(self, project: Project) -> None:
        project.file('hooks = ["checkpoint", "other-saver"]\n[checkpoint]\nsave_steps = 10')
        saver = th.make_hook("other-saver")
        with training_session(checkpoint_dir="folder", hooks=[saver]) as session:
            rows = {row.name: (row.state, row.note) for row in session.hooks_report}
        assert rows["other-saver"] == ("active", "named by tenterhooks.toml:1 too")
        assert rows["checkpoint"] == ("disabled", "a hook that code gives saves into the folder already")

    def test_nor_does_another_saver(self, project: Project) -> None:
        project.file('hooks = ["other-saver"]')
        with training_session(checkpoint_dir="folder", hooks=[th.make_hook("checkpoint")]) as session:
            rows = {row.name: row.state for row in session.hooks_report}
        assert (rows["checkpoint"], rows["other-saver"]) == ("active", "disabled")

    def test_another_saver_that_is_named_takes_the_place_of_the_default_one(self, project: Project) -> None:
        project.file('hooks = ["other-saver"]')
        assert savers() == [{}]

    def test_but_not_of_one_that_code_asks_for(self, project: Project) -> None:
        project.file('hooks = ["other-saver"]')
        with training_session(checkpoint_dir="folder", save_checkpoint_steps=1) as session:
            rows = {row.name: (row.state, row.note) for row in session.hooks_report}
        assert rows["checkpoint"][0] == "active"
        assert rows["other-saver"] == ("disabled", "a hook that code gives saves into the folder already")

    def test_one_with_a_folder_of_its_own_saves_beside_it(self, project: Project) -> None:
        project.file('hooks = ["other-saver"]\n[other-saver]\ncheckpoint_dir = "elsewhere"')
        assert len(savers()) == len(savers(save_checkpoint_steps=1)) == 2

    def test_one_that_code_names_with_a_folder_elsewhere_saves_beside_it(self, project: Project) -> None:
        project.file('[checkpoint]\ncheckpoint_dir = "elsewhere"')
        assert len(savers(hooks=["checkpoint"])) == 2

    @pytest.mark.parametrize("named", ["", SAVER])
    def test_switched_off_by_name_there_is_none(self, project: Project, named: str) -> None:
        project.file(f'{named}disable = ["checkpoint"]')
        assert savers(save_checkpoint_steps=1) == savers() == []
        with training_session(checkpoint_dir="folder") as session:
            assert [row.state for row in session.hooks_report if row.name == "checkpoint"] == ["disabled"]

    def test_without_a_folder_of_the_session_it_needs_one_of_its_own(self, project: Project) -> None:
        project.file(f'{SAVER}[checkpoint]\ncheckpoint_dir = "elsewhere"\nmax_to_keep = 1')
        assert made(max_to_keep=3) == [("CheckpointSaver", {"max_to_keep": 3})]
        assert made() == [("CheckpointSaver", {"max_to_keep": 1})]


class TestWriters:
    def test_named_ones_take_their_options(self, project: Project) -> None:
        project.file('hooks = ["summary", "step-counter"]\nsummary.save_secs = 5\nstep-counter.every_n_steps = 7')
        assert made() == [("Summary", {"save_secs": 5.0}), ("StepCounter", {"every_n_steps": 7})]

    def test_periods_of_code_go_before_all_that_are_given_elsewhere(self, project: Project) -> None:
        project.file(
            'hooks = ["summary", "step-counter"]\nsummary.save_secs = 5\nstep-counter.every_n_secs = 7\n'
            'summary.tensors = ["loss"]'
        )
        assert made(save_summaries_steps=1, log_step_count_steps=2) == [
            ("StepCounter", {"every_n_steps": 2}),
            ("Summary", {"save_steps": 1, "tensors": ["loss"]}),
        ]

    def test_periods_of_the_saver_are_none_of_theirs(self, project: Project) -> None:
        project.file('hooks = ["summary"]\nsummary.save_secs = 5')
        assert made(checkpoint_dir="folder", save_checkpoint_secs=None) == [("Summary", {"save_secs": 5.0})]

    def test_a_period_of_0_in_code_switches_them_off(self, project: Project) -> None:
        project.file('hooks = ["summary", "step-counter"]\nsummary.save_secs = 5')
        assert made(save_summaries_steps=0, log_step_count_steps=0) == []
        with training_session(save_summaries_secs=0, log_step_count_steps=0) as session:
            rows = {row.name: row.note for row in session.hooks_report if row.state == "disabled"}
        assert rows == {
            "summary": "switched off by save_summaries_steps=None and save_summaries_secs=0 in code",
            "step-counter": "switched off by log_step_count_steps=0 in code",
        }


class TestWorkers:
    def worker(self, project: Project, **arguments: Any) -> HooksReport:
        """The report of a worker that waits for its chief in vain."""
        with pytest.raises(th.DeadlineExceededError) as caught:
            training_session(is_chief=False, checkpoint_dir="folder", max_wait_secs=0, **arguments)
        report: HooksReport = getattr(caught.value, "hooks_report")  # noqa: B009 - It is not declared.
        return report

    def test_they_get_what_is_named_but_what_saves_and_writes(self, project: Project) -> None:
        project.file('hooks = ["guard", "checkpoint", "summary", "step-counter", "other-saver"]\ndisable = ["needy"]')
        report = self.worker(project)
        rows = {row.name: (row.state, row.note) for row in report if row.origin != "installed"}
        assert rows == {
            "guard": ("active", ""),
            "checkpoint": ("disabled", "only the chief gets it"),
            "summary": ("disabled", "only the chief gets it"),
            "step-counter": ("disabled", "only the chief gets it"),
            "other-saver": ("disabled", "only the chief gets it"),
        }

    def test_they_get_what_code_gives(self, project: Project) -> None:
        report = self.worker(project, hooks=["summary"], chief_only_hooks=["guard"])
        assert [row.name for row in report if row.state == "active"] == ["summary"]


def test_paths_of_one_folder_are_the_same_however_they_are_written(project: Project, tmp_path: Path) -> None:
    project.file('hooks = ["other-saver"]\n[other-saver]\ncheckpoint_dir = "a/../folder"')
    assert len(savers()) == 1
