"""The clinic, first half: numbers that change by themselves, and gradients that are missing or too large."""

from __future__ import annotations

import numpy as np

from .. import predict
from ..code_marks import CodeWords, MarkedParagraph
from ..doc import Box, Items, Paragraph, Part, html_element
from ..questions import ENDS, gradient, outcome, value, version
from ..quiz import (
    CheckedFact,
    Counterevidence,
    Diagnosis,
    are_tensors,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    is_tensor_list,
    left_grad_to_backward,
    name_elements,
    needs_no_grad,
    recommend_clone,
    sends_gradient,
    share_no_cells,
    shows_number,
    shows_values,
    uses_variable,
    was_gone_through,
)
from ..watching import Watch
from ..wording import gettext, gettext_noop, join_sentences
from . import task
from .mistakes import ADDED, CUT, ELSEWHERE, FAR, OVERWRITTEN, SHARED

# The training that goes on, in one write: 99 comes from nowhere else.
_TRAIN = "with torch.no_grad():\n    layer.weight.fill_(99.0)\n"


triage = predict(
    """
    w = torch.tensor([1.0], requires_grad=True)
    best = w.detach()
    kept = w.detach().clone()
    y = w.exp()
    z = w * w
    with torch.no_grad():
        w += 1
    y.backward()
    z.backward()
    """,
    [
        value("best", wrong={"[1]": "detach copies"}),
        value("kept", wrong={"[2]": "a copy shares memory"}),
        version("best", wrong={"0": "detach has its own counter"}),
        outcome(
            wrong={
                "line 8 raises an error": "every write breaks backward",
                ENDS: "no_grad hides a write",
            }
        ),
        gradient("w", hint=gettext_noop("a number (two decimals will do), or None")),
    ],
    key="clinic/triage",
    title="Two gradients after one write",
)


_LAYER = (
    "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\n"
    "with torch.no_grad():\n    layer.weight.fill_(1.0)\n"
)


@task(
    "clinic/best",
    "After training, somebody wanted to reload the best weights. They turn out to be the last ones. The last two "
    "lines, with `fill_(99.0)`, stand for the training. `best` should be a dict of tensors that require no grad, with the weight "
    "from before the training: 1.",
    about="the best weights are the last ones",
    title="Patient 1",
    diagnosis=Diagnosis(
        choices=(OVERWRITTEN, ELSEWHERE, SHARED, CUT),
        against={
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "Nothing was computed from `layer.weight`, so no node has saved it, and `backward` is not called."
                ),
                lambda layer: layer.weight.is_leaf and layer.weight.grad is None,
            ),
            ELSEWHERE: Counterevidence(
                gettext_noop(
                    "`layer.weight` is the same parameter from beginning to end, and the write arrived there: it shows 99."
                ),
                lambda layer: layer.weight.is_leaf and layer.weight.item() == 99,
            ),
            CUT: Counterevidence(
                gettext_noop("No loss is computed here, so there is no graph that could be cut."),
                lambda layer: layer.weight.is_leaf and layer.weight.grad is None,
            ),
        },
        right=SHARED,
        because=gettext_noop(
            '`best["weight"]` and `layer.weight` look at the same cells, and the training that goes on writes into them.'
        ),
        holds=lambda best, layer: best["weight"].data_ptr() == layer.weight.data_ptr(),
    ),
    start=_LAYER + "best = layer.state_dict()\n" + _TRAIN,
    hints=[
        "What do `best['weight']` and `layer.weight` share?",
        "Copy the tensors, not only the dict.",
    ],
    solution=_LAYER
    + "best = {name: t.clone() for name, t in layer.state_dict().items()}\n"
    + _TRAIN,
    wrong={
        f"{_LAYER}best = dict(layer.state_dict(), extra=0)\n{_TRAIN}": "best['weight'] and layer.weight look at the same cells",
        _LAYER
        + "best = {n: p.clone() for n, p in layer.named_parameters()}\n"
        + _TRAIN: "so best['weight'] requires grad, too: its node is CloneBackward0",
        "best = {name: t.clone() for name, t in layer.state_dict().items()}": "best['weight'] shows [[99]]",
        _LAYER
        + "best = {name: t.clone() for name, t in layer.state_dict().items()}": "layer.weight shows [[1]]",
        _LAYER + "best = {'weight': torch.ones(1, 1)}\n" + _TRAIN: "instead of fill_(1.0)",
    },
    right="`best` has cells of its own, so the training that went on did not reach it.",
)
def best_weights(layer, best):
    yield CheckedFact(
        isinstance(best, dict) and "weight" in best,
        gettext("`best` has to be a state dict, with a `weight`."),
    )
    kept, own = {"best['weight']": best["weight"]}, {"layer.weight": layer.weight}
    yield shows_values([[99]], **own)
    yield share_no_cells(**kept, **own)
    yield needs_no_grad(**kept)
    yield shows_values([[1]], **kept)
    yield follows_numbers(
        "fill_(1.0)", "fill_(2.0)", lambda best: shows_values([[2]], **name_elements(best=best))
    )
    yield recommend_clone()


