"""The clinic, second half: writes that spoil a gradient, weights that do not move, graphs that are kept too long."""

from collections.abc import Callable
from itertools import chain

from ..looks import grad, is_tensor, values
from ..quiz import (
    CheckedFact,
    Counterevidence,
    Diagnosis,
    are_tensors,
    brought_gradients,
    follows_numbers,
    graph_leads_back,
    has_grad,
    has_no_history_in_loop,
    is_leaf_with_grad,
    left_grad_to_backward,
    needs_no_grad,
    quote_number,
    recommend_freed_graph,
    sends_gradient,
    shows_number,
    shows_values,
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
    "`out.sum().backward()` raises 'modified by an inplace operation'. Fix it, and call `backward` in your cell: `out` should be "
    "`exp(logits) + 1`, and `logits.grad` `[2.72, 7.39]`.",
    about="“modified by an inplace operation”",
    title="Patient 7",
    diagnosis=Diagnosis(
        choices=(CUT, OVERWRITTEN, RECORDED, ADDED),
        against={
            CUT: Counterevidence(
                gettext_noop(
                    "`out` has a node, and nodes lead from there to `logits`: the graph is whole."
                ),
                lambda out: out.grad_fn is not None,
            ),
            RECORDED: Counterevidence(
                gettext_noop(
                    "`out` is not a leaf, and `out += 1` raised no error: `out._version` is 1."
                ),
                lambda out: not out.is_leaf and out._version == 1,
            ),
            ADDED: Counterevidence(
                gettext_noop("`logits.grad` is None: no `backward` has come to its end."),
                lambda logits: logits.grad is None,
            ),
        },
        right=OVERWRITTEN,
        because=gettext_noop("`exp` has saved its result, and `out += 1` wrote into that."),
        holds=lambda out: _raises_with_words(
            "by an inplace operation", lambda: out.sum().backward()
        ),
    ),
    given="logits = torch.tensor([1.0, 2.0], requires_grad=True)\n",
    start="out = logits.exp()\nout += 1",
    hints=["`exp` has saved its result.", "Compute instead of writing: `out = out + 1`."],
    solution="out = logits.exp()\nout = out + 1\nout.sum().backward()",
    wrong={
        "out = logits.exp()\nout.data += 1\nout.sum().backward()": "a write that the counter does not count changed what exp has saved",
        "out = logits.exp().detach()\nout += 1": "out requires no grad",
        "out = logits.exp()\nout = out + 1": "logits.grad is None",
        "out = logits.exp()\nout = out + 1\nout.sum().backward()\nlogits.grad -= 1\nlogits.grad += 1": "writes logits.grad itself",
        "out = logits.exp()\nout.sum().backward()": "out shows [2.71828, 7.38906]",
    },
    right="between `exp` and `backward`, no line writes into what `exp` saved.",
)
def write_before(logits, out):
    yield graph_leads_back(out=out, logits=logits)
    yield shows_values([3.7183, 8.3891], out=out)
    # A gradient that was corrected by hand has the right numbers, too.
    yield left_grad_to_backward(logits=logits)
    # `out` is the result of `exp` and shows other numbers: so does what `exp` has saved.
    is_changed_unseen = out.grad_fn.name() == "ExpBackward0"
    wrong_grad = has_grad([3.7183, 8.3891], logits=logits)
    yield CheckedFact(
        not (is_changed_unseen and wrong_grad.holds),
        gettext(
            "`logits.grad` is {value}, the numbers of `out` after the write: a write that the counter does not count changed what `exp` has saved.",
            value=quote_number(values(logits.grad)),
        ),
    )
    yield has_grad([2.7183, 7.3891], logits=logits)
    yield sends_gradient([2.7183, 7.3891], **{"out.sum()": out.sum()}, logits=logits)
    yield was_gone_through(out=out)


