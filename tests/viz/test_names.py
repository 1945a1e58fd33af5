"""Names of the tensors inside of arguments."""

import importlib
import linecache
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from viz.test_memory import words_in

from tinytorch.viz import Snapshot, collect_tensors_by_name, explain, graph, memory, snapshot


def names(*things: Any, **named: Any) -> list[str]:
    return [name for name, _ in snapshot(*things, **named).names]


@dataclass(slots=True)
class Batch:
    x: Any
    size: int = 3


class Plain:
    __slots__ = ("__dict__", "slot", "unset")

    def __init__(self, one: Any) -> None:
        self.one, self.slot = {"k": one}, one.clone()

    @property
    def asked(self) -> Any:
        raise AssertionError("looking asks no property")


def test_tensors_inside_of_anything_have_dotted_names(engine: ModuleType) -> None:
    x = engine.ones(1)
    assert names(b=Batch(x)) == names({"b": Batch(x)}) == ["b.x"]
    assert names(o=Plain(x)) == ["o.one.k", "o.slot"]
    other = type("Other", (Plain,), {"__module__": "elsewhere"})(x)
    assert names({"o": other}) == [], "variables of classes that others define are passed over"
    assert names(d=deque([x]), s={x}) == ["d.0", "s.0"]
    net = engine.nn.Linear(2, 1)
    net.kept, net.states = x, [engine.ones(2)]
    assert names(net=net) == ["net.weight", "net.bias", "net.kept", "net.states.0"]
    assert names(p=net.parameters()) == ["p.0", "p.1"]
    assert names(net.named_parameters()) == ["weight", "bias"]


def test_objects_of_chosen_classes_are_searched_without_asking_them(engine: ModuleType) -> None:
    class Closed(Plain):
        def __getattribute__(self, name: str) -> Any:
            # What Python's own isinstance() asks for.
            if name != "__class__":
                raise AssertionError("looking asks no object")
            return Closed

    x, other = engine.ones(1), Batch(1)
    variables = {"o": [Closed(x)], "p": Plain(x), "q": other}
    found = collect_tensors_by_name(variables, lambda thing: type(thing) is Closed)
    assert [name for name, _ in found] == ["o.0.one.k", "o.0.slot"]
    ring = Plain(x)
    vars(ring)["self"] = ring
    found = collect_tensors_by_name({"ring": ring}, lambda thing: type(thing) is Plain)
    assert [name for name, _ in found] == ["ring.one.k", "ring.slot"]


