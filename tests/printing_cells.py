"""Cells that print and warn while backward runs, and what a reader has to see below each of them.

A kernel of ipykernel 7 knows by a ContextVar which cell prints: what runs in another context prints
elsewhere.
"""

from typing import NamedTuple


class PrintingCell(NamedTuple):
    """A cell, and its output: lines that are printed, or words of a warning."""

    source: str
    lines: tuple[str, ...] = ()
    warning: str = ""


_IMPORTS = """\
import asyncio, threading
import tinytorch as torch
from copylab import watch
torch.ones(1, requires_grad=True).sum().backward()  # what is kept for a thread is made in this cell
"""

_DEFINITIONS = """\
class Printing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward")
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        print("backward")
        return grad

def pack(t):
    print("pack")
    return t

def unpack(t):
    print("unpack")
    return t

def train():
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: print("hook after accumulation"))
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = Printing.apply(x)
        z = y.exp().sum()
    y.register_hook(lambda grad: print("hook"))
    z.register_hook(lambda grad: display("shown by a hook"))
    z.backward()

async def train_later():
    await asyncio.sleep(0)
    train()

def write_and_go_back():
    with watch():
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        y.data.add_(1)
        y.sum().backward()

def run_in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
"""

_TRAINED = (
    "forward",
    "pack",
    "'shown by a hook'",
    "unpack",
    "hook",
    "backward",
    "hook after accumulation",
)

CELLS = (
    PrintingCell(_IMPORTS),
    PrintingCell(_DEFINITIONS),
    PrintingCell("train()", _TRAINED),
    PrintingCell("write_and_go_back()", warning="GradientWarning"),
    PrintingCell("run_in_thread(train)", _TRAINED),
    PrintingCell("_ = await asyncio.gather(train_later(), train_later())", _TRAINED * 2),
    PrintingCell("run_in_thread(write_and_go_back)", warning="GradientWarning"),
    PrintingCell("print('end')", ("end",)),
)
