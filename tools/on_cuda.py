"""Hold what copylab says of programs on a GPU against what it says of them on the CPU; time a watch there.

    python tools/on_cuda.py                 on the GPU
    python tools/on_cuda.py --device cpu    CPU against CPU, which tries this script itself

The programs are those of the tests of `watch` (without those that need NumPy's memory), some for
what is otherwise on a GPU, and steps for `check_gradients` and `growth`. What is said is compared
word for word, apart from three things that differ for good reasons: the name of the device; values
(a GPU has other random numbers, and adds in another order); and how many bytes the graph keeps of
tensors without a name (batch norm, for one, saves other intermediate results there).

Ends with 0 if all is the same, with 1 if something differs, which is printed, and with 77 if there
is no GPU: not run.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import copylab
import torch
from project_files import ROOT
from torch import nn

from tinytorch.viz import memory

NOT_RUN = 77
"""What test programs end with, by convention, if they could not be run."""
SIZES = ((32, 64), (1024, 64), (4096, 4096))
"""Width of the layers that are timed, and rows of a batch. A GPU waits for Python in the first two."""
_PROGRAMS = ROOT / "tests" / "widgets" / "watching" / "programs.txt"
_BACKWARD = re.compile(r"^(?P<loss>[^\s#].*)\.backward\(", re.MULTILINE)
_VALUES = re.compile(r"^ *(all )?cells: .*\n?", re.MULTILINE)
_NUMBERS = re.compile(
    r"(The gradient of .* is )\S.*(; from the values as they were when saved, it would be ).*"
)
_UNNAMED = re.compile(r"(Also kept alive by the graph: .*), [\d,]+ bytes")
_ON_DEVICE = """
== more than is kept as a copy
x = torch.ones(1000, requires_grad=True)
y = x * 2
z = y * y
y.data[:500].neg_()
z.sum().backward()

== more than is summed up at once, and the same values
x = torch.ones(1 << 21, requires_grad=True)
y = x * 2
z = y * y
y.data.mul_(1)
loss = z.sum()
loss.backward()

== more than is summed up at once, and two values change places
x = torch.arange(1 << 21, dtype=torch.float32, requires_grad=True)
y = x * 2
z = y * y
y.data[[5, 1 << 20]] = y.data[[1 << 20, 5]]
loss = z.sum()
loss.backward()

== columns of half precision
x = torch.ones(40, 30, requires_grad=True, dtype=torch.float16)
y = x * 2
z = y[:, 3] * y[:, 3]
y.data[:, 4].neg_()
y.data[7, 3].neg_()
loss = z.sum()
loss.backward()

== a graph of a backward
x = torch.ones(100, requires_grad=True)
y = x.exp()
(g,) = torch.autograd.grad(y.tanh().sum(), x, create_graph=True)
y.data.mul_(2)
g.sum().backward()

== an attribute of ctx
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad

x = torch.ones(3, requires_grad=True)
y = x * 2
z = Square.apply(y)
y.data.zero_()
z.sum().backward()

== a checkpoint that reads what has changed
from torch.utils.checkpoint import checkpoint
scale = torch.full((3,), 2.0)
x = torch.ones(3, requires_grad=True)
z = checkpoint(lambda x: (x * scale).exp(), x, use_reentrant=False)
scale.mul_(3)
z.sum().backward()

== a checkpoint as it should be
from torch.utils.checkpoint import checkpoint
x = torch.ones(3, requires_grad=True)
z = checkpoint(lambda x: (x * 2).exp(), x, use_reentrant=False)
z.sum().backward()

== a reentrant checkpoint
from torch.utils.checkpoint import checkpoint
w = torch.ones(3, requires_grad=True)
x = torch.ones(3, requires_grad=True)
z = checkpoint(lambda x: (x * w).exp(), x, use_reentrant=True)
z.sum().backward()

== a hook that writes into a shared gradient
a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
c = b * 1
c.register_hook(lambda grad: grad.mul_(2))
z = a + c
z.sum().backward()

== an optimizer in backward
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
w.register_post_accumulate_grad_hook(lambda w: opt.step())
loss = (w * w).sum()
loss.backward(retain_graph=True)
loss.backward()

