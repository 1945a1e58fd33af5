"""`copy_`: what the target keeps and takes, a screen that is written into, a layer that keeps its parameter."""

from __future__ import annotations

from typing import Any

from copylab.looks import is_tensor, values
from copylab.questions import gradient, is_leaf, node, requires_grad, same_counter, value, version
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.prediction import predict

filled = predict(
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.empty(2)
    y.copy_(x)
    x.data += 10
    y.sum().backward()
    """,
    [
        shared("x", "y", wrong={"yes": "copy_ shares memory"}),
        same_counter("x", "y", wrong={"yes": "copy_ shares memory"}),
        value("y", wrong={"[11, 12]": "copy_ shares memory"}),
        version("y", wrong={"0": "in place makes a new tensor"}),
        node("y", wrong={"none": "copy_ is not recorded"}),
        requires_grad("y", wrong={"no": "copy_ is not recorded"}),
        is_leaf("y", wrong={"yes": "copy_ is not recorded"}),
        gradient("x", wrong={"None": "copy_ is not recorded"}),
    ],
    key="copy_/filled",
)


def _check_ring(buffer: Any, screen: Any) -> str | None:
    if not is_tensor(buffer) or not is_tensor(screen):
        return "buffer and screen have to be tensors."
    if values(screen) == [0, 0, 0]:
        return "screen still shows zeros: nobody wrote into the cells that it looks at."
    if screen is not buffer:
        return "screen shows other numbers, but it is not the tensor buffer any more."
    if values(screen) != [2, 2, 2]:
        return f"screen shows {values(screen)}, and the last frame is [2, 2, 2]."
    if screen._version > 3:
        return f"the cells were written {screen._version} times, and there were three frames."
    return None


ring = exercise(
    "copy_/screen",
    "`screen` shall always show the latest frame, in the tensor `buffer` that it was tied to at the start. Change the "
    "last line of the loop.",
    names=("buffer", "screen"),
    check=_check_ring,
    start="buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n"
    "    frame = torch.full((3,), float(step))\n    buffer = frame",
    hints=["`buffer = frame` ties a name. `screen` does not notice.", "Write the numbers of `frame` into `buffer`."],
    solution="buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n"
    "    frame = torch.full((3,), float(step))\n    buffer.copy_(frame)",
    wrong=[
        Wrong(
            "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n"
            "    frame = torch.full((3,), float(step))\n    buffer = frame + 1",
            says="still shows zeros",
        ),
        Wrong(
            "buffer = torch.zeros(3)\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n"
            "    screen = frame",
            says="not the tensor buffer any more",
        ),
        Wrong(
            "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n"
            "    frame = torch.full((3,), float(step))\n    buffer += frame",
            says="screen shows [3.0, 3.0, 3.0]",
        ),
        Wrong(
            "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n"
            "    frame = torch.full((3,), float(step))\n    buffer.zero_()\n    buffer.copy_(frame)",
            says="written 6 times",
        ),
    ],
    right="the same tensor, with the numbers of the last frame.",
    title="Exercise 1",
)


def _check_loaded(layer: Any, weight: Any, new: Any) -> str | None:
    if layer.weight is not weight:
        return "the layer has another parameter now: who held the old one (an optimizer, say) holds it still."
    if not weight.requires_grad:
        return "the parameter requires no grad any more."
    if not weight.is_leaf:
        return f"the write was recorded: the parameter has a node, {weight.grad_fn.name()}."
    if values(weight) != [[5, 6]]:
        return f"the parameter holds {values(weight)}, and [[5, 6]] is asked for."
    if weight.data_ptr() == new.data_ptr():
        return "the parameter looks at the cells of new: a write into new would change the layer."
    if weight._version < 2:  # the first write filled the layer with its random numbers
        return "the numbers are there, but the counter says that nobody wrote."
    return None


loaded = exercise(
    "copy_/load",
    "Put the numbers of `new` into the layer so that `layer.weight` stays the very parameter that it was. Change the "
    "last line (two lines will do).",
    names=("layer", "weight", "new"),
    check=_check_loaded,
    start="torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
    "layer.weight = torch.nn.Parameter(new)",
    hints=[
        "Do not make a parameter: write into the one that is there.",
        "A write into a leaf wants `with torch.no_grad():`.",
    ],
    solution="torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
    "with torch.no_grad():\n    layer.weight.copy_(new)",
    wrong=[
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
            "layer.weight = torch.nn.Parameter(new.clone())",
            says="another parameter now",
        ),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
            "weight.requires_grad_(False).copy_(new)",
            says="requires no grad any more",
        ),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
            "with torch.no_grad():\n    layer.weight.add_(new).zero_().add_(1)",
            says="the parameter holds [[1.0, 1.0]]",
        ),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
            "layer.weight.data = new",
            says="looks at the cells of new",
        ),
        Wrong(
            "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"
            "layer.weight.data.copy_(new)",
            says="the counter says that nobody wrote",
        ),
    ],
    right="the same parameter, with other numbers in its cells, and the write was counted.",
    title="Exercise 2",
)