_NEXT_FILE = '\nreader["buffer"][:] = 0.0  # the next file'


@task(
    "clinic/numpy",
    "A buffer is reused for the next file, and the data that was read before is gone. `data` should stay `[1, 2]`, and the next "
    "file should still be read into `array`.",
    about="data that changes by itself",
    title="Patient 2",
    diagnosis=Diagnosis(
        choices=(ELSEWHERE, CUT, OVERWRITTEN, SHARED),
        against={
            ELSEWHERE: Counterevidence(
                gettext_noop(
                    '`reader["buffer"]` is `array` itself, and `data` is the tensor that was made from it.'
                ),
                lambda reader, array, data: (
                    reader["buffer"] is array and data.data_ptr() == array.ctypes.data
                ),
            ),
            CUT: Counterevidence(
                gettext_noop("`data` requires no grad, so there is no graph in this program."),
                lambda data: not data.requires_grad,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "`data` requires no grad, so no node has saved it, and `backward` is not called."
                ),
                lambda data: not data.requires_grad,
            ),
        },
        right=SHARED,
        because=gettext_noop(
            "`data` looks at the memory of `array`, and the next file is read into it."
        ),
        holds=lambda data, array: np.shares_memory(data.numpy(), array),
    ),
    given="import numpy as np\n\narray = np.array([1.0, 2.0])\n"
    'reader = {"buffer": array}  # it reads each file into this array\n',
    start="data = torch.from_numpy(array)" + _NEXT_FILE,
    hints=[
        "Who else looks at that memory?",
        "`torch.tensor(array)` copies. So does `array.copy()`.",
    ],
    solution="data = torch.tensor(array)" + _NEXT_FILE,
    wrong={
        "data = torch.as_tensor(array).detach()[:]"
        + _NEXT_FILE: "data looks at the memory of array",
        "data = torch.tensor(array)": "reader['buffer'] shows [1, 2]",
        'reader["buffer"] = np.zeros(2)\ndata = torch.from_numpy(array)'
        + _NEXT_FILE: "are no longer one array",
        "data = torch.ones(2)" + _NEXT_FILE: "data shows [1, 1]",
        "data = array.copy()" + _NEXT_FILE: "data is of type ndarray",
        "data = torch.tensor([1.0, 2.0])" + _NEXT_FILE: "instead of array([1.0, 2.0])",
    },
    right="`data` has memory of its own, so the next file overwrites the buffer alone.",
)
def numpy_buffer(data, array, reader):
    yield are_tensors(data=data)
    yield CheckedFact(
        reader["buffer"] is array,
        gettext(
            "`array` and `reader['buffer']` are no longer one array: the files do not go into `array`."
        ),
    )
    yield shows_values([0, 0], **{"reader['buffer']": array.tolist()})
    # Asked of NumPy: an array is no tensor, and has no storage that could be compared.
    together = np.shares_memory(data.detach().numpy(), array)
    yield CheckedFact(
        not together,
        gettext("`data` looks at the memory of `array`."),
        gettext("`data` and `array` share no memory."),
    )
    yield shows_values([1, 2], data=data)
    yield follows_numbers(
        "array([1.0, 2.0])", "array([3.0, 4.0])", lambda data: shows_values([3, 4], data=data)
    )


_BACK = "\nsquares = (weight * weight).sum()\nsquares.backward()"