== within a function
def train():
    x = torch.ones(3, requires_grad=True)
    hidden = x * 2
    loss = (hidden * hidden).sum()
    hidden.data.mul_(3)
    loss.backward()

train()

== explain that runs
x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: grad * 2)
z = y.exp()
loss = z.sum()
said = copylab.explain(loss, run=True).verdict
assert x.grad is None
loss.backward()
"""
"""In the form of the file of programs."""


class DeviceProgram(NamedTuple):
    """A program of PyTorch. title: what it shows. source: its text, for whatever default device."""

    title: str
    source: str


_DIFFERENT_ON_PURPOSE = {
    ("torch: mixed precision", "memory"): "autocast has `sum` computed in float32 on a GPU alone",
}
"""What PyTorch itself does otherwise there, by program and what is said of it."""

Said = dict[str, str]
"""What each of copylab's functions says of a program, by its name."""


def read_programs() -> Iterator[DeviceProgram]:
    """Yield the programs of one file that need no memory of NumPy's."""
    text = _PROGRAMS.read_text("utf-8") + _ON_DEVICE
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)[1:]
    previous = ""
    for title, source in zip(parts[::2], parts[1::2], strict=True):
        has_files = title.startswith("file ") or title == "main" or previous.startswith("file ")
        if not has_files and "numpy" not in source:
            yield DeviceProgram(title, source)
        previous = title


def run_program(program: DeviceProgram, device: str) -> Said:
    """Run a program on a device under a watch, look at it before its first backward, and say what was said."""
    said: Said = {}
    names: dict[str, Any] = {"torch": torch, "copylab": copylab, "__name__": "program"}
    # Mixed precision is asked for by the kind of device.
    source = program.source.replace('"cpu"', repr(torch.device(device).type))
    first = _BACKWARD.search(source)
    end = first.start() if first else len(source)
    with torch.device(device), copylab.watch(silent="record") as watched:
        try:
            torch.manual_seed(0)
            _execute(program.title, source, source[:end], names)
            if first:
                said |= look_at_tensors(names, first["loss"])
            # Empty lines in place of what has run: the numbers of lines are those of the file.
            rest = "\n" * source.count("\n", 0, end) + source[end:]
            _execute(program.title, source, rest, names)
        except Exception as error:  # noqa: BLE001 - what PyTorch raises is part of what is compared
            said["error"] = f"{type(error).__name__}: {error}"
    said["watch"] = watched.text
    # What a program leaves would be found in the next one: hooks hold their variables.
    names.clear()
    gc.collect()
    return {door: remove_device(text, device) for door, text in said.items()}


def _execute(title: str, source: str, part: str, names: dict[str, Any]) -> None:
    file = f"<{title}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(part, file, "exec"), names)


def look_at_tensors(names: dict[str, Any], loss: str) -> Said:
    """Return what is said of a program's tensors before backward, inside of a watch."""
    tensors = {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}
    result = eval(loss, dict(names))
    if not isinstance(result, torch.Tensor):
        return {}
    said = {"explain": copylab.explain(result).text, "memory": memory(result, **tensors).text}
    if tensors:
        said["shared"] = copylab.shared(**tensors).text
    return said


def remove_device(text: str, device: str) -> str:
    """Return a text without what may differ: see the head of this file."""
    text = _UNNAMED.sub(r"\1", _NUMBERS.sub(r"\1\2", _VALUES.sub("", text)))
    if device != "cpu":
        text = re.sub(rf"\b{device.partition(':')[0]}(:\d+)?\b", "cpu", text)
        text = text.replace("torch.cpu.", "torch.").replace("CUDA", "CPU")
    return text


# -- check_gradients and growth ----------------------------------------------------


