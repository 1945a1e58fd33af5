"""Attributes of torch.Tensor that tinytorch's lacks, and what `dir` lists of the others."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tinytorch
from tinytorch.base.errors import ABSENT_FROM_TENSOR
from tinytorch.graph import TensorBase
from tinytorch.nn.module import ABSENT_FROM_MODULES
from tinytorch.optim import ABSENT_FROM_OPTIMIZERS
from tinytorch.tensor import _NAMES_OF_ENGINE


@pytest.mark.torch
def test_the_list_is_current() -> None:
    import torch

    theirs = {name for name in dir(torch.Tensor) if not name.startswith("_")}
    theirs -= set(dir(tinytorch.Tensor))
    assert {
        name
        for name in theirs
        if name not in ABSENT_FROM_TENSOR and name.rstrip("_") not in ABSENT_FROM_TENSOR
    } == set()
    assert set(ABSENT_FROM_TENSOR) <= theirs


def test_an_absent_name_says_so_and_is_no_attribute() -> None:
    x = tinytorch.ones(2)
    assert not hasattr(x, "svd") and "svd" not in dir(x)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'svd'") as caught:
        x.svd()  # type: ignore[attr-defined]
    assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'svd'") as caught:
        tinytorch.svd(x)  # type: ignore[attr-defined]
    assert "tinytorch has no 'svd'" in caught.value.__notes__[0]


def make_modules_and_optimizers(engine: Any) -> list[Any]:
    """One object of each class of modules and optimizers that tinytorch has."""
    nn, x = engine.nn, engine.ones(1, requires_grad=True)
    losses = [nn.MSELoss(), nn.NLLLoss(), nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss()]
    layers = [nn.Linear(1, 1), nn.ReLU(), nn.Flatten(), nn.Sequential(), nn.ModuleList()]
    return [*losses, *layers, engine.optim.SGD([x]), engine.optim.Adam([x])]


@pytest.mark.torch
def test_what_modules_and_optimizers_lack_says_so() -> None:
    import torch

    absent = ABSENT_FROM_MODULES | ABSENT_FROM_OPTIMIZERS
    found = set()
    pairs = zip(*map(make_modules_and_optimizers, (torch, tinytorch)), strict=True)
    for theirs, ours in pairs:
        for name in dir(theirs):
            # `weight` of a loss is an attribute that any other module might lack, too.
            if name.startswith("_") or name == "weight" or hasattr(ours, name):
                continue
            found.add(name)
            words = f"'{type(ours).__name__}' object has no attribute '{name}'"
            with pytest.raises(AttributeError, match=re.escape(words)) as caught:
                getattr(ours, name)
            assert f"tinytorch has no '{name}'" in caught.value.__notes__[0]
    assert found == absent, "a name that is there, or that PyTorch does not have"


def test_a_name_that_nobody_has_has_no_note() -> None:
    for owner, name in (
        (tinytorch.nn.ReLU(), "ReLU"),
        (tinytorch.optim.SGD([tinytorch.ones(1)]), "SGD"),
    ):
        with pytest.raises(AttributeError) as caught:
            owner.no_such_name  # noqa: B018
        assert str(caught.value) == f"'{name}' object has no attribute 'no_such_name'"
        assert not hasattr(caught.value, "__notes__")


def test_dir_does_not_list_what_is_the_engines_own() -> None:
    x = tinytorch.ones(2, requires_grad=True)
    x.mine = 1  # type: ignore[attr-defined]
    listed = set(dir(x))
    assert {"mine", "grad", "_version"} <= listed
    attributes = {name for name in vars(TensorBase) if not name.startswith("__")}
    assert "_sequence_number" in attributes, "what makes a leaf the end of the graph"
    assert not listed & attributes and not set(dir(tinytorch.Tensor)) & attributes
    # A name that is hidden exists.
    assert set(type.__dir__(tinytorch.Tensor)) >= _NAMES_OF_ENGINE


@pytest.mark.torch
def test_dir_lists_nothing_that_torch_does_not_list() -> None:
    import torch

    def make_objects(engine: Any) -> dict[str, Any]:
        x = engine.ones(2, requires_grad=True)
        double: Any = type("Double", (engine.autograd.Function,), functions)
        return {
            "tensor": x,
            "class": engine.Tensor,
            "parameter": engine.nn.Parameter(x.detach()),
            "modules": engine.nn.ModuleList([engine.nn.ReLU()]),
            "node": (x * x).grad_fn,
            "node of a leaf": (x * x).grad_fn.next_functions[0][0],
            "node of a write": (x * 1)[:1].mul_(2).grad_fn,
            "ctx": double.apply(x).grad_fn,
        }

    def forward(ctx: Any, x: Any) -> Any:
        ctx.mine = ctx._mine = 1
        return x * 2

    functions = {"forward": staticmethod(forward)}

    theirs = make_objects(torch)
    for kind, ours in make_objects(tinytorch).items():
        names = {name for name in dir(ours) if not name.startswith("__")}
        if kind == "modules":  # its helpers are methods of the class
            names = {name for name in names if name.isdigit()}
        assert names <= set(dir(theirs[kind])), kind
        if kind == "ctx":
            assert {"mine", "_mine", "saved_tensors"} <= names
        if kind == "node":
            assert {"_saved_self", "_raw_saved_other", "next_functions"} <= names


def test_what_would_be_another_value_is_refused() -> None:
    a = tinytorch.arange(6.0).view(3, 2).t()
    row = a.split(1, 0)[1]
    with pytest.raises(NotImplementedError, match="clone"):
        row.data.index_put_((tinytorch.tensor([0, 0]),), row, accumulate=True)
    assert a.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert row.index_put((tinytorch.tensor([0, 0]),), row.clone(), accumulate=True).tolist() == [
        [3, 9, 15]
    ]


def test_a_list_of_tensors_for_out_is_absent_and_says_so() -> None:
    x = tinytorch.ones(2, 3)
    with pytest.raises(NotImplementedError, match="unbind_copy") as caught:
        tinytorch.unbind_copy(x, out=[tinytorch.empty(0), tinytorch.empty(0)])  # type: ignore[call-arg]
    assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]


def test_a_target_that_is_a_factor_is_refused_by_addmm() -> None:
    """PyTorch reads what it has just written: what comes out depends on its kernel."""
    x = tinytorch.ones(3, 2)
    with pytest.raises(NotImplementedError, match=r"clone\(\)"):
        x[:2].addmm_(x[1:], tinytorch.ones(2, 2))
    assert x.tolist() == [[1, 1]] * 3
    assert x[:2].addmm_(x[1:].clone(), tinytorch.ones(2, 2)).tolist() == [[3, 3]] * 2


def test_losses_that_are_absent_say_how_else_they_are_computed() -> None:
    """The way that each error names gives PyTorch's values, of the loss and of its gradient."""
    torch = pytest.importorskip("torch")
    ours, theirs = tinytorch.nn.functional, torch.nn.functional
    values = [[1.0, 2.0, 4.0], [0.5, -1.0, 0.0]]
    x, y = (e.tensor(values, requires_grad=True) for e in (tinytorch, torch))
    p, q = (e.tensor([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]) for e in (tinytorch, torch))
    with pytest.raises(NotImplementedError, match="log_softmax") as caught:
        ours.cross_entropy(x, p)
    assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]
    (-(p * x.log_softmax(1)).sum(1).mean()).backward()
    theirs.cross_entropy(y, q).backward()
    assert x.grad is not None and np.allclose(x.grad.numpy(), y.grad.numpy())

    x, y = (e.arange(12.0).sin().view(2, 3, 2).requires_grad_() for e in (tinytorch, torch))
    t, u = (e.tensor([[0, 1], [2, -100]]) for e in (tinytorch, torch))
    with pytest.raises(NotImplementedError, match="movedim"):
        ours.cross_entropy(x, t)
    ours.cross_entropy(x.movedim(1, -1).flatten(0, -2), t.flatten()).backward()
    theirs.cross_entropy(y, u).backward()
    assert x.grad is not None and np.allclose(x.grad.numpy(), y.grad.numpy())


