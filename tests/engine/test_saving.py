"""What is saved comes back, with what tensors share."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

import tinytorch

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


def content(engine: Any) -> dict[str, Any]:
    """What a checkpoint may hold."""
    a = engine.arange(6.0)
    marked = engine.ones(2, requires_grad=True)
    marked.note = "kept"
    parameter = engine.nn.Parameter(engine.ones(2, 2))
    parameter.rank = 3
    kinds = [engine.ones(3).to(getattr(engine, d)) for d in DTYPES]
    rest = [engine.float32, engine.Size([2]), engine.device("cpu"), {1, 2}, b"ab", 1j, None, True, "x", (2, 2.5)]
    return OrderedDict(a=a, view=a.view(2, 3).t()[1:], empty=engine.zeros(0, 3), marked=marked, parameter=parameter,
                       plain=engine.nn.Parameter(engine.zeros(1), requires_grad=False), kinds=kinds, rest=rest)  # fmt: skip


def test_a_file_of_its_own_comes_back() -> None:
    file = io.BytesIO()
    tinytorch.save(content(tinytorch), file)
    file.seek(0)
    found = tinytorch.load(file)
    expected = content(tinytorch)
    assert repr(found["view"]) == repr(expected["view"])
    assert found["parameter"].rank == 3 and found["marked"].note == "kept"
    assert found["view"].untyped_storage() is found["a"].untyped_storage()
