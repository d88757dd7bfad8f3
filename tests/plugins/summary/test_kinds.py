"""Which kind of summary a value is written as, in a graph and in a loop of the program's own."""

from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.summaries import SummaryWriter
from tenterhooks_summary import Histogram, Image, Scalar, SummarySaverHook, Text


class Recorder(SummaryWriter):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.told.append(("scalar", tag, value, step))

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        self.told.append(("histogram", tag, np.array(values).tolist(), step))

    def add_image(self, tag: str, image: Any, step: int) -> None:
        self.told.append(("image", tag, np.array(image).tolist(), step))

    def add_text(self, tag: str, text: str, step: int) -> None:
        self.told.append(("text", tag, text, step))

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Numbers(SummaryWriter):
    """Takes numbers only."""

    def add_scalar(self, tag: str, value: float, step: int) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def in_graph(hook: th.SessionRunHook, *, collected: bool = False) -> None:
    graph = th.Graph()
    graph.variable("w", lambda: np.array([1.0, 2.0]))
    graph.tensor(lambda: 0.5, name="loss")
    graph.tensor(lambda: np.zeros((1, 2), np.uint8), name="input")
    graph.tensor(lambda: "fine", name="note")
    graph.train_op(lambda w: {"w": 2.0 * w}, name="train")
    if collected:
        for collection, name in [("", "loss"), ("/histograms", "w"), ("/images", "input"), ("/texts", "note")]:
            graph.add_to_collection(f"summaries{collection}", name)
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        session.run("train")
        session.run("train")


def in_own_loop(hook: th.SessionRunHook) -> None:
    w = np.array([1.0, 2.0])
    with th.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in session.steps(range(2)):
            session.publish(loss=lambda: 0.5, w=w.copy, input=np.zeros((1, 2), np.uint8), note="fine")
            w *= 2.0


EXPECTED = [
    ("scalar", "loss", 0.5, 1),
    ("histogram", "w", [1.0, 2.0], 1),
    ("image", "input", [[0, 0]], 1),
    ("text", "note", "fine", 1),
    ("scalar", "loss", 0.5, 2),
    ("histogram", "w", [2.0, 4.0], 2),
    ("image", "input", [[0, 0]], 2),
    ("text", "note", "fine", 2),
]


@pytest.mark.parametrize("loop", [in_graph, in_own_loop])
def test_each_kind_is_written_as_such(loop: Any) -> None:
    recorder = Recorder()
    tensors: list[Any] = ["loss", Histogram("w"), Image("input"), Text("note")]
    loop(SummarySaverHook(save_steps=1, tensors=tensors, summary_writer=recorder))
    assert recorder.told == EXPECTED


def test_the_collections_of_a_graph_say_the_kind() -> None:
    recorder = Recorder()
    in_graph(SummarySaverHook(save_steps=1, summary_writer=recorder), collected=True)
    assert recorder.told == EXPECTED


def test_a_dict_gives_the_tags() -> None:
    recorder = Recorder()
    tensors = {"train/loss": Scalar("loss"), "weights": Histogram("w")}
    in_graph(SummarySaverHook(save_steps=2, tensors=tensors, summary_writer=recorder))
    assert recorder.told == [("scalar", "train/loss", 0.5, 1), ("histogram", "weights", [1.0, 2.0], 1)]


def test_one_kind_alone_can_be_given() -> None:
    recorder = Recorder()
    in_graph(SummarySaverHook(save_steps=2, tensors=Text("note"), summary_writer=recorder))
    assert recorder.told == [("text", "note", "fine", 1)]


def test_an_unknown_name_within_a_kind_is_an_error_before_any_run() -> None:
    with pytest.raises(KeyError, match=r"'los'.*nearest.*'loss'"):
        in_graph(SummarySaverHook(save_steps=1, tensors=[Histogram("los")], summary_writer=Recorder()))


def test_an_array_without_a_kind_is_an_error_that_names_one() -> None:
    with pytest.raises(ValueError, match=r"'w' has the shape \(2,\).*such as Histogram\('w'\)"):
        in_graph(SummarySaverHook(save_steps=1, tensors="w", summary_writer=Recorder()))


@pytest.mark.parametrize(
    ("tensor", "kind"), [(Histogram("w"), "histograms"), (Image("input"), "images"), (Text("note"), "texts")]
)
def test_a_writer_that_lacks_a_kind_says_so(tensor: Any, kind: str) -> None:
    with pytest.raises(NotImplementedError, match=f"Numbers writes no {kind}: leave them out"):
        in_graph(SummarySaverHook(save_steps=1, tensors=tensor, summary_writer=Numbers()))


def test_a_writer_that_lacks_hyperparameters_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Numbers writes no hyperparameters"):
        in_graph(SummarySaverHook(save_steps=1, tensors="loss", hparams={"a": 1}, summary_writer=Numbers()))


def test_what_is_no_writer_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match=r"subclass of tenterhooks\.summaries\.SummaryWriter, not .*of type list"):
        SummarySaverHook(save_steps=1, summary_writer=[])  # type: ignore[arg-type]


def test_a_kind_shows_what_it_is_of() -> None:
    assert [repr(kind("w")) for kind in (Scalar, Histogram, Image, Text)] == [
        "Scalar('w')",
        "Histogram('w')",
        "Image('w')",
        "Text('w')",
    ]
