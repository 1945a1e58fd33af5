"""The clinic, second half: writes that spoil a gradient, weights that do not move, graphs that are kept too long."""

from collections.abc import Callable
from itertools import chain

from ..looks import grad, is_tensor
from ..quiz import (
    CheckedFact,
    Counterevidence,
    Diagnosis,
    are_tensors,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    left_grad_to_backward,
    needs_no_grad,
    quote_number,
    sends_gradient,
    shows_number,
    shows_values,
    was_freed,
    was_gone_through,
    was_written,
)
from ..wording import gettext, gettext_noop
from . import task
from .mistakes import ADDED, CUT, ELSEWHERE, FAR, OVERWRITTEN, RECORDED, SHARED


def _raises_with_words(words: str, act: Callable[[], object]) -> bool:
    """Return True if an act raises PyTorch's error with these words."""
    try:
        act()
    except RuntimeError as error:
        return words in str(error)
    return False


@task(
    "clinic/write",
    "`h.sum().backward()` raises 'modified by an inplace operation'. `h` should be `exp(a) + 1`, and `a.grad` should be `[2.72, 7.39]`. "
    "Call `backward` in your cell.",
    about="“modified by an inplace operation”",
    title="Patient 7",
    diagnosis=Diagnosis(
        choices=(CUT, OVERWRITTEN, RECORDED, ADDED),
        against={
            CUT: Counterevidence(
                gettext_noop(
                    "`h` has a node, and nodes lead from there to `a`: the graph is whole."
                ),
                lambda h: h.grad_fn is not None,
            ),
            RECORDED: Counterevidence(
                gettext_noop("`h` is not a leaf, and `h += 1` raised no error: `h._version` is 1."),
                lambda h: not h.is_leaf and h._version == 1,
            ),
            ADDED: Counterevidence(
                gettext_noop("`a.grad` is None: no `backward` has come to its end."),
                lambda a: a.grad is None,
            ),
        },
        right=OVERWRITTEN,
        because=gettext_noop("`exp` has saved its result, and `h += 1` wrote into that."),
        holds=lambda h: _raises_with_words("by an inplace operation", lambda: h.sum().backward()),
    ),
    given="a = torch.tensor([1.0, 2.0], requires_grad=True)\n",
    start="h = a.exp()\nh += 1",
    hints=["`exp` has saved its result.", "Compute instead of writing: `h = h + 1`."],
    solution="h = a.exp()\nh = h + 1\nh.sum().backward()",
    wrong={
        "h = a.exp()\nh.data += 1\nh.sum().backward()": "a.grad is [3.71828, 8.38906]",
        "h = a.exp().detach()\nh += 1": "h requires no grad",
        "h = a.exp()\nh = h + 1": "a.grad is None",
        "h = a.exp()\nh = h + 1\nh.sum().backward()\na.grad -= 1\na.grad += 1": "writes a.grad itself",
        "h = a.exp()\nh.sum().backward()": "h shows [2.71828, 7.38906]",
    },
    right="`backward` found what `exp` had saved as it was.",
)
def write_before(a, h):
    yield graph_leads_back(h=h, a=a)
    yield shows_values([3.7183, 8.3891], h=h)
    yield has_grad([2.7183, 7.3891], a=a)
    # A gradient that was corrected by hand has the right numbers, too.
    yield left_grad_to_backward(a=a)
    yield sends_gradient([2.7183, 7.3891], **{"h.sum()": h.sum()}, a=a)
    yield was_gone_through(h=h)


