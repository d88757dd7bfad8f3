"""Modules are saved under the names of the plain module, and what does not fit is named."""

from typing import Any

import pytest

from tenterhooks.adapted import decoded
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


def plain(features: int = 3) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(features, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))


def compiled(module: Any) -> Any:
    return torch.compile(module, backend="eager")


def parallel(module: Any) -> Any:
    return torch.nn.DataParallel(module)


def wrapped_inside(module: Any) -> Any:
    module[0] = compiled(module[0])
    module[2] = parallel(module[2])
    return module


WRAPPED = {
    "plain": lambda module: module,
    "compiled": compiled,
    "parallel": parallel,
    "compiled-in-parallel": lambda module: parallel(compiled(module)),
    "parallel-in-compiled": lambda module: compiled(parallel(module)),
    "inside": wrapped_inside,
}


@pytest.mark.parametrize("there", WRAPPED)
@pytest.mark.parametrize("here", WRAPPED)
def test_a_wrapped_module_is_saved_as_the_plain_one(there: str, here: str) -> None:
    original = plain()
    expected = {name: value.clone() for name, value in original.state_dict().items()}
    saved = capture(WRAPPED[there](original), "v")
    assert list(saved) == list(expected)
    module = plain()
    current = WRAPPED[here](module)
    assert list(mismatches(current, saved, "v")) == []
    assert load(current, saved) is current
    assert all(
        torch.equal(value, given) for value, given in zip(module.state_dict().values(), expected.values(), strict=True)
    )


def test_a_part_of_the_modules_own_that_is_named_module_keeps_its_name() -> None:
    own = torch.nn.ModuleDict({"module": torch.nn.Linear(1, 1)})
    assert list(capture(own, "v")) == ["module.weight", "module.bias"]
    averaged = torch.optim.swa_utils.AveragedModel(torch.nn.Linear(1, 1))
    assert list(capture(averaged, "v")) == ["n_averaged", "module.weight", "module.bias"]


def test_parameters_are_loaded_in_place_and_tied_ones_stay_tied() -> None:
    def tied() -> Any:
        module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        module[1].weight = module[0].weight
        return module

    original, current = tied(), tied()
    weight = current[0].weight
    load(current, capture(original, "v"))
    assert current[0].weight is weight is current[1].weight
    assert torch.equal(weight, original[0].weight)


def test_what_does_not_fit_is_named_before_anything_is_loaded() -> None:
    saved = capture(plain(5).double(), "v")
    saved["3.bias"] = saved.pop("2.bias")
    assert next(iter(mismatches(plain(), saved, "v"))) == (
        "v/0.weight: a tensor of float32 and shape [4, 3] here, a tensor of float64 and shape [4, 5] in the checkpoint"
    )
    assert "v/2.bias: it is here, and not in the checkpoint" in list(mismatches(plain(), saved, "v"))
    assert "v/3.bias: it is in the checkpoint, and not here" in list(mismatches(plain(), saved, "v"))
    assert list(mismatches(plain(), 3, "v")) == ["v: a module here, a int in the checkpoint"]


def test_state_of_a_modules_own_comes_back_as_it_was() -> None:
    def get(self: Any) -> Any:
        return self.extra

    def put(self: Any, state: Any) -> None:
        self.extra = state

    own = type("Own", (torch.nn.Module,), {"get_extra_state": get, "set_extra_state": put, "extra": None})
    original, current = own(), own()
    original.extra = {"scale": torch.tensor(3.0), "names": ["a"]}
    saved = capture(original, "v")
    assert list(mismatches(current, saved, "v")) == []
    load(current, saved)
    assert torch.equal(current.extra["scale"], torch.tensor(3.0))
    assert current.extra["names"] == ["a"]


def test_a_lazy_module_takes_the_shapes_of_the_checkpoint() -> None:
    original, current = torch.nn.Linear(3, 2), torch.nn.LazyLinear(2)
    saved = capture(original, "v")
    assert list(mismatches(current, saved, "v")) == []
    load(current, saved)
    assert torch.equal(current.weight, original.weight)
