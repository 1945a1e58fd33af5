"""`explain(loss, net=net, opt=opt)` says what the optimizer holds in vain."""

from copy import deepcopy
from types import ModuleType
from typing import Any

import copylab

from tinytorch.viz import explain


def make_net(engine: ModuleType) -> tuple:
    nn = engine.nn
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))
    return net, engine.optim.SGD(net.parameters(), lr=0.1)


def test_a_former_layer_is_told_in_any_place(engine: ModuleType) -> None:
    for place in range(3):
        net, opt = make_net(engine)
        net[place] = engine.nn.Linear(2, 1 + (place < 2))
        text = explain(loss=net(engine.ones(1, 2)).sum(), net=net, opt=opt).text
        assert f"opt does not hold net.{place}.weight and net.{place}.bias: in their place" in text
        assert "No path" not in text
        assert "A watch that begins before the layer is replaced names the line" in text


def test_a_watch_names_the_line_that_made_a_new_layer(engine: ModuleType) -> None:
    class Head(engine.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = engine.nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.linear(x)

    net, opt = make_net(engine)
    with copylab.watch():
        net[2] = Head()
        net[0].bias = engine.nn.Parameter(engine.ones(2))
        text = explain(loss=net(engine.ones(1, 2)).sum(), net=net, opt=opt).text
        deepcopy(net)
    assert "net[0].bias = engine.nn.Parameter(engine.ones(2)) and" in text
    assert "  net[2] = Head()." in text, "none of the lines that fill it"
    assert "names the line" not in text


def test_what_cannot_be_known_as_former_is_not(engine: ModuleType) -> None:
    net, opt = make_net(engine)
    loss = net(engine.ones(1, 2)).sum()
    other = engine.nn.Linear(2, 1)
    for given in (
        {"net": net},
        {"first": net[0]},
        {"first": net[0], "other": other},
        {"last": net[2], "other": other},
        {"other": other},
    ):
        assert "does not hold" not in explain(loss=loss, **given, opt=opt).text


def test_what_is_stepped_without_a_gradient_is_told(engine: ModuleType) -> None:
    net, opt = make_net(engine)
    loss = net[2](net[1](net[0](engine.ones(1, 2))).detach()).sum()
    text = explain(loss=loss, net=net, opt=opt).text
    assert (
        "opt holds net.0.weight, net.0.bias, net.1.weight and net.1.bias: without a gradient"
        in text
    )
    loss.backward()
    before = net[0].weight.detach().clone()
    opt.step()
    assert engine.equal(before, net[0].weight)
