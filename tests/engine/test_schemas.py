"""What an operation is declared with is PyTorch's own schema, word for word, and its kernel does what that says."""

from __future__ import annotations

import re

import pytest

from tinytorch.ops.define import OPS

# What torch's bindings read by hand, as they are called from Python. There is no such schema for these.
BY_HAND = {"tensor", "as_tensor", "asarray", "new_tensor", "frombuffer", "copy_", "numpy",
           "from_numpy", "nonzero", "apply_", "as_subclass", "type", "to", "cpu", "cuda",
           "float", "double", "half", "int", "long", "short", "char", "byte", "bool"}  # fmt: skip


def plain(text: str) -> str:
    """A schema as it is declared here: without namespace, overload, and a single tensor as result."""
    name, bracket, rest = text.removeprefix("aten::").partition("(")
    rest = rest.replace(
        "MemoryFormat memory_format=0", "MemoryFormat memory_format=contiguous_format"
    )
    return re.sub(r" -> Tensor(\(a!?\))?$", "", name.partition(".")[0] + bracket + rest)


def of_torch() -> set[str]:
    torch = pytest.importorskip("torch")
    return {plain(str(s)) for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")}


def strangers(declared: list[str], known: set[str]) -> list[str]:
    """The declared schemas that PyTorch does not have."""
    return [
        text for text in declared if text not in known and text.partition("(")[0] not in BY_HAND
    ]


@pytest.mark.torch
def test_every_schema_is_torchs() -> None:
    declared = [o.schema.text for o in OPS]
    assert len(declared) > 150
    assert strangers(declared, of_torch()) == []


@pytest.mark.torch
def test_a_schema_of_ones_own_is_noticed() -> None:
    right = "clone(Tensor self, *, MemoryFormat? memory_format=None)"
    wrong = [
        "clone(Tensor(a) self, *, MemoryFormat? memory_format=None)",
        right.replace("MemoryFormat?", "int?"),
    ]
    assert strangers([right, *wrong], of_torch()) == wrong


def test_no_schema_is_declared_twice() -> None:
    declared = [o.schema.text for o in OPS]
    assert [text for text in set(declared) if declared.count(text) > 1] == []


SAYS = {"fresh": "", "view": "(a)", "write": "(a!)", "restride": "(a!)"}


def said(text: str) -> str:
    """What a schema says of the memory of the first argument."""
    found = re.match(r"\w+\(Tensor\((a!?)(?: -> \*)?\)", text)
    return f"({found[1]})" if found else ""


@pytest.mark.parametrize("o", OPS, ids=lambda o: o.schema.text.partition("(")[0])
def test_a_kernel_does_with_memory_what_the_schema_says(o) -> None:
    if o.kernel.kind != "composite":  # these hand on what other operations give
        assert said(o.schema.text) == SAYS[o.kind]


def test_what_a_schema_says_is_read() -> None:
    texts = (
        "exp(Tensor self)",
        "t(Tensor(a) self)",
        "unbind(Tensor(a -> *) self, int dim=0)",
        "t_(Tensor(a!) self)",
    )
    assert [said(t) for t in texts] == ["", "(a)", "(a)", "(a!)"]