@task(
    "clinic/scaled",
    "After `backward`, `weight.grad` is None. `weight` should show `[0.3, 0.4]`, `weight.grad` should be `[0.6, 0.8]`, and an optimizer should be "
    "able to take `weight`. Change the first line.",
    about="`weight.grad` is None, and nothing raises an error",
    title="Patient 3",
    diagnosis=Diagnosis(
        choices=(CUT, ELSEWHERE, ADDED, OVERWRITTEN),
        against={
            CUT: Counterevidence(
                gettext_noop(
                    "`squares` and `weight` have nodes, and `backward` raised no error: `backward` went through `weight` to a leaf behind `weight`."
                ),
                lambda squares, weight: squares.grad_fn is not None and weight.grad_fn is not None,
            ),
            ADDED: Counterevidence(
                gettext_noop(
                    "`backward` ran once, and `weight.grad` is None: nothing was added to it."
                ),
                lambda weight: not weight.is_leaf and not weight.retains_grad,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop("`weight._version` is 0: nothing was written into it."),
                lambda weight: weight._version == 0,
            ),
        },
        right=ELSEWHERE,
        because=gettext_noop(
            "`weight` is the product; the leaf, which gets the gradient, is the tensor before `* 0.1`, and has no name."
        ),
        holds=lambda weight: not weight.is_leaf,
    ),
    start="weight = torch.tensor([3.0, 4.0], requires_grad=True) * 0.1" + _BACK,
    hints=[
        "Print `weight`, and look at the end of the line.",
        "First compute, then ask for a gradient: `requires_grad_()`.",
    ],
    solution="weight = (torch.tensor([3.0, 4.0]) * 0.1).requires_grad_()" + _BACK,
    wrong={
        "weight = torch.tensor([3.0, 4.0], requires_grad=True) * 0.1\nweight.retain_grad()"
        + _BACK: "computes weight, so weight is not a leaf",
        "weight = torch.tensor([3.0, 4.0]) * 0.1\nsquares = (weight * weight).sum()": "weight requires no grad",
        "weight = torch.tensor([3.0, 4.0], requires_grad=True)" + _BACK: "weight shows [3, 4]",
        "weight = torch.tensor([0.3, 0.4], requires_grad=True)\nsquares = (weight * weight).sum()": "weight.grad is None",
        "weight = torch.tensor([0.3, 0.4], requires_grad=True)\nweight.grad = 2 * weight.data": "writes weight.grad itself",
    },
    right="`weight` is a leaf with the small numbers: `backward` fills its `.grad`, and an optimizer takes it.",
)
def scaled(weight):
    yield is_leaf_with_grad(weight=weight)
    yield shows_values([0.3, 0.4], weight=weight)
    yield has_grad([0.6, 0.8], weight=weight)
    yield left_grad_to_backward(weight=weight)


_NUMBERS = "torch.tensor([error.item() for error in errors]"


_ERRORS = "slope = torch.tensor(2.0, requires_grad=True)\nerrors = [(slope * x - 1) ** 2 for x in (1.0, 2.0)]\n"


@task(
    "clinic/stacked",
    "`mean.backward()` raises 'element 0 of tensors does not require grad and does not have a grad_fn'. Fix it, and "
    "call `backward` in your cell: `mean` should be 5, and `slope.grad` 7.",
    about="“does not require grad and does not have a grad_fn”",
    title="Patient 4",
    diagnosis=Diagnosis(
        choices=(FAR, ADDED, CUT, OVERWRITTEN),
        against={
            FAR: Counterevidence(
                gettext_noop(
                    "`mean.grad_fn` is None: from `mean`, `backward` reaches no node at all."
                ),
                lambda mean: mean.grad_fn is None,
            ),
            ADDED: Counterevidence(
                gettext_noop(
                    "`slope.grad` is None: no gradient has arrived to which another could be added."
                ),
                lambda slope: slope.grad is None,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop("`slope._version` is 0: there was no write in place."),
                lambda slope, errors: (
                    slope._version == 0 and not any(each._version for each in errors)
                ),
            ),
        },
        right=CUT,
        because=gettext_noop(
            "`item()` gives a Python number, so no node leads from `mean` back to `slope`."
        ),
        holds=lambda mean: mean.grad_fn is None,
    ),
    start=_ERRORS + f"mean = {_NUMBERS}).mean()\n# then: mean.backward(), which raises the error",
    hints=[
        "What does `item()` give, and what does it leave behind?",
        "`torch.stack` makes one tensor of several.",
    ],
    solution=_ERRORS + "mean = torch.stack(errors).mean()\nmean.backward()",
    wrong={
        f"mean = {_NUMBERS}, requires_grad=True).mean()\nmean.backward()": "mean has no node that leads to slope",
        "mean = torch.stack(errors).sum().detach()": "mean requires no grad",
        "mean = torch.stack(errors).mean()": "slope.grad is None",
        "mean = torch.stack(errors).sum()\nmean.backward()": "mean shows 10",
        "mean = sum(error.item() for error in errors) / 2": "mean is of type float",
        "mean = torch.stack(errors).mean()\nslope.grad = torch.tensor(7.0)": "no line of your cell calls `backward`. So no gradient",
    },
    right="`mean` was made of the tensors and not of their numbers, so its nodes lead back to `slope`.",
)
def stacked(slope, mean):
    yield graph_leads_back(mean=mean, slope=slope)
    yield shows_values(5, mean=mean)
    yield has_grad(7, slope=slope)
    yield sends_gradient(7, mean=mean, slope=slope)
    yield was_gone_through(mean=mean)
    yield follows_numbers("(1.0, 2.0)", "(3.0, 2.0)", lambda mean: shows_number(17, mean=mean))


