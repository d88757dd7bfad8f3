"""The hook of the page on a tracker does what the page says, against a server on this machine."""

import contextlib
import json
import logging
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import Saver

# After so many seconds a test that waits goes on, and fails.
LONGEST_SECS = 20.0
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tracker-hook.md"


def code_of_the_page() -> SimpleNamespace:
    first = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert first
    names: dict[str, Any] = {"__name__": "tenterhooks_tracker"}
    exec(compile("\n" * PAGE.read_text("utf-8").count("\n", 0, first.start(1)) + first[1], str(PAGE), "exec"), names)
    return SimpleNamespace(**names)


TrackerHook: Callable[..., th.SessionRunHook] = code_of_the_page().TrackerHook


@dataclass
class Tracker:
    """A server that keeps what it gets.

    Attributes:
        got: The messages.
        tokens: What stood in the header of each.
        status: What it answers.
        answers: Cleared: it answers nothing.
    """

    url: str
    got: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    status: int = 204
    answers: threading.Event = field(default_factory=threading.Event)

    def said(self) -> list[tuple[str, int | None]]:
        return [(message["what"], message["step"]) for message in self.got]

    def values(self) -> list[Any]:
        return [message["values"]["loss"] for message in self.got if message["what"] == "values"]


@pytest.fixture
def tracker() -> Iterator[Tracker]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            running.answers.wait()
            running.got.append(json.loads(content))
            running.tokens.append(self.headers["Authorization"])
            self.send_response(running.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running = Tracker(f"http://127.0.0.1:{server.server_port}/runs")
        running.answers.set()
        yield running
        running.answers.set()
        server.shutdown()
        thread.join()


def train(hook: th.SessionRunHook, *, steps: int = 6, folder: Path | None = None, fail_at: int | None = None) -> None:
    with th.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=3, hooks=[hook]) as session:
        for x in session.steps(range(steps)):
            if x == fail_at:
                raise ValueError("the model is gone")
            session.publish(loss=float(x))


def test_a_training_is_told_from_its_beginning_to_its_end(tracker: Tracker) -> None:
    train(TrackerHook(url=tracker.url, every_n_steps=2))
    assert tracker.said() == [("started", 0), ("values", 1), ("values", 3), ("values", 5), ("finished", 6)]
    assert tracker.values() == [0.0, 2.0, 4.0]


def test_a_resumed_training_is_the_same_run(tracker: Tracker, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the model is gone"):
        train(TrackerHook(url=tracker.url), folder=tmp_path, fail_at=4)
    train(TrackerHook(url=tracker.url), folder=tmp_path)
    assert [what for what, _ in tracker.said()] == ["started", "values", "failed", "resumed", "values", "finished"]
    assert ("resumed", 3) in tracker.said()
    assert len({message["run"] for message in tracker.got}) == 1


def test_two_trainings_are_two_runs_also_with_one_hook(tracker: Tracker) -> None:
    hook = TrackerHook(url=tracker.url)
    train(hook)
    train(hook)
    assert len({message["run"] for message in tracker.got}) == 2


def test_a_recovered_session_is_the_same_run(tracker: Tracker) -> None:
    graph = th.Graph()
    graph.tensor(lambda: 1.0, name="loss")
    failures = iter([True])

    @graph.train_op
    def step() -> None:
        if next(failures, False):
            raise th.AbortedError("the worker is gone")

    with th.MonitoredSession(graph=graph, hooks=[TrackerHook(url=tracker.url)], sleep=lambda _: None) as session:
        session.run(step)
    assert [what for what, _ in tracker.said()] == ["started", "started", "values", "finished"]
    assert len({message["run"] for message in tracker.got}) == 1


def test_an_error_is_told(tracker: Tracker) -> None:
    with pytest.raises(ValueError, match="the model is gone"):
        train(TrackerHook(url=tracker.url), fail_at=2)
    assert tracker.said()[-1] == ("failed", 2)
    assert tracker.got[-1]["error"] == "ValueError('the model is gone')"


def test_who_stopped_it_is_told(tracker: Tracker) -> None:
    with th.MonitoredTrainingSession(hooks=[TrackerHook(url=tracker.url)]) as session:
        session.request_stop("enough")
    assert tracker.got[-1]["what"] == "finished"
    assert tracker.got[-1]["stopped_by"] == ["the program at global step 0: enough"]


def test_nan_is_told_as_nan(tracker: Tracker) -> None:
    with th.MonitoredTrainingSession(hooks=[TrackerHook(url=tracker.url)]) as session, session.step():
        session.publish(loss=float("nan"))
    assert tracker.values() == ["nan"]


def test_a_value_that_is_no_number_is_an_error_of_the_program(tracker: Tracker) -> None:
    with (
        pytest.raises(ValueError, match="could not convert") as raised,
        th.MonitoredTrainingSession(hooks=[TrackerHook(url=tracker.url)]) as session,
        session.step(),
    ):
        session.publish(loss="low")
    assert "hook 'tracker'" in raised.value.__notes__[0]


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, "tenterhooks_tracker")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "tenterhooks_tracker"]


def test_a_tracker_that_refuses_is_no_error(tracker: Tracker, warned: Callable[[], list[str]]) -> None:
    tracker.status = 500
    train(TrackerHook(url=tracker.url))
    first, last = warned()
    assert "HTTPError: HTTP Error 500" in first
    assert last.startswith("3 messages did not reach the tracker")


def test_a_tracker_that_is_not_there_is_no_error(warned: Callable[[], list[str]]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        train(TrackerHook(url=f"http://127.0.0.1:{taken.getsockname()[1]}/"))
    first, last = warned()
    assert "URLError" in first
    assert last.startswith("3 messages")


def test_a_server_that_speaks_something_else_is_no_error(warned: Callable[[], list[str]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            server.settimeout(LONGEST_SECS)
            with contextlib.suppress(TimeoutError):
                for _ in range(3):
                    connection, _address = server.accept()
                    with connection:
                        while b"}" not in connection.recv(4096):
                            pass
                        connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        train(TrackerHook(url=f"http://127.0.0.1:{server.getsockname()[1]}/"))
        thread.join()
    assert "BadStatusLine" in warned()[0]


def test_a_tracker_that_does_not_answer_keeps_nobody_waiting_for_ever(
    tracker: Tracker, warned: Callable[[], list[str]]
) -> None:
    tracker.answers.clear()
    gives_up = threading.Timer(LONGEST_SECS, tracker.answers.set)
    gives_up.start()
    train(TrackerHook(url=tracker.url, timeout=0.2, every_n_steps=1), steps=2000)
    gives_up.cancel()
    assert tracker.got == []
    assert "is too slow" in warned()[0] or "TimeoutError" in warned()[0] or "timed out" in warned()[0]
    assert "messages did not reach" in warned()[-1]


def test_it_draws_no_random_number(tracker: Tracker) -> None:
    states = random.getstate(), np.random.get_state()
    train(TrackerHook(url=tracker.url))
    assert random.getstate() == states[0]
    assert str(np.random.get_state()) == str(states[1])


def test_the_token_is_told_to_the_tracker_alone(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TRACKER_TOKEN", "open-sesame")
    train(TrackerHook(url=tracker.url), folder=tmp_path)
    assert set(tracker.tokens) == {"Bearer open-sesame"}
    restored = Saver(tmp_path).restore()
    assert restored
    assert restored[1]["hooks"]["tracker"].keys() == {"run"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"open-sesame" in path.read_bytes()] == []
    assert "open-sesame" not in caplog.text


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with http:// or https://"):
        TrackerHook(url="file:///etc/passwd")
