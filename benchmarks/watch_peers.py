"""What `watch` and PyTorch's own tools say of programs with a planted fault, and what they cost.

    python benchmarks/watch_peers.py            # prints the table
    python benchmarks/watch_peers.py --write    # into docs/watch.md, between the two markers

Each program is run under each tool. A tool names the line if what it prints, warns or raises has the file and
number of the line that is marked with `# fault`. The cost is that of a training step of a transformer of 12
layers: the median of the ratios of some rounds, in which all take turns. Needs PyTorch; torchviz is asked where
it is installed.
"""

from __future__ import annotations

import argparse
import io
import linecache
import platform
import re
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import copylab
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

PAGE = Path(__file__).resolve().parents[1] / "docs" / "watch.md"
START, END = "<!-- peers: written by benchmarks/watch_peers.py -->", "<!-- end of peers -->"
FILE = "program_with_a_fault.py"
ROUNDS, STEPS = 9, 2
MANY = 3
"""The lines that saved, wrote and read: a tool that names more has logged all that the program did."""
_NAMED_LINE = re.compile(rf'{FILE}(?:", line |, line |:)(\d+)')

# Each ends with `result`, the gradient, and `right`, what it is from the values that were saved. `look(loss)` is for
# tools that draw a graph before backward.
FAULTS = {
    "a write that PyTorch counts": """
x = torch.ones(3, requires_grad=True)
h = x.exp()  # saves
loss = h.sum()
h.mul_(2)  # fault
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3).exp()
""",
    "`.data`": """
x = torch.ones(3, requires_grad=True)
h = x.exp()  # saves
loss = h.sum()
h.data.mul_(2)  # fault
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3).exp()
""",
    "NumPy": """
x = torch.ones(3, requires_grad=True)
h = x.exp()  # saves
loss = h.sum()
h.detach().numpy()[:] = 0  # fault
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3).exp()
""",
    "an optimizer's step": """
w, x = torch.nn.Parameter(torch.ones(3)), torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], 1.0)
loss = (w * x).sum()  # saves
w.grad = torch.ones(3)
opt.step()  # fault
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3)
""",
    "`ctx.y = y`": """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y

x = torch.ones(3, requires_grad=True)
h = Exp.apply(x)  # saves
loss = h.sum()
h.mul_(2)  # fault
loss = loss + 0
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3).exp()
""",
    "a checkpoint": """
from torch.utils.checkpoint import checkpoint

w, x = torch.nn.Parameter(torch.ones(3)), torch.ones(3, requires_grad=True)
loss = checkpoint(lambda v: (v * w).exp(), x, use_reentrant=False).sum()  # saves
w.data.mul_(2)  # fault
look(loss)
loss.backward()
result, right = x.grad, torch.ones(3).exp()
""",
    "a hook": """
x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
a, b = x * 1, y * 1
b.register_hook(lambda g: g.mul_(0))  # fault
loss = ((a + b) ** 2).sum()  # saves
look(loss)
loss.backward()
result, right = x.grad, 4 * torch.ones(3)
""",
}
"""What writes -> a program."""


class Tool(NamedTuple):
    """A tool beside others.

    start: returns the context in which a program runs under it, and a function that returns what it has to say.
    look: what it is asked of the loss before backward.
    """

    name: str
    start: Callable[[], tuple[AbstractContextManager[Any], Callable[[], str]]]
    look: Callable[[Any], Any] = id


def _start_watch() -> tuple[AbstractContextManager[Any], Callable[[], str]]:
    watch = copylab.watch(silent="record")
    return watch, lambda: watch.text


def _start_debug_mode() -> tuple[AbstractContextManager[Any], Callable[[], str]]:
    mode = import_module("torch.utils._debug_mode").DebugMode(record_stack_trace=True)
    return mode, mode.debug_string


def _say_nothing() -> str:
    return ""


def list_tools() -> list[Tool]:
    """Return the tools that are installed, PyTorch alone first."""
    graph = torch.autograd.graph
    tools = [
        Tool("PyTorch alone", lambda: (nullcontext(), _say_nothing)),
        Tool("`copylab.watch`", _start_watch),
        Tool(
            "`set_detect_anomaly`", lambda: (torch.autograd.set_detect_anomaly(True), _say_nothing)
        ),
        Tool(
            "`allow_mutation_on_saved_tensors`",
            lambda: (graph.allow_mutation_on_saved_tensors(), _say_nothing),
        ),
        Tool("`DebugMode` with stacks", _start_debug_mode),
        Tool("`FlopCounterMode`", lambda: (FlopCounterMode(display=False), _say_nothing)),
    ]
    if find_spec("torchviz"):
        draw = import_module("torchviz").make_dot
        tools.append(
            Tool("torchviz", lambda: (nullcontext(), _say_nothing), lambda loss: draw(loss).source)
        )
    return tools


