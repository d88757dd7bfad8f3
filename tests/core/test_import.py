"""What `import tenterhooks` brings, and what it leaves alone."""

import ast
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tenterhooks as th


def in_a_fresh_process(program: str) -> list[str]:
    """The lines that a program prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_it_imports_nothing_but_pluggy_numpy_and_the_standard_library() -> None:
    # What the environment itself imports at its start is no matter of this package's.
    new = in_a_fresh_process(
        "import sys; before = set(sys.modules); from tenterhooks import *; print(*set(sys.modules) - before, sep='\\n')"
    )
    packages = {name.partition(".")[0] for name in new}
    # Cython puts these two into sys.modules for NumPy's random generators; they are no distributions.
    packages = {name for name in packages if name != "cython_runtime" and not name.startswith("_cython_")}
    assert packages - sys.stdlib_module_names == {"numpy", "pluggy", "tenterhooks"}


def test_it_does_not_read_what_is_installed() -> None:
    assert in_a_fresh_process("import sys, tenterhooks; print('importlib_metadata' in sys.modules)") == ["False"]


def test_a_module_is_imported_when_a_name_of_it_is_used() -> None:
    program = """
import sys, tenterhooks
print(sorted(name for name in sys.modules if name.startswith("tenterhooks.")))
tenterhooks.SessionRunArgs
print(sorted(name for name in sys.modules if name.startswith("tenterhooks.")))
print("numpy" in sys.modules)
"""
    assert in_a_fresh_process(program) == ["[]", "['tenterhooks.hooks']", "False"]


def test_modules_can_be_reached_without_an_import_of_their_own() -> None:
    program = "import tenterhooks; print(tenterhooks.timer.Timer.__name__, tenterhooks.plugins.__name__)"
    assert in_a_fresh_process(program) == ["Timer tenterhooks.plugins"]


def test_what_is_not_there_is_an_error_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'tenterhooks' has no attribute 'Sesion'"):
        th.Sesion  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(th, "_private")


def test_dir_lists_what_was_not_used_yet() -> None:
    assert in_a_fresh_process("import tenterhooks; print(set(tenterhooks.__all__) <= set(dir(tenterhooks)))") == [
        "True"
    ]


def test_it_brings_nothing_that_only_a_configuration_needs() -> None:
    program = """
import sys
from tenterhooks import *
print(*(name for name in sys.modules if name.startswith("tenterhooks.")))
"""
    names = " ".join(in_a_fresh_process(program))
    assert "tenterhooks.lifecycle" in names
    assert not re.findall(r"tomllib|tenterhooks\.(?:\w*option\w*|configur\w*|lineup|hooks_report)", names)


def test_it_starts_no_thread_and_adds_no_handler() -> None:
    program = """
import logging, signal, threading
signals = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
import tenterhooks
print(threading.active_count())
loggers = [logging.getLogger(), *(logging.getLogger(name) for name in list(logging.root.manager.loggerDict))]
print([logger.name for logger in loggers if logger.name.startswith("tenterhooks") and logger.handlers])
print(logging.getLogger().handlers)
print(signals == [signal.getsignal(number) for number in sorted(signal.valid_signals())])
"""
    assert in_a_fresh_process(program) == ["1", "[]", "[]", "True"]


def init_tree() -> ast.Module:
    return ast.parse(Path(th.__file__).read_text(encoding="utf-8"))


def test_all_is_a_literal_in_order() -> None:
    (literal,) = [
        node.value
        for node in init_tree().body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert ast.literal_eval(literal) == th.__all__ == sorted(set(th.__all__))


def test_type_checkers_see_what_there_is() -> None:
    block = next(node for node in init_tree().body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert seen == {name: f"tenterhooks.{module}" for name, module in th._HOME.items()}
    assert sorted(seen) == th.__all__


@pytest.mark.parametrize("name", th.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    value = getattr(th, name)
    if isinstance(value, type | types.FunctionType):
        assert value.__doc__


def test_the_package_is_typed() -> None:
    assert Path(th.__file__).with_name("py.typed").exists()
