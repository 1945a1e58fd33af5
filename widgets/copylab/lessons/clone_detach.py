"""clone and detach in both orders: what they leave behind, a backup of parameters, a write between the two."""

from .. import Misconception, predict
from ..questions import (
    names_that,
    node,
    on_graph,
    requires_grad,
    same_storage,
    value,
    version,
)
from ..quiz import (
    RetestProgram,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_tensor_list,
    name_elements,
    needs_no_grad,
    recommend_clone,
    sends_gradient,
    share_no_cells,
    shows_values,
    was_gone_through,
    was_left_alone,
)
from . import task

ORDER = Misconception(
    "the order changes the result",
    "One of the two orders gives a tensor that still requires grad.",
    "`detach` cuts, whether it comes first or last, and a clone of a tensor without a history has none either.",
    (
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = x.clone().detach(); z = y * T",
            {2: "y = x.clone()"},
            requires_grad,
            "z",
        ),
        RetestProgram(
            "x = torch.tensor(S, requires_grad=True); y = x.detach().clone(); z = y + T",
            {2: "y = x.clone()"},
            on_graph,
            "z",
        ),
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = x.clone().detach(); z = x.detach().clone()",
            {2: "y = x.clone()"},
            lambda *names: names_that("requires_grad", *names),
            "y",
            "z",
        ),
    ),
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
        node("k", wrong={"none": "a clone is a leaf"}),
        requires_grad("c", wrong={"yes": ORDER}),
        requires_grad("d", wrong={"yes": ORDER}),
        same_storage("k", "c", wrong={"no": "detach copies"}),
        value("d", wrong={"[11, 12]": "a copy shares memory"}),
        version("k", wrong={"0": "detach has its own counter"}),
    ],
    key="clone_detach/orders",
    title="clone and detach, in both orders",
)


_BACKUP = "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\n"


@task(
    "clone_detach/backup",
    "`saved` should hold the parameters as they were before the write: a list of tensors that require no grad. Change one line.",
    about="a backup of parameters",
    start=_BACKUP
    + "saved = list(layer.parameters())\nwith torch.no_grad():\n    layer.weight.fill_(7.0)",
    hints=["A list holds the tensors themselves, not copies.", "Cut, then copy, for each `p`."],
    solution=_BACKUP
    + "saved = [p.detach().clone() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)",
    wrong={
        "saved = [p.detach() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)": "saved[0] and layer.weight look at the same cells",
        f"{_BACKUP}saved = [p.clone() for p in layer.parameters()]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)": "so saved[0] requires grad, too: its node is CloneBackward0",
        "saved = [p.detach().clone() for p in layer.parameters()]": "saved[0] shows [[7]]",
        _BACKUP
        + "saved = [p.detach().clone() for p in layer.parameters()]": "layer.weight shows [[-0.00748682]]",
        "saved = layer.weight.detach().clone()": "saved is of type Tensor",
        _BACKUP
        + "saved = [torch.tensor([[-0.007487]])]\nwith torch.no_grad():\n    layer.weight.fill_(7.0)": "saved[0] shows [[-0.007487]]; it should show [[0.5153]]",
    },
    right="`saved` has cells of its own and no history.",
)
def backup(layer, saved):
    yield is_tensor_list(1, saved=saved)
    yield shows_values([[7]], **{"layer.weight": layer.weight})
    yield share_no_cells(**name_elements(saved=saved), **{"layer.weight": layer.weight})
    yield needs_no_grad(**name_elements(saved=saved))
    yield shows_values([[-0.007487]], **name_elements(saved=saved))
    yield follows_numbers(
        "manual_seed(0)",
        "manual_seed(1)",
        lambda saved: shows_values([[0.5153]], **name_elements(saved=saved)),
    )
    yield recommend_clone()


@task(
    "clone_detach/between",
    "The gradient should flow through the copy `k`; `c` is for experiments. `c` should show `[11, 12]` and require no "
    "grad, and `k` should show `[1, 2]`. Change the third line.",
    about="a copy for experiments",
    start="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k\nc += 10\nk.sum().backward()",
    hints=[
        "`c = k` copies nothing.",
        "Which two calls give you your own numbers without a gradient?",
    ],
    solution="x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = k.detach().clone()\nc += 10\n"
    "k.sum().backward()",
    wrong={
        "k = x.clone()\nc = k.detach()\nc += 10\nk.sum().backward()": "c and k look at the same cells",
        "k = x.clone()\nc = k.clone()\nc += 10\nk.sum().backward()": "so c requires grad, too: its node is AddBackward0",
        "k = x.clone()\nc = k.detach().clone()\nk.sum().backward()": "c shows [1, 2]",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone().detach()\nc = k.clone()\nc += 10": "k requires no grad",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nk = x.clone()\nc = torch.tensor([11.0, 12.0])\nk.sum().backward()": "instead of [1.0, 2.0]",
        "k = x.clone()\nd = k.detach()\nd += 10\nc = d.clone()\nd -= 10\nk.sum().backward()": "k._version is 2; it should be 0",
        "k = x.clone()\nc = k.detach().clone()\nc += 10\nk.sum().backward()\nx.data += 5": "x shows [6, 7]",
    },
    right="`k` is a copy that the gradient flows through; `c` has cells of its own and no history.",
)
def between(x, k, c):
    yield needs_no_grad(c=c)
    yield share_no_cells(c=c, k=k, x=x)
    yield shows_values([11, 12], c=c)
    yield shows_values([1, 2], k=k)
    yield shows_values([1, 2], x=x)
    yield was_left_alone(k=k, x=x)
    yield graph_leads_back(k=k, x=x)
    yield has_grad([1, 1], x=x)
    yield sends_gradient([1, 1], **{"k.sum()": k.sum()}, x=x)
    yield was_gone_through(k=k)
    yield follows_numbers("[1.0, 2.0]", "[3.0, 4.0]", lambda c: shows_values([13, 14], c=c))
    yield recommend_clone()