class Asked:
    """An object of this file, which must not be asked for anything."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    def __getattribute__(self, name: str) -> Any:
        if name != "__class__":  # which `isinstance` reads
            raise AssertionError(name)
        return object.__getattribute__(self, name)

    @property
    def y(self) -> Any:
        raise AssertionError


def test_objects_of_the_callers_file_are_searched_by_default(engine: ModuleType) -> None:
    holder = Asked(engine.ones(3))
    other = type("Other", (), {"__module__": "elsewhere"})()
    other.z = engine.ones(4)
    assert names(locals()) == ["holder.x"]
    assert names({"a": holder, "b": other}) == ["a.x"]


def test_what_ipython_adds_is_not_searched(engine: ModuleType) -> None:
    class Exit:
        def __init__(self, shell: Any) -> None:
            self.shell = shell

    x = engine.ones(1)
    assert names(both=[Exit([x]), x]) == ["both.0.shell.0", "both.1"]
    Exit.__module__ = "IPython.core.autocall"
    assert names(both=[Exit([x]), x]) == ["both.1"]


def test_params_are_called_by_their_names_as_in_torchviz(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1)
    loss = net(engine.ones(1, 2)).sum()
    for params in (
        dict(net.named_parameters()),
        net.named_parameters(),
        list(net.named_parameters()),
    ):
        assert names(loss=loss, params=params) == ["loss", "weight", "bias"]
    assert (
        "would run and add to bias.grad and weight.grad, "
        in explain(loss, params=net.named_parameters()).text
    )
    assert names(params=loss) == ["params"]
    assert names(params=[loss], values=loss) == ["params.0", "values"]


def test_tied_weights_are_one_tensor_of_two_names(engine: ModuleType) -> None:
    net = engine.nn.Sequential(
        engine.nn.Linear(2, 2, bias=False), engine.nn.Linear(2, 2, bias=False)
    )
    net[1].weight = net[0].weight
    text = memory(net=net).text
    assert "S1, storage of one tensor with 2 names, net.0.weight = net.1.weight: 4 cells" in text
    assert "version counter C1, of net.0.weight = net.1.weight: at version" in text
    assert "alone" not in text


def test_an_optimizer_has_parameters_and_a_state(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1, bias=False)
    opt = engine.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    own = 'opt.param_groups[0]["params"][0]'
    assert names(opt=opt) == [own]
    assert eval(own) is net.weight, "as Python writes it"
    assert names(opt=opt, net=net) == names(net=net, opt=opt) == ["net.weight"]
    net(engine.ones(1, 2)).sum().backward()
    opt.step()
    assert names(opt=opt) == [own, "opt.state.0.momentum_buffer"]
    assert names(net=net, opt=opt) == ["net.weight", "opt.state[net.weight].momentum_buffer"]


def without_name(snap: Snapshot, name: str) -> str:
    """What the tensor would be called if it had no name of its own."""
    which = snap.tensor(name).id
    kept = tuple(replace(one, names=()) if one.id == which else one for one in snap.tensors)
    return replace(snap, tensors=kept).label(which)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda w: w.t(), "w transposed"),
        (lambda w: w[1], "w[1]"),
        (lambda w: w[1:3], "w[1:3]"),
        (lambda w: w[:, 2], "w[:, 2]"),
        (lambda w: w[:, 1:4], "w[:, 1:4]"),
        (lambda w: w.expand(2, 4, 6), "w expanded"),
        (lambda w: w.view(2, 2, 6).permute(2, 0, 1), "a view of w"),
        (lambda w: w.detach(), "a view of w"),
        (lambda w: w.data[0], "the memory of w"),
        (lambda w: w.clone(), "T2 (no name)"),
    ],
)
def test_a_nameless_tensor_is_named_by_what_it_is_of_another(
    make: Any, said: str, engine: ModuleType
) -> None:
    w = engine.ones(4, 6)
    assert without_name(snapshot(w=w, v=make(w)), "v") == said
    cube = engine.ones(2, 3, 4)
    assert (
        without_name(snapshot(c=cube, v=cube.permute(2, 0, 1)), "v")
        == "c with its dimensions in another order"
    )
    assert without_name(snapshot(c=cube, v=cube.transpose(0, 2)), "v") == "c transposed"


def test_a_saved_weight_is_named_where_it_is_told(engine: ModuleType) -> None:
    net = engine.nn.Sequential(engine.nn.Linear(2, 2), engine.nn.Linear(2, 1))
    loss = net(engine.ones(1, 2)).sum()
    assert "saved mat2: net.1.weight transposed, live" in graph(loss, net=net).text
    net[1].weight.data = engine.ones(1, 2)
    assert "saved mat2: net.1.weight transposed" not in graph(loss, net=net).text, (
        "its memory is another now"
    )


def test_many_nameless_leaves_are_counted(engine: ModuleType) -> None:
    leaves = [engine.ones(k % 2 + 1, requires_grad=True) for k in range(150)]
    loss = sum(leaf.sum() for leaf in leaves)
    assert explain(loss=loss).text == (
        "loss.backward() would run. It adds to the .grad of 150 leaves without a name, of shapes (2,) and (1,)."
    )
    assert explain(few=leaves[0] * 2 + leaves[2]).text.endswith(
        "It adds to T2 (no name).grad and T3 (no name).grad."
    )


def test_numpy_arrays_are_told_beside_tensors(engine: ModuleType) -> None:
    x = engine.ones(3)
    a, b = x.numpy(), np.ones(3, dtype=np.float32)
    text = memory(x, a[1:], b).text
    assert "S1, one storage, shared by x and a[1:] (a NumPy array): 3 cells" in text
    assert "Note: a write through a[1:] is not counted." in text
    assert "The NumPy array b shares no memory with a tensor shown here." in text
    assert memory(b).text.startswith("Memory: no tensors to show.")
    variables = snapshot({"x": x, "a": a, "b": b})
    assert variables.arrays == (), "among many variables only what shares memory is told"
    assert variables.storages[0].arrays == ("a",)


def test_values_may_be_left_out(engine: ModuleType) -> None:
    x = engine.ones(3)
    text = memory(x, values=False).text
    assert "cells:" not in text
    assert "3 cells of float32" in text
    assert "values" not in dict(snapshot(x, values=False).names)
    y = x.requires_grad_() * engine.tensor(2.5)
    assert "saved other: 2.5, live" in graph(y).text
    assert "2.5" not in graph(y, values=False).text


@pytest.mark.parametrize("look", [snapshot, memory, graph])
def test_wrong_arguments_get_a_sentence(look: Callable[..., Any], engine: ModuleType) -> None:
    x = engine.ones(2)
    with pytest.raises(
        TypeError,
        match=r"since= is an earlier snapshot, as snapshot\(...\) returns it, not of type",
    ):
        look(x, since=x)
    with pytest.raises(TypeError, match="since= is an earlier snapshot"):
        look(snapshot(x), since=x)
    with pytest.raises(
        TypeError,
        match="x is of type object, which is neither a tensor nor contains one: give tensors, a module",
    ):
        look(x=object())


@pytest.mark.torch
def test_torchs_lazy_bits_are_told_and_memory_is_read_as_it_lies() -> None:
    import torch

    x = torch.tensor([1 + 2j])
    for tensor in (x.conj(), x.conj().imag):
        text = memory(y=tensor).text
        assert "what is in memory is" in text
        assert ("1+2j" in text) == tensor.is_conj()
    assert "0: 1.0, 1: 2.0" in memory(y=x.conj().imag).text


@pytest.mark.torch
def test_negative_integers_that_torch_saves_unsigned() -> None:
    import torch

    x = torch.ones(1, 3, requires_grad=True)
    text = graph(torch.nn.CrossEntropyLoss()(x, torch.tensor([1]))).text
    assert "saved ignore_index: -100" in text
    assert "saved diagonal: -1" in graph(x.tril(-1).sum()).text


@pytest.mark.torch
def test_a_subclass_that_stands_for_others_shows_them() -> None:
    import torch
    from torch.testing._internal.two_tensor import TwoTensor

    text = memory(pair=TwoTensor(torch.ones(2), torch.zeros(2))).text
    assert "Note: it has no memory of its own: the subclass TwoTensor keeps a and b." in text
    assert "S1, storage of pair.a alone: 2 cells" in text


def test_the_offset_is_drawn_where_it_is_all_that_tells_views_apart(engine: ModuleType) -> None:
    big = engine.zeros(10, 128, 64, 7, 3, 3)
    svg = memory(views=[big[k].unsqueeze(0) for k in range(2, 4)]).svg
    drawn = " ".join(words_in(svg))
    assert all(f"begins at cell {k * 516096}" in drawn for k in range(2, 4))


def test_names_are_not_taken_from_a_file_that_was_edited(
    engine: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from tinytorch.viz import snapshot\ndef look(a, b):\n    return snapshot(a, b,\n        (a + b))\n"
    file = tmp_path / f"edited_{engine.__name__}.py"
    file.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    look = importlib.import_module(file.stem).look
    x, y = engine.ones(1), engine.zeros(1)
    assert [name for name, _ in look(x, y).names] == ["a", "b", "a + b"]
    for edited in (source.replace("(a, b,", "(b, a,"), source.replace("snapshot(a", "snapshot(c")):
        file.write_text(edited)
        linecache.checkcache()
        names = [name for name, _ in look(x, y).names]
        assert names == ["argument 0", "argument 1", "argument 2"]