@task(
    "clinic/update",
    "After two rounds `w` is 2.56, as it should be. But `w.grad` is 5.12, and for the second round 6.4 would be right. "
    "Fix it so that `w._version` counts both updates, too.",
    about="a wrong gradient, and no error",
    title="Patient 8",
    diagnosis=Diagnosis(
        choices=(OVERWRITTEN, ADDED, CUT, FAR),
        against={
            ADDED: Counterevidence(
                gettext_noop(
                    "`w.grad` is set to None in each round, and 5.12 is less than the 6.4 of the second round alone."
                ),
                lambda w: abs(w.grad.item() - 5.12) < 0.01,
            ),
            CUT: Counterevidence(
                gettext_noop(
                    "A gradient has arrived at `w`: `w.grad` is 5.12, and only its number is wrong."
                ),
                lambda w: abs(w.grad.item() - 5.12) < 0.01,
            ),
            FAR: Counterevidence(
                gettext_noop(
                    "`w` is still a leaf, so the graph of a round ends there, and has nothing of the round before."
                ),
                lambda w: w.is_leaf,
            ),
        },
        right=OVERWRITTEN,
        because=gettext_noop(
            "`w * w` has saved `w`, and the line with `.data` writes into it before `backward`, unseen by the counter."
        ),
        holds=lambda w: abs(w.grad.item() - 6.4) > 0.1,
    ),
    given="w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n",
    start="    w.grad = None\n    loss = (w * w).sum()\n    w.data -= 0.1 * 2 * w.data\n    loss.backward()",
    hints=["First `backward`, then the update with `w.grad`.", "Inside `with torch.no_grad():`."],
    solution="    w.grad = None\n    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad",
    wrong={
        "    w.grad = None\n    loss = (w * w).sum()\n    loss.backward()\n    w.data -= 0.1 * w.grad": "past the counter",
        "    w = w - 0.1 * 2 * w": "w is not a leaf: its node is SubBackward0",
        "    loss = (w * w).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad": "w shows [1.76]",
        "    w.grad = None\n    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0": "w shows [4]",
        "    w.grad = None\n    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.8 if loss == 16 else 0.64": "instead of torch.tensor([4.0]",
    },
    right="`w` was changed where nothing is recorded, and its counter knows of it.",
)
def data_update(w):
    yield is_leaf_with_grad(w=w)
    yield shows_values([2.56], w=w)
    yield was_written(2, w=w)
    yield CheckedFact(
        # Given back, or set to zero, once the step is made: so do many training loops.
        grad(w) in (None, [0.0]) or has_grad([6.4], w=w).holds,
        gettext(
            "`w.grad` is {value}, and the second step begins at 3.2, where the gradient is `[6.4]`.",
            value=quote_number(grad(w)),
        ),
    )
    yield follows_numbers(
        # Two updates that were typed in give these numbers for 4 alone.
        "torch.tensor([4.0]",
        "torch.tensor([5.0]",
        lambda w: shows_values([3.2], w=w),
    )


_SGD = "opt = torch.optim.SGD(layer.parameters(), lr=0.25)\n"
_LOADED = "layer.weight = torch.nn.Parameter(torch.tensor([[4.0]]))  # weights from a file\n"
_LOSS_OF_LAYER = "for _ in range(2):\n    opt.zero_grad()\n    loss = (layer.weight**2).sum()\n    loss.backward()\n"
_TRAIN = _LOSS_OF_LAYER + "    opt.step()"


@task(
    "clinic/optimizer",
    "Training runs, and the loss stays at 16. After two rounds `layer.weight` should be 1; the `loss` of the second "
    "round should be 4.",
    about="the loss doesn't fall",
    title="Patient 9",
    diagnosis=Diagnosis(
        choices=(ADDED, CUT, OVERWRITTEN, ELSEWHERE),
        against={
            ADDED: Counterevidence(
                gettext_noop(
                    "They do add up here: `layer.weight.grad` is 16. But that would not keep the loss at 16; ask why `opt.zero_grad()` does not clear this one."
                ),
                lambda layer, loss: layer.weight.grad.item() == 16 and loss.item() == 16,
            ),
            CUT: Counterevidence(
                gettext_noop("A gradient has arrived: `layer.weight.grad` is 16."),
                lambda layer: layer.weight.grad.item() == 16,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop("`layer.weight._version` is 0: nothing was written into it."),
                lambda layer: layer.weight._version == 0,
            ),
        },
        right=ELSEWHERE,
        because=gettext_noop("`layer.weight` is a new tensor, and `opt` holds the one before it."),
        holds=lambda layer, opt: opt.param_groups[0]["params"][0] is not layer.weight,
    ),
    given="torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\n",
    start=_SGD + _LOADED + _TRAIN,
    hints=[
        "Which tensors are in `opt.param_groups[0]['params']`?",
        "Write into the existing tensor, or make the optimizer later.",
    ],
    solution=_SGD + "with torch.no_grad():\n    layer.weight.fill_(4.0)\n" + _TRAIN,
    wrong={
        f"{_SGD}{_LOADED}{_LOSS_OF_LAYER}    with torch.no_grad():\n        layer.weight -= 0.25 * layer.weight.grad\n    layer.zero_grad()": "opt holds another tensor",
        _LOADED
        + "opt = torch.optim.SGD(layer.parameters(), lr=0.5)\n"
        + _TRAIN: "layer.weight shows [[0]]",
        _LOADED + _SGD + _TRAIN + "\nloss = loss + 1": "loss shows 5",
        _LOADED + _SGD + _LOSS_OF_LAYER: "layer.weight shows [[4]]",
    },
    right="the optimizer holds the very parameter that the loss is computed from.",
)
def optimizer(layer, opt, loss):
    weight = {"layer.weight": layer.weight}
    yield are_tensors(**weight)
    # By what it holds: an optimizer of any class will do.
    parameters = chain.from_iterable(group["params"] for group in opt.param_groups)
    yield CheckedFact(
        any(parameter is layer.weight for parameter in parameters),
        gettext("`opt` holds another tensor, and not `layer.weight`."),
        gettext("`opt` holds `layer.weight`."),
    )
    yield shows_values([[1]], **weight)
    yield shows_values(4, loss=loss)


