"""detach: what it cuts, what it leaves joined, and how to keep a value that others must not change."""

from numbers import Real

from .. import predict
from .. import questions as ask
from ..quiz import (
    are_tensors,
    follows_numbers,
    graph_leads_back,
    has_grad,
    leads_back_once,
    needs_no_grad,
    recommend_clone,
    sends_gradient,
    share_no_cells,
    shows_number,
    shows_values,
    was_gone_through,
)
from ..wording import gettext
from . import task

cut = predict(
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = a * 3
    d = b.detach()
    b.sum().backward()
    d += 10
    """,
    [
        ask.same_storage("b", "d", wrong={"no": "detach copies"}),
        ask.same_counter("b", "d", wrong={"no": "detach has its own counter"}),
        ask.on_graph("d"),
        ask.requires_grad("d"),
        ask.is_leaf("d"),
        ask.value("b", wrong={"[3, 6]": "detach copies"}),
        ask.gets_gradient("a", "d", wrong={"yes": "detach keeps the graph"}),
    ],
    key="detach/cut",
    title="detach, then backward, then a write",
)


@task(
    "detach/monitor",
    "A running sum of losses should keep no graph alive: `total` should be 75, as a tensor or a number, and require no grad, "
    "but `loss.backward()` should still work. Change the line in the loop.",
    about="a running sum without a graph",
    start="a = torch.tensor([3.0, 4.0], requires_grad=True)\nloss = (a * a).sum()\ntotal = 0.0\n"
    "for _ in range(3):\n    total = total + loss",
    hints=[
        "What is computed from a tensor that requires grad requires grad. Which of the two terms of the sum does?",
        "Add the number of the loss without its node.",
    ],
    solution="a = torch.tensor([3.0, 4.0], requires_grad=True)\nloss = (a * a).sum()\ntotal = 0.0\n"
    "for _ in range(3):\n    total = total + loss.detach()",
    wrong={
        "total = 0.0\nfor _ in range(3):\n    total = total + loss.clone()": "its node is AddBackward0",
        "total = loss.detach()\nfor _ in range(3):\n    total = total + loss.detach()": "total shows 100",
        "loss = loss.detach()\ntotal = 0.0\nfor _ in range(3):\n    total = total + loss": "loss requires no grad",
        "a = torch.tensor([3.0, 4.0], requires_grad=True)\nloss = (a * a).sum()\ntotal = 75.0": "instead of [3.0, 4.0]",
    },
    right="`total` has no history, so it keeps no graph alive; `loss` still has its own.",
)
def monitor(a, loss, total):
    yield shows_number(75, total=total)
    yield needs_no_grad(total=total)
    yield graph_leads_back(loss=loss, a=a)
    # What `item` gives, or NumPy for one element, has no cells.
    if not isinstance(total, Real):
        kind = type(total).__name__
        yield are_tensors(total=total).with_objection(
            gettext(
                "`{name}` is of type `{kind}`; it should be a tensor or a number.",
                name="total",
                kind=kind,
            )
        )
        yield share_no_cells(total=total, loss=loss)
    yield follows_numbers("[3.0, 4.0]", "[1.0, 2.0]", lambda total: shows_number(15, total=total))


@task(
    "detach/protect",
    "For a display, the first number of `shown` is set to 0. `shown` should not require grad, `out` should keep its numbers, "
    "and `out.sum().backward()` should still run. Change one line.",
    about="a display that leaves `out` alone",
    start="a = torch.tensor([1.0, 2.0], requires_grad=True)\nout = a.exp()\nshown = out.detach()\nshown[0] = 0.0",
    hints=[
        "`detach` cuts the graph. What else does `shown` need, so that the write does not reach `out`?",
        "Two calls, one after the other: one cuts, the other copies.",
    ],
    solution="out = a.exp()\nshown = out.detach().clone()\nshown[0] = 0.0",
    wrong={
        "out = a.exp()\nshown = out.clone()\nshown[0] = 0.0": "its node is torch::autograd::CopySlices",
        "out = a.exp()\nshown = out.detach()\nshown = shown[:]\nshown[0] = 0.0": "shown and out look at the same cells",
        "out = a.exp()\nshown = out.detach().clone()": "shown shows [2.71828, 7.38906]",
        "out = a.detach().exp()\nshown = out.clone()\nshown[0] = 0.0": "out requires no grad",
        "out = a.exp()\nout.detach()[0] = 0.0\nshown = out.detach().clone()": "out shows [0, 7.38906]",
        "a = torch.tensor([1.0, 2.0], requires_grad=True)\nout = a.exp()\nshown = torch.tensor([0.0, 7.38906])": "instead of [1.0, 2.0]",
    },
    right="`shown` has cells of its own, so the 0 did not reach what backward needs of `out`.",
)
def protect(a, out, shown):
    yield graph_leads_back(out=out, a=a)
    yield share_no_cells(shown=shown, out=out)
    yield needs_no_grad(shown=shown)
    yield shows_values([2.7183, 7.3891], out=out)
    yield shows_values([0, 7.3891], shown=shown)
    yield follows_numbers(
        "[1.0, 2.0]", "[0.0, 0.0]", lambda shown: shows_values([0, 1], shown=shown)
    )
    yield recommend_clone()


@task(
    "detach/half",
    "`y` is `a * a`, which is 9, and its gradient would be 6. Let the gradient through **one** of the two factors "
    "only, so that after `y.backward()`, `a.grad` is 3. (Call `backward` in your cell.)",
    about="half a gradient",
    start="a = torch.tensor(3.0, requires_grad=True)\ny = a * a",
    hints=[
        "One factor counts as a bare number.",
        "Which call gives `a` as a bare number, off the graph?",
    ],
    solution="a = torch.tensor(3.0, requires_grad=True)\ny = a * a.detach()\ny.backward()",
    wrong={
        "y = a * a\ny.backward()": "a.grad is 6",
        "y = a * a\n(y / 2).backward()": "2 paths lead from y back to a",
        "y = a.detach() * a.detach()": "y requires no grad",
        "y = a * a.detach()": "a.grad is None",
        "y = a * 3.0 * a.detach() / 3.0\ny.backward()\n(a * 1).backward()": "a.grad is 4",
        "y = a + 3.0\ny.backward()": "y shows 6",
    },
    right="3 came back to `a`: half of what `a * a` sends.",
)
def keep_value(a, y):
    yield graph_leads_back(y=y, a=a)
    yield shows_values(9, y=y)
    yield has_grad(3, a=a)
    # Half of the gradient through each factor would be 3 as well.
    yield leads_back_once(y=y, a=a)
    yield sends_gradient(3, y=y, a=a)
    yield was_gone_through(y=y)
