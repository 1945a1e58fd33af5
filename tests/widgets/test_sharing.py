"""`shared`: what two things have in common, on both engines; and the judge of common cells."""

import copy
import gc
import random
import weakref
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from copylab import shared

from tinytorch.viz.read.overlaps import (
    count_cells,
    count_common_cells,
    has_overlapping_elements,
    normalize_geometry,
    share_bytes,
)


class View(NamedTuple):
    start_byte: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    itemsize: int

    def element_starts(self) -> list[int]:
        starts = [self.start_byte]
        for size, step in zip(self.shape, self.stride, strict=True):
            starts = [at + k * step * self.itemsize for at in starts for k in range(size)]
        return starts

    def cells(self) -> list[frozenset[int]]:
        return [frozenset(range(at, at + self.itemsize)) for at in self.element_starts()]


def make_view(choose: random.Random) -> View:
    itemsize = choose.choice((1, 4, 4, 8))
    shape = tuple(choose.choice((0, 1, 2, 3, 3, 4)) for _ in range(choose.randint(0, 3)))
    stride = tuple(choose.randint(0, 6) for _ in shape)
    return View(4 * choose.randint(0, 8), shape, stride, itemsize)


def test_common_bytes_are_those_of_the_elements() -> None:
    choose = random.Random(0)
    verdicts = set()
    for _ in range(3000):
        a, b = make_view(choose), make_view(choose)
        bytes_of_a, bytes_of_b = (frozenset().union(*view.cells()) for view in (a, b))
        assert share_bytes(a, b) == bool(bytes_of_a & bytes_of_b), (a, b)
        if bytes_of_a and bytes_of_b and normalize_geometry(a) == normalize_geometry(b):
            assert bytes_of_a == bytes_of_b, (a, b)
        if a.itemsize == b.itemsize == 4:
            assert count_common_cells(a, b) == len({*a.cells()} & {*b.cells()}), (a, b)
        assert count_cells(a) == len({*a.cells()})
        assert has_overlapping_elements(a) == (len({*a.cells()}) < len(a.cells()))
        verdicts.add(bool(bytes_of_a & bytes_of_b))
    assert verdicts == {True, False}


def test_nothing_is_shared_by_a_deep_copy(engine: ModuleType) -> None:
    net = engine.nn.Sequential(engine.nn.Linear(2, 2), engine.nn.Linear(2, 1))
    target = copy.deepcopy(net)
    assert not shared(target, net)
    assert len(shared(target, net)) == 0
    assert shared(target, net).text == "Nothing is shared by target and net."
    assert shared(target).text == "Nothing is shared inside of target."
    target = copy.copy(net)
    assert shared(target, net).text == "target and net have 2 objects in common: 0 and 1."
    assert shared(same=net, net=net).sentences == ["same and net are one object: Sequential."]


def test_a_state_dict_sees_the_cells_of_its_module(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1)
    state = net.state_dict()
    said = "state and net see the same cells through 2 tensors each: weight and bias."
    assert shared(state, net).text == said
    best = {name: tensor.clone() for name, tensor in state.items()}
    assert not shared(best, net)
    assert shared(best, state=best).text == "best and state are one object: dict."


def test_gradients_are_told_by_the_names_of_their_tensors(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1)
    net(engine.ones(1, 2)).sum().backward()
    first = [parameter.grad for parameter in net.parameters()]
    net.zero_grad(set_to_none=False)
    second = [parameter.grad for parameter in net.parameters()]
    assert shared(first, second).text == "first and second have 2 tensors in common: 0 and 1."
    assert shared(first, net).sentences == [
        "first.0 and net.weight.grad are one tensor.",
        "first.1 and net.bias.grad are one tensor.",
    ]


def test_an_optimizer_steps_and_keeps(engine: ModuleType) -> None:
    net, other = engine.nn.Linear(2, 1, bias=False), engine.nn.Linear(2, 1, bias=False)
    opt = engine.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    second = engine.optim.SGD(other.parameters(), lr=0.1, momentum=0.9)
    net(engine.ones(1, 2)).sum().backward()
    opt.step()
    second.state[other.weight] = {"momentum_buffer": opt.state[net.weight]["momentum_buffer"]}
    opt.state[net.weight]["previous"] = net.weight.grad
    buffers = "opt.state[net.weight].momentum_buffer and second.state[other.weight].momentum_buffer"
    assert shared(opt, net, other, second).sentences == [
        f"{buffers} are one tensor.",
        "opt.state[net.weight].previous and net.weight.grad are one tensor.",
        "opt steps net.weight.",
        "second steps other.weight.",
    ]
    again = engine.optim.SGD(net.parameters(), lr=0.1)
    both = 'opt.param_groups[0]["params"][0] and again.param_groups[0]["params"][0] are one tensor.'
    assert shared(opt, again).text == both
    assert not shared(opt, other)


def test_a_tensor_of_the_class_is_in_all_its_modules(engine: ModuleType) -> None:
    class Tracked(engine.nn.Module):  # type: ignore[name-defined]
        total = engine.zeros(3)

    a, b, own = Tracked(), Tracked(), Tracked()
    own.total = engine.zeros(3)
    assert shared(a, b).text == "a.total and b.total are one tensor."
    assert shared(a, own).text == "Nothing is shared by a and own."


