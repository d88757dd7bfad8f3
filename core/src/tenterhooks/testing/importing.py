"""What the import of a module does, seen in a fresh process."""

import functools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Import", "NotCheckedError", "import_in_a_fresh_process"]

_PROGRAM = """
import importlib, json, os, sys
from tenterhooks.testing.process import ProcessState
module, report = sys.argv[1:]
modules, before = set(sys.modules), ProcessState.now()
missing = error = None
try:
    importlib.import_module(module)
except ModuleNotFoundError as raised:
    # Its own name, or that of a package that it lies in.
    missing = raised.name is not None and (module + ".").startswith(raised.name + ".")
    error = f"{type(raised).__name__}: {raised}"
except BaseException as raised:
    error = f"{type(raised).__name__}: {raised}"
after = ProcessState.now()
new = sorted({name.partition(".")[0] for name in set(sys.modules) - modules})
found = {"modules": new, "changes": before.changes(after), "missing": bool(missing), "error": error}
with open(report, "w", encoding="utf-8") as file:
    json.dump(found, file)
"""


class NotCheckedError(unittest.SkipTest):
    """A rule cannot be checked here; the message says why. Test runners take it for a test that is skipped."""


@dataclass(frozen=True, slots=True)
class Import:
    """What an import did.

    Attributes:
        packages: The names of the packages and modules that it brought, without what lies in them.
        changes: What it left behind in the process.
        output: What it wrote to the standard output.
        errors: What it wrote to the standard error.
        files: What it wrote into the working directory.
    """

    packages: frozenset[str]
    changes: tuple[str, ...]
    output: str
    errors: str
    files: tuple[str, ...]


def import_in_a_fresh_process(module: str) -> Import:
    """Import a module in a process of its own, in an empty working directory.

    What this package itself imports, NumPy and pluggy among it, is there before.

    Args:
        module: Its name.

    Raises:
        NotCheckedError: It is not found there by its name: it is the program itself, or a test.
        AssertionError: It cannot be imported.
    """
    if module == "__main__":
        raise NotCheckedError("the hook is defined in the program itself, so there is no module to import: give it one")
    return _import(module, os.pathsep.join(os.path.abspath(place) for place in sys.path))  # noqa: PTH100 - "" too.


@functools.cache
def _import(module: str, path: str) -> Import:
    with tempfile.TemporaryDirectory() as folder:
        report, place = Path(folder, "report.json"), Path(folder, "here")
        place.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, module, str(report)],
            cwd=place,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=300,
            check=False,
        )
        if not report.exists():
            raise AssertionError(
                f"the import of {module} ends the process, with status {done.returncode}: a module defines things and "
                f"does nothing else\n{done.stderr}"
            )
        found = json.loads(report.read_text(encoding="utf-8"))
        files = tuple(sorted(path.relative_to(place).as_posix() for path in place.rglob("*")))
    if found["missing"]:
        raise NotCheckedError(f"{module} is found by its name in no other process ({found['error']}): install it")
    if found["error"] is not None:
        raise AssertionError(f"{module} cannot be imported in a fresh process: {found['error']}")
    return Import(frozenset(found["modules"]), tuple(found["changes"]), done.stdout, done.stderr, files)
