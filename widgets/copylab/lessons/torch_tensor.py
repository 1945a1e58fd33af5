"""`torch.tensor(t)`: a new leaf from numbers, a sum that lost its graph, a fresh start from trained numbers."""

from .. import predict
from ..looks import values
from ..questions import gradient, is_leaf, node, requires_grad, same_storage, value
from ..quiz import (
    CheckedFact,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    sends_gradient,
    share_no_cells,
    shows_values,
    was_gone_through,
)
from ..wording import gettext
from . import task

fresh = predict(
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = torch.tensor(y, requires_grad=True)
    w = torch.tensor(y)
    (z * 10).sum().backward()
    y.data += 100
    """,
    [
        same_storage("y", "w", wrong={"yes": "a copy shares memory"}),
        value("w", wrong={"[103, 106]": "a copy shares memory"}),
        requires_grad("w", wrong={"yes": "torch.tensor keeps the history"}),
        node("z", wrong={"MulBackward0": "torch.tensor keeps the history"}),
        is_leaf("z", wrong={"no": "torch.tensor keeps the history"}),
        gradient("z", wrong={"None": "torch.tensor keeps the history"}),
        gradient("x", wrong={"[30, 30]": "torch.tensor keeps the history"}),
    ],
    key="torch_tensor/fresh",
    title="torch.tensor of a result",
)


@task(
    "torch_tensor/sum",
    "`total` should be the sum of the parts, and after `total.backward()`, `w.grad` should be `[3, 4]`. Change the last "
    "line, and call `backward` below it.",
    about="a sum that keeps its graph",
    start="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.tensor(parts).sum()",
    hints=[
        "`torch.tensor` reads numbers. Which operation puts tensors side by side?",
        "Or: Python's own `sum` adds tensors.",
    ],
    solution="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.stack(parts).sum()\ntotal.backward()",
    wrong={
        "total = torch.tensor([float(p) for p in parts]).sum() + 0 * w.detach().sum() + 1": "total requires no grad",
        "total = torch.tensor(parts, requires_grad=True).sum()\ntotal.backward()": "total has no node that leads to w",
        "total = torch.stack(parts)": "total shows [3, 8]",
        "total = parts[0]\ntotal.backward()": "total shows 3",
        "total = sum(p.item() for p in parts)": "of type float",
    },
    right="the sum was made of tensors and not of their numbers, so its nodes lead back to `w`.",
)
def stacked(w, total):
    yield graph_leads_back(total=total, w=w)
    yield shows_values(11, total=total)
    yield has_grad([3, 4], w=w)
    yield sends_gradient([3, 4], total=total, w=w)
    yield was_gone_through(total=total)


@task(
    "torch_tensor/start",
    "`start` should have the numbers of `trained`, in its own cells, as a leaf that requires grad. Change the "
    "last line. (Which way is clearest to a reader?)",
    about="a leaf with trained numbers",
    start="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\nstart = trained",
    hints=[
        "`start` needs three things: no history, its own cells, and to require grad.",
        "The warning of `torch.tensor(t)` shows the whole call.",
    ],
    solution="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\n"
    "start = trained.detach().clone().requires_grad_(True)",
    wrong={
        "start = trained.clone()": "its node is CloneBackward0",
        "start = trained.detach().clone()": "start requires no grad",
        "start = trained.detach().requires_grad_()": "start and trained look at the same cells",
        "start = torch.zeros(2, requires_grad=True)": "start shows [0, 0]",
        "start = trained.tolist()": "of type list",
        "start = trained.detach_().clone().requires_grad_()": "trained requires no grad",
        "trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\nstart = torch.tensor([2.0, 4.0], requires_grad=True)": "instead of [1.0, 2.0]",
    },
    right="`start` has the numbers in cells of its own, and is a leaf that requires grad.",
)
def rebuilt(trained, start):
    yield is_leaf_with_grad(start=start)
    yield share_no_cells(start=start, trained=trained)
    yield shows_values(values(trained), start=start)
    # `detach_` would cut `trained` itself.
    yield CheckedFact(trained.requires_grad, gettext("`{name}` requires no grad.", name="trained"))
    yield follows_numbers(
        "[1.0, 2.0]", "[3.0, 4.0]", lambda start: shows_values([6, 8], start=start)
    )
