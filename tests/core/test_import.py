"""What `import tenterhooks` brings, and what it leaves alone."""

import ast
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
        "import sys; before = set(sys.modules); import tenterhooks; print(*set(sys.modules) - before, sep='\\n')"
    )
    packages = {name.partition(".")[0] for name in new}
    # Cython puts these two into sys.modules for NumPy's random generators; they are no distributions.
    packages = {name for name in packages if name != "cython_runtime" and not name.startswith("_cython_")}
    assert packages - sys.stdlib_module_names == {"numpy", "pluggy", "tenterhooks"}


def test_it_does_not_read_what_is_installed() -> None:
    assert in_a_fresh_process("import sys, tenterhooks; print('importlib_metadata' in sys.modules)") == ["False"]


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


def test_the_package_holds_nothing_but_imports_and_all() -> None:
    docstring, *rest = init_tree().body
    assert isinstance(docstring, ast.Expr)
    assert {type(node) for node in rest} == {ast.ImportFrom, ast.Assign}


def test_all_is_exactly_the_public_names() -> None:
    public = [
        name for name, value in vars(th).items() if not name.startswith("_") and not isinstance(value, types.ModuleType)
    ]
    assert sorted(public) == th.__all__


@pytest.mark.parametrize("name", th.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    value = getattr(th, name)
    if isinstance(value, type | types.FunctionType):
        assert value.__doc__


def test_the_package_is_typed() -> None:
    assert Path(th.__file__).with_name("py.typed").exists()
