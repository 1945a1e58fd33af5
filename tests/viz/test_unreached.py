"""`explain` says which of the tensors that were given get no gradient."""

import warnings
from types import ModuleType

import pytest

from tinytorch.viz import explain


def sentences(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("No path of the graph")]


def test_a_leaf_that_no_path_leads_to_is_named(engine: ModuleType) -> None:
    a, b, c = (engine.ones(2, requires_grad=True) for _ in range(3))
    fixed = engine.ones(2)
    loss = (a + b.detach() + fixed).sum()
    assert sentences(explain(loss, a=a, b=b, fixed=fixed).text) == [
        "No path of the graph leads from loss to b, which requires grad: it gets no gradient."
    ]
    assert sentences(explain(loss, a=a, b=b, c=c).text) == [
        "No path of the graph leads from loss to b and c, which require grad: they get no gradient."
    ]
    loss.backward()
    assert (b.grad, c.grad) == (None, None)
    assert a.grad is not None


def test_nothing_is_said_where_all_are_reached_or_none_is_a_result(engine: ModuleType) -> None:
    a, b = (engine.ones(2, requires_grad=True) for _ in range(2))
    for given in (
        {"loss": (a * b).sum(), "a": a, "b": b},
        {"y": a * 1, "z": b * 1, "a": a, "b": b},
    ):
        assert sentences(explain(**given).text) == []
    assert sentences(explain(a=a, b=b).text) == []


@pytest.mark.torch
def test_a_function_may_reach_what_no_path_leads_to() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    block, x = torch.nn.Linear(2, 2), torch.ones(1, 2, requires_grad=True)
    loss = checkpoint(block, x, use_reentrant=True).sum()
    (sentence,) = sentences(explain(loss, block=block).text)
    assert "from loss to block.weight and block.bias, which require grad: only code" in sentence
    loss.backward()
    assert block.weight.grad is not None
    with warnings.catch_warnings(action="ignore"):
        loss = checkpoint(block, x.detach(), use_reentrant=True).sum() + x.sum()
    assert "they get no gradient" in explain(loss, block=block).text


def test_an_optimizer_is_said_to_leave_what_has_no_gradient(engine: ModuleType) -> None:
    a, b = (engine.ones(2, requires_grad=True) for _ in range(2))
    opt = engine.optim.SGD([a, b], lr=0.1, weight_decay=0.5)
    given = {"loss": (a * 2).sum(), "a": a, "b": b, "opt": opt}
    sentence = "opt holds b: without a gradient its step leaves it as it is."
    assert sentence in explain(**given).text
    b.grad = engine.zeros(2)
    assert "opt holds b" not in explain(**given).text
    opt.step()
    assert b[0].item() < 1


def test_what_the_loss_is_computed_from_is_no_former_layer(engine: ModuleType) -> None:
    extras = [engine.nn.Parameter(engine.ones(1)) for _ in range(2)]
    net = engine.nn.Sequential(engine.nn.Linear(2, 2))
    opt = engine.optim.SGD([*net.parameters(), *extras], lr=0.1)
    net.append(engine.nn.Linear(2, 1))
    y = net(engine.ones(1, 2))
    text = explain(loss=(y * extras[0] + extras[1]).sum(), net=net, opt=opt).text
    assert "was replaced" not in text
    # The same tensors where the loss is computed without them.
    text = explain(loss=y.sum(), net=net, opt=opt).text
    assert (
        "in their place it holds other tensors, perhaps those of a layer that was replaced" in text
    )
