"""What no memory holds is refused in PyTorch's words, and before anything is computed for it."""

from __future__ import annotations

from typing import Any

import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch

FACTORIES = [
    *(
        f"torch.{name}({size})"
        for name in ("zeros", "ones", "empty", "rand", "randn")
        for size in ("2**40", "2**61", "2**62", "2**63 - 1", "2**32, 2**32", "2**20, 2**20, 2")
    ),
    "torch.zeros(2**62, dtype=torch.uint8)",
    "torch.arange(2**50)",
    "torch.arange(2**62)",
    "torch.arange(2**50, dtype=torch.float32)",
    "torch.full((2**50,), 1)",
    "torch.eye(2**30)",
    "torch.eye(2**32)",
    "torch.linspace(0, 1, 2**50)",
    "torch.linspace(0, 1, 2**62)",
    "torch.randperm(2**50)",
    "torch.empty_strided((2**40,), (2**40,))",
    "torch.zeros(1).new_zeros(2**40)",
]
# `x`: one cell, 2**40 times
RESULTS = [
    *(f"x.{name}()" for name in ("clone", "exp", "neg", "double", "contiguous", "diag_embed")),
    *(f"x.{name}()" for name in ("all", "any", "max", "min", "cos")),
    *(f"x.{name}(0)" for name in ("softmax", "log_softmax", "cumsum", "all", "any")),
    *(f"torch.{name}(x)" for name in ("zeros_like", "ones_like", "empty_like", "rand_like")),
    "x + x",
    "x * 2",
    "x > 1",
    "x.masked_select(x > 1)",
    "x.masked_select(torch.ones(1, dtype=torch.bool).expand(2**40))",
    "torch.stack([x, x])",
    "m @ m.t()",
    "torch.mm(m, m.t())",
    "torch.bmm(m[None], m.t()[None])",
    "m + m.t()",
    'torch.einsum("i,i->", x, x)',
    "torch.ones(3).resize_(2**40)",
    "torch.ones(3).resize_as_(x)",
    "torch.ones(3).untyped_storage().resize_(2**40)",
    "torch.UntypedStorage(2**40)",
    "torch.ones(3).set_(torch.ones(3).untyped_storage(), 0, (2**40,), (1,))",
]
# Sizes, strides and offsets whose product no int of 64 bits holds.
OVERFLOWS = [
    *(f"torch.ones(6).as_strided((2,), ({stride},))" for stride in ("2**61", "2**62", "2**63 - 1")),
    *(f"torch.ones(6).as_strided(({n},), (1,))" for n in ("2**61", "2**62 + 1", "2**63 - 1")),
    *(f"torch.ones(6).as_strided((2,), (1,), {n})" for n in ("2**61", "2**62", "2**63 - 1")),
    "torch.ones(6).as_strided((2**40, 2**40), (0, 0))",
    "torch.ones(6).as_strided((2**32, 2**31), (0, 0))",
    "torch.ones(6).as_strided((-1, 2), (1, 1))",
    "torch.as_strided_copy(torch.ones(6), (2**40, 2**40), (0, 0))",
    "torch.as_strided_scatter(torch.ones(6), x, (2,), (2**62,))",
    "torch.ones(3).set_(torch.ones(3).untyped_storage(), 0, (2**62,), (2**62,))",
    "torch.ones(3).set_(torch.ones(3).untyped_storage(), 2**63 - 1, (2,), (1,))",
    "torch.ones(3).set_(torch.ones(3).untyped_storage(), 0, (2**40, 2**40), (1, 1))",
    "torch.ones(3).resize_(2**62)",
    "torch.ones(3).resize_(2**40, 2**40)",
    "torch.empty_strided((2**40, 2**40), (0, 0))",
    "torch.zeros(2**40, 2**40, 0)",
    "torch.zeros(0, 2**40, 2**40)",
    "torch.ones(1).new_empty(0, 2**40, 2**40)",
]
VIEWS = [
    *(f"x.{call}" for call in ("unbind()", "split(1)", "chunk(2**40)", "tensor_split(2**40)")),
    *("list(x)", "iter(x)", "[*x]", "max(x)"),
]


def outcome(engine: Any, call: str) -> str:
    """What a call raises."""
    names = {
        "torch": engine,
        "x": engine.ones(1).expand(2**40),
        "m": engine.ones(1, 1).expand(2**35, 1),
    }
    try:
        eval(call, names)
    except RuntimeError as error:
        return str(error)
    return "fine"


@pytest.mark.parametrize("call", [*FACTORIES, *RESULTS, *OVERFLOWS])
def test_what_is_too_large_is_refused_at_once(call: str) -> None:
    theirs = outcome(torch, call)
    assert "can't allocate memory" in theirs or "overflow" in theirs
    assert outcome(tinytorch, call) == theirs


@pytest.mark.parametrize("call", VIEWS)
def test_more_views_than_there_is_room_for_their_addresses(call: str) -> None:
    assert outcome(torch, call) == outcome(tinytorch, call) == "std::bad_alloc"


def test_some_elements_of_what_is_too_large_are_read() -> None:
    """NumPy's `take` would copy all of it first."""
    for call in ("x.index_select(0, torch.tensor([0, 5]))", "x.take(torch.tensor([-1, 5]))"):
        assert outcome(torch, call) == outcome(tinytorch, call) == "fine"
    a, b = (e.arange(6.0).view(3, 2).t() for e in (tinytorch, torch))
    for index in ([0, 1, 1], [-1, 5]):
        assert a.take(tinytorch.tensor(index)).tolist() == b.take(torch.tensor(index)).tolist()
    for dim in (0, 1):
        ours = a.index_select(dim, tinytorch.tensor([1, 0, 1]))
        theirs = b.index_select(dim, torch.tensor([1, 0, 1]))
        assert (ours.tolist(), ours.stride()) == (theirs.tolist(), theirs.stride())


@pytest.mark.parametrize(
    "call",
    [
        "torch.ones(6).as_strided((2**62,), (0,))",
        "torch.ones(1).expand(2**62)",
        "torch.empty_strided((2**62,), (0,))",
        "torch.zeros(0, 2**62)",
        "torch.ones(6).as_strided((1,), (2**63 - 1,))",
    ],
)
def test_what_numpy_cannot_describe_says_that_it_is_absent(call: str) -> None:
    """PyTorch, which counts elements and not bytes, makes a tensor of no more than a few cells."""
    assert outcome(torch, call) == "fine"
    with pytest.raises(NotImplementedError, match=r"a tensor of 2\*\*63 bytes and more") as caught:
        eval(call, {"torch": tinytorch})
    assert "the pictures and widgets work on its tensors too" in caught.value.__notes__[0]
