"""Which hooks a script's sessions call, and in which order, without any of it being called."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tenterhooks.cli.output import UNREAD

from .commands import tenterhooks

SESSIONS = """
import sys
import tenterhooks as th

class Early(th.SessionRunHook):
    @th.hookimpl(tryfirst=True)
    def before_run(self, run_context): print("called")

    def end(self, session): print("called")

class Wrapping:
    @th.hookimpl(wrapper=True)
    def before_run(self, run_context):
        print("called")
        return (yield)

print("the script says this")
graph = th.Graph()
graph.variable("w", lambda: print("initialised"))
graph.train_op(lambda: print("trained"), name="train")
with th.MonitoredSession(graph=graph, hooks=["guard", Early(), Wrapping()]) as session:
    while not session.should_stop():
        session.run("train")
    print("done", session.global_step)
with th.MonitoredTrainingSession(hooks=[Early()], state={}) as session:
    for _ in session.steps(range(3)):
        print("trained")
print("arguments", sys.argv[1:])
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script with two sessions."""
    (tmp_path / "work").mkdir()
    place = tmp_path / "work/train.py"
    place.write_text(SESSIONS, "utf-8")
    return place


def shown(script: Path, path: Path, *flags: str) -> dict[str, Any]:
    said = tenterhooks("lifecycle", script, "--json", *flags, path=path, folder=script.parent)
    assert said.code == 0, said.error
    content: dict[str, Any] = json.loads(said.out)
    return content


def order(session: dict[str, Any], stage: str) -> list[tuple[str, bool]]:
    return [(call["hook"], call["wrapper"]) for call in session["stages"][stage]]


def test_each_session_has_its_hooks_with_where_they_come_from(script: Path, path: Path) -> None:
    content = shown(script, path)
    assert content["script_ended"] is None
    first, second = content["sessions"]
    assert first["session"] == "MonitoredSession"
    assert first["opened_at"] == f"{script}:21"
    assert second["opened_at"] == f"{script}:25"
    code = {"state": "active", "origin": "code train.py:21", "note": ""}
    own = {**code, "distribution": None, "version": None}
    assert first["hooks"] == [
        {
            **code,
            "name": "guard",
            "class": "fake_guard.GuardHook",
            "distribution": "tenterhooks-guard",
            "version": "2.5",
        },
        {**own, "name": "Early", "class": "__main__.Early"},
        {**own, "name": "Wrapping", "class": "__main__.Wrapping"},
    ]
    assert [hook["name"] for hook in second["hooks"]] == ["Early"]


def test_each_stage_has_the_hooks_that_implement_it_in_their_order(script: Path, path: Path) -> None:
    first, second = shown(script, path)["sessions"]
    assert order(first, "begin") == [("guard", False)]
    assert order(first, "before_run") == [("Wrapping", True), ("Early", False)]
    assert order(first, "end") == [("Early", False)]
    assert order(first, "after_run") == []
    assert order(second, "end") == [("Early", False)]


def test_the_hooks_of_the_command_line_are_among_them(script: Path, path: Path) -> None:
    _, second = shown(script, path, "--hook", "guard:limit=2")["sessions"]
    assert [(hook["name"], hook["origin"]) for hook in second["hooks"]] == [
        ("Early", "code train.py:25"),
        ("guard", "command line --hook guard"),
    ]
    assert order(second, "begin") == [("guard", False)]


def test_one_that_is_switched_off_is_said(script: Path, path: Path) -> None:
    first, _ = shown(script, path, "--no-hook", "guard")["sessions"]
    (guard,) = [hook for hook in first["hooks"] if hook["name"] == "guard"]
    assert (guard["state"], guard["note"]) == ("disabled", "switched off by command line --no-hook guard")
    assert order(first, "begin") == []
    said = tenterhooks("lifecycle", script, "--no-hook", "guard", path=path)
    assert "  guard (tenterhooks-guard 2.5), does not join: switched off by command line --no-hook guard\n" in said.out


def test_no_hook_is_called_nothing_is_trained_and_the_script_goes_on(script: Path, path: Path) -> None:
    said = tenterhooks("lifecycle", script, "--", "a", path=path, folder=script.parent)
    assert said.code == 0
    # It prints to the standard error, where nobody reads JSON.
    assert said.error == "the script says this\narguments ['a']\n"
    assert sorted(place.name for place in script.parent.iterdir()) == ["train.py"]


def test_a_reader_gets_all_of_it(script: Path, path: Path) -> None:
    said = tenterhooks("lifecycle", "train.py", path=path, folder=script.parent)
    assert said.out == (
        f"session 1: MonitoredSession, opened at {script}:21\n"
        "  guard (tenterhooks-guard 2.5), code train.py:21\n"
        "  Early (__main__.Early), code train.py:21\n"
        "  Wrapping (__main__.Wrapping), code train.py:21\n"
        "  begin                 guard\n"
        "  after_create_session  -\n"
        "  before_run            Wrapping (wrapper), Early\n"
        "  after_run             -\n"
        "  end                   Early\n"
        "  on_exception          -\n"
        "\n"
        f"session 2: MonitoredSession, opened at {script}:25\n"
        "  Early (__main__.Early), code train.py:25\n"
        "  begin                 -\n"
        "  after_create_session  -\n"
        "  before_run            Early\n"
        "  after_run             -\n"
        "  end                   Early\n"
        "  on_exception          -\n"
    )


def test_a_script_that_fails_since_nothing_was_trained_is_said(script: Path, path: Path) -> None:
    script.write_text(SESSIONS + "1 / 0\nth.MonitoredSession()\n", "utf-8")
    line = SESSIONS.count("\n") + 1
    ended = shown(script, path)["script_ended"]
    assert ended == f"ZeroDivisionError: division by zero ({script}:{line})"
    said = tenterhooks("lifecycle", script, path=path)
    assert said.out.endswith(
        "the script was over before its end, as it may be where nothing is trained: "
        f"ZeroDivisionError: division by zero ({script}:{line})\n"
        "sessions that it would have opened later are not seen\n"
    )


@pytest.mark.parametrize(
    ("source", "ended"),
    [
        ("session = th.MonitoredSession()\nsession.run([])\n", "a session was used outside of a `with` block"),
        ("th.MonitoredSession()\nraise SystemExit(3)\n", "SystemExit(3)"),
        ("th.MonitoredSession()\nraise SystemExit\n", None),
    ],
)
def test_how_the_script_ended_is_said(source: str, ended: str | None, script: Path, path: Path) -> None:
    script.write_text("import tenterhooks as th\n" + source, "utf-8")
    content = shown(script, path)
    assert content["script_ended"] == ended
    assert len(content["sessions"]) == 1
    assert content["sessions"][0]["hooks"] == []


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("x = 1\n", "tenterhooks: error: {} opens no monitored session\n"),
        ("raise SystemExit(3)\n", "tenterhooks: error: {} opens no monitored session, and ended with SystemExit(3)\n"),
    ],
)
def test_a_script_without_sessions_is_an_error(source: str, error: str, script: Path, path: Path) -> None:
    script.write_text(source, "utf-8")
    said = tenterhooks("lifecycle", script, path=path)
    assert (said.code, said.out, said.error) == (1, "", error.format(script))


def test_an_error_before_the_first_session_is_the_scripts(script: Path, path: Path) -> None:
    script.write_text("import tenterhooks as th\nth.MonitoredSession(hooks=[5])\n", "utf-8")
    said = tenterhooks("lifecycle", script, path=path)
    assert (said.code, said.out) == (1, "")
    assert said.error.startswith(f'Traceback (most recent call last):\n  File "{script}", line 2, in <module>\n')


def test_the_help_says_what_does_run() -> None:
    said = " ".join(tenterhooks("lifecycle", "--help").out.split())
    assert "The script itself does run" in said
    assert "no stage of a hook is called, nothing is restored, saved or trained" in said


def test_whoever_stops_reading_is_no_error(script: Path, path: Path) -> None:
    line = [sys.executable, "-m", "tenterhooks", "lifecycle", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(path)}
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        error = process.stderr.read()
        assert process.wait(timeout=60) == UNREAD
    assert error == "the script says this\narguments []\n"


def test_whatever_the_script_prints_is_not_among_the_json(script: Path, path: Path) -> None:
    script.write_text(
        "import atexit, os, subprocess, sys\nimport tenterhooks as th\n"
        "atexit.register(print, 'at the end')\nos.write(1, b'by the system\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(\"by a child\")'], check=True)\n"
        "with th.MonitoredTrainingSession() as session: ...\n",
        "utf-8",
    )
    with (path / "fake_guard.py").open("a", encoding="utf-8") as source:
        source.write("print('imported')\n")
    said = tenterhooks("lifecycle", script, "--hook", "guard", "--json", path=path)
    assert [hook["name"] for session in json.loads(said.out)["sessions"] for hook in session["hooks"]] == ["guard"]
    assert sorted(said.error.splitlines()) == ["at the end", "by a child", "by the system", "imported"]


def test_what_a_later_session_finds_wrong_with_the_configuration_is_an_error(script: Path, path: Path) -> None:
    script.write_text(
        "import os\nimport tenterhooks as th\nwith th.MonitoredTrainingSession(): ...\n"
        "os.environ['TENTERHOOKS_HOOKS'] = 'gurad'\nwith th.MonitoredTrainingSession(): ...\n",
        "utf-8",
    )
    said = tenterhooks("lifecycle", script, path=path)
    assert (said.code, said.out, said.error.count("\n")) == (1, "", 1)
    assert said.error.startswith("tenterhooks: error: environment TENTERHOOKS_HOOKS: no plugin named 'gurad'")