@task(
    "clinic/update",
    "After two rounds `param` is 2.56, as it should be. But `param.grad` is 5.12, and for the second round 6.4 would be right. "
    "Fix it so that `param._version` counts both updates, too.",
    about="a wrong gradient, and no error",
    title="Patient 8",
    diagnosis=Diagnosis(
        # Which line it is, and for which reason: the kind is that of patient 7.
        choices=(
            gettext_noop("`param.grad = None` throws away what is needed later"),
            gettext_noop(
                "`param.data -= ...` changes what `param * param` has saved for `backward`"
            ),
            gettext_noop("`param.data -= ...` takes a step of the wrong size"),
            gettext_noop("`loss.backward()` adds to what the round before has left"),
        ),
        against={
            "`param.grad = None` throws away what is needed later": Counterevidence(
                gettext_noop(
                    "`param.grad = None` runs before `backward` in each round, and 6.4 is the gradient of the second round alone."
                ),
                lambda param: param.grad is not None,
            ),
            "`param.data -= ...` takes a step of the wrong size": Counterevidence(
                gettext_noop("`param` is 2.56 after two rounds, as it should be."),
                lambda param: abs(param.item() - 2.56) < 0.01,
            ),
            "`loss.backward()` adds to what the round before has left": Counterevidence(
                gettext_noop(
                    "`param.grad` is set to None in each round, and 5.12 is less than the 6.4 of the second round alone."
                ),
                lambda param: abs(param.grad.item() - 5.12) < 0.01,
            ),
        },
        right="`param.data -= ...` changes what `param * param` has saved for `backward`",
        because=gettext_noop(
            "`param * param` has saved `param`, and the line with `.data` writes into `param` before `backward`, unseen by the counter."
        ),
        holds=lambda param: abs(param.grad.item() - 6.4) > 0.1,
    ),
    given="param = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n",
    start="    param.grad = None\n    loss = (param * param).sum()\n    param.data -= 0.1 * 2 * param.data\n    loss.backward()",
    hints=[
        "First `backward`, then the update with `param.grad`.",
        "Inside `with torch.no_grad():`.",
    ],
    solution="    param.grad = None\n    loss = (param * param).sum()\n    loss.backward()\n    with torch.no_grad():\n        param -= 0.1 * param.grad",
    wrong={
        "    param.grad = None\n    loss = (param * param).sum()\n    loss.backward()\n    param.data -= 0.1 * param.grad": "writes through `.data`",
        "    param = param - 0.1 * 2 * param": "computes param, so param is not a leaf: its node is SubBackward0",
        "    loss = (param * param).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        param -= 0.1 * param.grad": "param shows [1.76]",
        "    param.grad = None\n    loss = (param * param).sum()\n    loss.backward()\n    with torch.no_grad():\n        param -= 0": "param shows [4]",
        "    param.grad = None\n    loss = (param * param).sum()\n    loss.backward()\n    with torch.no_grad():\n        param -= 0.8 if loss == 16 else 0.64": "instead of torch.tensor([4.0]",
    },
    right="`param` was changed where nothing is recorded, and its counter knows of it.",
)
def data_update(param):
    yield is_leaf_with_grad(param=param)
    yield shows_values([2.56], param=param)
    yield was_written(2, param=param)
    yield CheckedFact(
        # Given back, or set to zero, once the step is made: so do many training loops.
        grad(param) in (None, [0.0]) or has_grad([6.4], param=param).holds,
        gettext(
            "`param.grad` is {value}, and the second step begins at 3.2, where the gradient is `[6.4]`.",
            value=quote_number(grad(param)),
        ),
    )
    yield brought_gradients(
        [[8], [6.4]], "param = torch.tensor([4.0], requires_grad=True)", param=param
    )
    yield follows_numbers(
        # Two updates that were typed in give these numbers for 4 alone.
        "torch.tensor([4.0]",
        "torch.tensor([5.0]",
        lambda param: shows_values([3.2], param=param),
    )


_SGD = "sgd = torch.optim.SGD(model.parameters(), lr=0.25)\n"
_LOADED = "model.weight = torch.nn.Parameter(torch.tensor([[4.0]]))  # weights from a file\n"
_LOSS_OF_LAYER = "for _ in range(2):\n    sgd.zero_grad()\n    loss = (model.weight**2).sum()\n    loss.backward()\n"
_TRAIN = _LOSS_OF_LAYER + "    sgd.step()"


