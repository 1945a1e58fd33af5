"""Exits from the graph: under a watch, `explain` names the line that took a gradient away."""

import re
import warnings
from collections.abc import Callable, Iterator
from inspect import getsourcelines
from types import SimpleNamespace
from typing import Any

import copylab
import pytest

from tinytorch.graph import GRAPH_EXIT_LISTENERS
from tinytorch.viz import EXIT_FINDERS


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of numbers and checkpoints
        yield


def detach(_: Any, body: Any, x: Any) -> Any:
    return body(x).detach()  # cut by .detach()


def data(_: Any, body: Any, x: Any) -> Any:
    return body(x).data * 2  # cut by .detach() or .data


def numpy(torch: Any, body: Any, x: Any) -> Any:
    return torch.from_numpy(body(x).detach().numpy())  # cut by .detach()


def item(_: Any, body: Any, x: Any) -> Any:
    return x * body(x).sum().item()  # made a number


def number(_: Any, body: Any, x: Any) -> Any:
    return x * float(body(x).sum())  # made a number


def numbers(torch: Any, body: Any, x: Any) -> Any:
    return torch.tensor(body(x).tolist())  # made a number


def new_leaf(torch: Any, body: Any, x: Any) -> Any:
    y = body(x)
    last = SimpleNamespace(loss=y[1, 0])
    parts = [y[0, 0], y[0, 1]]
    return torch.tensor([*parts, last.loss], requires_grad=True)  # torch.tensor made a new leaf


def parameter(torch: Any, body: Any, x: Any) -> Any:
    return torch.nn.Parameter(body(x))  # nn.Parameter made a new leaf


def block(torch: Any, body: Any, x: Any) -> Any:
    with torch.no_grad():  # grad mode was off
        y = body(x)
        return y * 2


def decorated(torch: Any, body: Any, x: Any) -> Any:
    @torch.no_grad()  # type: ignore[untyped-decorator]  # grad mode was off
    def encode(x: Any) -> Any:
        return body(x)

    return encode(x)


def inference(torch: Any, body: Any, x: Any) -> Any:
    with torch.inference_mode():  # grad mode was off
        y = body(x)
    return y.clone()


def switched(torch: Any, body: Any, x: Any) -> Any:
    torch.set_grad_enabled(False)
    y = body(x)  # grad mode was off
    torch.set_grad_enabled(True)
    return y


def argmax(torch: Any, body: Any, x: Any) -> Any:
    chosen = body(x).argmax(1)  # argmax has no derivative
    return torch.zeros(2, 3) + chosen[0]


def comparison(_: Any, body: Any, x: Any) -> Any:
    return (body(x) > 0) * x  # gt has no derivative


def integers(_: Any, body: Any, x: Any) -> Any:
    return body(x).long() * x  # converted to a dtype that has no gradient


def indices(torch: Any, body: Any, x: Any) -> Any:
    return body(x).max(1)[1] * x[0, 0] + torch.zeros(3)[:2]  # max gave indices


def checkpointed(_: Any, body: Any, x: Any) -> Any:
    from torch.utils.checkpoint import checkpoint

    return checkpoint(body.forward, x, use_reentrant=True)  # used in a reentrant checkpoint


WAYS = (detach, data, numpy, item, number, numbers, new_leaf, block, decorated, inference)
MORE_WAYS = (parameter, switched, argmax, comparison, integers, indices, checkpointed)


def line_of(way: Callable[..., Any]) -> tuple[str, str]:
    """Return the marked line of a function as it is told, and what its mark says."""
    lines, first = getsourcelines(way)
    ((number, code),) = [(first + k, line) for k, line in enumerate(lines) if "  # " in line]
    return f"test_exits.py:{number}  {code.strip()}"[:45], code.rpartition("  # ")[2].strip()


