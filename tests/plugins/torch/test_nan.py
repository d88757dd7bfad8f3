"""The NaN guard on tensors."""

import math
from typing import Any

import pytest

import tenterhooks as th

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
nan = pytest.importorskip("tenterhooks_nan", reason="tenterhooks-nan is not installed")

FLOATS = ["float16", "bfloat16", "float32", "float64"]
SMALL = ["float8_e4m3fn", "float8_e5m2"]


def ended_by(*values: Any, **options: Any) -> str | None:
    """What a guard says of a loop that publishes these; None if it says nothing."""
    hook = nan.NanTensorHook("value", **options)
    try:
        with th.MonitoredSession(state={}, hooks=[hook]) as session:
            for value in session.steps(values):
                session.publish(value=value)
    except nan.NanLossDuringTrainingError as error:
        return str(error).partition(":")[0].replace(" in the run that led to global step", ", step")
    return None


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, *SMALL, "complex64", "complex128"])
def test_a_tensor_of_any_floats_is_looked_at(dtype: str, deferred: bool) -> None:
    fine = torch.ones(2, 3).to(getattr(torch, dtype))
    bad = torch.tensor([[1.0, 1.0], [1.0, math.nan]]).to(getattr(torch, dtype))
    assert ended_by(fine, fine[0, 0], bad, deferred=deferred) == "'value' is NaN at [1, 1], step 3"
    assert ended_by(fine, bad[1, 1], deferred=deferred) == "'value' is NaN, step 2"
    assert ended_by(fine, bad, check="non-finite", deferred=deferred) == "'value' is not finite at [1, 1], step 2"


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "float8_e5m2", "complex64"])
def test_infinity_is_found_where_it_is_asked_for(dtype: str, deferred: bool) -> None:
    bad = torch.tensor([1.0, -math.inf]).to(getattr(torch, dtype))
    assert ended_by(bad, bad[1], deferred=deferred) is None
    assert ended_by(bad, check="non-finite", deferred=deferred) == "'value' is not finite at [1], step 1"
    assert ended_by(bad[0], bad[1], check="non-finite", deferred=deferred) == "'value' is not finite, step 2"


def test_whole_numbers_are_fine() -> None:
    assert ended_by(torch.arange(3), torch.tensor(True), {"n": torch.tensor([1], dtype=torch.uint8)}) is None


@pytest.mark.parametrize("deferred", [False, True])
def test_gradients_and_modules_are_trees(deferred: bool) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    model(torch.ones(1, 2)).sum().backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    gradients["1.weight"][0, 2] = math.nan
    assert ended_by([model], deferred=deferred) is None
    assert ended_by([model], gradients, deferred=deferred) == "'value/1.weight' is NaN at [0, 2], step 2"
    with torch.no_grad():
        model[0].bias[1] = math.nan
    # By itself a module is one of the callables that a loop may publish.
    assert ended_by({"model": model}, deferred=deferred) == "'value/model/0.bias' is NaN at [1], step 1"


def test_of_all_tensors_on_a_device_one_truth_value_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Any] = []
    plain = torch.Tensor.__bool__

    def counting(self: Any) -> bool:
        moved.append(self)
        return bool(plain(self))

    monkeypatch.setattr(torch.Tensor, "__bool__", counting)
    tree = [torch.ones(2), {"a": torch.tensor(1.0), "n": torch.arange(2)}, (torch.ones(1, 3, dtype=torch.float16),)]
    assert ended_by(tree, tree) is None
    assert len(moved) == 2


def test_a_loss_that_needs_gradients_may_be_published() -> None:
    loss = (torch.ones(2, requires_grad=True) * math.nan).sum()
    assert ended_by(loss, deferred=True) == "'value' is NaN, step 1"


def test_what_was_found_stands_though_it_was_changed_in_place() -> None:
    tensor = torch.tensor([math.nan])
    hook = nan.NanTensorHook("value", deferred=True)
    session = th.MonitoredSession(state={}, hooks=[hook])
    with (
        pytest.raises(nan.NanLossDuringTrainingError, match=r"^'value' is NaN in the run that led to global step 1:"),
        session,
    ):
        for _ in session.steps(range(3)):
            session.publish(value=tensor)
            tensor = tensor.zero_() if session.global_step else tensor


def test_a_ruined_model_is_not_to_be_saved() -> None:
    model = torch.nn.Linear(2, 1)
    hook = nan.NanTensorHook("value", check="non-finite")
    with th.MonitoredSession(state={"model": model}, hooks=[hook]) as session:
        raw = session.raw_session()
        assert raw is not None
        with session.step():
            session.publish(value=1.0)
        assert hook.before_save(raw, 1) is None
        with torch.no_grad():
            model.weight[0, 1] = math.inf
        assert hook.before_save(raw, 1) == "numbers that are not finite in 'model/weight'"


@pytest.mark.filterwarnings("ignore:Sparse .* tensor support is in beta")
@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
def test_of_a_sparse_tensor_what_it_stores_is_looked_at(layout: str, deferred: bool) -> None:
    options = {"blocksize": (1, 1)} if layout in ("sparse_bsr", "sparse_bsc") else {}
    fine, bad = (
        torch.tensor([[0.0, last], [1.0, 2.0]]).to_sparse(layout=getattr(torch, layout), **options)
        for last in (3.0, math.nan)
    )
    assert ended_by(fine, {"g": fine}, deferred=deferred) is None
    said = ended_by(fine, bad, deferred=deferred)
    assert said is not None
    assert said.startswith("'value/values' is NaN at [")
    assert said.endswith(", step 2")
    assert ended_by(bad, check="non-finite", deferred=deferred) is not None


def test_the_gradient_of_a_sparse_embedding_is_looked_at() -> None:
    embedding = torch.nn.Embedding(4, 2, sparse=True)
    # An entry that was used twice is stored twice.
    (embedding(torch.tensor([1, 3, 1])) * torch.tensor([1.0, math.nan])).sum().backward()
    assert ended_by({"embedding": embedding.weight.grad}) == "'value/embedding/values' is NaN at [0, 1], step 1"
