"""Tensors of every kind, saved and restored bit for bit."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks import adapted
from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches
from tenterhooks.updates import fits, outline

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
Saver = pytest.importorskip("tenterhooks_checkpoint", reason="tenterhooks-checkpoint is not installed").Saver

NUMBERS = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
NUMBERS += ["float16", "float32", "float64", "complex64", "complex128", "bfloat16", "complex32"]
NUMBERS += [
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "uint4",
    "int4",
    "bits8",
]


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


class Keeper:
    """An object of the program's that gives what it keeps."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept = state["kept"]


def some(dtype: str, *shape: int) -> Any:
    """A tensor of all kinds of bits."""
    plain = torch.zeros((), dtype=getattr(torch, dtype)).element_size()
    bits = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (*shape, plain), dtype=np.uint8))
    if dtype == "bool":
        return bits[..., 0] > 100
    return bits.contiguous().view(getattr(torch, dtype)).reshape(shape)


def bits(tensor: Any) -> bytes:
    return bytes(tensor.detach().contiguous().view(torch.uint8).numpy()) if tensor.numel() else b""


def same(one: Any, other: Any) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dim() == 0:
        one, other = one.reshape(1), other.reshape(1)
    return bits(one) == bits(other)


def through_a_checkpoint(state: Any, folder: Path) -> Any:
    saver = Saver(folder)
    saver.save({"state": capture(state, "v")}, step=1)
    saver.close()
    restored = Saver(folder).restore()
    assert restored is not None
    return restored[1]["state"]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
def test_every_dtype_is_restored_in_place_and_anew(dtype: str, tmp_path: Path) -> None:
    tensor = some(dtype, 3, 4)
    saved = through_a_checkpoint({"t": tensor, "k": Keeper([some(dtype, 3, 4)])}, tmp_path)
    current = {"t": some(dtype, 3, 4), "k": Keeper(None)}
    current["t"].view(torch.uint8).zero_()
    place = current["t"].data_ptr()
    assert list(mismatches(current, saved, "v")) == []
    load(current, saved)
    assert same(current["t"], tensor)
    assert current["t"].data_ptr() == place
    assert same(current["k"].kept[0], tensor)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "bool"])
@pytest.mark.parametrize(
    "shape_of",
    [
        pytest.param(lambda t: t.T, id="transposed"),
        pytest.param(lambda t: t[::2, 1::2], id="strided"),
        pytest.param(lambda t: t[:0], id="empty"),
        pytest.param(lambda t: t[1, 2], id="without-dimensions"),
        pytest.param(lambda t: t[:1].expand(5, 6), id="expanded"),
    ],
)
def test_every_layout_is_restored(dtype: str, shape_of: Any, tmp_path: Path) -> None:
    tensor = shape_of(some(dtype, 4, 6))
    saved = through_a_checkpoint({"t": tensor, "k": Keeper(tensor.clone())}, tmp_path)
    current: dict[str, Any] = {"t": shape_of(torch.zeros(4, 6).to(tensor.dtype)), "k": Keeper(None)}
    assert list(mismatches(current, saved, "v")) == []
    load(current, saved)
    assert same(current["t"], tensor)
    assert same(current["k"].kept, tensor)


def test_conjugates_and_negatives_are_saved_as_the_numbers_that_they_show() -> None:
    tensor = some("complex64", 3).nan_to_num(0.0)
    keeper = Keeper(None)
    load(keeper, capture(Keeper([tensor.conj(), tensor.conj().imag, tensor]), "v"))
    assert torch.equal(keeper.kept[0], tensor.conj())
    assert torch.equal(keeper.kept[1], tensor.conj().imag)
    assert torch.equal(keeper.kept[2], tensor)


