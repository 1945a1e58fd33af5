"""What is measured in fresh processes: import times, bytes a node, two states of the heap, and the pictures."""

from __future__ import annotations

import itertools
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

_IMPORT = "import time; start = time.{1}(); {0}; print(time.{1}() - start)"
IMPORTS = {
    "numpy": "import numpy",
    "tinytorch": "import tinytorch",
    "copylab": "import copylab",
    "mygrad": "import mygrad",
    "autograd": "import autograd.numpy",
    "tinygrad": "import tinygrad",
    "micrograd": "import micrograd.engine",
    "torch": "import torch",
}

# The memory of the process before a chain and with it: what the nodes and all that hangs on them take.
_NODES = """
import gc, sys
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096
import {0} as torch
x = torch.ones(1, requires_grad=True)
def chain(n):
    y = x
    for _ in range(n):
        y = y * 1.0
    return y
keep = chain(1000)
gc.collect()
before = resident()
y = chain({1})
print((resident() - before) / {1})
"""

# A step on large vectors, where free() gives memory back to the system (no more than 4 MB were freed at once
# before), and where it keeps it.
_HEAP = """
import importlib, statistics, time
import numpy as np
library = importlib.import_module("libraries.{0}_")
library.start(1)
block = np.ones({1} << 20, np.uint8)
del block
step = library.case("ops/(x*y).exp().sum() + backward/1000000")
taken = []
for _ in range(40):
    start = time.{2}(); step(); taken.append(time.{2}() - start)
print(statistics.median(taken[10:]))
"""
HEAPS = {"no block above 4 MB was freed before": 4, "a block of 16 MB was freed before": 16}
_WITH_HEAP = ("torch", "tinytorch", "numpy", "mygrad", "autograd")

_PICTURES = """
import json, statistics, time
import {0} as torch
from tinytorch.viz import graph, memory, snapshot
from copylab import steps
x = torch.ones(3, requires_grad=True)
w = torch.full((3,), 2.0, requires_grad=True)
y = (x * 2 + w).sigmoid()
d = y.detach()
z = (y * w).exp() + x
loss = (z * z).sum()
named = dict(x=x, w=w, y=y, d=d, z=z, loss=loss)
loop = "p = x * w\\nloss = ((p - 1) ** 2).sum()\\nloss.backward()\\nkept = w.detach().clone()\\n"
loop += "with torch.no_grad():\\n    w -= 0.1 * w.grad\\nw.grad = None\\n"
training = "x = torch.tensor([1.0, 2.0, 3.0])\\nw = torch.zeros(3, requires_grad=True)\\n" + loop * 14
piled = "x = torch.ones(3, requires_grad=True)\\n" + "".join(
    f"y{{i}} = x * {{i}}\\nz{{i}} = y{{i}}.detach()\\nz{{i}} += 1\\n" for i in range(33))
def best(action, times):
    action()
    taken = []
    for _ in range(times):
        start = time.{1}(); action(); taken.append(time.{1}() - start)
    return statistics.median(taken)
def stepped(code):
    steps(code, engine=torch)._repr_mimebundle_()
print(json.dumps({{
    "snapshot": best(lambda: snapshot(named), 30),
    "memory picture": best(lambda: memory(named).svg, 30),
    "graph picture": best(lambda: graph(named).svg, 30),
    "step-through of 100 statements of training, all frames": best(lambda: stepped(training), 5),
    "step-through of 100 statements that keep 67 tensors, all frames": best(lambda: stepped(piled), 5),
}}))
"""


def _run(code: str) -> str | None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "widgets"), str(ROOT / "benchmarks")])
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    env = {**os.environ, **one, "PYTHONPATH": paths}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an import as it is from the second time on, compiled
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env
    )
    return answer.stdout.strip().splitlines()[-1] if answer.returncode == 0 else None


def _imports(rounds: int, timer: str) -> dict[str, float]:
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, line in IMPORTS.items():
            if (found := _run(_IMPORT.format(line, timer))) is not None:
                taken.setdefault(name, []).append(float(found))
    return {name: statistics.median(values) for name, values in taken.items()}


def _heaps(rounds: int, timer: str) -> dict[str, dict[str, float]]:
    """Seconds a step of each library, by the state of the heap: the best of all rounds, as it is stable."""
    found: dict[str, dict[str, float]] = {state: {} for state in HEAPS}
    for _ in range(rounds):
        for (state, size), name in itertools.product(HEAPS.items(), _WITH_HEAP):
            if (taken := _run(_HEAP.format(name, size, timer))) is not None:
                found[state][name] = min(float(taken), found[state].get(name, math.inf))
    return found


def measure(groups: list[str], rounds: int, clock: str = "wall") -> dict[str, Any]:
    """What the named groups ask for: seconds an import, bytes a node, seconds a step or a picture."""
    found: dict[str, Any] = {}
    timer = "process_time" if clock == "cpu" else "perf_counter"
    if "import" in groups:
        found["import"] = _imports(min(rounds, 7), timer)
    if "heap" in groups:
        found["heap"] = _heaps(min(rounds, 5), timer)
    if "chain" in groups and Path("/proc/self/statm").exists():
        sizes = (10_000, 1_000_000)
        nodes = {
            e: {str(n): _run(_NODES.format(e, n)) for n in sizes} for e in ("tinytorch", "torch")
        }
        found["bytes a node"] = {
            e: {n: float(v) for n, v in of.items() if v} for e, of in nodes.items()
        }
    if "pictures" in groups:
        drawn = {e: _run(_PICTURES.format(e, timer)) for e in ("tinytorch", "torch")}
        found["pictures"] = {e: json.loads(v) for e, v in drawn.items() if v}
    return found
