"""The fixtures, in a process of pytest's own: they are there where they are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import tenterhooks as th
from tenterhooks.testing import HookContract


def test_fixtures(manual_clock, memory_saver, recorder, run_hooks, distributions):
    run_hooks([recorder], steps=2, clock=manual_clock, saver=memory_saver)
    recorder.assert_stages("begin", "after_create_session", "2 runs", "end")
    assert manual_clock() == 2.0
    assert [checkpoint.step for checkpoint in memory_saver.list()] == [0, 1, 2]
    distributions("some-hooks", {"some": "some_hooks:Hook"}, some_hooks="class Hook: pass")
    assert th.make_hook("some")


def test_they_are_gone():
    try:
        th.make_hook("some")
    except th.PluginError:
        return
    raise AssertionError("it is still there")
"""

CONTRACT = """
import tenterhooks as th
from tenterhooks.testing import HookContract


class Prints(th.SessionRunHook):
    def end(self, session):
        print("over")


class TestPrints(HookContract):
    hook_class = Prints
"""


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *options, "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_fixtures_are_there_with_the_plugin(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "-p", "tenterhooks.testing.pytest_plugin")
    assert "2 passed" in done.stdout, done.stdout


def test_the_fixtures_are_there_with_a_conftest(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tenterhooks.testing.pytest_plugin"]\n', encoding="utf-8")
    assert "2 passed" in run(tmp_path, TESTS).stdout


def test_nothing_is_there_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert "fixture 'manual_clock' not found" in run(tmp_path, TESTS).stdout


def test_pytest_collects_the_contract_of_a_subclass_alone(tmp_path: Path) -> None:
    done = run(tmp_path, CONTRACT)
    assert "AssertionError: in a graph session it writes to the standard output: 'over" in done.stdout
    assert "1 failed, 9 passed" in done.stdout


@pytest.mark.parametrize("module", ["pytest", "_pytest", "tenterhooks.testing"])
def test_neither_the_kit_nor_pytest_is_imported_unasked(module: str) -> None:
    imports = "tenterhooks" if module == "tenterhooks.testing" else "tenterhooks.testing"
    program = f"import sys, {imports}; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"
