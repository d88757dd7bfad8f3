"""The hooks that log values keep the contract of all hooks."""

import csv
import json
import math
from pathlib import Path
from typing import Any

from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_logging import CsvHook, JsonLinesHook, LoggingTensorHook


class TestEachRun(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "every_n_iter": 1, "formatter": str}
    values = {"loss": 1.0}


class TestSteps(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "every_n_iter": 2}
    values = {"loss": 1.0}
    counts_from_start = True


class TestSeconds(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": {"the loss": "loss"}, "every_n_secs": 2.0}
    values = {"loss": 1.0}
    counts_from_start = True


class TestEnd(HookContract):
    hook_class = LoggingTensorHook
    options = {"tensors": ["loss"], "at_end": True}
    values = {"loss": 1.0}


class TestJsonLines(HookContract):
    hook_class = JsonLinesHook
    options = {"tensors": ["loss"], "every_n_steps": 1}
    values = [{"loss": loss} for loss in (5.0, math.nan, 3.0, -math.inf, 2.0)]

    def written(self, folder: Path) -> list[Any]:
        lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return [{**json.loads(line), "time": None} for line in lines]


class TestAllThatIsSingle(TestJsonLines):
    """By default: the collection of the graph, or all that is published."""

    options = {"every_n_steps": 1}


class TestCsv(HookContract):
    hook_class = CsvHook
    options = {"tensors": {"the loss": "loss"}, "every_n_steps": 1}
    values = [{"loss": loss} for loss in (5.0, math.nan, 3.0, -math.inf, 2.0)]

    def written(self, folder: Path) -> list[Any]:
        with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
            return [{**row, "time": None} for row in csv.DictReader(file)]


class TestCsvByPeriod(HookContract):
    hook_class = CsvHook
    options = {"tensors": "loss", "every_n_steps": 2}
    values = {"loss": 1.0}
    counts_from_start = True


class TestJsonLinesBySeconds(HookContract):
    hook_class = JsonLinesHook
    values = {"loss": 1.0}
    counts_from_start = True

    def make_hook(self, folder: Path, clock: ManualClock) -> JsonLinesHook:
        return JsonLinesHook("loss", every_n_secs=2.0, path=folder / "deeper" / "loss.jsonl", clock=clock)