@task(
    "clinic/optimizer",
    "Training runs, and the loss stays at 16. After two rounds `model.weight` should be 1; the `loss` of the second "
    "round should be 4.",
    about="the loss doesn't fall",
    title="Patient 9",
    diagnosis=Diagnosis(
        choices=(ADDED, CUT, OVERWRITTEN, ELSEWHERE),
        against={
            ADDED: Counterevidence(
                gettext_noop(
                    "The gradients do add up here: `model.weight.grad` is 16. But that would not keep the loss at 16; ask why `sgd.zero_grad()` does not clear `model.weight.grad`."
                ),
                lambda model, loss: model.weight.grad.item() == 16 and loss.item() == 16,
            ),
            CUT: Counterevidence(
                gettext_noop("A gradient has arrived: `model.weight.grad` is 16."),
                lambda model: model.weight.grad.item() == 16,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop("`model.weight._version` is 0: nothing was written into it."),
                lambda model: model.weight._version == 0,
            ),
        },
        right=ELSEWHERE,
        because=gettext_noop("`model.weight` is a new tensor, and `sgd` holds the one before it."),
        holds=lambda model, sgd: sgd.param_groups[0]["params"][0] is not model.weight,
    ),
    given="torch.manual_seed(0)\nmodel = torch.nn.Linear(1, 1, bias=False)\n",
    start=_SGD + _LOADED + _TRAIN,
    hints=[
        "Which tensors are in `sgd.param_groups[0]['params']`?",
        "Write into the existing tensor, or make the optimizer later.",
    ],
    solution=_SGD + "with torch.no_grad():\n    model.weight.fill_(4.0)\n" + _TRAIN,
    wrong={
        f"{_SGD}{_LOADED}{_LOSS_OF_LAYER}    with torch.no_grad():\n        model.weight -= 0.25 * model.weight.grad\n    model.zero_grad()": "sgd holds another tensor",
        _LOADED
        + "sgd = torch.optim.SGD(model.parameters(), lr=0.5)\n"
        + _TRAIN: "model.weight shows [[0]]",
        _LOADED + _SGD + _TRAIN + "\nloss = loss + 1": "loss shows 5",
        _LOADED + _SGD + _LOSS_OF_LAYER: "model.weight shows [[4]]",
    },
    right="the optimizer holds the very parameter that the loss is computed from.",
)
def optimizer(model, sgd, loss):
    weight = {"model.weight": model.weight}
    yield are_tensors(**weight)
    # By what it holds: an optimizer of any class will do.
    parameters = chain.from_iterable(group["params"] for group in sgd.param_groups)
    yield CheckedFact(
        any(parameter is model.weight for parameter in parameters),
        gettext("`sgd` holds another tensor, and not `model.weight`."),
        gettext("`sgd` holds `model.weight`."),
    )
    yield shows_values([[1]], **weight)
    yield shows_values(4, loss=loss)


@task(
    "clinic/running",
    "Memory grows with every round. `total`, the sum of the losses, is only printed. It should show 14; `factor.grad` should be 28.",
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
                    "Each `backward` ran, and `factor._version` is 0: nothing was written into it."
                ),
                lambda factor: factor._version == 0 and factor.grad is not None,
            ),
            CUT: Counterevidence(
                gettext_noop("`factor.grad` is 28, as it should be: every gradient has arrived."),
                lambda factor: factor.grad.item() == 28,
            ),
        },
        right=FAR,
        because=gettext_noop("`total` has a node, and behind it are the graphs of all rounds."),
        holds=lambda total: getattr(total, "grad_fn", None) is not None,
    ),
    given="factor = torch.tensor([1.0], requires_grad=True)\ntotal = 0.0\nfor x in (1.0, 2.0, 3.0):\n",
    start="    loss = ((factor * x) ** 2).sum()\n    loss.backward(retain_graph=True)\n    total = total + loss",
    hints=["What is computed from `loss` has a node.", "`loss.item()` or `loss.detach()`."],
    solution="    loss = ((factor * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.item()",
    wrong={
        "    loss = ((factor * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.clone()": "so total requires grad, too: its node is AddBackward0",
        "    loss = ((factor.detach() * x) ** 2).sum()\n    total = total + loss": "factor.grad is None",
        "    loss = ((factor * x) ** 2).sum()\n    loss.backward()\n    total = loss.item()": "total shows 9",
        "    loss = ((factor * x) ** 2).sum()\n    total = total + loss.item()\nloss.backward()": "factor.grad is [18]",
        "    ((factor * x) ** 2).sum().backward()\ntotal = 14.0": "total shows 14; it should show 21",
    },
    right="`total` has no history, so it keeps no graph alive.",
)
def running_loss(factor, total):
    yield shows_number(14, total=total)
    yield needs_no_grad(total=total)
    yield has_no_history_in_loop(total=total)
    yield has_grad([28], factor=factor)
    yield recommend_freed_graph()
    yield follows_numbers(
        "(1.0, 2.0, 3.0)", "(1.0, 2.0, 4.0)", lambda total: shows_number(21, total=total)
    )


