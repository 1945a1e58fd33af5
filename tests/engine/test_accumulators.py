"""The nodes that accumulate into leaves: which one an edge shows, how long it lives, and what replaced data does to it."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from needs import torch_missing

import tinytorch

torch = pytest.importorskip("torch", reason=torch_missing())
pytestmark = pytest.mark.torch


def identity_and_hooks(torch: Any, say: Callable) -> None:
    x = torch.ones(2, requires_grad=True)
    y, z = x * 2, x * 3
    say(y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0])
    say(y.grad_fn.next_functions[0][0].variable is x)
    y.grad_fn.next_functions[0][0].register_hook(
        lambda inputs, outputs: say("hook", outputs[0].tolist())
    )
    z.sum().backward()
    y.sum().backward()
    say(x.grad.tolist())
    del y, z  # and with them the node, and its hook
    (x * 5).sum().backward()
    say(x.grad.tolist())


def lifetime(torch: Any, say: Callable) -> None:
    leaf = torch.ones(1, requires_grad=True)
    node, seen = (leaf * 2).grad_fn.next_functions[0][0], weakref.ref(leaf)
    del leaf
    say(seen() is not None, node.variable.tolist())
    del node
    say(seen() is None)
    leaf = torch.ones(1, requires_grad=True)
    y, seen = leaf * 2, weakref.ref(leaf)
    del leaf
    say(seen() is not None)
    del y
    say(seen() is None)


def replaced_data(torch: Any, say: Callable) -> None:
    leaf = torch.ones(2, requires_grad=True)
    y = (leaf * 2).sum()
    leaf.data = torch.ones(3)
    y.backward()
    say(leaf.grad)
    del y  # as long as the graph is there, torch expects the old shape of new graphs too; tinytorch does not
    leaf.grad = None
    (leaf * 3).sum().backward()
    say(leaf.grad)
    leaf = torch.ones(2, requires_grad=True)
    y = (leaf * 2).sum()
    leaf.data = torch.ones(2, dtype=torch.float64)
    z = (leaf * 3).sum()
    say(*[t.grad_fn.next_functions[0][0].next_functions[0][0].variable is leaf for t in (y, z)])
    y.backward()
    say(leaf.grad)


def saved_tensors(torch: Any, say: Callable) -> None:
    leaf = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        z = (leaf * leaf * leaf).sum()
    (first,) = torch.autograd.grad(z, leaf, create_graph=True)
    say(first.tolist(), torch.autograd.grad(first.sum(), leaf)[0].tolist())


def leaves_as_roots(torch: Any, say: Callable) -> None:
    leaf = torch.ones((), requires_grad=True)
    leaf.backward()
    say(leaf.grad, torch.autograd.grad(leaf, leaf)[0])
    torch.autograd.backward([leaf, leaf * 2])
    say(leaf.grad)


def gradients_over_one_memory(torch: Any, say: Callable) -> None:
    """A leaf's gradient is a view of one that is still on its way and is added to there."""

    def leaves() -> list[Any]:
        return [torch.ones(3, requires_grad=True) for _ in range(3)]

    a, b, c = made = leaves()
    ((a.view(3) + (c.view(3) + b) + (c + (c.view(3) + b)) + 0) * 2).backward(torch.ones(3))
    say(*[(t.grad.tolist(), t.grad._version) for t in made])
    a, b, c = made = leaves()
    hooked = a * 3
    hooked.register_hook(lambda grad: None)
    unbound = torch.stack([hooked, a]).unbind()[0]
    ((hooked + unbound + c.view(3) + 0) * 2).backward(torch.ones(3))
    say(a.grad.tolist(), b.grad, c.grad.tolist())
    a, b, c = leaves()
    kept: list[Any] = []

    def keep_detached(leaf: Any) -> None:
        kept.append(leaf.grad.detach())
        leaf.grad = None

    flat = torch.ones(1, 3, requires_grad=True)
    flat.register_post_accumulate_grad_hook(keep_detached)
    b = torch.ones(3, requires_grad=True) * 1
    later = b * 7
    ((b + flat.view(3)) * 5 + later).sum().backward()
    say(kept[0].tolist())
    total = c + a
    viewed = total.view(3)
    viewed.register_hook(lambda grad: None)
    z = (viewed + (a + (c + a) + total) + b.view(3) + 0) * 2
    say(*[t.tolist() for t in torch.autograd.grad(z, [b, c], torch.ones(3))])


@pytest.mark.parametrize(
    "program",
    [
        identity_and_hooks,
        lifetime,
        replaced_data,
        saved_tensors,
        leaves_as_roots,
        gradients_over_one_memory,
    ],
)
def test_accumulators(program: Callable) -> None:
    said: list[list[str]] = []
    for engine in (torch, tinytorch):
        said.append([])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program(engine, lambda *words: said[-1].append(" ".join(map(str, words))))
    assert said[1] == said[0]
    assert said[0]


def test_a_leaf_forgets_accumulators_that_nothing_leads_to():
    leaf = tinytorch.ones(2, requires_grad=True)
    old = leaf * 2
    for _ in range(100):
        with tinytorch.no_grad():
            leaf.set_(tinytorch.ones(2))
    assert len(leaf._meta.earlier_gradient_specs) > 17, "the first node needs its own"
    del old
    for _ in range(100):
        with tinytorch.no_grad():
            leaf.set_(tinytorch.ones(2))
    assert len(leaf._meta.earlier_gradient_specs) <= 17