def measure_slopes(device: str) -> Said:
    """Return what `check_gradients` says of a right step, a spoiled one and one with steps."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).to(device)
    x = torch.randn(8, 3).to(device)

    def compute_right() -> Any:
        return net(x).square().mean()

    def compute_spoiled() -> Any:
        hidden = net[1](net[0](x))
        hidden.data.mul_(0.5)
        return net[2](hidden).square().mean()

    def compute_rounded() -> Any:
        out = net(x)
        return (out + (out.round() - out).detach()).square().mean()

    return {
        f"check_gradients, {step.__name__}": "\n".join(
            f"{slope.name}: {slope.verdict}" for slope in copylab.check_gradients(step, net).slopes
        )
        for step in (compute_right, compute_spoiled, compute_rounded)
    }


def measure_growth(device: str) -> Said:
    """Return what `growth` says of a step that keeps its losses, and of one that keeps nothing."""
    net = nn.Linear(3, 1).to(device)
    x = torch.ones(8, 3).to(device)
    losses: list[Any] = []

    def keep_graph() -> None:
        losses.append(net(x).mean())

    def keep_nothing() -> None:
        net.zero_grad()
        net(x).mean().backward()

    return {
        f"growth, {step.__name__}": remove_device(copylab.growth(step).text, device)
        for step in (keep_graph, keep_nothing)
    }


# -- the cost ----------------------------------------------------------------------


def time_steps(width: int, rows: int, device: str, rounds: int) -> tuple[float, float]:
    """Return the seconds of a training step without and with a watch: medians, taking turns."""
    torch.manual_seed(0)
    layers = [each for _ in range(4) for each in (nn.Linear(width, width), nn.ReLU())]
    net = nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(rows, width).to(device)
    # Kernels run on while Python goes on: without this, the time is that of starting them.
    synchronize: Callable[[], Any] = (
        torch.cuda.synchronize if torch.device(device).type == "cuda" else lambda: None
    )

    def train(steps: int) -> float:
        synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
        synchronize()
        return (time.perf_counter() - start) / steps

    train(5)  # the state of the optimizer, kernels that are chosen
    with copylab.watch():
        train(5)
    plain, watched = [], []
    for _ in range(rounds):
        plain.append(train(10))
        with copylab.watch():
            watched.append(train(10))
    return statistics.median(plain), statistics.median(watched)


# -- the report --------------------------------------------------------------------


def compare(title: str, expected: Said, found: Said) -> int:
    """Print where something else is said than on the CPU; return the number of such places."""
    different = [door for door in {**expected, **found} if expected.get(door) != found.get(door)]
    for door in list(different):
        reason = _DIFFERENT_ON_PURPOSE.get((title, door))
        if reason:
            print(f"AS IT MUST  {title}: {door}: {reason}")
            different.remove(door)
    for door in different:
        print(f"DIFFERS  {title}: {door}")
        for name, said in (("the CPU", expected), ("device", found)):
            print(f"  on {name}:")
            print("".join(f"    {line}\n" for line in said.get(door, "nothing").splitlines()))
    return len(different)


def describe_machine(device: str) -> str:
    """Return what the figures belong to: releases, and the GPU."""
    is_gpu = torch.device(device).type == "cuda"
    name = torch.cuda.get_device_name(device) if is_gpu else platform.processor() or device
    return f"PyTorch {torch.__version__}, Python {platform.python_version()}, {name}"


def main(arguments: list[str]) -> int:
    """Compare and time; return the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, or cpu to try this script")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of timing; 0 for none")
    options = parser.parse_args(arguments)
    device = options.device
    if torch.device(device).type == "cuda" and not torch.cuda.is_available():
        print("Not run: PyTorch finds no GPU here.")
        return NOT_RUN
    programs, texts, different = list(read_programs()), 0, 0
    for program in programs:
        expected, found = run_program(program, "cpu"), run_program(program, device)
        texts += len(expected)
        different += compare(program.title, expected, found)
    for measure in (measure_slopes, measure_growth):
        expected, found = measure("cpu"), measure(device)
        texts += len(expected)
        different += compare(measure.__name__, expected, found)
    print(f"{len(programs)} programs, {texts} texts compared on {device}, {different} differ.")
    print(describe_machine(device))
    for width, rows in SIZES if options.rounds else ():
        plain, watched = time_steps(width, rows, device, options.rounds)
        print(
            f"4 layers of width {width}, {rows} rows: {plain * 1e3:.2f} ms a step, "
            f"{watched * 1e3:.2f} ms under a watch, ratio {watched / plain:.2f}"
        )
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
