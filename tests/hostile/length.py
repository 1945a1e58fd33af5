"""Long programs, lists of many tensors, deep graphs: every look ends soon, or at the limit that is said.

    python tests/hostile/length.py                    10,000 lines, 100,000 tensors, 1,000,000 nodes; about a minute
    python tests/hostile/length.py --engine torch     on PyTorch
    python tests/hostile/length.py --part 0.01        a hundredth of that

A line for each: the seconds it took, and what it said. It ends with 1 if one took longer than `SECONDS`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import copylab

from tinytorch.viz import explain, graph, memory, snapshot

SECONDS = 20
LINES, TENSORS, NODES = 10_000, 100_000, 1_000_000


def program(lines: int) -> str:
    """A program of that many lines, which make tensors under fifty names."""
    return "\n".join(f"y{n % 50} = torch.ones(2) + {n}" for n in range(lines))


def chain(torch: ModuleType, nodes: int) -> Any:
    """The last of so many sines, each of the one before."""
    y = torch.ones(2, requires_grad=True)
    for _ in range(nodes):
        y = y.sin()
    return y


def watched(torch: ModuleType, operations: int) -> str:
    """A loss after so many operations, under `watch`."""
    with copylab.watch() as seen:
        chain(torch, operations).sum().backward()
    return seen.text


def looks(torch: ModuleType, part: float) -> dict[str, Callable[[], str]]:
    """What to look at and how, by what it is."""
    lines, tensors, nodes = (max(1, int(number * part)) for number in (LINES, TENSORS, NODES))
    many, end = [torch.ones(2) for _ in range(tensors)], chain(torch, nodes)
    return {
        f"steps of {lines:,} lines": lambda: copylab.steps(program(lines), engine=torch).text,
        f"prediction of {lines:,} lines": lambda: (
            copylab.predict(program(lines), engine=torch).text
        ),
        f"memory of {tensors:,} tensors": lambda: memory(many).text,
        f"what changed in {tensors:,} tensors": lambda: memory(many, since=snapshot(many)).svg,
        f"graph of {nodes:,} nodes": lambda: graph(end).text,
        f"its picture, {nodes:,} nodes": lambda: graph(end).svg,
        f"verdict on {nodes:,} nodes": lambda: explain(end).text,
        f"watch over {tensors:,} operations": lambda: watched(torch, tensors),
    }


def attack(torch: ModuleType, part: float) -> list[str]:
    """Look at everything, print how long that took; what took too long."""
    late = []
    for name, look in looks(torch, part).items():
        start = time.perf_counter()
        said = look()
        took = time.perf_counter() - start
        print(f"{name}: {took:.1f} s, {' '.join(said[-160:].split())!r}", flush=True)
        if took > SECONDS:
            late.append(name)
    return late


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--engine", default="tinytorch")
    asked = parser.parse_args()
    failed = attack(import_module(asked.engine), asked.part)
    print(f"longer than {SECONDS} s: {', '.join(failed) or 'nothing'}")
    sys.exit(bool(failed))
