"""Files go both ways: what PyTorch saves is read here, and what is saved here PyTorch reads."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import tinytorch

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


def content(engine: Any) -> dict[str, Any]:
    """What a checkpoint may hold, of either engine."""
    a = engine.arange(6.0)
    marked = engine.ones(2, requires_grad=True)
    marked.note = "kept"
    parameter = engine.nn.Parameter(engine.ones(2, 2))
    parameter.rank = 3
    kinds = [engine.ones(3).to(getattr(engine, d)) for d in DTYPES]
    rest = [
        engine.float32,
        engine.Size([2]),
        engine.device("cpu"),
        {1, 2},
        b"ab",
        1j,
        None,
        True,
        "x",
        (2, 2.5),
    ]
    return OrderedDict(a=a, view=a.view(2, 3).t()[1:], empty=engine.zeros(0, 3), marked=marked, parameter=parameter,
                       plain=engine.nn.Parameter(engine.zeros(1), requires_grad=False), kinds=kinds, rest=rest)  # fmt: skip


def told(thing: Any) -> Any:
    """All that both engines should agree on."""
    if hasattr(thing, "untyped_storage"):
        seen = (
            repr(thing),
            thing.stride(),
            thing.storage_offset(),
            thing.requires_grad,
            thing.is_leaf,
            thing._version,
        )
        return *seen, type(thing).__name__, thing.untyped_storage().nbytes(), dict(vars(thing))
    if isinstance(thing, (list, tuple)):
        return [told(x) for x in thing]
    return {k: told(v) for k, v in thing.items()} if isinstance(thing, dict) else repr(thing)


@pytest.mark.torch
@pytest.mark.parametrize("weights_only", [True, False])
def test_files_go_both_ways(weights_only: bool) -> None:
    import torch

    for writer, reader in ((torch, tinytorch), (tinytorch, torch), (tinytorch, tinytorch)):
        file = io.BytesIO()
        writer.save(content(writer), file)
        file.seek(0)
        found = reader.load(file, weights_only=weights_only)
        file.seek(0)
        assert told(found) == told(torch.load(file))
        found["a"].zero_()
        assert found["view"].sum() == 0


@pytest.mark.torch
def test_a_model_goes_over() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    ours = tinytorch.nn.Sequential(tinytorch.nn.Linear(3, 2), tinytorch.nn.Linear(2, 1))
    ours.load_state_dict(tinytorch.load(file))
    x = [[1.0, 2.0, 3.0]]
    assert ours(tinytorch.tensor(x)).item() == pytest.approx(net(torch.tensor(x)).item(), rel=1e-5)


def test_a_file_of_its_own_comes_back() -> None:
    file = io.BytesIO()
    tinytorch.save(content(tinytorch), file)
    file.seek(0)
    found = tinytorch.load(file)
    expected = content(tinytorch)
    assert repr(found["view"]) == repr(expected["view"])
    assert found["parameter"].rank == 3 and found["marked"].note == "kept"
    assert found["view"].untyped_storage() is found["a"].untyped_storage()


def test_a_file_of_another_kind_gets_a_sentence() -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"this is no file that torch\.save wrote"):
        tinytorch.load(io.BytesIO(b"text"))
