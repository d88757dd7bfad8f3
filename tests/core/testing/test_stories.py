"""What is told of a hook in one session, and how two tales differ."""

from dataclasses import replace
from pathlib import Path

import pytest

from tenterhooks.testing import ManualClock, Subject
from tenterhooks.testing.sessions import Loop
from tenterhooks.testing.stories import Decisions, Story, Teller

from .hooks import VALUES, WatchLoss

ONE = Decisions(
    step=3,
    asked=[{"fetches": "loss", "feeds": {"rate": 0.5}, "options": {"trace": True}}],
    computed=("loss",),
    fed={"rate": 0.5},
    stop=("enough",),
    objected=("not now",),
    requested=True,
    logged=("loss 1.0",),
)


def told(folder: Path, loop: Loop, until: int | None = None) -> Story:
    subject = Subject(factory=WatchLoss, values=VALUES)
    return Teller(subject, WatchLoss(), loop, folder, ManualClock()).tell(until)


@pytest.mark.parametrize("loop", ["graph", "own"])
def test_a_session_is_told_step_by_step(loop: Loop, tmp_path: Path) -> None:
    story = told(tmp_path, loop)
    assert [decisions.step for decisions in story.decisions] == [1, 2, 3, 4]
    assert {str(decisions.asked) for decisions in story.decisions} == {
        "[{'fetches': 'loss', 'feeds': {}, 'options': {}}]"
    }
    assert [decisions.computed for decisions in story.decisions] == [("loss",)] * 4
    assert [decisions.stop for decisions in story.decisions] == [(), (), (), ("the best loss is still 4.0",)]
    assert story.decisions[0].logged == ("the best loss is 5.0, 0 steps old",)
    assert (story.stopped_at_once, story.error) == (False, None)


@pytest.mark.parametrize("loop", ["graph", "own"])
def test_one_that_is_killed_is_told_until_then(loop: Loop, tmp_path: Path) -> None:
    assert [decisions.step for decisions in told(tmp_path, loop, 2).decisions] == [1, 2]


def test_the_folder_is_no_part_of_a_text(tmp_path: Path) -> None:
    class SaysWhere(WatchLoss):
        name = f"saves to {tmp_path}/file-7.txt, and goes on"

        def begin(self, graph: object) -> None: ...

        def after_run(self, run_context: object, run_values: object) -> None:
            run_context.request_stop(self.name)  # type: ignore[attr-defined]

    teller = Teller(Subject(factory=SaysWhere, values=VALUES), SaysWhere(), "graph", tmp_path)
    assert teller.tell().decisions[0].stop == ("saves to <folder>, and goes on",)


def test_the_same_differs_in_nothing() -> None:
    assert ONE.differences(replace(ONE)) == []
    assert Story(decisions=[ONE]).differences(Story(decisions=[replace(ONE)])) == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"asked": []}, "asked: "),
        ({"computed": ()}, "computed: (), not ('loss',)"),
        ({"fed": {}}, "fed: {}, not {'rate': 0.5}"),
        ({"stop": ()}, "stop: (), not ('enough',)"),
        ({"objected": ()}, "objected: (), not ('not now',)"),
        ({"requested": False}, "requested: False, not True"),
        ({"logged": ()}, "logged: (), not ('loss 1.0',)"),
    ],
)
def test_each_decision_is_compared(change: dict[str, object], difference: str) -> None:
    other = replace(ONE, **change)  # type: ignore[arg-type]
    (found,) = other.differences(ONE)
    assert found.startswith(difference)
    assert Story(decisions=[other]).differences(Story(decisions=[ONE])) == [f"at global step 3, {found}"]


@pytest.mark.parametrize(
    ("story", "difference"),
    [
        (Story(decisions=[ONE]), "1 steps, not 0"),
        (Story(stopped_at_once=True), "it asks for a stop when the session is created"),
        (Story(at_end=(("loss",), ())), "at the end: (('loss',), ()), not ()"),
        (Story(written="a"), "written: 'a', not None"),
        (Story(error=ValueError("here")), "it ends with ValueError('here'), not cleanly"),
    ],
)
def test_the_whole_is_compared(story: Story, difference: str) -> None:
    assert story.differences(Story()) == [difference]


def test_of_an_outline_values_and_texts_are_no_part() -> None:
    other = replace(
        ONE,
        step=9,
        asked=[{"fetches": "loss", "feeds": {"rate": 0.1}, "options": {"trace": False}}],
        fed={"rate": 0.1},
        stop=("other",),
        objected=("other",),
        logged=("loss 2.0",),
    )
    assert ONE.in_outline() == other.in_outline()
    assert ONE.in_outline() != replace(other, logged=()).in_outline()
    assert ONE.in_outline() != replace(other, asked=[]).in_outline()
