"""Metrics take the arrays of any framework."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tenterhooks_estimator.metrics import AUC, Accuracy, BinnedAUC, Mean, Precision, Recall

LABELS, SCORES, WEIGHTS = [1, 0, 1, 0], [0.75, 0.5, 0.25, 0.125], [1.0, 2.0, 0.5, 0.25]
CLASSES = [1, 1, 0, 0]

Make = Callable[[list[Any]], Any]


def floats(kind: str) -> Make:
    """What makes an array of floats of a framework, exact ones even where they have few bits."""
    if kind == "numpy":
        return lambda values: np.array(values, np.float16)
    if kind == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
        return lambda values: torch.tensor(values, dtype=torch.float32, requires_grad=True)
    if kind == "torch-bfloat16":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
        return lambda values: torch.tensor(values, dtype=torch.bfloat16)
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install -r requirements-jax.txt")
    return lambda values: jax.numpy.array(values, jax.numpy.bfloat16)


@pytest.mark.parametrize("kind", ["numpy", "torch", "torch-bfloat16", "jax-bfloat16"])
@pytest.mark.parametrize(
    ("metric", "values"),
    [
        (Accuracy, (LABELS, CLASSES, WEIGHTS)),
        (AUC, (LABELS, SCORES, WEIGHTS)),
        (BinnedAUC, (LABELS, SCORES, WEIGHTS)),
        (Mean, (SCORES, WEIGHTS)),
        (Precision, (LABELS, CLASSES, WEIGHTS)),
        (Recall, (LABELS, CLASSES, WEIGHTS)),
    ],
)
def test_arrays_of_any_framework_are_numbers(kind: str, metric: Any, values: tuple[list[Any], ...]) -> None:
    given, plain, make = metric(), metric(), floats(kind)
    given.update(*map(make, values))
    plain.update(*values)
    assert given.result() == plain.result()
    assert 0.0 < plain.result() < 1.0


def test_a_tensor_on_a_device_is_brought_to_the_host() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -r requirements-torch.txt")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    metric = AUC()
    metric.update(torch.tensor(LABELS, device="cuda"), torch.tensor(SCORES, device="cuda"))
    assert metric.result() == 0.75
