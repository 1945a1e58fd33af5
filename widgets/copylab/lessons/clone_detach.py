"""clone and detach in both orders: what they leave behind, a backup of parameters, a write between the two."""

from __future__ import annotations

from typing import Any

from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import count, is_leaf, node, requires_grad, value, version
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.misconceptions import Misconception
from copylab.quiz.prediction import predict

ORDER = Misconception(
    "the order changes the result",
    "One of the two orders gives a tensor that still requires grad.",
    "`detach` cuts, whether it stands first or last, and a clone of a tensor without a history has none either.",
)

orders = predict(
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    k = x.clone()
    c = k.detach()
    d = x.detach().clone()
    c += 10
    """,
    [
        count("storages"),
        node("k", wrong={"none": "a clone is a leaf"}),
        requires_grad("c", wrong={"yes": ORDER}),
        requires_grad("d", wrong={"yes": ORDER}),
        is_leaf("d", wrong={"no": ORDER}),
        shared("k", "c", wrong={"no": "detach copies"}),
        shared("x", "c", wrong={"yes": "a copy shares memory"}),
        value("k", wrong={"[1, 2]": "detach copies"}),
        value("d", wrong={"[11, 12]": "a copy shares memory"}),
        version("k", wrong={"0": "detach has its own counter"}),
    ],
    key="clone_detach/orders",
)


def _check_backup(layer: Any, saved: Any) -> str | None:
    weight = layer.weight
    if not isinstance(saved, list) or len(saved) != 1 or not is_tensor(saved[0]):
        return "saved has to be a list with one tensor."
    if values(weight) != [[7]]:
        return f"the layer holds {values(weight)}, and [[7]] is what was written into it."
    if same_storage(saved[0], weight):
        return "saved still looks at the cells of the layer: it shows the 7 as well."
    if saved[0].grad_fn is not None:
        return f"saved has a node, {saved[0].grad_fn.name()}: the backup keeps a way back to the layer."
    if saved[0].requires_grad:
        return "saved requires grad."
    if values(saved[0]) == [[7]]:
        return "saved holds the 7: it was made after the write."
    return None


backup = exercise(
    "clone_detach/backup",
    "`saved` shall hold the parameters as they were before the write: plain tensors without a way back. Change a line.",
    names=("layer", "saved"),
    check=_check_backup,
    start="torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\nsaved = list(layer.parameters())\n"
    "with torch.no_grad():\n    layer.weight.fill_(7.0)",
    hints=["A list holds things, not copies of things.", "Cut, then copy, for each `p`."],
    solution="torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\nsaved = [p.detach().clone() for p in layer.parameters()]\n"
    "with torch.no_grad():\n    layer.weight.fill_(7.0)",
    wrong=[
        Wrong(
            "saved = [p.detach() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)",
            says="shows the 7 as well",
        ),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\nsaved = [p.clone() for p in layer.parameters()]\n"
            "with torch.no_grad():\n    layer.weight.fill_(7.0)",
            says="has a node, CloneBackward0",
        ),
        Wrong("saved = [p.detach().clone() for p in layer.parameters()]", says="made after the write"),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\nsaved = [p.detach().clone() for p in layer.parameters()]",
            says="the layer holds",
        ),
        Wrong("saved = layer.weight.detach().clone()", says="a list with one tensor"),
    ],
    right="numbers of their own, and nothing that leads back.",
    title="Exercise 1",
)


def _check_between(x: Any, k: Any, c: Any) -> str | None:
    if not is_tensor(k) or not is_tensor(c):
        return "k and c have to be tensors."
    if c.requires_grad:
        return "c requires grad, so the write into it is part of the graph."
    if same_storage(k, c):
        return "c and k share their cells: the write through c is seen in k."
    if values(c) != [11, 12]:
        return f"c shows {values(c)}, and [11, 12] is asked for."
    if grad(x) is None:
        return "x.grad is None: no gradient came through k."
    return None


between = exercise(
    "clone_detach/between",
    "`k` is the copy that the gradient flows through, `c` numbers to play with: `c` shows `[11, 12]`, requires no "
    "grad, and `k` shows `[1, 2]`. Change the third line.",
    names=("x", "k", "c"),
    check=_check_between,
    start="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k\nc += 10\nk.sum().backward()",
    hints=["`c = k` copies nothing.", "What gives numbers of one's own without a gradient?"],
    solution="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k.detach().clone()\nc += 10\n"
    "k.sum().backward()",
    wrong=[
        Wrong("k = x.clone()\nc = k.detach()\nc += 10\nk.sum().backward()", says="the write through c is seen in k"),
        Wrong("k = x.clone()\nc = k.clone()\nc += 10\nk.sum().backward()", says="part of the graph"),
        Wrong("k = x.clone()\nc = k.detach().clone()\nk.sum().backward()", says="c shows [1.0, 2.0]"),
        Wrong(
            "x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone().detach()\nc = k.clone()\nc += 10",
            says="no gradient came through k",
        ),
    ],
    right="one copy for the gradient, one for the numbers.",
    title="Exercise 2",
)
