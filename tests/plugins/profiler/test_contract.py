"""ProfilerHook keeps the contract of all hooks."""

import json
from pathlib import Path
from typing import Any

from tenterhooks.testing import HookContract
from tenterhooks_profiler import ProfilerHook


class Contract(HookContract):
    hook_class = ProfilerHook
    counts_from_start = True

    def written(self, folder: Path) -> list[Any]:
        """The steps that were traced, and what of each."""
        return sorted(
            (path.name, [event["name"] for event in json.loads(path.read_text())["traceEvents"]])
            for path in folder.glob("timeline-*.json")
        )


class TestTable(Contract): ...


class TestSteps(Contract):
    options = {"save_steps": 2}


class TestSeconds(Contract):
    options = {"save_secs": 2.0}
