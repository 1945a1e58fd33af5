"""detach: what it cuts, what it leaves joined, and how to keep a value that others must not change."""

from copylab import exercise, predict, wrong
from copylab.looks import grad, is_tensor, node_of, same_storage, values
from copylab.questions import (
    gets_gradient,
    gradient,
    is_leaf,
    on_graph,
    requires_grad,
    same_counter,
    same_tensor,
    value,
    version,
)
from copylab.questions import same_storage as shared

cut = predict(
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = a * 3
    d = b.detach()
    b.sum().backward()
    d += 10
    """,
    [
        same_tensor("b", "d"),
        shared("b", "d", wrong={"no": "detach copies"}),
        same_counter("b", "d", wrong={"no": "detach has its own counter"}),
        on_graph("d"),
        requires_grad("d"),
        is_leaf("d"),
        gradient("a"),
        value("b", wrong={"[3, 6]": "detach copies"}),
        version("b", wrong={"0": "detach has its own counter"}),
        gets_gradient("a", "d", wrong={"yes": "detach keeps the graph"}),
    ],
    key="detach/cut",
)


def _check_monitor(loss, total):
    if isinstance(total, int | float):
        wrong("total is right as a number, but it is asked for as a tensor." if total == 75 else f"total is {total}.")
    assert is_tensor(total), f"total is of the type {type(total).__name__}, and a tensor is asked for."
    assert values(total) == 75, f"total is {values(total)}, and three times 25 is 75."
    assert not total.requires_grad, (
        f"total still requires grad: its node is {node_of(total)}, and it keeps all three graphs alive."
    )
    assert is_tensor(loss) and loss.requires_grad, "loss has no way back any more: cut at the sum, not at the loss."


monitor = exercise(
    "detach/monitor",
    "A running sum of losses shall be a plain tensor that keeps no graph alive: `total` is 75 and requires no grad, "
    "while `loss` can still go `backward`. Change the line of the loop.",
    check=_check_monitor,
    start="a = torch.tensor([3.0, 4.0], requires_grad=True)\nloss = (a * a).sum()\ntotal = 0.0\n"
    "for _ in range(3):\n    total = total + loss",
    hints=[
        "What is computed from a tensor that requires grad requires grad. Which of the two in the sum does?",
        "Add the number of the loss without its node.",
    ],
    solution="a = torch.tensor([3.0, 4.0], requires_grad=True)\nloss = (a * a).sum()\ntotal = 0.0\n"
    "for _ in range(3):\n    total = total + loss.detach()",
    wrong={
        "total = 0.0\nfor _ in range(3):\n    total = total + loss.clone()": "its node is AddBackward0",
        "total = 0.0\nfor _ in range(3):\n    total = total + loss.item()": "asked for as a tensor",
        "total = loss.detach()\nfor _ in range(3):\n    total = total + loss.detach()": "total is 100.0",
        "loss = loss.detach()\ntotal = 0.0\nfor _ in range(3):\n    total = total + loss": "cut at the sum, not at the loss",
    },
    right="the numbers are added, and no graph is kept.",
    title="Exercise 1",
)


def _check_protect(a, out, shown):
    assert is_tensor(shown) and is_tensor(out) and is_tensor(a), "a, out and shown all have to be tensors."
    assert (not out.requires_grad or node_of(out) is not None) and out.requires_grad, (
        "out has no way back to a any more."
    )
    assert not same_storage(out, shown), "shown still writes into the cells of out, whose node needs them."
    assert values(shown)[0] == 0, f"shown begins with {values(shown)[0]:.4g}, and 0 is asked for."
    assert not shown.requires_grad, f"shown requires grad: its node is {node_of(shown)}."
    assert values(out)[0] != 0, "out begins with 0: it was written over before it was copied."


protect = exercise(
    "detach/protect",
    "For a display, the first number of `shown` is set to 0. `shown` requires no grad, and `out.sum().backward()` has "
    "to run afterwards. Change one line.",
    check=_check_protect,
    start="a = torch.tensor([1.0, 2.0], requires_grad=True)\nout = a.exp()\nshown = out.detach()\nshown[0] = 0.0",
    hints=[
        "`detach` cuts the graph. What else does `shown` need, so that the write does not reach `out`?",
        "Two calls, one behind the other: one cuts, one copies.",
    ],
    solution="out = a.exp()\nshown = out.detach().clone()\nshown[0] = 0.0",
    wrong={
        "out = a.exp()\nshown = out.clone()\nshown[0] = 0.0": "its node is torch::autograd::CopySlices",
        "out = a.exp()\nshown = out.detach()\nshown = shown[:]\nshown[0] = 0.0": "whose node needs them",
        "out = a.exp()\nshown = out.detach().clone()": "begins with 2.718",
        "out = a.detach().exp()\nshown = out.clone()\nshown[0] = 0.0": "no way back to a",
        "out = a.exp()\nout.detach()[0] = 0.0\nshown = out.detach().clone()": "written over before",
    },
    right="cells of its own, and no node.",
    title="Exercise 2",
)


def _check_value(a, y):
    assert is_tensor(y), f"y is of the type {type(y).__name__}, and a tensor is asked for."
    assert y.requires_grad, "y has no way back to a: both factors are cut off."
    assert values(y) == 9, f"y is {values(y)}, and 9 is asked for."
    assert grad(a) is not None, "a.grad is None. Call y.backward()."
    assert grad(a) != 6, "a.grad is 6: the gradient went through both factors."
    assert grad(a) == 3, f"a.grad is {grad(a)}, and 3 is asked for."


keep_value = exercise(
    "detach/half",
    "`y` is `a * a`, which is 9, and its gradient would be 6. Let the gradient through **one** of the two factors "
    "only, so that after `y.backward()` `a.grad` is 3. (Call `backward` in your cell.)",
    check=_check_value,
    start="a = torch.tensor(3.0, requires_grad=True)\ny = a * a",
    hints=["One factor counts as a bare number.", "Which call gives `a` as a bare number, with no way back?"],
    solution="a = torch.tensor(3.0, requires_grad=True)\ny = a * a.detach()\ny.backward()",
    wrong={
        "y = a * a\ny.backward()": "through both factors",
        "y = a.detach() * a.detach()": "both factors are cut off",
        "y = a * a.detach()": "Call y.backward()",
        "y = a * 3.0 * a.detach() / 3.0\ny.backward()\n(a * 1).backward()": "a.grad is 4.0",
        "y = a + 3.0\ny.backward()": "y is 6.0",
    },
    right="the detached factor counts as a number.",
    title="Exercise 3",
)
