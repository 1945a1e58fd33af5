"""What tools that draw tensors and graphs show of three doubts, found by running them.

    python benchmarks/picture_peers.py            # prints the table
    python benchmarks/picture_peers.py --write    # into docs/beside.md, between the two markers

Each doubt is a pair of programs that differ in one thing alone. A tool shows that thing if what it draws or prints of
the two programs differs; a cell holds the first lines that are in one output and not in the other, so the reader can
judge whether it would have been understood. Needs PyTorch; a tool that is not installed is named as such.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from copylab import graph, memory, watch
from torch import nn

PAGE = Path(__file__).resolve().parents[1] / "docs" / "beside.md"
START, END = "<!-- beside: written by benchmarks/picture_peers.py -->", "<!-- end of beside -->"
LONGEST = 130
"""Letters of a line that a cell of the table has room for."""
MOST_LINES = 2


class Doubt(NamedTuple):
    """A question, copylab's call for it, and two programs that differ in its answer."""

    question: str
    call: str
    program: str
    other: str


DOUBTS = (
    Doubt(
        "Does `reshape` copy here?",
        "memory",
        "x = make(2, 3)\ny = x.reshape(6)\nloss = (y * 2).sum()",
        "x = make(3, 2).t().requires_grad_()\ny = x.reshape(6)\nloss = (y * 2).sum()",
    ),
    Doubt(
        "Does a gradient flow back through `y`?",
        "graph",
        "x = make(2, 3)\nh = x * 3\ny = h.clone()\nloss = (h + y).sum()",
        "x = make(2, 3)\nh = x * 3\ny = h.detach()\nloss = (h + y).sum()",
    ),
    Doubt(
        "Was a saved tensor written to, unseen?",
        "watch",
        "x = make(2, 3)\nh = x.exp()\nloss = h.sum()\nh.data.mul_(2)",
        "x = make(2, 3)\nh = x.exp()\nloss = h.sum()\nh.data.mul(2)",
    ),
)


def make_leaf(*shape: int) -> torch.Tensor:
    """Return ones: a leaf if it is used as it is. The transposed one is made a leaf by its program."""
    is_transposed = shape == (3, 2)
    return torch.ones(shape, requires_grad=not is_transposed)


def run_program(program: str) -> dict[str, Any]:
    """Return the names of a program after its last line."""
    names: dict[str, Any] = {"make": make_leaf, "torch": torch}
    exec(compile(program, "program.py", "exec"), names)
    return {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}


class ProgramModule(nn.Module):
    """A program as a module, for tools that trace one: its leaf is what it is called with."""

    def __init__(self, program: str) -> None:
        super().__init__()
        # torchview draws a module without children as one box; as the child of another, too.
        self.child = nn.Identity()
        self.code = program.partition("\n")[2]

    def forward(self, x: torch.Tensor) -> Any:
        """Run the program after its first line, and return its loss."""
        names: dict[str, Any] = {"x": self.child(x)}
        exec(compile(self.code, "program.py", "exec"), names)
        return names["loss"]


def look_with_memory(program: str) -> str:
    """The text of the picture of memory."""
    return memory(**run_program(program)).text


def look_with_graph(program: str) -> str:
    """The text of the picture of the graph."""
    return graph(run_program(program)["loss"]).text


def look_with_watch(program: str) -> str:
    """The findings of a watch over the program and backward."""
    with watch(silent="record") as watched:
        names = run_program(program)
        names["loss"].backward()
    return "\n".join(finding.summary for finding in watched.findings)


def look_with_torchviz(program: str) -> str:
    """The graph of `make_dot`, with saved tensors."""
    names = run_program(program)
    tools = import_module("torchviz")
    return str(tools.make_dot(names["loss"], params={"x": names["x"]}, show_saved=True).source)


def look_with_torchview(program: str) -> str:
    """The graph of the program as a module."""
    tools = import_module("torchview")
    leaf = run_program(program)["x"]
    drawn = tools.draw_graph(ProgramModule(program), input_data=leaf, device="cpu")
    return str(drawn.visual_graph.source)