@task(
    "clinic/leaf",
    "'A view of a leaf Variable that requires grad is being used in an in-place operation.' The first number of the "
    "parameter should become 1, by a write that `bias._version` counts.",
    about="a parameter that can't be written to",
    title="Patient 10",
    diagnosis=Diagnosis(
        choices=(OVERWRITTEN, RECORDED, CUT, ADDED),
        against={
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "`bias._version` is 0: nothing was written yet, and no `backward` is called."
                ),
                lambda bias: bias._version == 0 and bias.grad is None,
            ),
            CUT: Counterevidence(
                gettext_noop("`first` has a node that leads to `bias`: the graph is whole."),
                lambda first: first.grad_fn is not None,
            ),
            ADDED: Counterevidence(
                gettext_noop("`bias.grad` is None: no `backward` was called."),
                lambda bias: bias.grad is None,
            ),
        },
        right=RECORDED,
        because=gettext_noop(
            "`first` is a view of the leaf `bias`, and outside of `no_grad` a write into it would be recorded."
        ),
        holds=lambda bias, first: (
            first._base is bias and _raises_with_words("a view of a leaf", lambda: first.fill_(1.0))
        ),
    ),
    given="bias = torch.full((3,), 0.5, requires_grad=True)\n",
    start="first = bias[0]  # then: first.fill_(1.0), which raises the error",
    hints=[
        "The write would be recorded, and `bias` is a leaf.",
        "Inside `no_grad` it isn't recorded.",
    ],
    solution="with torch.no_grad():\n    bias[0] = 1.0",
    wrong={
        "bias.data[0] = 1.0": "bias._version is 0",
        "bias = bias.clone()\nbias[0] = 1.0": "computes bias, so bias is not a leaf: its node is CopySlices",
        "with torch.no_grad():\n    bias.fill_(1.0)": "bias shows [1, 1, 1]",
        "with torch.no_grad():\n    bias[0] = 0.5": "bias shows [0.5, 0.5, 0.5]",
    },
    right="the parameter was changed where nothing is recorded, so it is still a leaf, and the write was counted.",
)
def leaf_view(bias):
    yield is_leaf_with_grad(bias=bias)
    yield shows_values([1, 0.5, 0.5], bias=bias)
    yield was_written(bias=bias)


@task(
    "clinic/state",
    "'Trying to backward through the graph a second time.' The advice was `retain_graph=True`; since then each round is "
    "slower than the last. The `backward` of a round should go through that round alone: `state` should be 0.125, and "
    "`decay.grad` 1.75, the sum of the three rounds.",
    about="“Trying to backward through the graph a second time”",
    title="Patient 12",
    diagnosis=Diagnosis(
        choices=(
            gettext_noop("`state = torch.tensor(1.0)` should make a tensor that requires grad"),
            gettext_noop("`state = state * decay` writes over numbers that `backward` needs"),
            gettext_noop("`state.backward(...)` adds up gradients that should be apart"),
            gettext_noop("`state = state * decay` takes the history so far along"),
        ),
        against={
            "`state = torch.tensor(1.0)` should make a tensor that requires grad": Counterevidence(
                gettext_noop(
                    "Gradients have arrived at `decay`: `decay.grad` is 2.75, which is too much and not too little."
                ),
                lambda decay: abs(decay.grad.item() - 2.75) < 0.01,
            ),
            "`state = state * decay` writes over numbers that `backward` needs": Counterevidence(
                gettext_noop(
                    "`decay._version` and `state._version` are 0: there was no write in place."
                ),
                lambda decay, state: decay._version == state._version == 0,
            ),
            "`state.backward(...)` adds up gradients that should be apart": Counterevidence(
                gettext_noop(
                    "The gradients of the three rounds are meant to add up, to 1.75; `decay.grad` is 2.75."
                ),
                lambda decay: abs(decay.grad.item() - 2.75) < 0.01,
            ),
        },
        right="`state = state * decay` takes the history so far along",
        because=gettext_noop(
            "`state` comes into a round with the history of the rounds before, so each `backward` goes through those rounds, too."
        ),
        holds=lambda state: state.grad_fn.next_functions[0][0] is not None,
    ),
    given="decay = torch.tensor(0.5, requires_grad=True)\nstate = torch.tensor(1.0)\nfor _ in range(3):\n",
    start="    state = state * decay\n    state.backward(retain_graph=True)",
    hints=["The second round goes back through the first.", "`state = state.detach() * decay`."],
    solution="    state = state.detach() * decay\n    state.backward()",
    also=[
        (
            "decay = torch.tensor(0.5, requires_grad=True)\nstate = torch.tensor(1.0)\nfor _ in range(3):\n"
            "    state = state.detach() * decay\n    state.backward(retain_graph=True)"
        )
    ],
    wrong={
        "    state = state.clone() * decay\n    state.backward(retain_graph=True)": "decay.grad is 2.75",
        "    state = (state * decay).detach()": "decay.grad is None",
        "    state = (state * decay).detach()\ndecay.grad = torch.tensor(1.75)": "writes decay.grad itself",
        "    state = torch.tensor(1.0) * decay\n    state.backward()": "state shows 0.5",
        "    state = state.detach() * decay\nstate.backward()": "decay.grad is 0.25",
        "    state = state.detach() * decay\n    state.backward()\nstate = torch.tensor(0.125)": "state shows 0.125; it should show 8",
    },
    right="each `backward` went through one round, because `state` came in without its history.",
)
def hidden_state(decay, state):
    yield shows_number(0.125, state=state)
    yield has_grad(1.75, decay=decay)
    yield left_grad_to_backward(decay=decay)
    # A number of Python's is handed on without a history, too, and has no nodes.
    if is_tensor(state):
        yield was_gone_through(state=state)
    yield follows_numbers("tensor(0.5", "tensor(2.0", lambda state: shows_number(8, state=state))
    yield recommend_freed_graph()
