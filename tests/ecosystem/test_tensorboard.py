"""A TensorBoard that runs sees a training that is killed and resumed, as one curve."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest

from .browser import LONGEST_SECS, browser, executable

pytest.importorskip("tensorboard")
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")

PROGRAM = Path(__file__).with_name("curves_example.py")
# It is killed within the first, far from the checkpoint before it, and ends with the other.
KILLED_IN, LAST = 57, 80
STEPS = list(range(1, LAST + 1))

_Seen = TypeVar("_Seen")


class Server:
    """A TensorBoard that runs."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str, body: Any = None) -> Any:
        """What it answers; None while it has nothing of it."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=LONGEST_SECS) as answer:
                return json.load(answer)
        except urllib.error.URLError:
            return None

    def steps(self, kind: str, tag: str) -> list[int]:
        """The steps of what it has of a tag."""
        return [point[1] for point in self.get(f"/data/plugin/{kind}/{kind}?run=run&tag={tag}") or []]

    def until_step(self, step: int, kind: str = "scalars", tag: str = "loss") -> list[int]:
        """The steps of a tag, once it has been read so far: each is read in its own time."""
        return self.until(lambda: self.steps(kind, tag), lambda steps: step in steps)

    def until(self, look: Callable[[], _Seen], is_there: Callable[[_Seen], bool]) -> _Seen:
        """What there is to see, once it is as it is to be."""
        deadline = time.monotonic() + LONGEST_SECS
        while not is_there(seen := look()):
            assert time.monotonic() < deadline, f"at last {seen}"
            time.sleep(0.05)
        return seen


@contextmanager
def tensorboard(folder: Path, log: Path, load_fast: str) -> Iterator[Server]:
    """Start one that looks each second for what is new."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"logdir": folder, "host": "127.0.0.1", "port": port, "load_fast": load_fast, "reload_interval": 1}
    line = [sys.executable, "-m", "tensorboard.main", *(f"--{name}={value}" for name, value in options.items())]
    with log.open("wb") as output:
        process = subprocess.Popen(line, stdout=output, stderr=output)
    try:
        yield Server(port)
    finally:
        process.terminate()
        process.wait(LONGEST_SECS)


def train(folder: Path, *kill_in: int) -> int:
    line = [sys.executable, "-W", "error", str(PROGRAM), str(folder / "run"), str(LAST), *map(str, kill_in)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert not kill_in or done.returncode == -signal.SIGKILL, done.stderr
    return done.returncode


@pytest.mark.parametrize("load_fast", ["true", "false"])
def test_a_curve_is_unbroken_after_a_kill(tmp_path: Path, load_fast: str) -> None:
    folder = tmp_path / "runs"
    train(folder, KILLED_IN)
    with tensorboard(folder, tmp_path / "tensorboard.log", load_fast) as server:
        assert server.until_step(KILLED_IN - 1) == STEPS[: KILLED_IN - 1]
        assert train(folder) == 0
        assert server.until_step(LAST) == STEPS
        # Of these it keeps some.
        steps = server.until_step(LAST, "histograms", "weights")
        assert steps == sorted(set(steps))
        ended = server.until(lambda: how_it_ended(server), lambda how: bool(how) and how["status"] != "STATUS_RUNNING")
        assert ended == {"rate": 0.1, "status": "STATUS_SUCCESS"}


def how_it_ended(server: Server) -> dict[str, Any]:
    """What it has of the hyperparameters; nothing while it has read none."""
    wanted = {
        "allowedStatuses": ["STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"],
        "startIndex": 0,
        "sliceSize": 9,
    }
    groups = (server.get("/data/plugin/hparams/session_groups", wanted) or {}).get("sessionGroups") or [None]
    (group,) = groups
    return {} if group is None else {**group["hparams"], "status": group["sessions"][0]["status"]}


def test_a_page_shows_one_curve_after_a_kill(tmp_path: Path) -> None:
    found = executable()
    if found is None:
        pytest.skip("pages are seen in Chromium, which is not installed, or cannot be driven on this system")
    folder = tmp_path / "runs"
    train(folder, KILLED_IN)
    assert train(folder) == 0
    with (
        tensorboard(folder, tmp_path / "tensorboard.log", "false") as server,
        browser(found, tmp_path / "profile") as running,
    ):
        server.until_step(LAST)
        page = running.page()
        # Without WebGL it draws its lines as SVG, which can be read.
        running.call(
            "Page.addScriptToEvaluateOnNewDocument",
            page.session,
            source="HTMLCanvasElement.prototype.getContext = () => null",
        )
        page.open(f"{server.url}/?tagFilter=loss#timeseries")
        # The pale one is the curve itself, the other is smoothed.
        curve = page.until("document.querySelector('line-chart path[style*=\"opacity: 0.25\"]')?.getAttribute('d')")
    assert curve.count("M") == 1
    points = [tuple(map(float, point.split(","))) for point in curve.removeprefix("M").split("L")]
    assert len(points) == len(STEPS)
    assert all(left[0] < right[0] and left[1] < right[1] for left, right in pairwise(points))
