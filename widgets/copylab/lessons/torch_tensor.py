"""`torch.tensor(t)`: a new leaf from numbers, a sum that lost its graph, a fresh start from trained numbers."""

from __future__ import annotations

from typing import Any

from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import gradient, is_leaf, node, requires_grad, value
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.prediction import predict

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
        shared("y", "w", wrong={"yes": "a copy shares memory"}),
        value("w", wrong={"[103, 106]": "a copy shares memory"}),
        requires_grad("w", wrong={"yes": "torch.tensor keeps the history"}),
        node("z", wrong={"MulBackward0": "torch.tensor keeps the history"}),
        is_leaf("z", wrong={"no": "torch.tensor keeps the history"}),
        gradient("z", wrong={"None": "the graph has the gradient"}),
        gradient("x", wrong={"[30, 30]": "torch.tensor keeps the history"}),
    ],
    key="torch_tensor/fresh",
)


def _check_stacked(w: Any, total: Any) -> str | None:
    if not is_tensor(total):
        return f"total is of the type {type(total).__name__}, and a tensor is asked for."
    if not total.requires_grad:
        return "total requires no grad: there is no way back to w."
    if tuple(total.shape) != ():
        return f"total has the shape {tuple(total.shape)}, and a single number is asked for."
    if values(total) != 11:
        return f"total is {values(total)}, and 3 + 8 is 11."
    if total.is_leaf:
        return "total is a leaf: it was marked, not computed from w."
    if grad(w) is None:
        return "w.grad is None. Call total.backward()."
    if grad(w) != [3, 4]:
        return f"w.grad is {grad(w)}, and [3, 4] is right."
    return None


stacked = exercise(
    "torch_tensor/sum",
    "`total` shall be the sum of the parts, and after `total.backward()` `w.grad` shall be `[3, 4]`. Change the last "
    "line, and call `backward` below it.",
    names=("w", "total"),
    check=_check_stacked,
    start="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.tensor(parts).sum()",
    hints=[
        "`torch.tensor` reads numbers. Which operation puts tensors side by side?",
        "Or: Python's own `sum` adds tensors.",
    ],
    solution="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.stack(parts).sum()\ntotal.backward()",
    wrong=[
        Wrong(
            "total = torch.tensor([float(p) for p in parts]).sum() + 0 * w.detach().sum() + 1", says="no way back to w"
        ),
        Wrong("total = torch.tensor(parts, requires_grad=True).sum()\ntotal.backward()", says="w.grad is None"),
        Wrong("total = torch.tensor(11.0, requires_grad=True)", says="marked, not computed"),
        Wrong("total = torch.stack(parts)", says="has the shape (2,)"),
        Wrong("total = parts[0]\ntotal.backward()", says="total is 3.0"),
        Wrong("total = sum(p.item() for p in parts)", says="of the type float"),
    ],
    right="put side by side by an operation that is recorded.",
    title="Exercise 1",
)


def _check_rebuilt(trained: Any, start: Any) -> str | None:
    if not is_tensor(start):
        return f"start is of the type {type(start).__name__}, and a tensor is asked for."
    if start is trained:
        return "start is trained itself."
    if not start.requires_grad:
        return "start requires no grad, so it cannot be trained."
    if not start.is_leaf:
        return f"start is no leaf: its node is {start.grad_fn.name()}, and its gradient would flow on."
    if same_storage(start, trained):
        return "start looks at the cells of trained: training it would change both."
    if values(start) != values(trained):
        return f"start holds {values(start)}, and trained {values(trained)}."
    return None


rebuilt = exercise(
    "torch_tensor/start",
    "`start` shall begin with the numbers of `trained`, in cells of its own, as a leaf that requires grad. Change the "
    "last line. (Which of the ways do you want a reader to see?)",
    names=("trained", "start"),
    check=_check_rebuilt,
    start="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\nstart = trained",
    hints=["Three wishes: no way back, own cells, requires grad.", "The warning of section 5 names the call, whole."],
    solution="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\n"
    "start = trained.detach().clone().requires_grad_(True)",
    wrong=[
        Wrong("start = trained.clone()", says="its node is CloneBackward0"),
        Wrong("start = trained.detach().clone()", says="cannot be trained"),
        Wrong("start = trained.detach().requires_grad_()", says="training it would change both"),
        Wrong("start = torch.zeros(2, requires_grad=True)", says="start holds [0.0, 0.0]"),
        Wrong("start = trained.tolist()", says="of the type list"),
    ],
    right="a leaf of its own, with the numbers that were asked for.",
    title="Exercise 2",
)
