"""Make docs/messages.md, PyTorch's messages about copies and gradients and what each means, by running programs.

python docs/make_messages.py            writes it; needs PyTorch, whose messages they are
python docs/make_messages.py --check    writes nothing; says if it is not as it would be made
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

DOCUMENT = Path(__file__).resolve().parent / "messages.md"
HEAD = """# From the message to the cause

<!-- Written by `python docs/make_messages.py`; do not edit. -->

What PyTorch says about copies, views, writes in place, leaves and graphs; what each message means; and a program that
does not raise it. Every message below was printed by the program above it. Find yours by its words.

Where the program is long and the line is not named, let `watch` name it: `copylab watch train.py`
([watch](watch.md)). And where nothing is raised and the gradient is wrong even so, it names that line, too.
"""


class MessageCase(NamedTuple):
    """A message of PyTorch's. program: what raises it, or warns. meaning: why. fix: what to write instead."""

    program: str
    meaning: str
    fix: str


CASES = (
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
""",
        "`exp` saved its result `y` to compute the gradient with it, and `add_` wrote over it. "
        "Each tensor has a version counter, which every write in place raises: backward found 1 "
        "where 0 had been saved. It is the *saved* tensor that may not be written to, whichever name "
        "or view the write goes through.",
        """
x = torch.ones(3, requires_grad=True)
y = x.exp()
z = y + 1  # a new tensor: what exp saved stays as it was
z.sum().backward()
""",
    ),
    MessageCase(
        """
w = torch.ones(3, requires_grad=True)
w.add_(1)
""",
        "`w` is a leaf: backward puts the gradient with respect to *this* tensor into `w.grad`. "
        "After a recorded write there would be two values of it, so PyTorch refuses. Values of a "
        "parameter are changed where nothing is recorded.",
        """
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    w.add_(1)
""",
    ),
    MessageCase(
        """
w = torch.ones(3, requires_grad=True)
w[0] = 5.0
""",
        "`w[0]` is a view of the leaf `w`: a write into it is a write into the leaf.",
        """
w = torch.ones(3, requires_grad=True)
v = w.clone()  # recorded, with memory of its own
v[0] = 5.0
v.sum().backward()
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
loss = (x * x).sum()
loss.backward()
loss.backward()
""",
        "The first backward freed what `x * x` had saved. Often nobody meant to go twice: a "
        "tensor that was computed once before the loop, a hidden state or a running loss drags "
        "the graph of the step before along.",
        """
x = torch.ones(3, requires_grad=True)
for _ in range(2):
    loss = (x * x).sum()  # each round records a graph of its own
    loss.backward()
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
loss = (x * x).sum().detach()
loss.backward()
""",
        "Nothing on the way to the loss is recorded: `detach`, `.data`, `.item()`, "
        "`torch.no_grad()` or a conversion to NumPy and back cut the graph, or no input requires "
        "grad.",
        """
x = torch.ones(3, requires_grad=True)
loss = (x * x).sum()
loss.backward()
print(loss.detach())  # detach where the value leaves the training
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
(x * x).backward()
""",
        "The gradient of three numbers is three gradients. Say which sum of them is meant: of one "
        "number, as a loss is, or with the weights as the argument of `backward`.",
        """
x = torch.ones(3, requires_grad=True)
(x * x).backward(torch.ones(3))  # as (x * x).sum().backward()
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
x.numpy()
""",
        "The array would share the tensor's memory, and what is done to it by NumPy is recorded "
        "by nobody. `detach` says that this is known. It shares the memory, too: a write into the "
        "array is a write into `x`.",
        """
x = torch.ones(3, requires_grad=True)
array = x.detach().numpy().copy()  # memory of its own
""",
    ),
    MessageCase(
        """
import copy
x = torch.ones(3, requires_grad=True)
y = x * 2
copy.deepcopy(y)
""",
        "A deep copy of a result would have to copy the graph behind it. Only leaves can be "
        "copied so.",
        """
x = torch.ones(3, requires_grad=True)
y = x * 2
z = y.clone()  # recorded; or y.detach().clone(), which is not
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
y = x * 2
y.requires_grad = False
""",
        "A result requires grad because its inputs do. To leave the graph take a tensor that is "
        "not part of it.",
        """
x = torch.ones(3, requires_grad=True)
y = (x * 2).detach()
print(y.requires_grad)
""",
    ),
    MessageCase(
        """
x = torch.ones(2, 3, requires_grad=True)
first, second = (x * 2).unbind()
first.add_(1)
""",
        "`unbind`, `split` and `chunk` give several views of one tensor with one node. A write "
        "into one of them would have to change the history of the others.",
        """
x = torch.ones(2, 3, requires_grad=True)
first, second = (x * 2).unbind()
first = first + 1
""",
    ),
    MessageCase(
        """
x = torch.ones(2, 3)
x.t().view(6)
""",
        "A view shows the same cells with one step for each dimension. Read row by row, the cells "
        "of the transposed matrix are 0, 3, 1, 4, 2, 5: no single step does that.",
        """
x = torch.ones(2, 3)
y = x.t().reshape(6)  # copies where it has to: a write into y does not reach x then
""",
    ),
    MessageCase(
        """
x = torch.zeros(3, 1).expand(3, 4)
x.add_(1)
""",
        "`expand` shows one cell many times. A write would meet the same cell four times.",
        """
x = torch.zeros(3, 1).expand(3, 4).clone()
x.add_(1)
""",
    ),
    MessageCase(
        """
x = torch.arange(5.0)
x[1:].add_(x[:-1])
""",
        "Both sides are in the same memory and overlap: what is read depends on how far the write "
        "has come.",
        """
x = torch.arange(5.0)
x[1:].add_(x[:-1].clone())
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    v = x[:2]
v.add_(1)
""",
        "The view was made where nothing was recorded, and is written to where everything is: it is "
        "not known which was meant.",
        """
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    v = x[:2]
    v.add_(1)  # make and write it in the same mode
""",
    ),
    MessageCase(
        """
w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    x = torch.ones(3)
loss = (w * x).sum()
""",
        "A tensor made in inference mode has no version counter, so nobody could know later "
        "whether it was written to.",
        """
w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    x = torch.ones(3)
loss = (w * x.clone()).sum()  # a clone made outside is a normal tensor
""",
    ),
    MessageCase(
        """
with torch.inference_mode():
    x = torch.ones(3)
x.add_(1)
""",
        "A tensor made in inference mode can be written to only there.",
        """
with torch.inference_mode():
    x = torch.ones(3)
x = x.clone()
x.add_(1)
""",
    ),
    MessageCase(
        """
a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
torch.autograd.grad((a * 2).sum(), [a, b])
""",
        "No path leads from the result to `b`: it was never used, or what was used is a copy that "
        "was cut from it.",
        """
a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
ga, gb = torch.autograd.grad((a * 2).sum(), [a, b], allow_unused=True)
print(gb)
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
y = x * 2
y.sum().backward()
y.grad
""",
        "`.grad` is kept for leaves alone; `y` is a result.",
        """
x = torch.ones(3, requires_grad=True)
y = x * 2
y.retain_grad()
y.sum().backward()
print(y.grad)
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
y = torch.tensor(x)
""",
        "`torch.tensor` copies values: `y` is a leaf of its own, and no gradient reaches `x` "
        "through it.",
        """
x = torch.ones(3, requires_grad=True)
y = x.clone()  # a copy that stays in the graph
z = x.detach().clone()  # a copy outside of it
""",
    ),
    MessageCase(
        """
x = torch.arange(3)
x.requires_grad_()
""",
        "Integers have no slope.",
        """
x = torch.arange(3.0)
x.requires_grad_()
""",
    ),
    MessageCase(
        """
x = torch.arange(3)
x.mul_(0.5)
""",
        "A write in place keeps the dtype, and the result would be of another one.",
        """
x = torch.arange(3)
x = x * 0.5
""",
    ),
    MessageCase(
        """
x = torch.ones(3, requires_grad=True)
if x > 0:
    pass
""",
        "A tensor of several numbers is not true or false. Where one number is meant, compute it "
        "first.",
        """
x = torch.ones(3, requires_grad=True)
if (x > 0).all():
    pass
""",
    ),
)


def run_program(torch: ModuleType, source: str) -> str:
    """Run a program on an engine; return its warnings and the error that ended it, as Python shows them."""
    messages = []
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        # Each of PyTorch's warnings comes once in a process, unless this is on.
        before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        try:
            exec(compile(source, "<program>", "exec"), {"torch": torch})
        except Exception as error:  # noqa: BLE001 - whatever it raises is what the page is about
            messages.append(f"{type(error).__name__}: {error}")
        finally:
            torch.set_warn_always(before)
    shown = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    # Where PyTorch was built is nothing to search for.
    return re.sub(r" \(Triggered internally at .*?\)", "", "\n".join([*shown, *messages]))


def shorten_title(message: str) -> str:
    """Return the first sentence of a message, without what is of this run: shapes, numbers of versions."""
    text = message.partition(": ")[2].partition(": [")[0]
    return re.split(r"\.(?=\s|[A-Z]|$)", text)[0]


def make_page(torch: ModuleType) -> str:
    """Return the page, with what an engine says now."""
    parts = [HEAD]
    for case in CASES:
        message = run_program(torch, case.program)
        parts.append(
            f"## {shorten_title(message)}\n\n```python\n{case.program.strip()}\n```\n\n"
            f"```text\n{message}\n```\n\n{case.meaning}\n\n```python\n{case.fix.strip()}\n```\n"
        )
    return "\n".join(parts)


def main() -> None:
    """Write or check."""
    import torch

    text = make_page(torch)
    if sys.argv[1:] == ["--check"]:
        if DOCUMENT.read_text(encoding="utf-8") != text:
            sys.exit(f"not current: {DOCUMENT.name}")
        return
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