def test_one_argument_is_searched_inside(engine: ModuleType) -> None:
    block = engine.nn.Sequential(engine.nn.Linear(2, 2), engine.nn.ReLU())
    towers = engine.nn.Sequential(*[block] * 2)
    assert shared(towers).text == "towers.0 and towers.1 are one object: Sequential."
    net = engine.nn.Sequential(engine.nn.Linear(2, 2, bias=False), engine.nn.ReLU())
    net.head = engine.nn.Linear(2, 2, bias=False)
    assert not shared(net)
    net.head.weight = net[0].weight
    assert shared(net).text == "net.0.weight and net.head.weight are one tensor."
    assert not shared(net, towers), "what is shared inside of one is no matter of the two"
    x = engine.ones(2)
    lists = [[x], [engine.ones(1)]] * 2
    assert shared(lists).sentences == [
        "lists.0 and lists.2 are one object: list.",
        "lists.1 and lists.3 are one object: list.",
    ]


def test_cells_in_common_are_counted(engine: ModuleType) -> None:
    m = engine.zeros(4, 4)
    left, right, block = m[:, 0], m[:, 1], m[1:3, 1:]
    assert shared(left, right).text == "left and right share one storage, but no cell."
    assert shared(left, m).text == "left sees 4 of the 16 cells of m."
    assert shared(right, block).text == "right and block have 2 cells in common."
    assert shared(m.t(), m).text == "m.t() and m see the same 16 cells."
    assert shared(m.chunk(4)).text == (
        "m.chunk(4).0, m.chunk(4).1, m.chunk(4).2 and m.chunk(4).3 share one storage; "
        "6 pairs of them have no cell in common."
    )
    assert not shared(m, m.clone())
    assert not shared(m[:0], m)
    token = engine.zeros(1, 3, requires_grad=True)
    rows = token.expand(4, -1).detach()
    assert shared(rows).text == "rows sees each cell 4 times."
    said = "token and rows see the same 3 cells. rows sees each cell 4 times."
    assert shared(token, rows).text == said
    windows = engine.zeros(4).as_strided((3, 2), (1, 1))
    assert shared(windows).text == "windows sees some of its cells more than once."


def test_numpy_arrays_share_with_tensors_and_with_each_other(engine: ModuleType) -> None:
    t = engine.zeros(4)
    a = t.numpy()
    assert shared(a, t).text == "a (a NumPy array) and t see the same 4 cells."
    backwards = a[::-2]
    assert shared(t, backwards).text == "backwards (a NumPy array) sees 2 of the 4 cells of t."
    odd, even = a[1::2], a[::2]
    said = "odd (a NumPy array) and even (a NumPy array) share one storage, but no cell."
    assert shared(odd, even).text == said
    assert not shared(a.copy(), t)
    records = np.zeros(3, dtype=[("k", "i1"), ("v", "<f4")])
    values, keys = records["v"], records["k"]
    assert "but no cell" in shared(values, keys).text
    assert "have cells in common" in shared(records, values).text


@pytest.mark.parametrize("wrong", [3, "x", None])
def test_what_can_hold_no_tensor_is_refused(engine: ModuleType, wrong: object) -> None:
    x = engine.ones(1)
    with pytest.raises(
        TypeError, match=r"wrong is of type .*, which is neither a tensor nor contains one"
    ):
        shared(x, wrong)
    assert not shared(x, [])


def test_names_are_escaped_and_all_variables_can_be_compared(engine: ModuleType) -> None:
    x = engine.ones(2)
    names = {"<b>": x, "`*x*`": x}
    found = shared(names)
    assert "names.<b> and names.`*x*` are one tensor." in found.text
    assert "<b>" not in found.html.replace("&lt;b&gt;", "")
    assert "names.`*x*`" in found.html
    y, z = x[1:], x + 1
    both = {"x": x, "y": y}
    assert shared(both, same=both).text == "both and same are one object: dict."
    assert "x and y" not in shared(names).text
    del names, found, both
    assert shared(locals()).text == "y sees 1 of the 2 cells of x."
    assert not shared(y, z)


def test_looking_keeps_nothing_alive_and_counts_no_write(engine: ModuleType) -> None:
    x = engine.ones(2, requires_grad=True)
    y = x.detach()
    found = shared(x, y)
    assert found.picture is not None
    assert "one storage, shared by x and y" in found.picture.text
    assert (x._version, y._version) == (0, 0)
    alive = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [reference() for reference in alive] == [None, None]


@pytest.mark.torch
def test_what_cannot_be_compared_is_said() -> None:
    import torch

    sparse, x = torch.eye(2).to_sparse(), torch.eye(2)
    found = shared(sparse, x)
    assert not found
    assert "Not compared: sparse: it has no storage that could be shown" in found.text


@pytest.mark.torch
def test_a_loaded_optimizer_shares_its_state() -> None:
    import torch

    nets = [torch.nn.Linear(3, 1) for _ in range(2)]
    a, b = (torch.optim.Adam(net.parameters()) for net in nets)
    nets[0](torch.ones(1, 3)).sum().backward()
    a.step()
    b.load_state_dict(a.state_dict())
    student, teacher = nets
    names = "step, exp_avg and exp_avg_sq"
    assert shared(student, teacher, a, b).sentences[0] == (
        f"a.state[student.weight] and b.state[teacher.weight] have 3 tensors in common: {names}."
    )
    b.load_state_dict(copy.deepcopy(a.state_dict()))
    assert not shared(a, b)


def test_many_tensors_take_little_time(engine: ModuleType) -> None:
    x = engine.zeros(1000)
    parts: Any = x.split(1)
    found = shared(x, parts)
    assert len(found) == 1000
    assert found.text.endswith("And 980 more sentences.")