# What was saved stays, so that the picture shows what the product was computed from.
_LEARN = "\nproduct.backward(retain_graph=True)  # for the picture: it draws what was saved"


@task(
    "clinic/parts",
    "Two parts are trained together. `b` learns, `a` never does: its `.grad` is None. One `backward` from `product` should "
    "make `a.grad` 8 and `b.grad` 12. "
    "`kept` is for a plot: it should show 12 and require no grad.",
    about="one part never learns",
    title="Patient 5",
    diagnosis=Diagnosis(
        choices=(CUT, FAR, OVERWRITTEN, ADDED),
        against={
            FAR: Counterevidence(
                gettext_noop("`a.grad` is None: the graph of `product` does not even reach `a`."),
                lambda a: a.grad is None,
            ),
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "`b._version` and `kept._version` are 0: nothing was written into what the node of the product has saved."
                ),
                lambda b, kept: b._version == kept._version == 0,
            ),
            ADDED: Counterevidence(
                gettext_noop("`backward` ran once: `b.grad` is 12, one gradient and no sum."),
                lambda b: b.grad.item() == 12,
            ),
        },
        right=CUT,
        because=gettext_noop(
            "`product` was computed from `kept`, which is detached, so its graph leads to `b` and not to `a`."
        ),
        holds=lambda a, b: a.grad is None and b.grad is not None,
    ),
    given="a = torch.tensor([3.0], requires_grad=True)\nb = torch.tensor([2.0], requires_grad=True)\nh = a * 4\n",
    start="kept = h.detach()\nproduct = (kept * b).sum()" + _LEARN,
    hints=[
        "Draw `graph(product)`. Where does it end?",
        "What is computed from `kept` has no node for `a`. And from `h`?",
    ],
    solution="kept = h.detach()\nproduct = (h * b).sum()" + _LEARN,
    wrong={
        "kept = h.detach().requires_grad_()\nproduct = (kept * b).sum()"
        + _LEARN: "kept requires grad.",
        "kept = h.clone()\nproduct = (kept * b).sum()" + _LEARN: "its node is CloneBackward0",
        "kept = h.detach()\nproduct = (kept * b).sum()"
        + _LEARN
        + "\na.grad = b * 4": "no node that leads to a",
        "kept = h.detach()\nproduct = (h * b).sum()": "a.grad is None",
        "kept = a.detach()\nproduct = (h * b).sum()" + _LEARN: "kept shows 3",
        "kept = h.detach()\nproduct = (h * b.detach()).sum()" + _LEARN: "b.grad is None",
    },
    right="`product` leads back to `a`; only what is kept for the plot left the graph.",
)
def parts(a, b, kept, product):
    yield needs_no_grad(kept=kept)
    yield shows_number(12, kept=kept)
    yield graph_leads_back(product=product, a=a)
    yield has_grad([8], a=a)
    yield has_grad([12], b=b)
    yield graph_leads_back(product=product, b=b)
    yield shows_number(24, product=product)
    yield sends_gradient([8], product=product, a=a)
    yield sends_gradient([12], product=product, b=b)
    yield was_gone_through(product=product)
    yield follows_numbers("tensor([3.0]", "tensor([5.0]", lambda kept: shows_number(20, kept=kept))


