"""Facts about tensors: the answer and its sentence agree, on both engines."""

from types import ModuleType

import pytest
from copylab import tensor_facts

from tinytorch.viz import Snapshot, snapshot


@pytest.fixture
def snap(engine: ModuleType) -> Snapshot:
    x = engine.ones(3, requires_grad=True)
    y = x.detach()
    data = x.data
    copy = x.clone()
    return snapshot(x=x, same=x, y=y, data=data, copy=copy)


def test_same_tensor(snap: Snapshot) -> None:
    same = tensor_facts.is_same_tensor(snap, "x", "same")
    assert same == (True, "`same is x` gives True: they are one tensor with two names.")
    assert tensor_facts.is_same_tensor(snap, "x", "y") == (
        False,
        "`y is x` gives False: they are two tensors.",
    )


def test_storages(snap: Snapshot) -> None:
    assert tensor_facts.shares_storage(snap, "x", "y") == (True, "`x` and `y` look at one storage.")
    same = tensor_facts.shares_storage(snap, "x", "same")
    assert same == (True, "`same is x` gives True: they are one tensor, so one storage.")
    apart = tensor_facts.shares_storage(snap, "x", "copy")
    assert apart == (False, "`x` and `copy` have a storage each.")


def test_counters(snap: Snapshot) -> None:
    assert tensor_facts.shares_counter(snap, "x", "y").holds
    hidden = tensor_facts.shares_counter(snap, "x", "data")
    assert not hidden.holds
    assert hidden.sentence.endswith("although they look at one storage.")
    assert "although" not in tensor_facts.shares_counter(snap, "x", "copy").sentence


def test_nodes_and_grad(snap: Snapshot) -> None:
    assert not tensor_facts.has_node(snap, "x").holds
    assert "CloneBackward0" in tensor_facts.has_node(snap, "copy").sentence
    asked = tensor_facts.requires_grad(snap, "x")
    assert asked == (True, "`x.requires_grad` is True: the program asked for it.")
    assert tensor_facts.requires_grad(snap, "copy").sentence.startswith(
        "`copy.requires_grad` is True, inherited: its node is Clone"
    )
    assert tensor_facts.requires_grad(snap, "y") == (
        False,
        "`y.requires_grad` is False: neither asked for nor inherited.",
    )
    for name, is_leaf, follows in (
        ("x", True, "`x` has no node: it is a leaf."),
        ("copy", False, "`copy` has a node: it is not a leaf."),
    ):
        assert tensor_facts.is_leaf(snap, name) == (is_leaf, follows)
        assert "leaf" not in tensor_facts.has_node(snap, name).sentence, "nobody asked for it"


def test_a_node_that_cannot_be_read_is_not_said_to_be_none(engine: ModuleType) -> None:
    x, w = engine.ones(2), engine.ones(2, requires_grad=True)
    with engine.no_grad():
        view = x[:]
    x.mul_(w)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.is_leaf  # noqa: B018 - reading it raises
    snap = snapshot(view=view)
    for find_fact in (tensor_facts.has_node, tensor_facts.is_leaf):
        with pytest.raises(ValueError, match=r"view.grad_fn and view.is_leaf raise an error"):
            find_fact(snap, "view")
    inherited = tensor_facts.requires_grad(snap, "view")
    assert inherited == (True, "`view.requires_grad` is True, inherited.")