def look_with_torchvista(program: str) -> str:
    """The strings of the page that a traced program is written to."""
    tools = import_module("torchvista")
    leaf = run_program(program)["x"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traced.html"
        tools.trace_model(ProgramModule(program), leaf, export_path=str(path))
        page = path.read_text("utf-8")
    # The page is mostly its script; the traced graph is JSON in it.
    return "\n".join(re.findall(r'"(?:[^"\\\n]|\\.){1,200}"', page))


def look_with_memory_graph(program: str) -> str:
    """The graph of all names."""
    tools = import_module("memory_graph")
    import_module("memory_graph.extension_torch").extend_torch()
    return str(tools.create_graph(run_program(program)).source)


def look_with_anomaly_mode(program: str) -> str:
    """Nothing but what backward warns or raises."""
    with torch.autograd.set_detect_anomaly(True):
        run_program(program)["loss"].backward()
    return ""


COPYLAB = {"memory": look_with_memory, "graph": look_with_graph, "watch": look_with_watch}
PEERS: Mapping[str, Callable[[str], str]] = {
    "torchviz": look_with_torchviz,
    "torchview": look_with_torchview,
    "torchvista": look_with_torchvista,
    "memory_graph": look_with_memory_graph,
    "anomaly mode": look_with_anomaly_mode,
}


def collect_output(look: Callable[[str], str], program: str) -> list[str]:
    """Return all that a tool says of a program: its picture, what it prints, warns and raises."""
    heard = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(heard):
        warnings.simplefilter("always")
        with redirect_stderr(heard):
            try:
                shown = look(program)
            except (RuntimeError, TypeError, ValueError) as error:
                shown = f"{type(error).__name__}: {error}"
    lines = [shown, *(str(warning.message) for warning in warned), heard.getvalue()]
    return [hide_numbers(line) for line in "\n".join(lines).splitlines() if line.strip()]


def hide_numbers(line: str) -> str:
    """Take out what differs between two runs of one program: ids, addresses, names of files."""
    line = re.sub(r"0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{6,}", "N", line)
    return re.sub(r"/tmp/\S+", "FILE", line).strip()


def find_difference(look: Callable[[str], str], doubt: Doubt) -> list[str]:
    """Return the first lines that a tool says of one of the two programs alone, or how it fails."""
    first = collect_output(look, doubt.program)
    # What differs without any reason, between two runs of the same program, shows nothing.
    noise = set(first) ^ set(collect_output(look, doubt.program))
    second = collect_output(look, doubt.other)
    if first == second and len(first) == 1 and "Error: " in first[0]:
        return first
    for here, elsewhere in ((first, second), (second, first)):
        alone = [line for line in here if line not in elsewhere and line not in noise]
        if alone:
            return list(dict.fromkeys(alone))[:MOST_LINES]
    return []


def make_cell(lines: list[str]) -> str:
    """Return lines as code in a cell of Markdown, each cut to its room."""
    cut = [line if len(line) <= LONGEST else line[: LONGEST - 3] + "..." for line in lines]
    quoted = [line.replace("|", "\\|").replace("`", "'") for line in cut]
    return "<br>".join(f"`{line}`" for line in quoted) or "no difference"


def list_versions() -> str:
    """Return the releases that were run."""
    others = [name for name in PEERS if find_spec(name)]
    names = [f"PyTorch {torch.__version__.partition('+')[0]}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in others)])


def make_section() -> str:
    """Return the table: a line for each tool, a column for each doubt."""
    rows = [["", *(doubt.question for doubt in DOUBTS)], ["---"] * (len(DOUBTS) + 1)]
    ours = [find_difference(COPYLAB[doubt.call], doubt) for doubt in DOUBTS]
    named = zip(DOUBTS, map(make_cell, ours), strict=True)
    rows.append(["copylab", *(f"`{doubt.call}`: {cell}" for doubt, cell in named)])
    for name, look in PEERS.items():
        if name != "anomaly mode" and not find_spec(name):
            rows.append([name, *["not installed"] * len(DOUBTS)])
            continue
        rows.append([name, *(make_cell(find_difference(look, doubt)) for doubt in DOUBTS)])
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return f"{START}\n{table}\n\nRun with {list_versions()}.\n{END}"


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    section = make_section()
    if not parser.parse_args().write:
        sys.stdout.write(section + "\n")
        return
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + section + after, encoding="utf-8")


if __name__ == "__main__":
    main()