@task(
    "clinic/running",
    "Memory grows with every round. `total`, the sum of the losses, is only printed. It should show 14; `w.grad` should be 28.",
    about="memory grows with every round",
    title="Patient 11",
    diagnosis=Diagnosis(
        choices=(SHARED, OVERWRITTEN, FAR, CUT),
        against={
            SHARED: Counterevidence(
                gettext_noop("`total` shows 14, as it should: no write has changed it."),
                lambda total: total.item() == 14,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "Each `backward` ran, and `w._version` is 0: nothing was written into it."
                ),
                lambda w: w._version == 0 and w.grad is not None,
            ),
            CUT: Counterevidence(
                gettext_noop("`w.grad` is 28, as it should be: every gradient has arrived."),
                lambda w: w.grad.item() == 28,
            ),
        },
        right=FAR,
        because=gettext_noop("`total` has a node, and behind it are the graphs of all rounds."),
        holds=lambda total: getattr(total, "grad_fn", None) is not None,
    ),
    given="w = torch.tensor([1.0], requires_grad=True)\ntotal = 0.0\nfor x in (1.0, 2.0, 3.0):\n",
    start="    loss = ((w * x) ** 2).sum()\n    loss.backward(retain_graph=True)\n    total = total + loss",
    hints=["What is computed from `loss` has a node.", "`loss.item()` or `loss.detach()`."],
    solution="    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.item()",
    wrong={
        "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.clone()": "total requires grad: its node is AddBackward0",
        "    loss = ((w.detach() * x) ** 2).sum()\n    total = total + loss": "w.grad is None",
        "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = loss.item()": "total shows 9",
        "    loss = ((w * x) ** 2).sum()\n    total = total + loss.item()\nloss.backward()": "w.grad is [18]",
        "    ((w * x) ** 2).sum().backward()\ntotal = 14.0": "total shows 14; it should show 21",
    },
    right="`total` has no history, so it keeps no graph alive.",
)
def running_loss(w, total):
    yield shows_number(14, total=total)
    yield needs_no_grad(total=total)
    yield has_grad([28], w=w)
    yield follows_numbers(
        "(1.0, 2.0, 3.0)", "(1.0, 2.0, 4.0)", lambda total: shows_number(21, total=total)
    )


