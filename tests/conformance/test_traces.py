import json
import os
from pathlib import Path

import pytest

from . import form
from .hooks import ERRORS
from .model import NODES
from .play import play

COPY = Path(__file__).with_name("traces.jsonl")
# Another file of the same form can be played in place of the copy.
TRACES = Path(os.environ.get("TENTERHOOKS_TRACES") or COPY)


def read(path: Path) -> list[form.Scenario]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


SCENARIOS = read(TRACES)


def as_text(value: object) -> str:
    """To the letter: unlike in Python, 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("scenario", [pytest.param(scenario, id=scenario["id"]) for scenario in SCENARIOS])
def test_scenario_ends_as_expected(scenario: form.Scenario, tmp_path: Path) -> None:
    expected = scenario["expected"]

    played = play(scenario, tmp_path)

    # Part by part first: these show the first event that differs.
    for phase, expected_phase in zip(played["phases"], expected["phases"], strict=True):
        assert phase["events"] == expected_phase["events"]
        assert phase["outcome"] == expected_phase["outcome"]
    assert played == expected
    assert as_text(played) == as_text(expected)


def test_copy_has_all_scenarios() -> None:
    assert len({scenario["id"] for scenario in read(COPY)}) == 400


def test_nothing_in_a_scenario_is_unknown_to_the_runner() -> None:
    found = {
        scenario["id"]: problems
        for scenario in SCENARIOS
        if (problems := form.unknown(scenario, nodes=NODES, errors=frozenset(ERRORS)))
    }

    assert found == {}
