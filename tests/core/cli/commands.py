"""The command as a person calls it, in a process of its own, and what is installed for it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["GUARD", "Said", "said_in_process", "tenterhooks", "write"]

GUARD = '''
import tenterhooks as th


class GuardHook(th.SessionRunHook):
    """Guards.

    It never sleeps.

    Args:
        limit: What is too much.
        strict: Whether it is.
        names: What it looks at.
        inspect: What looks.
    """

    def __init__(self, limit: float = 1.0, *, strict: bool = False, names: list[str] | None = None, inspect=max):
        self.limit, self.strict, self.names = limit, strict, names

    def begin(self, graph):
        print("guard begins", self.limit, self.strict, self.names)

    @th.hookimpl(optionalhook=True)
    def before_save(self, session, step): ...
'''
"""The module `fake_guard`."""


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    error: str


def tenterhooks(
    *arguments: object,
    folder: Path | None = None,
    path: Path | None = None,
    variables: Mapping[str, str] | None = None,
    flags: tuple[str, ...] = (),
) -> Said:
    """Run `python -m tenterhooks`.

    Args:
        arguments: What stands behind it.
        folder: The working directory.
        path: A further folder in which Python finds modules, and what is installed.
        variables: Further variables of the environment.
        flags: Flags of Python itself.
    """
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **(variables or {})}
    if path is not None:
        environment["PYTHONPATH"] = os.fspath(path)
    line = [sys.executable, "-W", "error", *flags, "-m", "tenterhooks", *map(str, arguments)]
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
    return Said(done.returncode, done.stdout, done.stderr)


def said_in_process(capsys: pytest.CaptureFixture[str], *arguments: object) -> Said:
    """Run the command in this process, where that is enough."""
    from tenterhooks.cli import main

    capsys.readouterr()
    try:
        code = main([*map(str, arguments)])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    out, error = capsys.readouterr()
    return Said(code, out, error)


def write(place: Path, distribution: str, entry_points: Mapping[str, Mapping[str, str]], **modules: str) -> None:
    """Install a distribution into a folder for other processes.

    Args:
        place: The folder.
        distribution: Its name; its version is 2.5.
        entry_points: "module:attribute" by group and name.
        modules: The source of its modules, by name.
    """
    metadata = place / f"{distribution.replace('-', '_')}-2.5.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n", "utf-8")
    lines = []
    for group, entries in entry_points.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for name, source in modules.items():
        (place / f"{name}.py").write_text(source, "utf-8")
