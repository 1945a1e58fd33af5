"""Stopping the gradient: which part learns, a frozen first part, a hidden state, a goal that is no road back."""

from copylab import Misconception, exercise, predict
from copylab.looks import grad, is_tensor, values
from copylab.questions import gradient, on_graph, requires_grad, value

ZERO = Misconception(
    "no gradient is a zero",
    "What is not trained has the gradient 0.",
    "`.grad` is None until a gradient arrives. A zero is a gradient that arrived and says: no influence.",
)

AFTER = Misconception(
    "detach cuts what comes after",
    "`z` was computed from a detached tensor, so it is off the graph.",
    "`detach` cuts the way back through one tensor. What is computed from it and from others that require grad is "
    "recorded as ever.",
)

parts = predict(
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(1.0)
    y = a * x
    z = b * y.detach()
    z.backward()
    """,
    [
        value("z"),
        requires_grad("y", wrong={"no": "grad is not inherited"}),
        on_graph("z", wrong={"no": AFTER}),
        gradient("a", wrong={"3": "detach keeps the graph", "0": ZERO}),
        gradient("b"),
        requires_grad("x", wrong={"yes": "requires_grad is copied"}),
    ],
    key="stop_gradient/parts",
)


def _check_frozen(A, B, loss):  # noqa: N803
    assert not any(p.grad is not None for p in A.parameters()), (
        "A has gradients. Where does the way back into it begin?"
    )
    assert not any(p.grad is None for p in B.parameters()), "B has no gradients: it cannot learn."
    assert all(p.requires_grad for p in A.parameters()), (
        "A is frozen for good: its parameters require no grad any more. It shall be left alone here only."
    )
    assert is_tensor(loss) and abs(values(loss) - _loss(A, B)) <= 1e-5, "loss is not what B makes of A."


def _loss(first, second):
    a, c = (p.item() for p in first.parameters())
    b, d = (p.item() for p in second.parameters())
    return float((b * (a * 2.0 + c) + d - 1.0) ** 2)


_PARTS = "torch.manual_seed(0)\nA = torch.nn.Linear(1, 1)\nB = torch.nn.Linear(1, 1)\nx = torch.tensor([2.0])\n"

frozen = exercise(
    "stop_gradient/frozen",
    "After `loss.backward()` the parameters of `B` shall have gradients and those of `A` none (`None`), and `A` shall "
    "still be trainable elsewhere. Change the line of the loss.",
    check=_check_frozen,
    start=_PARTS + "loss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward()",
    hints=["Between `A` and `B`.", "`B` takes the numbers that `A` made, without their history."],
    solution=_PARTS + "loss = (B(A(x).detach()) - 1.0).pow(2).sum()\nloss.backward()",
    wrong={
        _PARTS
        + "loss = (B(A(x.detach())) - 1.0).pow(2).sum()\nloss.backward(gradient=torch.tensor(2.0))": "A has gradients",
        _PARTS + "loss = (B(A(x)).detach() - 1.0).pow(2).sum()": "B has no gradients",
        _PARTS + "A.requires_grad_(False)\nloss = (B(A(x)) - 1.0).pow(2).sum()\nloss.backward()": "frozen for good",
        _PARTS + "loss = (B(x) - 1.0).pow(2).sum()\nloss.backward()": "not what B makes of A",
    },
    right="the numbers go through, the gradient stops between the two.",
    title="Exercise 1",
)


def _check_hidden(w, h):
    assert is_tensor(h), f"h is of the type {type(h).__name__}, and a tensor is asked for."
    assert values(h) == 4.375, f"h is {values(h)}, and 4.375 is right."
    assert grad(w) is not None, "w.grad is None: no gradient got there."
    assert grad(w) != 46.8125, "w.grad is 46.8125: the ways through the earlier rounds are still in it."
    assert grad(w) == 35.3125, f"w.grad is {grad(w)}, and 3 + 8.25 + 24.0625 is right: one step of each round."


_HIDDEN = "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor x in (1.0, 2.0, 3.0):\n"

hidden = exercise(
    "stop_gradient/hidden",
    "Each round shall go `backward` through its own step only, without `retain_graph`. `h` keeps its value from round "
    "to round, not its history.",
    check=_check_hidden,
    start="w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor x in (1.0, 2.0, 3.0):\n"
    "    h = h * w + x\n    (h * h).backward(retain_graph=True)",
    hints=["Cut where the state goes over into the next round.", "`h.detach()` on the right side."],
    solution="w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor x in (1.0, 2.0, 3.0):\n"
    "    h = h.detach() * w + x\n    (h * h).backward()",
    wrong={
        _HIDDEN
        + "    h = h.clone() * w + x\n    (h * h).backward(retain_graph=True)": "earlier rounds are still in it",
        _HIDDEN + "    h = (h * w + x).detach()": "no gradient got there",
        _HIDDEN + "    h = h.detach() * w + x\n(h * h).backward()": "w.grad is 24.0625",
        _HIDDEN + "    h = torch.tensor(1.0) * w + x\n    (h * h).backward()": "h is 3.5",
    },
    right="the number goes on, the history does not.",
    title="Exercise 2",
)


def _check_bootstrap(value, goal, loss):
    assert is_tensor(goal) and is_tensor(loss), "goal and loss have to be tensors."
    assert abs(values(goal) - 2.8) <= 1e-5, f"goal is {values(goal):.2f}, and 1 + 0.9 * 2 is 2.80."
    assert abs(values(loss) - 3.24) <= 1e-4, f"loss is {values(loss):.2f}, and 3.24 is right."
    assert grad(value) is not None, "value.grad is None: both sides are cut off, or backward was not called."
    assert grad(value)[1] == 0, f"the goal is moved as well: value.grad[1] is {grad(value)[1]:.2f}, and 0 is asked for."
    assert abs(grad(value)[0] + 3.6) <= 1e-5, f"value.grad[0] is {grad(value)[0]:.2f}, and -3.60 is right."


_VALUE = "value = torch.tensor([1.0, 2.0], requires_grad=True)\nreward = 1.0\n"

bootstrap = exercise(
    "stop_gradient/goal",
    "`value[0]` shall move towards the goal, and the goal shall not come to meet it: `value.grad` is `[-3.6, 0]`. "
    "Change one line.",
    check=_check_bootstrap,
    start=_VALUE + "goal = reward + 0.9 * value[1]\nloss = (value[0] - goal) ** 2\nloss.backward()",
    hints=["The goal is computed from `value`. It shall count as a number.", "Cut the goal, not the difference."],
    solution=_VALUE + "goal = reward + 0.9 * value[1].detach()\nloss = (value[0] - goal) ** 2\nloss.backward()",
    wrong={
        _VALUE
        + "goal = reward + 0.9 * value[1].clone()\nloss = (value[0] - goal) ** 2\nloss.backward()": "value.grad[1] is 3.24",
        _VALUE
        + "goal = (reward + 0.9 * value[1]).detach()\nloss = (value.detach()[0] - goal) ** 2": "both sides are cut off",
        _VALUE + "goal = torch.tensor(reward)\nloss = (value[0] - goal) ** 2": "goal is 1.00",
        _VALUE + "goal = reward + 0.9 * value[1].detach()\nloss = value[0] - goal\nloss.backward()": "loss is -1.80",
    },
    right="the goal counts as a number.",
    title="Exercise 3",
)