@task(
    "clinic/rounds",
    "The gradient grows from round to round, and `grads` shows `[6]` three times. It should show `[1]`, `[2]`, `[3]`, the "
    "gradient of each round, as three tensors.",
    about="the gradient grows from round to round",
    title="Patient 6",
    diagnosis=Diagnosis(
        choices=(OVERWRITTEN, CUT, FAR, ADDED),
        against={
            OVERWRITTEN: Counterevidence(
                gettext_noop(
                    "Each `backward` ran without an error, and `scale._version` is 0: nothing was written into `scale`."
                ),
                lambda scale: scale._version == 0 and scale.grad is not None,
            ),
            CUT: Counterevidence(
                gettext_noop("A gradient has arrived at `scale`: `scale.grad` is 6."),
                lambda scale: scale.grad.item() == 6,
            ),
            FAR: Counterevidence(
                gettext_noop(
                    "Each round computes from the leaf `scale` alone, so its graph has nothing of the round before."
                ),
                lambda scale: scale.is_leaf,
            ),
        },
        right=ADDED,
        because=gettext_noop(
            "`backward` adds to the `.grad` that is there, in place, and the list holds that one tensor three times."
        ),
        holds=lambda grads: grads[0] is grads[-1],
    ),
    given="scale = torch.tensor([1.0], requires_grad=True)\ngrads = []\nfor x in (1.0, 2.0, 3.0):\n",
    start="    (scale * x).sum().backward()\n    grads.append(scale.grad)",
    hints=[
        "What does `backward` do with a gradient that is there already?",
        "`scale.grad = None` at the start of a round.",
    ],
    solution="    scale.grad = None\n    (scale * x).sum().backward()\n    grads.append(scale.grad)",
    wrong={
        "    (scale * x).sum().backward()\n    grads.append(scale.grad.clone())": "grads shows [[1], [3], [6]]: backward has added each gradient",
        "    (scale * x).sum().backward()\n    grads.append(scale.grad)\n    scale.grad.zero_()": "are one tensor",
        "    scale.grad = None\n    (scale * x).sum().backward()\n    grads.append(scale.grad.item())": "of type float",
        "    scale.grad = None\n    (scale * x).sum().backward()\ngrads = [scale.grad]": "the length of grads is 1",
        "    (scale * x).sum().backward()\ngrads = [torch.tensor([g]) for g in (1.0, 2.0, 3)]": "grads shows [[1], [2], [3]]; it should show [[2], [5], [4]]",
    },
    right="each entry is the gradient of one round alone, in cells of its own.",
)
def rounds(scale, grads):
    yield is_tensor_list(3, grads=grads)
    yield share_no_cells(**name_elements(grads=grads))
    yield CheckedFact(
        not shows_values([[1], [3], [6]], grads=grads).holds,
        gettext(
            "`grads` shows `[[1], [3], [6]]`: `backward` has added each gradient to those of the rounds before."
        ),
    )
    yield shows_values([[1], [2], [3]], grads=grads)
    yield is_leaf_with_grad(scale=scale)
    yield uses_variable(scale=scale)
    yield follows_numbers(
        "(1.0, 2.0, 3.0)",
        "(2.0, 5.0, 4.0)",
        lambda grads: shows_values([[2], [5], [4]], grads=grads),
    )


_PATIENTS_OF_ERRORS = {"no graph": 4, "freed": 12}
"""The patient of an error, by the kind of the finding; of any other error it is the seventh."""


def refer(seen: Watch) -> Part:
    """Return what a watch found in a program of the reader's, each with the patient that has it."""
    patients: dict[tuple[str, ...], tuple[int, CodeWords]] = {}
    for finding in seen.findings:
        number = 8 if finding.silent else _PATIENTS_OF_ERRORS.get(finding.kind, 7)
        patients[(finding.title,)] = (number, finding.code_words)
    for missing in seen.missing_gradients:
        # An optimizer that holds what was replaced, or a part that the graph does not reach.
        # What an optimizer does not hold first: what it holds instead has a long name and no other.
        causes, title = missing.causes, missing.title
        said = (*causes, title) if missing.replaced else (join_sentences([title, *causes]),)
        patients[said] = (9 if missing.replaced else 5, missing.code_words)
    if not patients:
        nothing = gettext(
            "A watch can tell six of the patients (4, 7 and 8; 5 and 9 where an optimizer makes a step; 12 where it raises "
            "an error), and saw none of these here. That does not mean that the program is right. A watch cannot tell memory that is shared (1, 2) from "
            "memory that should be, a result from the leaf that was meant (3), or gradients and graphs that grow on "
            "purpose from others (6, 11); and the error of 10 says itself what it is. Look for the symptom in the table at the top."
        )
        return Box(Paragraph(join_sentences(seen.describe_reads())), Paragraph(nothing))
    return Items(_refer_to(said, number, words) for said, (number, words) in patients.items())


def _refer_to(said: tuple[str, ...], number: int, words: CodeWords) -> Part:
    """Return a finding with a link to its patient in the lesson."""
    patient = gettext("Patient {number}", number=number)
    link = html_element("a", patient, href=f"#Patient-{number}")
    return Box(
        *(MarkedParagraph(text, words) for text in said),
        Part(patient, html_element("p", html_element("strong", link))),
    )
