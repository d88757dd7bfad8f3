"""The numbers of a structure, with their places."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from tenterhooks_nan._trees import leaves


class Optimizer:
    def state_dict(self) -> dict[str, Any]:
        return {"m": [np.zeros(2), np.ones(1)], "steps": 3, "name": "adam"}


def test_each_number_has_its_place() -> None:
    state = {"w": np.zeros(1), "nested": {"ok": 1.0, 3: (0.0, 1j)}, "optimizer": Optimizer(), "text": "a", "none": None}
    assert [path for path, _ in leaves(state, "")] == [
        "w",
        "nested/ok",
        "nested/3/[0]",
        "nested/3/[1]",
        "optimizer/m/[0]",
        "optimizer/m/[1]",
        "optimizer/steps",
    ]
    assert [path for path, _ in leaves(OrderedDict(a=[1.0]), "grads")] == ["grads/a/[0]"]
    assert list(leaves(2.0, "loss")) == [("loss", 2.0)]


def test_what_holds_no_number_gives_none() -> None:
    assert [*leaves("nan", "x"), *leaves(None, "x"), *leaves({"a": []}, "x"), *leaves(object(), "x")] == []


def test_arrays_of_records_and_of_objects_are_taken_apart() -> None:
    records = np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")])
    objects = np.array([[1.0, "text"], [None, [2.0]]], object)
    assert [path for path, _ in leaves({"r": records, "one": records[0], "o": objects}, "")] == [
        *("r/a", "r/b", "one/a", "one/b"),
        *("o/[0]/[0]", "o/[1]/[1]/[0]"),
    ]


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_a_sparse_array_is_what_it_stores(form: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    value = sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]).asformat(form)
    ((path, stored),) = leaves(value, "w")
    assert (path, sorted(set(stored.tolist()) - {0.0})) == ("w/values", [1.0, 2.0])
