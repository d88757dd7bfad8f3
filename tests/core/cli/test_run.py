"""A script that is run has the hooks of the command line, and need not be changed."""

from pathlib import Path

import pytest

from .commands import tenterhooks

TRAINS = """
import sys
import tenterhooks as th

with th.MonitoredTrainingSession(hooks=[]) as session:
    for _ in session.steps(range(int(sys.argv[1]) if sys.argv[1:] else 1)):
        pass
    print("steps", session.global_step, sys.argv[1:])
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script that trains."""
    place = tmp_path / "train.py"
    place.write_text(TRAINS, "utf-8")
    return place


def test_its_sessions_have_the_hooks(script: Path, path: Path) -> None:
    said = tenterhooks("run", script, "--hook", "guard", path=path)
    assert (said.code, said.error) == (0, "")
    assert said.out == "guard begins 1.0 False None\nsteps 1 []\n"


@pytest.mark.parametrize(
    "flags",
    [
        ("--hook", "guard:limit=2,strict=true,names=a,b"),
        ("--hook", "guard:limit=2", "--set", "guard.strict=true", "--set", "guard.names=a,b"),
        ("--set=guard.names=a,b", "--set=guard.strict=true", "--set=guard.limit=2", "--hook=guard"),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_with_these_options_wherever_the_flags_stand(
    flags: tuple[str, ...], before: bool, script: Path, path: Path
) -> None:
    line = (*flags, script) if before else (script, *flags)
    said = tenterhooks("run", *line, "--", "2", "--hook", "x", path=path)
    assert (said.code, said.error) == (0, "")
    assert said.out == "guard begins 2.0 True ['a', 'b']\nsteps 2 ['2', '--hook', 'x']\n"


def test_a_module_has_them_too(script: Path, path: Path) -> None:
    said = tenterhooks("run", "-m", "train", "--hook", "guard", path=path, folder=script.parent)
    assert said.out == "guard begins 1.0 False None\nsteps 1 []\n"


def test_a_hook_is_switched_off(script: Path, path: Path) -> None:
    script.write_text(TRAINS.replace("hooks=[]", "hooks=['guard']"), "utf-8")
    assert tenterhooks("run", script, path=path).out == "guard begins 1.0 False None\nsteps 1 []\n"
    said = tenterhooks("run", script, "--no-hook", "guard", path=path)
    assert (said.code, said.out) == (0, "steps 1 []\n")


def test_what_is_wrong_with_a_flag_is_said_before_the_script_starts(script: Path, path: Path) -> None:
    script.write_text("print('started')\n", "utf-8")
    said = tenterhooks("run", script, "--hook", "guard:limt=2", path=path)
    assert (said.code, said.out, said.error.count("\n")) == (1, "", 1)
    assert said.error.startswith("tenterhooks: error: --hook guard:limt=2: ")


def test_what_a_session_finds_wrong_with_a_flag_has_no_traceback(script: Path, path: Path) -> None:
    (path / "fake_guard.py").write_text(
        "import tenterhooks as th\nclass GuardHook(th.SessionRunHook):\n"
        "    def __init__(self, *, path: str): ...\n    def end(self): ...\n",
        "utf-8",
    )
    said = tenterhooks("run", script, "--hook", "guard", path=path)
    assert (said.code, said.error.count("\n")) == (1, 1)
    assert said.error.startswith("tenterhooks: error: command line --hook guard: ")
    assert "path" in said.error


def test_an_error_of_the_script_itself_has_pythons_traceback(script: Path, path: Path) -> None:
    script.write_text("import tenterhooks as th\nth.make_hook('guard', limt=2)\n", "utf-8")
    said = tenterhooks("run", script, "--hook", "guard", path=path)
    assert said.code == 1
    assert said.error.startswith(f'Traceback (most recent call last):\n  File "{script}", line 2, in <module>\n')
    assert "has no option 'limt'" in said.error


def test_its_exit_code_is_the_scripts(script: Path, path: Path) -> None:
    script.write_text("raise SystemExit(9)\n", "utf-8")
    assert tenterhooks("run", script, path=path).code == 9


def test_what_is_wrong_with_the_file_has_no_traceback_either(script: Path, path: Path) -> None:
    (script.parent / "tenterhooks.toml").write_text('hooks = ["gurad"]\n', "utf-8")
    said = tenterhooks("run", script, path=path, folder=script.parent)
    assert (said.code, said.out) == (1, "")
    assert said.error == (
        "tenterhooks: error: tenterhooks.toml:1: no plugin named 'gurad' is installed; the nearest: 'guard'\n"
    )


def test_nor_has_a_hook_whose_stages_are_not_as_specified(script: Path, path: Path) -> None:
    source = "import tenterhooks as th\nclass GuardHook(th.SessionRunHook):\n    def end(self, sess): ...\n"
    (path / "fake_guard.py").write_text(source, "utf-8")
    said = tenterhooks("run", script, "--hook", "guard", path=path)
    assert (said.code, said.error.count("\n")) == (1, 1)
    assert said.error.startswith("tenterhooks: error: command line --hook guard: hook 'guard' (tenterhooks-guard 2.5)")
    assert "rename sess" in said.error
