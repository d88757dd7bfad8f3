"""SummarySaverHook keeps the contract of all hooks."""

from pathlib import Path

import pytest

from tenterhooks.summaries import SummaryWriter
from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_summary import Histogram, SummarySaverHook

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


class Lines(SummaryWriter):
    """A writer of text, which is the same whenever it is written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{tag} {value} {step}\n")

    def flush(self) -> None:
        """Each line is there at once."""

    def close(self) -> None:
        """There is nothing to close."""


class TestEachStep(HookContract):
    hook_class = SummarySaverHook
    options = {"save_steps": 1, "tensors": ["loss"]}
    values = [{"loss": loss} for loss in (5.0, 4.0, 3.0, 2.0)]

    def make_hook(self, folder: Path, clock: ManualClock) -> SummarySaverHook:
        return SummarySaverHook(**self.options, summary_writer=Lines(folder / "points.txt"), clock=clock)

    def written(self, folder: Path) -> str:
        return (folder / "points.txt").read_text(encoding="utf-8")


class TestSteps(HookContract):
    hook_class = SummarySaverHook
    options = {"save_steps": 2, "tensors": ["loss"]}
    values = {"loss": 1.0}
    counts_from_start = True


class TestSeconds(HookContract):
    hook_class = SummarySaverHook
    options = {"save_secs": 2.0, "tensors": {"the loss": "loss"}}
    values = {"loss": 1.0}
    counts_from_start = True


class TestOfAFolder(HookContract):
    hook_class = SummarySaverHook
    options = {"save_steps": 1, "tensors": ["loss", Histogram("weights")], "hparams": {"rate": 0.1}}
    values = [{"loss": loss, "weights": [loss, 1.0]} for loss in (5.0, 4.0, 3.0, 2.0, 1.0)]

    def make_hook(self, folder: Path, clock: ManualClock) -> SummarySaverHook:
        return SummarySaverHook(**self.options, output_dir=folder / "curves", clock=clock)

    def written(self, folder: Path) -> object:
        if not (folder / "curves").exists():
            return None
        guidance = dict.fromkeys(accumulator.DEFAULT_SIZE_GUIDANCE, 0)
        events = accumulator.EventAccumulator(str(folder / "curves"), size_guidance=guidance)
        events.Reload()
        tags = events.Tags()
        return (
            [(tag, [(point.step, point.value) for point in events.Scalars(tag)]) for tag in tags["scalars"]],
            [
                (tag, [(point.step, point.histogram_value.sum) for point in events.Histograms(tag)])
                for tag in tags["histograms"]
            ],
        )
