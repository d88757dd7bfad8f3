"""SummarySaverHook keeps the contract of all hooks."""

from pathlib import Path

from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_summary import SummarySaverHook


class Lines:
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