def test_a_complex_number_says_that_it_is_absent() -> None:
    x: Any = tinytorch.ones(2)
    number: Any = 1j

    def assign() -> None:
        x[0] = number

    calls = (
        lambda: x.fill_(number),
        lambda: x * number,
        lambda: tinytorch.full((2,), number),
        lambda: tinytorch.tensor([1.0, number]),
        lambda: x.copy_(np.complex64(number)),
        lambda: tinytorch.rsub(x, number),
        lambda: tinytorch.result_type(x, number),
        lambda: x.clamp(number),
        lambda: x.clamp_(number),
        assign,
    )
    for call in calls:
        with pytest.raises(NotImplementedError, match="a complex number is not in tinytorch"):
            call()
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        x.sub_(x, alpha=number)
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_no_other_name_is_suggested_for_one_that_is_absent() -> None:
    x = tinytorch.ones(2)
    for owner, name in ((x, "addbmm"), (tinytorch, "addbmm"), (tinytorch, "erf")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
            getattr(owner, name)
        # Python finds what is alike among the names of the object that the error has.
        assert caught.value.name == name and caught.value.obj is None
    for owner, name in ((x, "clon"), (tinytorch, "zeross"), (tinytorch.nn, "Liner")):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert caught.value.obj is owner, "what PyTorch lacks, too, is a mistake"


def test_a_dtype_that_is_absent_says_so() -> None:
    x: Any = tinytorch.ones(2)
    for call in (
        lambda: tinytorch.from_numpy(np.ones(2, "F")),
        lambda: tinytorch.as_tensor(np.ones(2, "u2")),
        lambda: tinytorch.tensor(np.complex64(1)),
        lambda: x.type("torch.ComplexFloatTensor"),
        lambda: x.type("torch.BFloat16Tensor"),
        lambda: x.type("torch.sparse.FloatTensor"),
    ):
        with pytest.raises(NotImplementedError, match="is not in tinytorch") as caught:
            call()
        assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]