def test_tensors_that_share_memory_share_it_again(tmp_path: Path) -> None:
    whole = torch.arange(12.0).reshape(3, 4)
    kept = {
        "first": whole[0],
        "column": whole[:, 1],
        "again": whole[0],
        "bits": whole.view(torch.int32)[2],
        "x": whole + 1,
    }
    keeper = Keeper(None)
    load(keeper, through_a_checkpoint(Keeper(kept), tmp_path))
    restored = keeper.kept
    assert all(same(restored[name], kept[name]) for name in kept)
    restored["first"][1] = 100.0
    assert restored["column"][0] == restored["again"][1] == 100.0
    restored["bits"][0] = 0
    assert whole[0, 1] == 1.0
    assert restored["bits"].untyped_storage().data_ptr() == restored["first"].untyped_storage().data_ptr()
    assert restored["x"].untyped_storage().data_ptr() != restored["first"].untyped_storage().data_ptr()


def test_shared_memory_is_saved_once() -> None:
    tensor = torch.zeros(100)
    saved = capture([tensor, tensor, tensor[50:]], "v")
    assert [part["data"].nbytes for part in saved if "data" in part] == [400]


def test_what_is_restored_has_memory_of_its_own() -> None:
    tensor = torch.zeros(3)
    keeper = Keeper(None)
    load(keeper, capture(Keeper(tensor), "v"))
    tensor += 1
    assert keeper.kept.tolist() == [0.0, 0.0, 0.0]


def test_one_that_took_the_place_of_another_takes_it_again(tmp_path: Path) -> None:
    kept: list[dict[str, Any]] = []

    def loop(fresh: Any) -> None:
        with th.MonitoredTrainingSession(checkpoint_dir=tmp_path, state={"w": fresh, "same": fresh}) as session:
            if session.global_step == 0:
                with session.step():
                    session.state["w"] = session.state["same"] = session.state["w"] + 1
            kept.append(dict(session.state))

    loop(torch.zeros(2))
    data = torch.zeros(3)
    loop(data[:2])
    state = kept[1]
    assert state["w"].tolist() == [1.0, 1.0]
    assert state["w"] is state["same"]
    assert data.tolist() == [0.0, 0.0, 0.0]


def test_one_that_is_there_since_the_beginning_is_filled_also_where_it_is_another_entry_by_now(tmp_path: Path) -> None:
    begun = {"w": torch.zeros(2), "best": None, "all": []}
    with th.MonitoredTrainingSession(checkpoint_dir=tmp_path, state=begun) as session, session.step():
        session.state["w"] += 1
        session.state["best"] = session.state["w"]
        session.state["all"].append(session.state["w"])
    fresh = torch.zeros(2)
    with th.MonitoredTrainingSession(checkpoint_dir=tmp_path, state={"w": fresh, "best": None, "all": []}) as session:
        assert session.state["w"] is fresh
        assert session.state["best"] is fresh
        assert session.state["all"][0] is fresh
        assert fresh.tolist() == [1.0, 1.0]


def test_tensors_with_gradients_keep_requiring_them() -> None:
    weight = torch.full((3,), 2.0, requires_grad=True)
    current = {"w": torch.zeros(3, requires_grad=True), "k": Keeper(None)}
    load(current, capture({"w": weight, "k": Keeper([weight, weight * 2])}, "v"))
    assert current["w"].requires_grad
    assert current["w"].is_leaf
    assert current["w"].tolist() == [2.0, 2.0, 2.0]
    assert [tensor.requires_grad for tensor in current["k"].kept] == [True, False]


def test_other_values_of_torch_are_restored() -> None:
    kept = [torch.bfloat16, torch.device("cuda:1"), torch.Size([2, 3])]
    keeper = Keeper(None)
    load(keeper, capture(Keeper(kept), "v"))
    assert keeper.kept == kept
    assert list(map(type, keeper.kept)) == list(map(type, kept))


def test_what_does_not_fit_is_named() -> None:
    saved = capture(torch.zeros(2, 3, dtype=torch.bfloat16), "v")
    assert list(mismatches(torch.zeros(2, 3), saved, "v")) == [
        "v: a tensor of float32 and shape [2, 3] here, a tensor of bfloat16 and shape [2, 3] in the checkpoint"
    ]
    assert list(mismatches(torch.zeros(2), capture(torch.float32, "v"), "v")) == [
        "v: a tensor of float32 and shape [2] here, a torch.dtype in the checkpoint"
    ]


