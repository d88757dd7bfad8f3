"""Fixtures of the tests that kill programs and let their calls fail."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .forks import Forks

PROBE = """
import ctypes, os, sys

error = ctypes.CDLL(sys.argv[1]).shim_watch(b"/", -1)
sys.exit(os.strerror(error) if error else 0)
"""


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stands between a program and the system."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("it needs Linux and a C compiler: cc or gcc")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-o", str(library), str(source)], check=True)
    done = subprocess.run([sys.executable, "-c", PROBE, library], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"it needs a system that takes a seccomp filter: {done.stderr.strip()}")
    return library


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs programs that are killed from outside."""
    if not sys.platform.startswith("linux"):
        pytest.skip("it needs Linux: programs are forked")
    with Forks() as server:
        yield server


@pytest.fixture(scope="session")
def watched(shim: Path) -> Iterator[Forks]:
    """Runs programs whose calls the shim watches."""
    with Forks(shim) as server:
        yield server
