"""What `json-lines` promises beyond what all files have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_logging import JsonLinesHook

Open = Callable[..., th.MonitoredSession]


def make_graph() -> th.Graph:
    graph = th.Graph()
    graph.tensor(float, name="loss", inputs=["global_step"])
    graph.tensor(lambda: np.array([[1.0, np.nan]]), name="pair")
    graph.train_op(lambda: None, name="train")
    return graph


class Stops(th.SessionRunHook):
    """Asks for a stop at the second step, or when it is there already."""

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        if session.global_step >= 2:
            session.request_stop("enough")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step >= 2:
            run_context.request_stop("enough")


def train(session: th.MonitoredSession, to: int = 3, fail: BaseException | None = None) -> None:
    with session:
        while session.global_step < to and not session.should_stop():
            session.run("train")
        if fail is not None:
            raise fail


@pytest.fixture
def opened(tmp_path: Path, open_session: Open) -> Callable[..., th.MonitoredSession]:
    """Opens a session in the test's folder with hooks after the one that writes, restored if there is anything."""

    def made(*more: object, tensors: Any = "loss") -> th.MonitoredSession:
        return open_session(tmp_path, JsonLinesHook(tensors, every_n_steps=1), *more, graph=make_graph())

    return made


def lines(folder: Path) -> list[dict[str, Any]]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def test_a_line_has_step_time_and_values_in_that_order(tmp_path: Path, opened: Open) -> None:
    train(opened(tensors={"b": "loss", "a": "pair"}), to=1)
    first = lines(tmp_path)[0]
    assert list(first) == ["step", "time", "b", "a"]
    assert (first["step"], first["b"], first["a"]) == (1, 0.0, [[1.0, "NaN"]])


def test_the_last_line_says_that_it_ended_cleanly(tmp_path: Path, opened: Open) -> None:
    train(opened())
    last = lines(tmp_path)[-1]
    assert (list(last), last["step"], last["end"]) == (["step", "time", "end"], 3, "clean")


def test_the_last_line_says_who_stopped_it_and_why(tmp_path: Path, opened: Open) -> None:
    train(opened(Stops()))
    last = lines(tmp_path)[-1]
    assert last["end"].startswith("stopped: hook 'Stops' at global step 2: enough")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\nsuch luck"), "failed: ValueError: no\nsuch luck"),
        (KeyboardInterrupt(), "failed: KeyboardInterrupt"),
        (SystemExit(3), "failed: SystemExit: 3"),
    ],
)
def test_the_last_line_says_by_what_it_failed(error: BaseException, said: str, tmp_path: Path, opened: Open) -> None:
    with pytest.raises(type(error)):
        train(opened(), fail=error)
    assert lines(tmp_path)[-1]["end"] == said
    assert lines(tmp_path)[-1]["step"] == 3


def test_a_run_that_goes_on_has_not_ended(tmp_path: Path, opened: Open) -> None:
    with pytest.raises(ValueError, match="no"):
        train(opened(), fail=ValueError("no"))
    train(opened(), to=5)
    found = lines(tmp_path)
    assert [line["step"] for line in found] == [1, 2, 3, 4, 5, 5]
    assert [line["end"] for line in found if "end" in line] == ["clean"]


def test_a_run_that_is_resumed_at_its_end_adds_nothing(tmp_path: Path, opened: Open) -> None:
    for _ in range(3):
        train(opened(Stops()), to=9)
    assert [line["step"] for line in lines(tmp_path)] == [1, 2, 2]


def test_a_session_that_could_not_be_created_writes_nothing(tmp_path: Path, opened: Open) -> None:
    class Fails(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        train(opened(Fails()))
    assert not (tmp_path / "metrics.jsonl").exists()


def test_a_file_that_cannot_be_written_is_an_error_at_the_start(tmp_path: Path, opened: Open) -> None:
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(OSError, match=r"metrics\.jsonl") as caught:
        train(opened())
    # Nothing else went wrong on the way out.
    assert not [note for note in caught.value.__notes__ if note.startswith("while closing")]


def test_lines_of_other_makes_are_understood(tmp_path: Path, opened: Open) -> None:
    """What another program has written anew, with other spaces and another order."""
    train(opened(), to=2)
    path = tmp_path / "metrics.jsonl"
    others = '{"loss":0,"step":1}\n[1]\nnull\n{"step":"3"}\n{"loss":1,"step":2}\n{"step": 3, "x": "\\"end\\""}\n'
    path.write_text(others + '{"loss":9,"step":9}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no"):
        train(opened(), fail=ValueError("no"))
    assert lines(tmp_path)[:5] == [json.loads(line) for line in others.splitlines()[:5]]
    assert [line["step"] for line in lines(tmp_path)[5:]] == [3, 3]


def test_a_text_may_have_any_characters(tmp_path: Path) -> None:
    hook = JsonLinesHook(every_n_steps=1)
    text = 'é\n"end"\ud800'
    with th.MonitoredSession(state={}, hooks=[hook], summary_dir=tmp_path) as session, session.step():
        session.publish(note=text)
    assert lines(tmp_path)[0]["note"] == text
