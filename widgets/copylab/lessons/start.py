"""Start: a bet.

Names, tensors, storages, counters and nodes; a view, and a gradient of one's own.
"""

from .. import predict
from ..questions import count, gradient, names_showing, names_that, value, version
from ..quiz import (
    graph_leads_back,
    has_grad,
    left_grad_to_backward,
    sends_gradient,
    share_storage,
    shows_values,
    was_gone_through,
)
from . import task

# What is kept is the weight nearest to 3, and training goes on towards 5: it is passed on the way,
# so that only a copy keeps it.
bet = predict(
    """
    w = torch.tensor(1.0, requires_grad=True)
    lowest = 100.0
    for step in range(3):
        error = (w.item() - 3) ** 2
        if error < lowest:
            lowest = error
            best = w.detach()
        ((w - 5) ** 2).backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    """,
    [value("lowest"), value("best", wrong={"3": "detach copies"})],
    key="start/bet",
    title="Train, and keep the best weight",
    level="names",
    folds_rounds=True,
)

shared = predict(
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    y = x
    z = x[1:]
    w = x * 2
    z[0] = 50.0
    """,
    [
        count("names"),
        count("tensors", wrong={"4": "a name is a copy"}),
        count(
            "storages",
            wrong={
                "3": "a view is a copy",
                "4": "a view is a copy",
                "1": "`w = x * 2` computes new numbers, which need cells of their own: a second storage.",
            },
        ),
        count(
            "counters", wrong={"3": "a counter for each tensor", "4": "a counter for each tensor"}
        ),
        names_showing(
            50,
            "x",
            "y",
            "z",
            "w",
            wrong={
                "z": "a view is a copy",
                "x, z": "a name is a copy",
                "x, y, z, w": "a tensor is a formula",
            },
        ),
        version("y", wrong={"0": "a counter for each tensor"}),
        version(
            "w",
            wrong={
                "1": "A version counter starts at 0: putting the first numbers into a new tensor is not a "
                "write in place."
            },
        ),
    ],
    key="start/shared",
    title="Names, tensors, storages, counters",
    level="counter",
)

recorded = predict(
    """
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    q = p * p
    s = q.sum()
    s.backward()
    """,
    [
        names_that(
            "is_leaf",
            "p",
            "q",
            "s",
            wrong=dict.fromkeys(("s", "p, s", "q, s"), "the last result is a leaf"),
        ),
        names_that("requires_grad", "p", "q", "s", wrong={"p": "grad is not inherited"}),
        names_that(
            "on_graph",
            "p",
            "q",
            "s",
            wrong={
                "p": "A node belongs to the result: the node that leads back to `p` belongs to `q`.",
                "p, q, s": "A node leads back to what a result was computed from. `p` was computed from nothing.",
            },
        ),
        count(
            "storages",
            at=3,
            wrong={"1": "the graph joins memories", "2": "the graph joins memories"},
        ),
        gradient("p", at=3, wrong={"[2, 4]": "the graph has the gradient"}),
        gradient(
            "p",
            wrong={
                "[1, 1]": "[1, 1] arrives at `q`, since `s` is the sum of its numbers. On the way to `p` "
                "it is multiplied by 2 times `p`, since `q` is `p * p`."
            },
        ),
        version("p", wrong={"1": "backward changes its leaf"}),
    ],
    key="start/recorded",
    title="Leaves, nodes, gradients",
)


@task(
    "start/part",
    "Replace `None`: `t` should be a tensor of shape `(2,)` that shows `[2., 3.]`, without copying a number, so that a "
    "write into `t` is seen in `x`.",
    about="a view of two numbers",
    start="x = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])\nt = None",
    hints=[
        "`x[1:]` is a view that begins at the second cell of `x`.",
        "A slice has an end as well: `x[begin:end]`, where the element at `end` is not included.",
    ],
    solution="t = x[2:4]",
    also=["t = x[2:-2]", "t = x.view(3, 2)[1]"],
    wrong={
        "t = [2., 3.]": "of type list",
        "t = x": "t is x itself",
        "t = x[2:]": "t shows [2, 3, 4, 5]",
        "t = torch.tensor([2., 3.])": "has a storage of its own",
        "t = x[1:3]": "t shows [1, 2]",
        "t = x[2::2]": "t shows [2, 4]",
        "x = torch.tensor([2., 3.])\nt = x[:]": "x shows [2, 3]",
    },
    right="`t` is a view: another tensor over the same cells, so a write into `t` is seen in `x`.",
)
def part(x, t):
    yield share_storage(t=t, x=x)
    yield shows_values([2, 3], t=t)
    # A write into `x`, or another `x`, would give the right `t` as well.
    yield shows_values([0, 1, 2, 3, 4, 5], x=x)


@task(
    "start/twelve",
    "Replace `None`: compute `y` from `x`, and call `backward` in the same cell, so that `x.grad` is 12 at the end. What "
    "counts is that number, and that it came through `y`.",
    about="a gradient of 12",
    start="x = torch.tensor(6.0, requires_grad=True)\ny = None",
    hints=[
        "If `y = x * 3`, then `x.grad` is 3.",
        "There is more than one way. What is the gradient of `x * x` where `x` is 6?",
    ],
    solution="y = x * 12\ny.backward()",
    also=[
        "y = x * x\ny.backward()",
        "y = x * 4\nfor _ in range(3):\n    y.backward(retain_graph=True)",
        "y = x * 4\nx.grad = torch.tensor(8.0)\ny.backward()",
    ],
    wrong={
        "y = 72": "of type int",
        "y = x\ny.backward()": "y is x itself",
        "y = torch.tensor(72.)": "y requires no grad",
        "y = x * 12": "x.grad is None",
        "y = x * 3\ny.backward()": "x.grad is 3",
        "y = x * x\nx.grad = torch.autograd.grad(y, x)[0]": "line 2 of your cell writes x.grad itself",
        "y = x * 12\ny.backward(retain_graph=True)\ny.backward()": "x.grad is 24",
    },
    right="the nodes behind `y` lead to `x`, so `backward` gets there and fills `x.grad`.",
)
def twelve(x, y):
    yield graph_leads_back(y=y, x=x)
    yield has_grad(12, x=x)
    # The number alone could have been written there by hand.
    yield left_grad_to_backward(x=x)
    yield sends_gradient(12, y=y, x=x)
    yield was_gone_through(y=y)
