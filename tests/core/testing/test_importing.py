"""What an import does, seen in a fresh process."""

from pathlib import Path

import pytest

from tenterhooks.testing import FakeDistributions, NotCheckedError
from tenterhooks.testing.importing import Import, import_in_a_fresh_process


def imported(source: str, folder: Path) -> Import:
    with FakeDistributions(folder) as install:
        install("some-hooks", {}, some_hooks=source)
        return import_in_a_fresh_process("some_hooks")


def test_a_module_that_defines_things_does_nothing(tmp_path: Path) -> None:
    found = imported("import tenterhooks as th\n\n\nclass Hook(th.SessionRunHook): ...\n", tmp_path)
    assert found == Import(frozenset({"some_hooks"}), (), "", "", ())


def test_what_it_imports_is_seen(tmp_path: Path) -> None:
    assert imported("import wave", tmp_path).packages >= {"wave", "some_hooks"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True, name='mine').start()",
            "'mine'",
        ),
        ("import logging\nlogging.basicConfig()", "handlers of the logger 'root'"),
        ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)", "handler of SIGINT"),
        ("import os\nos.environ['SET_BY_IMPORT'] = '1'", "environment variable SET_BY_IMPORT"),
        ("import warnings\nwarnings.simplefilter('ignore')", "the warnings filters"),
        ("import sys\nsys.path.append('elsewhere')", "sys.path"),
    ],
)
def test_a_change_is_seen(source: str, told: str, tmp_path: Path) -> None:
    (change,) = imported(source, tmp_path).changes
    assert told in change


def test_what_it_writes_is_seen(tmp_path: Path) -> None:
    source = "import pathlib, sys\nprint('out')\nprint('err', file=sys.stderr)\npathlib.Path('a.txt').write_text('a')"
    found = imported(source, tmp_path)
    assert (found.output, found.errors, found.files) == ("out\n", "err\n", ("a.txt",))


@pytest.mark.parametrize("module", ["no_such_module", "no_such_package.hooks", "tenterhooks.no_such_module"])
def test_one_that_is_found_nowhere_cannot_be_checked(module: str) -> None:
    with pytest.raises(NotCheckedError, match="is found by its name in no other process"):
        import_in_a_fresh_process(module)


def test_the_program_itself_cannot_be_checked() -> None:
    with pytest.raises(NotCheckedError, match="in the program itself"):
        import_in_a_fresh_process("__main__")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit('no')", "SystemExit: no"),
        ("import os\nos._exit(5)", "with status 5"),
    ],
)
def test_one_that_fails_is_a_fault(source: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=told):
        imported(source, tmp_path)