@task(
    "clinic/leaf",
    "'A view of a leaf Variable that requires grad is being used in an in-place operation.' The first number of the "
    "parameter should become 1, by a write that `w._version` counts.",
    about="a parameter that can't be written to",
    title="Patient 10",
    diagnosis=Diagnosis(
        choices=(OVERWRITTEN, RECORDED, CUT, ADDED),
        against={
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "`w._version` is 0: nothing was written yet, and no `backward` is called."
                ),
                lambda w: w._version == 0 and w.grad is None,
            ),
            CUT: Counterevidence(
                gettext_noop("`first` has a node that leads to `w`: the graph is whole."),
                lambda first: first.grad_fn is not None,
            ),
            ADDED: Counterevidence(
                gettext_noop("`w.grad` is None: no `backward` was called."),
                lambda w: w.grad is None,
            ),
        },
        right=RECORDED,
        because=gettext_noop(
            "`first` is a view of the leaf `w`, and outside of `no_grad` a write into it would be recorded."
        ),
        holds=lambda w, first: (
            first._base is w and _raises_with_words("a view of a leaf", lambda: first.fill_(1.0))
        ),
    ),
    given="w = torch.full((3,), 0.5, requires_grad=True)\n",
    start="first = w[0]  # then: first.fill_(1.0), which raises the error",
    hints=[
        "The write would be recorded, and `w` is a leaf.",
        "Inside `no_grad` it isn't recorded.",
    ],
    solution="with torch.no_grad():\n    w[0] = 1.0",
    wrong={
        "w.data[0] = 1.0": "w._version is 0",
        "w = w.clone()\nw[0] = 1.0": "w is not a leaf: its node is torch::autograd::CopySlices",
        "with torch.no_grad():\n    w.fill_(1.0)": "w shows [1, 1, 1]",
        "with torch.no_grad():\n    w[0] = 0.5": "w shows [0.5, 0.5, 0.5]",
    },
    right="the parameter was changed where nothing is recorded, so it is still a leaf, and the write was counted.",
)
def leaf_view(w):
    yield is_leaf_with_grad(w=w)
    yield shows_values([1, 0.5, 0.5], w=w)
    yield was_written(w=w)


@task(
    "clinic/state",
    "'Trying to backward through the graph a second time.' The advice was `retain_graph=True`; since then each round is "
    "slower than the last. The `backward` of a round should go through that round alone: `h` should be 0.125, and "
    "`w.grad` 1.75, the sum of the three rounds.",
    about="“Trying to backward through the graph a second time”",
    title="Patient 12",
    diagnosis=Diagnosis(
        choices=(CUT, SHARED, OVERWRITTEN, FAR),
        against={
            CUT: Counterevidence(
                gettext_noop(
                    "Gradients have arrived at `w`: `w.grad` is 2.75, which is too much and not too little."
                ),
                lambda w: abs(w.grad.item() - 2.75) < 0.01,
            ),
            SHARED: Counterevidence(
                gettext_noop(
                    "`h * w` computes a new tensor in each round, and `h._version` is 0: nothing was written into memory that others read."
                ),
                lambda h, w: h._version == 0 and h.data_ptr() != w.data_ptr(),
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop("`w._version` and `h._version` are 0: there was no write in place."),
                lambda w, h: w._version == h._version == 0,
            ),
        },
        right=FAR,
        because=gettext_noop(
            "`h` comes in with its history, so each `backward` goes through all rounds before it, too."
        ),
        holds=lambda h: h.grad_fn.next_functions[0][0] is not None,
    ),
    given="w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor _ in range(3):\n",
    start="    h = h * w\n    h.backward(retain_graph=True)",
    hints=["The second round goes back through the first.", "`h = h.detach() * w`."],
    solution="    h = h.detach() * w\n    h.backward()",
    wrong={
        "    h = h.clone() * w\n    h.backward(retain_graph=True)": "w.grad is 2.75",
        "    h = (h * w).detach()": "w.grad is None",
        "    h = (h * w).detach()\nw.grad = torch.tensor(1.75)": "writes w.grad itself",
        "    h = torch.tensor(1.0) * w\n    h.backward()": "h shows 0.5",
        "    h = h.detach() * w\nh.backward()": "w.grad is 0.25",
        "    h = h.detach() * w\n    h.backward()\nh = torch.tensor(0.125)": "h shows 0.125; it should show 8",
        "    h = h.detach() * w\n    h.backward(retain_graph=True)": "or `retain_graph=True` kept it",
    },
    right="each `backward` went through one round, because `h` came in without its history.",
)
def hidden_state(w, h):
    yield shows_number(0.125, h=h)
    yield has_grad(1.75, w=w)
    yield left_grad_to_backward(w=w)
    # A number of Python's is handed on without a history, too, and has no nodes.
    if is_tensor(h):
        yield was_freed(h=h)
    yield follows_numbers("tensor(0.5", "tensor(2.0", lambda h: shows_number(8, h=h))