@pytest.mark.torch
@pytest.mark.parametrize("way", [*WAYS, *MORE_WAYS])
def test_the_line_that_cut_is_named(way: Any) -> None:
    import torch

    body, gain = torch.nn.Linear(3, 3), torch.ones(3, requires_grad=True)
    with copylab.watch(silent="record"):
        h = way(torch, body, torch.ones(2, 3))
        loss = h.sum() if way is new_leaf else (h[..., :1] * gain).sum()
        text = copylab.explain(loss, body=body, gain=gain).text
    absence, *others, seen, line = text[text.index("No path of the graph") :].splitlines()
    assert "from loss to body.weight" in absence
    place, cause = line_of(way)
    assert cause in line, text
    assert place in line, text
    assert line.startswith("  - body.weight and body.bias: ")
    assert seen == "Also seen; whether loss was computed from these values is not known:"
    # Of the leaf that a new one leaves unreached, nothing was lost: it was not used.
    assert [each.partition(" leave ")[0] for each in others] == [
        "  - No line was seen where values of gain"
    ] * (way is new_leaf)
    assert not EXIT_FINDERS


@pytest.mark.torch
def test_what_leads_to_no_loss_is_not_told() -> None:
    import torch

    body, gain = torch.nn.Linear(3, 3), torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD(body.parameters(), lr=0.1, weight_decay=0.1)
    with copylab.watch(silent="record"):
        assert body(torch.ones(2, 3)).sum().backward() is None
        optimizer.step()  # reads parameters in no_grad
        assert "grad" in f"{body.weight.sum():.1f}{body.bias}"
        body.load_state_dict(body.state_dict())
        with torch.no_grad():
            body.weight.fill_(1)
            torch.zeros_like(body.weight)
        loss = (torch.ones(3) * gain).sum()
        text = copylab.explain(loss, body=body).text
    assert "No line was seen where values of body.weight and body.bias leave the graph" in text
    assert text.count("  - ") == 1
    # Without a watch there is nobody who could have seen one.
    assert "leave the graph" not in copylab.explain(loss, body=body).text


@pytest.mark.torch
def test_a_function_that_has_a_node_is_no_way_out() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(_: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            return gradient * 2

    body, x = torch.nn.Linear(3, 3), torch.ones(2, 3, requires_grad=True)
    with copylab.watch(silent="record"):
        y = checkpoint(body, Double.apply(x), use_reentrant=True)
        text = copylab.explain(
            loss=y.sum(), body=body, other=torch.ones(1, requires_grad=True)
        ).text
    assert "grad mode" not in text
    assert "reentrant" not in text
    # Which lines a loop passes is no matter of how often.
    with copylab.watch(silent="record") as watched:
        total = 0.0
        for _ in range(100):
            total += body(x).sum().item()
        loss = x.sum()
        (line,) = re.findall(r"  - body.*", copylab.explain(loss, body=body).text)
        watched.stop()
    assert "total += body(x).sum().item()" in line


@pytest.mark.torch
def test_a_loss_without_history_tells_where_it_was_lost() -> None:
    import torch

    body = torch.nn.Linear(3, 3)
    with copylab.watch(silent="record"):
        loss = block(torch, body, torch.ones(2, 3)).sum()
        text = copylab.explain(loss, body=body).text
    assert "would raise" in text
    assert "grad mode was off in" in text


@pytest.mark.torch
def test_a_line_of_a_log_is_not_told_as_the_cause() -> None:
    import torch

    net, other, x = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1), torch.ones(1, 2)
    with copylab.watch(silent="record"):
        assert other(x).item() != 0.5
        loss = net(x).sum()
        text = copylab.explain(loss, net=net, other=other).text
    *_, seen, line = text.splitlines()
    assert seen == "Also seen; whether loss was computed from these values is not known:"
    assert line.startswith("  - other.weight and other.bias: made a number")


OF_BOTH = (detach, item, number, numbers, new_leaf, parameter, block, decorated, switched)


@pytest.mark.parametrize("way", [*OF_BOTH, argmax, comparison])
def test_tinytorch_tells_the_same_line(way: Any) -> None:
    import tinytorch

    body, gain = tinytorch.nn.Linear(3, 3), tinytorch.ones(3, requires_grad=True)
    with copylab.watch(silent="record"):
        h = way(tinytorch, body, tinytorch.ones(2, 3))
        loss = h.sum() if way is new_leaf else (h[..., :1] * gain).sum()
        text = copylab.explain(loss, body=body, gain=gain).text
    line = text.splitlines()[-1]
    place, cause = line_of(way)
    assert cause in line, text
    assert place in line, text
    assert line.startswith("  - body.weight and body.bias: ")
    assert not GRAPH_EXIT_LISTENERS
