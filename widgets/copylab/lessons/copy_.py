"""`copy_`: what the target keeps and takes, a screen that is written into, a layer that keeps its parameter."""

from copylab import exercise, predict
from copylab.looks import is_tensor, values
from copylab.questions import gradient, is_leaf, node, requires_grad, same_counter, value, version
from copylab.questions import same_storage as shared

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


def _check_ring(buffer, screen):
    assert is_tensor(buffer) and is_tensor(screen), "buffer and screen have to be tensors."
    assert values(screen) != [0, 0, 0], "screen still shows zeros: nobody wrote into the cells that it looks at."
    assert screen is buffer, "screen shows other numbers, but it is not the tensor buffer any more."
    assert values(screen) == [2, 2, 2], f"screen shows {values(screen)}, and the last frame is [2, 2, 2]."
    assert screen._version <= 3, f"the cells were written {screen._version} times, and there were three frames."


_RING = "buffer = torch.zeros(3)\nscreen = buffer\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n"

ring = exercise(
    "copy_/screen",
    "`screen` shall always show the latest frame, in the tensor `buffer` that it was tied to at the start. Change the "
    "last line of the loop.",
    check=_check_ring,
    start=_RING + "    buffer = frame",
    hints=["`buffer = frame` ties a name. `screen` does not notice.", "Write the numbers of `frame` into `buffer`."],
    solution=_RING + "    buffer.copy_(frame)",
    wrong={
        _RING + "    buffer = frame + 1": "still shows zeros",
        "buffer = torch.zeros(3)\nfor step in range(3):\n    frame = torch.full((3,), float(step))\n"
        "    screen = frame": "not the tensor buffer any more",
        _RING + "    buffer += frame": "screen shows [3.0, 3.0, 3.0]",
        _RING + "    buffer.zero_()\n    buffer.copy_(frame)": "written 6 times",
    },
    right="the same tensor, with the numbers of the last frame.",
    title="Exercise 1",
)


def _check_loaded(layer, weight, new):
    assert layer.weight is weight, (
        "the layer has another parameter now: who held the old one (an optimizer, say) holds it still."
    )
    assert weight.requires_grad, "the parameter requires no grad any more."
    assert weight.is_leaf, f"the write was recorded: the parameter has a node, {weight.grad_fn.name()}."
    assert values(weight) == [[5, 6]], f"the parameter holds {values(weight)}, and [[5, 6]] is asked for."
    assert weight.data_ptr() != new.data_ptr(), (
        "the parameter looks at the cells of new: a write into new would change the layer."
    )
    assert weight._version >= 2, "the numbers are there, but the counter says that nobody wrote."


_LOADED = "torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 1, bias=False)\nweight = layer.weight\nnew = torch.tensor([[5.0, 6.0]])\n"

loaded = exercise(
    "copy_/load",
    "Put the numbers of `new` into the layer so that `layer.weight` stays the very parameter that it was. Change the "
    "last line (two lines will do).",
    check=_check_loaded,
    start=_LOADED + "layer.weight = torch.nn.Parameter(new)",
    hints=[
        "Do not make a parameter: write into the one that is there.",
        "A write into a leaf wants `with torch.no_grad():`.",
    ],
    solution=_LOADED + "with torch.no_grad():\n    layer.weight.copy_(new)",
    wrong={
        _LOADED + "layer.weight = torch.nn.Parameter(new.clone())": "another parameter now",
        _LOADED + "weight.requires_grad_(False).copy_(new)": "requires no grad any more",
        _LOADED
        + "with torch.no_grad():\n    layer.weight.add_(new).zero_().add_(1)": "the parameter holds [[1.0, 1.0]]",
        _LOADED + "layer.weight.data = new": "looks at the cells of new",
        _LOADED + "layer.weight.data.copy_(new)": "the counter says that nobody wrote",
    },
    right="the same parameter, with other numbers in its cells, and the write was counted.",
    title="Exercise 2",
)
