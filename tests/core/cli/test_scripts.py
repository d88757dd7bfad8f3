"""A script that the command runs sees, prints and ends with what it would if Python ran it."""

import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .commands import Said, tenterhooks

LOOK = """
import sys, os
print(__name__, __file__, __spec__ and __spec__.name, __package__, __cached__)
print(sys.argv)
print(sys.path[0], len(sys.path))
print(sys.modules["__main__"].__dict__ is globals(), type(__loader__).__name__, type(__builtins__).__name__)
print(sorted(name for name in globals() if not name.startswith("__")))
"""
FAILS = """
def inner():
    raise ValueError("no good")

def outer():
    try:
        inner()
    except ValueError as error:
        raise RuntimeError("worse") from error

outer()
"""


def python(*arguments: object, folder: Path, flags: tuple[str, ...] = ()) -> Said:
    done = subprocess.run(
        [sys.executable, "-W", "error", *flags, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def script(folder: Path, source: str, name: str = "script.py") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, "utf-8")
    return name


@pytest.mark.parametrize("flags", [(), ("-P",)])
@pytest.mark.parametrize("name", ["script.py", "below/script.py", "without_suffix"])
def test_a_script_finds_what_python_gives_it(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    script(tmp_path, LOOK, name)
    wanted = python(name, "--flag", "a b", folder=tmp_path, flags=flags)
    assert wanted.code == 0, wanted.error
    assert tenterhooks("run", name, "--", "--flag", "a b", folder=tmp_path, flags=flags) == wanted


def test_a_linked_script_imports_what_lies_beside_the_file_itself(tmp_path: Path) -> None:
    script(tmp_path, LOOK + "import beside\n", "real/script.py")
    script(tmp_path, "print('beside')\n", "real/beside.py")
    (tmp_path / "link.py").symlink_to("real/script.py")
    wanted = python("link.py", folder=tmp_path)
    assert wanted.out.endswith("beside\n")
    assert tenterhooks("run", "link.py", folder=tmp_path) == wanted


def test_a_module_finds_what_python_gives_it(tmp_path: Path) -> None:
    script(tmp_path, LOOK, "package/inner.py")
    script(tmp_path, "", "package/__init__.py")
    wanted = python("-m", "package.inner", "x", folder=tmp_path)
    assert wanted.code == 0, wanted.error
    assert tenterhooks("run", "-m", "package.inner", "--", "x", folder=tmp_path) == wanted


def test_a_package_is_run_by_its_main_module(tmp_path: Path) -> None:
    script(tmp_path, LOOK, "package/__main__.py")
    script(tmp_path, "print('first')\n", "package/__init__.py")
    wanted = python("-m", "package", folder=tmp_path)
    assert wanted.code == 0, wanted.error
    assert tenterhooks("run", "-m", "package", folder=tmp_path) == wanted


def test_a_folder_and_an_archive_are_run_by_their_main_module(tmp_path: Path) -> None:
    script(tmp_path, LOOK + "import beside\n", "folder/__main__.py")
    script(tmp_path, "print('beside')\n", "folder/beside.py")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for name in ("__main__.py", "beside.py"):
            archive.write(tmp_path / "folder" / name, name)
    for name in ("folder", "archive.zip"):
        wanted = python(name, "x", folder=tmp_path)
        assert wanted.out.endswith("beside\n")
        assert tenterhooks("run", name, "--", "x", folder=tmp_path) == wanted


def test_a_compiled_script_runs(tmp_path: Path) -> None:
    name = script(tmp_path, "import sys; print(__name__, sys.argv)\n")
    code = f"import py_compile; py_compile.compile({name!r}, 'compiled.pyc')"
    assert python("-c", code, folder=tmp_path).code == 0
    assert tenterhooks("run", "compiled.pyc", folder=tmp_path).out == "__main__ ['compiled.pyc']\n"


@pytest.mark.parametrize(
    "source",
    [
        FAILS,
        "def broken(:\n",
        "import a_module_that_is_not_there\n",
        "raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])\n",
        "import sys\nsys.excepthook = lambda kind, error, frames: print(kind, frames.tb_frame.f_code.co_name)\n1 / 0\n",
        "raise SystemExit(7)\n",
        "raise SystemExit\n",
        "import sys\nsys.exit('the reason')\n",
        "import tenterhooks as th\nth.make_hook('there-is-none')\n",
        "import tenterhooks as th\nraise th.PluginError('its own')\n",
        "import atexit\natexit.register(print, 'at the end')\n1 / 0\n",
    ],
)
def test_it_ends_as_with_python(source: str, tmp_path: Path) -> None:
    name = script(tmp_path, source)
    wanted = python(name, folder=tmp_path)
    assert tenterhooks("run", name, folder=tmp_path) == wanted


def test_the_traceback_of_a_module_begins_with_the_module(tmp_path: Path) -> None:
    script(tmp_path, FAILS, "module.py")
    done = tenterhooks("run", "-m", "module", folder=tmp_path)
    wanted = python("module.py", folder=tmp_path)
    assert (done.code, done.out, done.error) == (wanted.code, wanted.out, wanted.error)


def test_what_is_left_to_do_at_the_end_finds_the_script_still(tmp_path: Path) -> None:
    source = """
import atexit, sys
value = 5
atexit.register(lambda: print(sys.modules["__main__"].value))
"""
    assert tenterhooks("run", script(tmp_path, source), folder=tmp_path).out == "5\n"


def test_other_processes_of_the_script_import_it(tmp_path: Path) -> None:
    source = """
import multiprocessing

def double(x):
    return 2 * x

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]))
"""
    done = tenterhooks("run", script(tmp_path, source), folder=tmp_path)
    assert (done.out, done.error) == ("[2, 4]\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_as_with_python(number: signal.Signals, tmp_path: Path) -> None:
    name = script(tmp_path, "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    ends = []
    for line in ([sys.executable, name], [sys.executable, "-m", "tenterhooks", "run", name]):
        with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            _, error = process.communicate(timeout=60)
        ends.append((process.returncode, [text for text in error.splitlines() if "line" not in text]))
    assert ends[0][0] == -number
    assert ends[1][0] == ends[0][0]
    # In which line of the loop it comes is chance.
    assert ends[1][1][-1:] == ends[0][1][-1:]
    assert not [line for line in ends[1][1] if "tenterhooks" in line]


def test_a_name_that_is_almost_right_is_said(tmp_path: Path) -> None:
    script(tmp_path, "")
    done = tenterhooks("run", "scrip.py", folder=tmp_path)
    assert (done.code, done.error) == (
        2,
        "tenterhooks: error: there is no script 'scrip.py'; the nearest: 'script.py'\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing/script.py",), "there is no script 'missing/script.py': there is no folder 'missing'"),
        (("-m", "moduel"), "-m moduel: there is no such module; the nearest: 'module'"),
        (("-m", "module.inner"), "-m module.inner: there is no such module"),
        (("-m", "package"), "-m package: it is a package without a __main__ module, and cannot be run"),
        (("-m", ".package"), "-m .package: "),
        (("package",), "there is no __main__.py in '"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    script(tmp_path, "", "package/__init__.py")
    script(tmp_path, "", "module.py")
    done = tenterhooks("run", *arguments, folder=tmp_path)
    assert done.code == 2
    assert done.error.startswith(f"tenterhooks: error: {message}")
    assert done.error.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a socket in a folder")
def test_a_script_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as here:
        here.bind("script.py")
        done = tenterhooks("run", "script.py")
    assert (done.code, "cannot be read" in done.error, done.error.count("\n")) == (2, True, 1)
