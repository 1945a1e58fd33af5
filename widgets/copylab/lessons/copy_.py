"""`copy_`: what the target keeps and takes, a screen that is written into, a layer that keeps its parameter."""

from .. import predict
from ..questions import (
    gradient,
    node,
    requires_grad,
    same_storage,
    value,
    version,
)
from ..quiz import (
    CheckedFact,
    are_tensors,
    follows_numbers,
    is_leaf_with_grad,
    share_no_cells,
    shows_values,
    was_written,
)
from ..wording import gettext
from . import task

filled = predict(
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2)
    y.copy_(x)
    x.data += 10
    y.sum().backward()
    """,
    [
        same_storage("x", "y", wrong={"yes": "copy_ shares memory"}),
        value("y", wrong={"[11, 12]": "copy_ shares memory"}),
        version("y", wrong={"0": "in place makes a new tensor"}),
        node("y", wrong={"none": "copy_ is not recorded"}),
        requires_grad("y", wrong={"no": "copy_ is not recorded"}),
        gradient("x", wrong={"None": "copy_ is not recorded"}),
    ],
    key="copy_/filled",
    title="copy_, then a write into the source",
)


_RING = "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n"


@task(
    "copy_/screen",
    "`screen` should always show the latest frame, in the tensor that `buffer` named at the start: one write "
    "for each frame, which `screen._version` counts. Change the last line of the loop.",
    about="a screen with the latest frame",
    start=_RING + "    buffer = frame",
    hints=[
        "`buffer = frame` only moves a name. `screen` stays the old tensor.",
        "Write the numbers of `frame` into `buffer`.",
    ],
    solution=_RING + "    buffer.copy_(frame)",
    wrong={
        _RING + "    buffer = frame + 1": "screen shows [0, 0, 0]",
        "buffer = torch.zeros(3)\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n"
        "    screen = frame": "not the tensor buffer any more",
        _RING + "    buffer += frame": "screen shows [3, 3, 3]",
        f"{_RING}    buffer.zero_()\n    buffer.copy_(frame)": "screen._version is 6, but three frames take three writes",
        f"{_RING}    pass\nbuffer.copy_(frame)": "screen._version is 1, but three frames take three writes",
    },
    right="each frame was written once into the existing tensor, so both of its names show the latest frame.",
)
def ring(buffer, screen, frame):
    yield are_tensors(buffer=buffer, screen=screen)
    yield shows_values([2, 2, 2], screen=screen)
    yield CheckedFact(
        screen is buffer,
        gettext("`screen` is not the tensor `buffer` any more."),
        gettext("`screen` is `buffer`."),
    )
    # At version 0 the writes went past the counter; at 1 or 2 a frame was not written.
    if not screen._version:
        yield was_written(3, screen=screen)
    yield CheckedFact(
        screen._version == 3,
        gettext(
            "`screen._version` is {version}, but three frames take three writes: in between, it shows something other than a frame.",
            version=screen._version,
        ),
    )
    # `set_` counts as a write, and copies nothing.
    yield share_no_cells(screen=screen, frame=frame)


@task(
    "copy_/load",
    "Put the numbers of `new` into the layer so that `layer.weight` stays the same parameter, by a write that "
    "`weight._version` counts. Change the last line (two lines will do).",
    about="new numbers for a parameter",
    given="torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n",
    start="layer.weight = torch.nn.Parameter(new)",
    hints=[
        "Don't make a parameter: write into the existing one.",
        "A write into a leaf that requires grad needs `with torch.no_grad():`.",
    ],
    solution="with torch.no_grad():\n    layer.weight.copy_(new)",
    wrong={
        "layer.weight = torch.nn.Parameter(new.clone())": "another parameter now",
        "weight.requires_grad_(False).copy_(new)": "weight requires no grad",
        "with torch.no_grad():\n    layer.weight.add_(new).zero_().add_(1)": "weight shows [[1, 1]]",
        "layer.weight.data = new": "weight and new look at the same cells",
        "layer.weight.data.copy_(new)": "weight._version is 1",
    },
    right="the numbers went into the cells of the parameter, so whoever holds it sees them.",
)
def loaded(layer, weight, new):
    # Before the layer is looked at: a line may have tied the name `weight` to another tensor.
    yield is_leaf_with_grad(weight=weight)
    yield CheckedFact(
        layer.weight is weight,
        gettext(
            "the layer has another parameter now: an optimizer that holds the old one would train the old one."
        ),
        gettext("`layer.weight` is the same parameter as before."),
    )
    yield shows_values([[5, 6]], weight=weight)
    yield share_no_cells(weight=weight, new=new)
    yield was_written(2, weight=weight)  # the first write gave it its initial values
    yield follows_numbers(
        "new = torch.tensor([[5.0, 6.0]])",
        "new = torch.tensor([[7.0, 8.0]])",
        lambda weight: shows_values([[7, 8]], weight=weight),
    )
