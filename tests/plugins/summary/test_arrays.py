"""Values of any framework become arrays of their own."""

from typing import Any

import numpy as np
import pytest

from tenterhooks_summary._arrays import numbers, pixels


def test_an_array_is_copied() -> None:
    given = np.zeros(3)
    kept = numbers(given, "w")
    given += 1.0
    assert kept.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int32", "bool"])
def test_a_tensor_of_pytorch_is_copied_whatever_it_knows(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    given: Any = torch.tensor([0.0, 1.0], requires_grad=True).to(getattr(torch, dtype))
    kept = numbers(given, "w")
    with torch.no_grad():
        given[:] = 1
    assert kept.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "bool"])
def test_an_array_of_jax_is_an_array(dtype: str) -> None:
    numpy = pytest.importorskip("jax.numpy")
    assert numbers(numpy.array([0.0, 1.0], dtype), "w").tolist() == [0.0, 1.0]


def test_images_of_frameworks_are_scaled_as_others() -> None:
    torch = pytest.importorskip("torch")
    assert pixels(torch.tensor([[0.0, 0.5, 1.0]], dtype=torch.bfloat16), "i").ravel().tolist() == [0, 128, 255]


def test_floats_are_rounded_to_the_nearest() -> None:
    assert pixels(np.array([[0.0, 0.501, 1.0]], np.float32), "i").ravel().tolist() == [0, 128, 255]
