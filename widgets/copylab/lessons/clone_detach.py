"""clone and detach in both orders: what they leave behind, a backup of parameters, a write between the two."""

from copylab import Misconception, exercise, predict
from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import count, is_leaf, node, requires_grad, value, version
from copylab.questions import same_storage as shared

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


def _check_backup(layer, saved):
    weight = layer.weight
    assert isinstance(saved, list) and len(saved) == 1 and is_tensor(saved[0]), (
        "saved has to be a list with one tensor."
    )
    assert values(weight) == [[7]], f"the layer holds {values(weight)}, and [[7]] is what was written into it."
    assert not same_storage(saved[0], weight), "saved still looks at the cells of the layer: it shows the 7 as well."
    assert saved[0].grad_fn is None, (
        f"saved has a node, {saved[0].grad_fn.name()}: the backup keeps a way back to the layer."
    )
    assert not saved[0].requires_grad, "saved requires grad."
    assert values(saved[0]) != [[7]], "saved holds the 7: it was made after the write."


_BACKUP = "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\n"

backup = exercise(
    "clone_detach/backup",
    "`saved` shall hold the parameters as they were before the write: plain tensors without a way back. Change a line.",
    check=_check_backup,
    start=_BACKUP + "saved = list(layer.parameters())\nwith torch.no_grad():\n    layer.weight.fill_(7.0)",
    hints=["A list holds things, not copies of things.", "Cut, then copy, for each `p`."],
    solution=_BACKUP
    + "saved = [p.detach().clone() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)",
    wrong={
        "saved = [p.detach() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)": "shows the 7 as well",
        _BACKUP
        + "saved = [p.clone() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)": "has a node, CloneBackward0",
        "saved = [p.detach().clone() for p in layer.parameters()]": "made after the write",
        _BACKUP + "saved = [p.detach().clone() for p in layer.parameters()]": "the layer holds",
        "saved = layer.weight.detach().clone()": "a list with one tensor",
    },
    right="numbers of their own, and nothing that leads back.",
    title="Exercise 1",
)


def _check_between(x, k, c):
    assert is_tensor(k) and is_tensor(c), "k and c have to be tensors."
    assert not c.requires_grad, "c requires grad, so the write into it is part of the graph."
    assert not same_storage(k, c), "c and k share their cells: the write through c is seen in k."
    assert values(c) == [11, 12], f"c shows {values(c)}, and [11, 12] is asked for."
    assert grad(x) is not None, "x.grad is None: no gradient came through k."


between = exercise(
    "clone_detach/between",
    "`k` is the copy that the gradient flows through, `c` numbers to play with: `c` shows `[11, 12]`, requires no "
    "grad, and `k` shows `[1, 2]`. Change the third line.",
    check=_check_between,
    start="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k\nc += 10\nk.sum().backward()",
    hints=["`c = k` copies nothing.", "What gives numbers of one's own without a gradient?"],
    solution="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k.detach().clone()\nc += 10\n"
    "k.sum().backward()",
    wrong={
        "k = x.clone()\nc = k.detach()\nc += 10\nk.sum().backward()": "the write through c is seen in k",
        "k = x.clone()\nc = k.clone()\nc += 10\nk.sum().backward()": "part of the graph",
        "k = x.clone()\nc = k.detach().clone()\nk.sum().backward()": "c shows [1.0, 2.0]",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone().detach()\nc = k.clone()\nc += 10": "no gradient came through k",
    },
    right="one copy for the gradient, one for the numbers.",
    title="Exercise 2",
)
