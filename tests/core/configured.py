"""What tests of the configuration share: a plugin with options of many types, and a folder with a file in it."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.testing import FakeDistributions as Install

from .recorders import counting_graph

__all__ = ["Project", "install_fakes", "made", "training_session"]

FAKES = """
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tenterhooks as th

made = []  # (hook, options that are not the defaults)


class Noting(th.SessionRunHook):
    def __init__(self, **options):
        made.append((type(self).__name__, {name: value for name, value in options.items() if value is not None}))

    def end(self, session): ...


@dataclass
class Schedule:
    first: int
    factor: float = 2.0


class Guard(Noting):
    '''Guards.

    Args:
        limit: The most that may be.
    '''

    def __init__(
        self,
        *,
        limit: float | None = None,
        steps: int | None = None,
        strict: bool | None = None,
        mode: Literal["min", "max"] | None = None,
        names: list[str] | None = None,
        weights: dict[str, float] | None = None,
        schedule: Schedule | None = None,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        if limit is not None and limit < 0:
            raise ValueError(f"limit is 0 or more, not {limit}")
        super().__init__(limit=limit, steps=steps, strict=strict, mode=mode, names=names, weights=weights, path=path)
        if schedule is not None:
            made[-1][1]["schedule"] = (schedule.first, schedule.factor)


class Needy(Noting):
    def __init__(self, path: str, *, every: int):
        super().__init__(path=path, every=every)


class Asking(Noting):
    def __init__(self, judge: Callable[[], float], *, every: int):
        super().__init__(judge=judge, every=every)


class OtherSaver(Noting):
    saves_state = True

    def __init__(self, checkpoint_dir: str | None = None):
        self.checkpoint_dir = checkpoint_dir
        super().__init__(checkpoint_dir=checkpoint_dir)


class CheckpointSaver(Noting):
    saves_state = True

    def __init__(
        self,
        checkpoint_dir: str | Path | None = None,
        *,
        save_secs: float | None = None,
        save_steps: int | None = None,
        max_to_keep: int | None = 5,
        best: str | None = None,
    ):
        self.checkpoint_dir = checkpoint_dir
        super().__init__(save_secs=save_secs, save_steps=save_steps, max_to_keep=max_to_keep, best=best)


class Summary(Noting):
    def __init__(
        self, *, save_steps: int | None = None, save_secs: float | None = None, tensors: list[str] | None = None
    ):
        super().__init__(save_steps=save_steps, save_secs=save_secs, tensors=tensors)


class StepCounter(Noting):
    def __init__(self, *, every_n_steps: int | None = None, every_n_secs: float | None = None):
        super().__init__(every_n_steps=every_n_steps, every_n_secs=every_n_secs)


class Saver:
    def __init__(self, directory, *, max_to_keep=5): ...

    def restore(self, checkpoint=None):
        return None


class Failing(th.SessionRunHook):
    def begin(self, graph):
        raise OSError("no begin")


class Misspelt(th.SessionRunHook):
    def before_run(self, ctx): ...

    def end(self, sess): ...


def broken(**options: int):
    raise ValueError("always broken")


def ending():
    raise SystemExit(3)


seven = 7
"""
HOOKS = {
    "guard": "Guard",
    "needy": "Needy",
    "asking": "Asking",
    "other-saver": "OtherSaver",
    "checkpoint": "CheckpointSaver",
    "summary": "Summary",
    "step-counter": "StepCounter",
    "failing": "Failing",
    "broken": "broken",
    "ending": "ending",
    "misspelt": "Misspelt",
    "seven": "seven",
}


def install_fakes(install: Install) -> None:
    """Install plugins, in place of those of the same names that may be installed."""
    for name, attribute in HOOKS.items():
        install(
            f"tenterhooks-{name}",
            {name: f"fake_hooks:{attribute}"},
            more_groups={"tenterhooks.savers": {"default": "fake_hooks:Saver"}} if name == "checkpoint" else None,
            version="1.5",
            fake_hooks=FAKES,
        )


def training_session(**arguments: Any) -> th.MonitoredSession:
    """A monitored training session on a graph that counts; what the hooks were made with is noted anew."""
    if "fake_hooks" in sys.modules:
        sys.modules["fake_hooks"].made.clear()
    return th.MonitoredTrainingSession(graph=counting_graph(), **arguments)


def made(**arguments: Any) -> list[tuple[str, dict[str, Any]]]:
    """The hooks that a training session made, and with which options, which are those that are not None."""
    training_session(**arguments).close()
    found: list[tuple[str, dict[str, Any]]] = sys.modules["fake_hooks"].made if "fake_hooks" in sys.modules else []
    return found


class Project:
    """The working directory of a test, in which files are written; no variable of the environment is set."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        folder.mkdir()
        monkeypatch.chdir(folder)

    def file(self, text: str, name: str = "tenterhooks.toml") -> None:
        """Write a file."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def environment(self, variables: Mapping[str, str]) -> None:
        """Set variables that begin with TENTERHOOKS_."""
        for name, value in variables.items():
            self._monkeypatch.setenv(f"TENTERHOOKS_{name}", value)
