"""Bytecode of a backward as it is read, and the names of PyTorch's own hooks and formulas."""

import functools
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tinytorch.viz import explain, graph, memory, snapshot
from tinytorch.viz.read.doubts import _FIRST_NOT_IMPLEMENTED
from tinytorch.viz.read.user_code import _reads_saved, describe_code


def returns_gradient(ctx: Any, grad: Any) -> Any:  # noqa: ARG001
    return grad


def reads_first(ctx: Any, grad: Any) -> Any:
    (x,) = ctx.saved_tensors
    return grad * x


def reads_a_size(ctx: Any, grad: Any) -> Any:
    return grad.expand(ctx.shape)


def reads_after_a_branch(ctx: Any, grad: Any) -> Any:
    if ctx.needs_input_grad[0]:
        return grad * ctx.saved_tensors[0]
    return None


def hands_ctx_on(ctx: Any, grad: Any) -> Any:
    return reads_first(ctx, grad)


def reads_in_a_closure(ctx: Any, grad: Any) -> Any:
    return grad * sum(ctx.saved_tensors[k] for k in range(1))


def reads_by_name(ctx: Any, grad: Any) -> Any:
    return getattr(locals()["ctx"], "saved_tensors")[0] * grad  # noqa: B009


def catches(ctx: Any, grad: Any) -> Any:
    try:
        return grad * ctx.saved_tensors[0]
    except RuntimeError:
        return grad


@pytest.mark.parametrize(
    ("function", "reads"),
    [
        (returns_gradient, False),
        (reads_first, True),
        (reads_a_size, False),
        (reads_after_a_branch, None),
        (hands_ctx_on, None),
        (reads_in_a_closure, None),
        (reads_by_name, None),
        (catches, None),
    ],
)
def test_what_a_backward_reads(function: Any, reads: bool | None) -> None:
    assert _reads_saved(function.__code__) is reads


def test_code_is_named_with_its_place() -> None:
    line = reads_first.__code__.co_firstlineno
    place = f"reads_first (test_user_code.py:{line})"
    assert describe_code(reads_first) == place
    assert describe_code(functools.partial(reads_first, None)) == place
    assert describe_code(print) == "print"
    names: dict[str, Any] = {}
    exec("def f(): pass", names)
    assert describe_code(names["f"]) == "f (line 1)"


@pytest.mark.torch
def test_the_table_of_what_is_not_implemented_is_that_of_pytorch() -> None:
    import torchgen
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    packaged = Path(torchgen.__file__).parent / "packaged"
    native = packaged / "ATen" / "native"
    derivatives, _ = load_derivatives(
        str(packaged / "autograd" / "derivatives.yaml"),
        str(native / "native_functions.yaml"),
        str(native / "tags.yaml"),
    )
    nodes = set()
    for of_function in derivatives.values():
        for info in of_function.values():
            for derivative in info.derivatives:
                is_first = derivative.var_names == (info.args_with_derivatives[0].name,)
                # Gradients of gradients are of kinds of their own, and `chunk` of nested tensors.
                if is_first and derivative.formula.startswith("not_implemented"):
                    nodes.add(info.op)
    nodes = {name for name in nodes if not re.search("BackwardBackward|^Chunk", name)}
    assert len(nodes) > 10
    assert [name for name in nodes if not _FIRST_NOT_IMPLEMENTED.search(name)] == []
    assert not _FIRST_NOT_IMPLEMENTED.search("IgammaBackward1")


def test_three_looks_say_the_same_of_a_leaf_that_is_none(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    w = engine.ones(2, requires_grad=True)
    loss = x.sum()
    x.requires_grad_(False)
    x.mul_(w)
    reason = "x is not a leaf any more: something that requires grad was written into it"
    assert reason in explain(loss=loss, x=x).text
    assert f"backward will raise: {reason}" in graph(loss=loss, x=x).text
    assert f"backward will raise: {reason}" in memory(loss=loss, x=x).text


def test_three_looks_say_the_same_of_what_was_detached(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    h = x * 2
    loss = (h * h).sum()
    before = snapshot(loss=loss, h=h)
    h.detach_()
    said = explain(loss=loss, h=h, since=before)
    assert [finding.kind for finding in said.findings] == ["detached"]
    assert "DETACHED in place since it was saved; backward will raise" in graph(loss, h=h).text
    assert "detach_() has cut it off its history since" in memory(loss=loss, h=h).text
    with pytest.raises(RuntimeError, match="detached in-place"):
        loss.backward()


def test_nothing_is_freed_of_a_function_that_saved_nothing(engine: ModuleType) -> None:
    class Attribute(engine.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.factor = 2
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor

    x = engine.ones(2, requires_grad=True)
    y = Attribute.apply(x)
    loss = y.sum()
    loss.backward()
    assert "freed" not in graph(y, x=x).text
    loss.backward()


@pytest.mark.torch
def test_a_way_out_names_what_the_program_has() -> None:
    import torch

    h = torch.ones(3, requires_grad=True).exp()
    loss = (h * 1).sum()
    hs = [h]
    before = snapshot(loss=loss, hs=hs)
    array = h.detach().numpy()
    array[0] = 5
    said = explain({"loss": loss, "hs": hs, "array": array}, since=before)
    assert "write to a copy of array" in said.text
    assert "hs[0].detach().clone()" in said.text
    del array
    assert "write through hs[0].detach(), which" in explain(loss=loss, hs=hs, since=before).text


@pytest.mark.torch
def test_packed_tensors_of_pytorchs_own_hooks_are_read() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        loss = x.exp().sum()
    assert explain(loss, since=snapshot(loss)).verdict == "runs"
    h = x * 2
    loss = checkpoint(torch.exp, h, use_reentrant=False).sum()
    said = explain(loss)
    assert "backward runs the checkpointed" in said.text
    h.add_(1)
    said = explain(loss)
    assert said.verdict == "raises"
    assert "an input of the checkpointed exp was written after the forward pass" in said.text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        loss = x.exp().sum()
        assert explain(loss, since=snapshot(loss)).verdict == "runs"
    assert explain(loss).verdict == "raises"
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
        assert explain(x.exp().sum()).verdict == "runs, not compared"
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v.clone()):
        loss = x.exp().sum()
    said = explain(loss)
    assert said.verdict == "unknown"
    assert re.search(r"<lambda> \(test_user_code.py:\d+\), which unpacks it, may raise", said.text)