@pytest.mark.filterwarnings("ignore")  # torch's own, of what it means to drop or has not finished
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: torch.eye(3).to_sparse(), "layout torch.sparse_coo"),
        (lambda: torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), "nested"),
        (lambda: torch.quantize_per_tensor(torch.zeros(2), 1.0, 0, torch.qint8), "is quantized: save its int_repr"),
        (lambda: torch.zeros(2, device="meta"), "has no memory"),
        (lambda: torch.nn.LazyLinear(3).weight, "run the module once"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_name(make: Any, words: str) -> None:
    with pytest.raises(th.CheckpointError, match=r"variables/t is a torch\..*" + words):
        capture(make(), "variables/t")


@pytest.mark.parametrize(
    "change",
    [
        {"type": "Module"},
        {"type": None},
        {"dtype": "nn"},
        {"dtype": 3},
        {"dtype": "float64"},
        {"data": "x"},
        {"data": np.array([None])},
        {"storage": 7},
        {"storage": 0, "data": np.zeros(3, np.uint8), "offset": 0, "shape": [1], "stride": [1]},
        {"storage": 0, "data": np.zeros(8, np.uint8), "offset": -1, "shape": [1], "stride": [1]},
        {"storage": 0, "data": np.zeros(8, np.uint8), "offset": 0, "shape": [1 << 60], "stride": [1]},
        {"type": "device", "name": "nowhere"},
        {"type": "Size", "lengths": "x"},
    ],
)
def test_a_value_of_another_make_is_an_error_of_ours(change: dict[str, Any]) -> None:
    with pytest.raises(th.CheckpointError, match="not as it was written"):
        decoded({**capture(torch.zeros(2), "v"), **change})


def test_an_update_is_compared_without_a_copy() -> None:
    known = outline(torch.nn.Parameter(torch.zeros(2, 3)))
    assert known.device.type == "meta"
    assert fits(known, torch.ones(2, 3))
    assert not fits(known, torch.ones(2, 4))
    assert not fits(known, torch.ones(2, 3, dtype=torch.float64))
    assert not fits(known, np.ones((2, 3)))


def test_fetched_tensors_are_detached_and_those_before_the_update() -> None:
    graph = th.Graph()
    graph.variable("w", lambda: torch.ones(2, requires_grad=True))
    graph.tensor(lambda w: (w * 3).sum(), name="loss")

    @graph.train_op
    def train(w: Any, loss: Any) -> None:
        loss.backward()
        with torch.no_grad():
            w -= w.grad

    with th.MonitoredSession(graph=graph) as session:
        assert not session.run("loss").requires_grad
        w, loss, _ = session.run(["w", "loss", train])
        assert session.state["w"].tolist() == [-2.0, -2.0]
        assert session.state["w"].requires_grad
    assert w.tolist() == [1.0, 1.0]
    assert not w.requires_grad
    assert not loss.requires_grad
    assert loss.item() == 6.0


def test_fetched_tensors_are_detached_where_no_tensor_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapted, "_made", {})
    weight = torch.ones(2, requires_grad=True)
    graph = th.Graph()
    graph.tensor(weight.sum, name="loss", inputs=[])
    with th.MonitoredSession(graph=graph) as session:
        assert not session.run("loss").requires_grad


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "float8_e5m2"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_the_nan_guard_finds_nan_in_tensors(dtype: str, shape: tuple[int, ...]) -> None:
    nan = pytest.importorskip("tenterhooks_nan", reason="tenterhooks-nan is not installed")
    steps = 0
    with pytest.raises(nan.NanLossDuringTrainingError), th.MonitoredSession(hooks=["nan"]) as session:
        for number in session.steps([1.0, float("inf"), float("nan"), 1.0]):
            steps += 1
            session.publish(loss=torch.full(shape, number).to(getattr(torch, dtype)))
    assert steps == 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_tensor_on_a_gpu_is_restored_there() -> None:
    tensor = some("bfloat16", 3, 4).cuda()
    current = {"t": torch.zeros_like(tensor), "k": Keeper(None)}
    load(current, copy.deepcopy(capture({"t": tensor, "k": Keeper([tensor, tensor[1:]])}, "v")))
    assert current["t"].device == tensor.device
    assert same(current["t"].cpu(), tensor.cpu())
    assert same(current["k"].kept[1], tensor[1:].cpu())
