"""`torch.tensor(t)`: a new leaf from numbers, a sum that lost its graph, a fresh start from trained numbers."""

from copylab import exercise, predict
from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import gradient, is_leaf, node, requires_grad, value
from copylab.questions import same_storage as shared

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


def _check_stacked(w, total):
    assert is_tensor(total), f"total is of the type {type(total).__name__}, and a tensor is asked for."
    assert total.requires_grad, "total requires no grad: there is no way back to w."
    assert tuple(total.shape) == (), f"total has the shape {tuple(total.shape)}, and a single number is asked for."
    assert values(total) == 11, f"total is {values(total)}, and 3 + 8 is 11."
    assert not total.is_leaf, "total is a leaf: it was marked, not computed from w."
    assert grad(w) is not None, "w.grad is None. Call total.backward()."
    assert grad(w) == [3, 4], f"w.grad is {grad(w)}, and [3, 4] is right."


stacked = exercise(
    "torch_tensor/sum",
    "`total` shall be the sum of the parts, and after `total.backward()` `w.grad` shall be `[3, 4]`. Change the last "
    "line, and call `backward` below it.",
    check=_check_stacked,
    start="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.tensor(parts).sum()",
    hints=[
        "`torch.tensor` reads numbers. Which operation puts tensors side by side?",
        "Or: Python's own `sum` adds tensors.",
    ],
    solution="w = torch.tensor([1.0, 2.0], requires_grad=True)\nparts = [w[0] * 3, w[1] * 4]\n"
    "total = torch.stack(parts).sum()\ntotal.backward()",
    wrong={
        "total = torch.tensor([float(p) for p in parts]).sum() + 0 * w.detach().sum() + 1": "no way back to w",
        "total = torch.tensor(parts, requires_grad=True).sum()\ntotal.backward()": "w.grad is None",
        "total = torch.tensor(11.0, requires_grad=True)": "marked, not computed",
        "total = torch.stack(parts)": "has the shape (2,)",
        "total = parts[0]\ntotal.backward()": "total is 3.0",
        "total = sum(p.item() for p in parts)": "of the type float",
    },
    right="put side by side by an operation that is recorded.",
    title="Exercise 1",
)


def _check_rebuilt(trained, start):
    assert is_tensor(start), f"start is of the type {type(start).__name__}, and a tensor is asked for."
    assert start is not trained, "start is trained itself."
    assert start.requires_grad, "start requires no grad, so it cannot be trained."
    assert start.is_leaf, f"start is no leaf: its node is {start.grad_fn.name()}, and its gradient would flow on."
    assert not same_storage(start, trained), "start looks at the cells of trained: training it would change both."
    assert values(start) == values(trained), f"start holds {values(start)}, and trained {values(trained)}."


rebuilt = exercise(
    "torch_tensor/start",
    "`start` shall begin with the numbers of `trained`, in cells of its own, as a leaf that requires grad. Change the "
    "last line. (Which of the ways do you want a reader to see?)",
    check=_check_rebuilt,
    start="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\nstart = trained",
    hints=["Three wishes: no way back, own cells, requires grad.", "The warning of section 5 names the call, whole."],
    solution="trained = torch.tensor([1.0, 2.0], requires_grad=True) * 2\n"
    "start = trained.detach().clone().requires_grad_(True)",
    wrong={
        "start = trained.clone()": "its node is CloneBackward0",
        "start = trained.detach().clone()": "cannot be trained",
        "start = trained.detach().requires_grad_()": "training it would change both",
        "start = torch.zeros(2, requires_grad=True)": "start holds [0.0, 0.0]",
        "start = trained.tolist()": "of the type list",
    },
    right="a leaf of its own, with the numbers that were asked for.",
    title="Exercise 2",
)
