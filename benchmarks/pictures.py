"""How long the pictures take, each as a ratio beside one run of `dot` on this machine at this moment.

    python benchmarks/pictures.py

Prints a table and writes nothing. `dot` is timed where it is installed (Debian: apt install graphviz); without it the
ratios are left out. Limits: 5 ms for the picture of a lesson's program, 0.2 s for the first picture of a process (the
compile cache being warm), 1 s for 1,000 nodes.
"""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import tinytorch as torch  # noqa: E402
from tinytorch.viz import explain, graph, memory, snapshot  # noqa: E402

FIRST = """
import time
import tinytorch as torch
{lesson}
names = lesson()
start = time.perf_counter()
from tinytorch.viz import {function} as draw
draw(names).svg
print(time.perf_counter() - start)
"""
"""The import of the pictures is part of the first one."""


def lesson() -> dict[str, torch.Tensor]:
    """A program with 6 tensors and 12 nodes."""
    x = torch.ones(3, requires_grad=True)
    w = torch.full((3,), 2.0, requires_grad=True)
    y = (x * 2 + w).sigmoid()
    d = y.detach()
    z = (y * w).exp().tanh() + x
    loss = (z * z).sum().log()
    return {"x": x, "w": w, "y": y, "d": d, "z": z, "loss": loss}


def blocks(count: int) -> dict[str, torch.Tensor]:
    """About 10 nodes for each block with a way around it."""
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(count):
        y = y + ((y * w + 1).exp() * 0.1 + y.sigmoid() * w).tanh()
    return {"x": x, "w": w, "y": y}


def chain(count: int) -> dict[str, torch.Tensor]:
    """A chain of `count` nodes."""
    x = torch.ones(3, requires_grad=True)
    y = x
    for i in range(count):
        y = y * 2 if i % 2 else y.sigmoid()
    return {"x": x, "y": y}


def best(action: Callable[[], object], times: int) -> float:
    """The least time of several runs, in seconds: what else the machine does at that moment only adds to it."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return min(taken)


def first(function: str) -> float:
    """The first picture of a fresh process, the second time round: the compile cache is warm by then."""
    command = [
        sys.executable,
        "-c",
        FIRST.format(function=function, lesson=inspect.getsource(lesson)),
    ]
    runs = [
        float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        for _ in "123"
    ]
    return min(runs[1:])


def main() -> int:
    """Measure, print the table, and return 1 if a limit is passed."""
    names = lesson()
    source = graph(names).source
    dot = shutil.which("dot")

    def spawn() -> None:
        subprocess.run([str(dot), "-Tsvg"], input=source.encode(), capture_output=True, check=True)

    spawned = best(spawn, 15) if dot else None
    graph(names).svg  # noqa: B018 - warms up
    thousand, deep = blocks(100), chain(100_000)
    rows: list[tuple[str, float, float | None]] = [
        ("lesson: snapshot", best(lambda: snapshot(names), 50), None),
        ("lesson: memory picture", best(lambda: memory(names).svg, 50), 0.005),
        ("lesson: graph picture", best(lambda: graph(names).svg, 50), 0.005),
        ("lesson: both texts", best(lambda: (memory(names).text, graph(names).text), 50), 0.005),
        ("lesson: explain", best(lambda: explain(names), 50), 0.005),
        ("first memory picture of a process", first("memory"), 0.2),
        ("first graph picture of a process", first("graph"), 0.2),
        (
            f"{len(snapshot(thousand).nodes):,} nodes in blocks: graph",
            best(lambda: graph(thousand).svg, 3),
            1.0,
        ),
        ("chain of 1,000 nodes: graph", best(lambda: graph(chain(1000)).svg, 3), 1.0),
        ("chain of 100,000 nodes: graph", best(lambda: graph(deep).svg, 1), None),
    ]
    print(
        f"one run of dot on the lesson's graph: {spawned * 1e3:.1f} ms\n"
        if spawned
        else "dot is not installed\n"
    )
    print(f"{'what':<38}{'ms':>10}{'limit':>9}{'x dot':>9}")
    for name, seconds, limit in rows:
        ratio = f"{seconds / spawned:.2f}" if spawned else "-"
        print(
            f"{name:<38}{seconds * 1e3:>10.2f}{f'{limit * 1e3:.0f}' if limit else '-':>9}{ratio:>9}"
        )
    late = [name for name, seconds, limit in rows if limit and seconds > limit]
    print(f"over the limit: {', '.join(late) or 'none'}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