class Outcome(NamedTuple):
    """What came of a program under a tool."""

    raised: bool
    is_right: bool
    """True if the gradient is that of the values that were saved."""
    text: str
    """All that was printed, warned, raised, or told at the end."""


def run_fault(program: str, tool: Tool) -> Outcome:
    """Run a program under a tool."""
    linecache.cache[FILE] = (len(program), None, program.splitlines(keepends=True), FILE)
    texts: list[str] = []
    names: dict[str, Any] = {
        "__name__": "program", "torch": torch, "look": lambda loss: texts.append(str(tool.look(loss))),
    }  # fmt: skip
    context, ask = tool.start()
    output, raised = io.StringIO(), False
    with (
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(output),
        redirect_stderr(output),
    ):
        warnings.simplefilter("always")
        try:
            with context:
                exec(compile(program, FILE, "exec"), names)
        except RuntimeError as error:
            raised = True
            texts.append(f"{error}\n{''.join(getattr(error, '__notes__', []))}")
            texts.append("".join(traceback.format_tb(error.__traceback__)))
    texts += [f"{warning.message}" for warning in warned]
    is_right = not raised and bool(torch.allclose(names["result"], names["right"]))
    return Outcome(raised, is_right, "\n".join([*texts, output.getvalue(), ask()]))


def judge(program: str, outcome: Outcome) -> str:
    """Return the cell of the table: what the tool has to say of the line that wrote."""
    if outcome.is_right:
        return "the gradient is right"
    named = {int(number) for number in _NAMED_LINE.findall(outcome.text)}
    names_fault = _find_line(program, "# fault") in named
    names_save = _find_line(program, "# saves") in named
    if len(named) > MANY:
        return "in a log of all lines" if names_fault else "silent"
    if names_fault:
        return "**names the line**"
    if outcome.raised:
        return "raises, names the line that saved" if names_save else "raises"
    return "says it, names the line that saved" if names_save else "silent"


def _find_line(program: str, mark: str) -> int:
    """Return the number of the line of a program that has a mark."""
    return next(n for n, text in enumerate(program.splitlines(), 1) if text.endswith(mark))


# -- what it costs ---------------------------------------------------------------------


def make_step() -> Callable[[Callable[[Any], Any]], None]:
    """Return a training step of a transformer of 12 layers."""
    torch.manual_seed(0)
    layers = [nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(12)]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 64, 4))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = torch.randn(16, 32, 64), torch.randint(0, 4, (16,))

    def step(look: Callable[[Any], Any]) -> None:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        look(loss)
        loss.backward()
        opt.step()

    return step


@contextmanager
def _timed(times: list[float]) -> Iterator[None]:
    start = time.process_time()
    yield
    times.append(time.process_time() - start)


def measure_costs(tools: list[Tool]) -> dict[str, float]:
    """Return how many times as long as alone a step takes under each tool."""
    torch.set_num_threads(1)
    step = make_step()
    times: dict[str, list[float]] = {tool.name: [] for tool in tools}
    for _ in range(ROUNDS):
        for tool in tools:
            context, _ask = tool.start()
            with warnings.catch_warnings(), context:
                warnings.simplefilter("ignore")
                step(tool.look)  # what is made once
                with _timed(times[tool.name]):
                    for _ in range(STEPS):
                        step(tool.look)
    alone = times[tools[0].name]
    return {
        name: statistics.median(a / b for a, b in zip(taken, alone, strict=True))
        for name, taken in times.items()
    }


def make_table(tools: list[Tool], costs: dict[str, float]) -> str:
    """Return the table in Markdown."""
    version = torch.__version__.partition("+")[0]
    head = ["", *(f"{fault}" for fault in FAULTS), "time of a step"]
    lines = [
        f"PyTorch {version}, Python {platform.python_version()}; a step of a transformer of 12 layers, alone 1.0:",
        "",
        "| " + " | ".join(head) + " |",
        "|---" * (len(head) - 1) + "|--:|",
    ]
    for tool in tools:
        cells = [judge(program, run_fault(program, tool)) for program in FAULTS.values()]
        lines.append(f"| {tool.name} | {' | '.join(cells)} | {costs[tool.name]:.1f} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into docs/watch.md")
    arguments = parser.parse_args()
    tools = list_tools()
    table = make_table(tools, measure_costs(tools))
    print(table)
    if arguments.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
