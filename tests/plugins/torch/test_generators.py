"""torch's random generators are saved and restored as those of NumPy are."""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.adapted import decoded
from tenterhooks.generators import all_states, get_state, global_generators, misfit, same
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
numbers_of = pytest.importorskip("tenterhooks_checkpoint._numbers", reason="tenterhooks-checkpoint is not installed")


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


def test_a_generator_goes_on() -> None:
    one, other = torch.Generator().manual_seed(1), torch.Generator()
    torch.rand(5, generator=one)
    saved = capture({"g": one}, "v")
    assert list(mismatches({"g": other}, saved, "v")) == []
    load({"g": other}, saved)
    assert torch.equal(torch.rand(9, generator=one), torch.rand(9, generator=other))


def test_a_state_does_not_move_on_with_its_generator() -> None:
    generator = torch.Generator().manual_seed(1)
    state = get_state(generator)
    torch.rand(1, generator=generator)
    assert not same(state, get_state(generator))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (get_state(random.Random(1)), "a random.Random"),
        ({"kind": "a torch.Generator on cuda", "state": 1}, "a torch.Generator on cuda"),
        ({"kind": "a torch.Generator on cpu", "state": 1}, "a torch.Generator on cpu with a broken state"),
        (
            {"kind": "a torch.Generator on cpu", "state": np.zeros(3, np.uint8)},
            "a torch.Generator on cpu with a broken state (RuntimeError",
        ),
        (3, "a int"),
    ],
)
def test_a_state_of_another_make_is_none(state: Any, message: str) -> None:
    fault = misfit(torch.Generator(), state)
    assert fault is not None
    assert fault.startswith(message)


def test_one_that_is_fetched_beside_a_training_op_is_a_copy() -> None:
    torch.manual_seed(4)
    graph = th.Graph()
    graph.variable("rng", lambda: torch.default_generator)
    graph.train_op(lambda rng: torch.rand(3, generator=rng), name="train")
    with th.MonitoredSession(graph=graph) as session:
        rng, numbers = session.run(["rng", "train"])
    assert rng is not torch.default_generator
    assert torch.equal(torch.rand(3, generator=rng), numbers)


def test_the_process_has_torchs_generator() -> None:
    assert global_generators()["<torch>"] is torch.default_generator
    assert "<torch>" in all_states({})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_the_process_has_those_of_its_gpus() -> None:
    torch.cuda.init()
    assert "<torch.cuda:0>" in global_generators()


def drawn(folder: Path, steps: int, draw: Any) -> list[Any]:
    """What a session draws that goes on to so many steps."""
    graph = th.Graph()
    graph.variable("n", 0)
    numbers = []

    @graph.train_op
    def train(n: int) -> dict[str, int]:
        numbers.append(draw())
        return {"n": n + 1}

    with th.MonitoredTrainingSession(graph=graph, checkpoint_dir=folder) as session:
        while session.global_step < steps:
            session.run(train)
    return numbers


def test_torchs_global_generator_is_restored_by_the_session_that_saves(tmp_path: Path) -> None:
    def draw() -> Any:
        return torch.rand(2).tolist()

    torch.manual_seed(3)
    through = drawn(tmp_path / "a", 6, draw)
    torch.manual_seed(3)
    first = drawn(tmp_path / "b", 3, draw)
    torch.manual_seed(99)
    assert first + drawn(tmp_path / "b", 6, draw) == through


def test_one_that_came_in_the_midst_of_a_session_is_saved_once_it_was_drawn_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(5)
    with monkeypatch.context() as before:
        before.delitem(sys.modules, "torch")
        numbers = numbers_of.ProcessNumbers()
    assert "<torch>" not in numbers.state_dict()
    expected = torch.rand(3)
    torch.manual_seed(5)
    torch.rand(1)
    state = numbers.state_dict()
    torch.manual_seed(9)
    with monkeypatch.context() as before:
        before.delitem(sys.modules, "torch")
        numbers.load_state_dict(state)
    assert torch.equal(torch.rand(2), expected[1:])


def test_numbers_of_devices_that_are_not_here_are_named(caplog: pytest.LogCaptureFixture) -> None:
    numbers_of.ProcessNumbers().load_state_dict({"<torch.cuda:99>": {"kind": "a torch.Generator on cuda", "state": 1}})
    assert "random numbers of <torch.cuda:99>, which are not here" in caplog.text


def test_numbers_of_a_framework_without_its_adapter_are_an_error() -> None:
    with pytest.raises(th.CheckpointError, match="pip install tenterhooks-nowhere"):
        numbers_of.ProcessNumbers().load_state_dict({"<nowhere>": {"kind": "a Noise", "state": 1}})


def test_a_session_that_does_not_save_leaves_it_alone(tmp_path: Path) -> None:
    graph = th.Graph()
    graph.variable("n", 0)
    drawn(tmp_path, 2, lambda: torch.rand(1))
    before = get_state(torch.default_generator)
    creator = th.ChiefSessionCreator(graph, checkpoint_dir=tmp_path)
    with th.MonitoredSession(creator) as session:
        assert session.raw_session() is not None
    assert same(before, get_state(torch.default_generator))
